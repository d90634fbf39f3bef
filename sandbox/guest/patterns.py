"""`glob`: names in the workspace that fit a pattern.

Enters: a pattern. Leaves: names, in the order of the folders' listings, each once.
"""

from __future__ import annotations

import fnmatch
import os
import stat as modes
from collections.abc import Iterator
from typing import Any

from sandbox.guest.folders import Entry, entries, mode_of
from sandbox.guest.names import FOLDER

_MAGIC = frozenset("*?[")


class Pattern:
    """Walks the folders of a pattern. A folder is "" or ends in "/"."""

    def __init__(self, *, shows_hidden: bool, folders_only: bool) -> None:
        self._shows_hidden = shows_hidden
        self._folders_only = folders_only

    def matches(self, folder: str, parts: list[str]) -> Iterator[str]:
        """Names below the folder that fit the parts."""
        head, *rest = parts
        if head == "**":
            if rest:
                yield from self.matches(folder, rest)
            yield from self._anywhere(folder, parts)
        elif _MAGIC & set(head):
            for entry in self._shown(folder, head):
                if fnmatch.fnmatchcase(entry.name, head):
                    yield from self._found(folder + entry.name, rest, is_folder=entry.is_dir())
        else:
            mode = mode_of(folder + head)
            if mode:
                yield from self._found(folder + head, rest, is_folder=modes.S_ISDIR(mode))

    def _anywhere(self, folder: str, parts: list[str]) -> Iterator[str]:
        for entry in self._shown(folder, ""):
            place = folder + entry.name
            if len(parts) == 1 and (entry.is_dir() or not self._folders_only):
                yield place
            if entry.is_dir():
                yield from self.matches(f"{place}/", parts)

    def _found(self, place: str, rest: list[str], *, is_folder: bool) -> Iterator[str]:
        if not rest:
            if is_folder or not self._folders_only:
                yield place
        elif is_folder:
            if rest == ["**"]:
                yield f"{place}/"
            yield from self.matches(f"{place}/", rest)

    def _shown(self, folder: str, head: str) -> list[Entry]:
        if self._shows_hidden or head.startswith("."):
            return _below(folder)
        return [entry for entry in _below(folder) if not entry.name.startswith(".")]


def _below(folder: str) -> list[Entry]:
    try:
        return entries(folder or ".")
    except OSError:
        return []


def iglob(
    pathname: Any, *, root_dir: Any = None, recursive: bool = False, include_hidden: bool = False
) -> Iterator[str]:
    """`glob.iglob`."""
    text = os.fspath(pathname)
    start = f"{FOLDER}/" if text.startswith(f"{FOLDER}/") else ""
    above = f"{os.fspath(root_dir).rstrip('/')}/" if root_dir is not None else start
    wanted = [part for part in text[len(start) :].split("/") if part not in ("", ".")]
    parts = [part if recursive or part != "**" else "*" for part in wanted]
    if not parts:
        return
    found = Pattern(shows_hidden=include_hidden, folders_only=text.endswith("/")).matches(above, parts)
    cut = len(above) if root_dir is not None else 0
    yield from dict.fromkeys(place[cut:] for place in found)


def glob(pathname: Any, **options: Any) -> list[str]:
    """`glob.glob`."""
    return list(iglob(pathname, **options))


def escape(pathname: str) -> str:
    """`glob.escape`."""
    return "".join(f"[{char}]" if char in _MAGIC else char for char in pathname)


GLOB: dict[str, object] = {"escape": escape, "glob": glob, "iglob": iglob}
