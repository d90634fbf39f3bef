"""Which tools a program uses, from the names and calls that the guest reports, against the catalog.

Enters: the guest's claim (dotted paths below `tools`, free names, calls with literal arguments). Leaves: tools with the
lines they are used on, names that mean no tool, and the aliases a program needs (`github.f` for `tools.github.f`).
The claim steers help only: the broker judges every call again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from codemode.catalog.snapshot import Catalog
from codemode.catalog.spec import Tool

ROOT = "tools"
_DIRECT = "mcp__"  # how clients name tools of directly connected servers: mcp__<server>__<tool>


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A dotted name in a program: resolved below `tools`, or free (bound by nothing in the program)."""

    path: str
    line: int
    is_free: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSite:
    """A call of such a name. Arguments that are no literals are `unknown` (a marker the caller chose)."""

    path: str
    line: int
    positional: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)
    is_open: bool = False
    is_free: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """A tool and the lines of the program that name it, ascending."""

    tool: Tool
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownUse:
    """A name below `tools` that means nothing now, with the nearest tools.

    `is_server` when the server is unknown; `reason` when the server is known, but has no tools to offer at present.
    """

    path: str
    line: int
    nearest: tuple[Tool, ...] = ()
    is_server: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What a program uses.

    Attributes:
        tools: by their first line.
        unknown: names that mean no tool.
        calls: calls of known tools, with the tool.
        aliases: free name → path below `tools`, to be defined for the program.
    """

    tools: tuple[ToolUse, ...] = ()
    unknown: tuple[UnknownUse, ...] = ()
    calls: tuple[tuple[Tool, CallSite], ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)


def review(uses: Iterable[Use], calls: Iterable[CallSite], catalog: Catalog) -> Review:
    """Match what a program names against the catalog."""
    lines: dict[str, set[int]] = {}
    found: dict[str, Tool] = {}
    unknown: dict[str, UnknownUse] = {}
    aliases: dict[str, str] = {}
    for use in uses:
        path = _below_root(use.path, catalog) if use.is_free else use.path
        if path is None:
            continue
        if use.is_free:
            name = use.path.partition(".")[0]
            aliases[name] = path if name.startswith(_DIRECT) else f"{ROOT}.{name}"
        tool = _tool_at(path, catalog)
        if tool is not None:
            found[tool.path] = tool
            lines.setdefault(tool.path, set()).add(use.line)
        else:
            _note_unknown(path, use.line, catalog, unknown)
    tools = [ToolUse(tool=tool, lines=tuple(sorted(lines[path]))) for path, tool in found.items()]
    return Review(
        tools=tuple(sorted(tools, key=lambda use: (use.lines[0], use.tool.short))),
        unknown=tuple(sorted(unknown.values(), key=lambda item: (item.line, item.path))),
        calls=tuple(_known_calls(calls, catalog)),
        aliases=aliases,
    )


def _below_root(path: str, catalog: Catalog) -> str | None:
    """A free name as a path below `tools`, or None when it means no tool."""
    first, _, rest = path.partition(".")
    if first.startswith(_DIRECT):
        server, _, tool = first.removeprefix(_DIRECT).partition("__")
        known = catalog.by_short(f"{server}.{tool}") or catalog.by_raw(server, tool)
        return known.path if known is not None else None
    if catalog.server(first) is None:
        return None
    return f"{ROOT}.{first}.{rest}" if rest else f"{ROOT}.{first}"


def _tool_at(path: str, catalog: Catalog) -> Tool | None:
    parts = path.split(".")
    return catalog.by_short(f"{parts[1]}.{parts[2]}") if len(parts) >= 3 and parts[0] == ROOT else None


def _note_unknown(path: str, line: int, catalog: Catalog, unknown: dict[str, UnknownUse]) -> None:
    parts = path.split(".")
    if len(parts) < 2 or parts[0] != ROOT:
        return
    entry = catalog.server(parts[1])
    if parts[1].startswith("_") or (entry is not None and (len(parts) == 2 or parts[2].startswith("_"))):
        return
    short = ".".join(parts[1:3])
    if short in unknown or parts[2:3] == ["*"]:  # `from tools.x import *`: each call is judged when it is made
        return
    if entry is not None and not entry.tools:
        reason = f"{entry.state.replace('_', ' ')}{': ' + entry.reason if entry.reason else ''}"
        unknown[short] = UnknownUse(path=short, line=line, reason=reason)
    else:
        unknown[short] = UnknownUse(path=short, line=line, nearest=catalog.nearest(short)[:3], is_server=entry is None)


def _known_calls(calls: Iterable[CallSite], catalog: Catalog) -> Iterable[tuple[Tool, CallSite]]:
    for call in calls:
        path = _below_root(call.path, catalog) if call.is_free else call.path
        tool = _tool_at(path, catalog) if path is not None and path.count(".") == 2 else None
        if tool is not None:
            yield tool, call
