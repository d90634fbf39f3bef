"""Finds the line of every key in a JSON text, so that a mistake can be named where it stands.

Enters: text that a JSON parser has accepted. Leaves: path → line. It parses nothing itself: a text that is no JSON
gives an incomplete map, never an error.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]

_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s"{}\[\],:]+', re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Positions:
    """Where each key and array item of a text begins (lines count from 1), and keys that occur twice in one object."""

    lines: dict[Path, int] = field(default_factory=dict)
    repeated: tuple[Path, ...] = ()


@dataclass(slots=True)
class _Frame:
    """One open bracket: the key or index in force, and whether a key comes next."""

    is_object: bool
    step: str | int
    wants_key: bool


def find_positions(text: str) -> Positions:
    """Map each path in a JSON text to its line."""
    breaks = [match.start() for match in re.finditer("\n", text)]
    lines: dict[Path, int] = {}
    repeated: list[Path] = []
    frames: list[_Frame] = []
    for match in _PIECE.finditer(text):
        piece = match.group()
        line = bisect_right(breaks, match.start()) + 1
        top = frames[-1] if frames else None
        if top is not None and not top.is_object and piece not in ",]":
            lines.setdefault(_path(frames), line)
        if piece[0] == '"' and top is not None and top.is_object and top.wants_key:
            top.step, top.wants_key = _unquote(piece), False
            path = _path(frames)
            if path in lines and path[:-1] not in repeated:
                repeated.append(path)
            lines[path] = line
        elif piece in "{[":
            frames.append(_Frame(piece == "{", "" if piece == "{" else 0, piece == "{"))
        elif piece in "}]":
            if frames:
                frames.pop()
        elif piece == "," and top is not None:
            top.wants_key = top.is_object
            if isinstance(top.step, int):
                top.step += 1
    return Positions(lines=lines, repeated=tuple(repeated))


def _path(frames: list[_Frame]) -> Path:
    return tuple(frame.step for frame in frames)


def _unquote(piece: str) -> str:
    try:
        text: str = json.loads(piece, strict=False)
    except ValueError:
        return piece[1:-1]
    return text


def show_path(path: Path) -> str:
    """A path as people write it: `codemode.policy.rules[2].tool`."""
    out = ""
    for step in path:
        if isinstance(step, int):
            out += f"[{step}]"
        else:
            out += f".{step}" if out else step
    return out
