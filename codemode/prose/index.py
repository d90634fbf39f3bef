"""The index of what there is, as it stands in the description of `tool_search`'s `query`: seen before any search.

Enters: a catalog and the setting `tool_search`. Leaves: text, and the tools whose signatures are in it. The largest
form that fits is taken: all signatures, else all names, else servers with counts. Equal catalogs give equal bytes.

Safety: every identifier in it is of our making; no description and no title of a server is ever in it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from codemode.bindings.signature import signature
from codemode.catalog.snapshot import Catalog
from codemode.catalog.spec import ServerEntry, Tool
from codemode.config.model import ToolSearchSettings
from codemode.prose.refusal import Marks
from codemode.tokens import bytes_for

SIGNATURE_TOKENS: Final = 2_500  # given: ARCHITECTURE 4.3
NAME_TOKENS: Final = 600  # given: ARCHITECTURE 4.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """The index as text; `shown` are the tools whose signatures stand in it: they count as loaded."""

    text: str
    shown: tuple[Tool, ...] = ()


def make_index(catalog: Catalog, settings: ToolSearchSettings, marks: Marks, *, pinned: Collection[str] = ()) -> Index:
    """The index of a catalog. Tools of `pinned` servers (raw ids) have their signature in it whatever it costs."""
    room = _signature_room(settings)
    always = [tool for entry in catalog.servers if entry.id in pinned for tool in entry.tools]
    others = [tool for entry in catalog.servers if entry.id not in pinned for tool in entry.tools]
    lines = [_line(tool, marks) for tool in always]
    if room is not None:
        room -= sum(_size(line) for line in lines)
    more = _lines_that_fit(others, marks, room)
    if more is not None and (always or others):
        shown = (*always, *others)
        text = "\n".join(["All functions, ready to call; no search is needed:", *lines, *more, *_not_listed(catalog)])
        return Index(text=text, shown=shown)
    parts = ["Ready to call:", *lines] if always else []
    parts.extend(_names(catalog, pinned))
    return Index(text="\n".join([*parts, *_not_listed(catalog)]) or _NOTHING, shown=tuple(always))


_NOTHING: Final = "No server has a function now; an empty query says how the servers are."


def _signature_room(settings: ToolSearchSettings) -> int | None:
    """How many bytes of signatures may be inline; None = any number, 0 = none."""
    if settings.enabled is True:
        return 0
    if settings.enabled is False:
        return None
    if settings.auto_percent:
        return bytes_for(int(settings.context_window * settings.auto_percent / 100))
    return bytes_for(SIGNATURE_TOKENS)


def _line(tool: Tool, marks: Marks) -> str:
    return signature(tool, marks=marks(tool)).line


def _lines_that_fit(tools: Iterable[Tool], marks: Marks, room: int | None) -> list[str] | None:
    """The signature lines of all tools, or None as soon as they need more than there is."""
    lines: list[str] = []
    for tool in tools:
        line = _line(tool, marks)
        if room is not None:
            room -= _size(line)
            if room < 0:
                return None
        lines.append(line)
    return lines


def _names(catalog: Catalog, pinned: Collection[str]) -> list[str]:
    """Every function's name by server, else servers with counts, else as many of those as fit."""
    entries = [entry for entry in catalog.servers if entry.tools and entry.id not in pinned]
    if not entries:
        return []
    named = [f"{entry.module}: {', '.join(tool.function for tool in entry.tools)}" for entry in entries]
    if sum(map(_size, named)) <= bytes_for(NAME_TOKENS):
        return ["Functions by server, search for their signatures:", *named]
    return [f"Servers and how many functions each has, search for them: {_counted(entries)}"]


def _counted(entries: list[ServerEntry]) -> str:
    room = bytes_for(NAME_TOKENS)
    kept: list[str] = []
    for entry in entries:
        part = f"{entry.module} {len(entry.tools)}"
        room -= _size(part) + 1
        if room < 0:
            return f"{', '.join(kept)} and {len(entries) - len(kept)} more servers"
        kept.append(part)
    return ", ".join(kept)


def _not_listed(catalog: Catalog) -> list[str]:
    """Servers whose functions are not known yet: what becomes of them is told in results."""
    waiting = [entry.module for entry in catalog.servers if not entry.tools and entry.state in _MAY_COME]
    if not waiting:
        return []
    named = ", ".join(waiting[:20])
    more = f" and {len(waiting) - 20} more" if len(waiting) > 20 else ""
    return [f"Not up when this list was made: {named}{more}"]


_MAY_COME: Final = frozenset({"starting", "failed", "sign_in"})


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace")) + 1
