"""What changed about servers since a client last heard of them, one line a server.

Enters: the catalog that the client knows, the catalog in force. Leaves: lines for the next answer. The descriptions
that the model saw first stay as they are, so this is the only way it learns of late, changed and lost servers.
"""

from __future__ import annotations

from typing import Final

from codemode.catalog.snapshot import Catalog
from codemode.catalog.spec import ServerEntry
from codemode.catalog.text import clean_line

_MAX_LINES: Final = 6
_MAX_NAMES: Final = 8
_DOWN: Final = frozenset({"failed", "sign_in"})


def server_news(before: Catalog, now: Catalog) -> tuple[str, ...]:
    """News in the order of the servers' ids; nothing for a server that comes up with what was known of it."""
    if before.digest == now.digest:
        return ()
    known = {entry.id: entry for entry in before.servers}
    lines = [line for entry in now.servers if (line := _of_server(known.get(entry.id), entry))]
    if len(lines) > _MAX_LINES:
        return (*lines[:_MAX_LINES], f"News: {len(lines) - _MAX_LINES} more servers changed; an empty search lists all")
    return tuple(lines)


def _of_server(before: ServerEntry | None, now: ServerEntry) -> str:
    was_down = before is not None and before.state in _DOWN
    if now.state in _DOWN:
        if was_down:
            return ""
        why = "needs a sign-in" if now.state == "sign_in" else "is not available now"
        return f"News: {now.module} {why}{f' ({clean_line(now.reason, 160)})' if now.reason else ''}"
    old = {tool.function: tool.spec.id for tool in before.tools} if before is not None else {}
    new = {tool.function: tool.spec.id for tool in now.tools}
    if not old and new:
        return f"News: {now.module} is there now, with {_count(len(new))}; search for them"
    added = sorted(new.keys() - old.keys())
    gone = sorted(old.keys() - new.keys()) if now.state in ("ready", "listing_only") else []
    changed = sorted(name for name in new.keys() & old.keys() if new[name] != old[name])
    parts = [
        f"{_count(len(names))} {what} ({', '.join(names[:_MAX_NAMES])}{', …' if len(names) > _MAX_NAMES else ''})"
        for names, what in ((added, "new"), (changed, "changed"), (gone, "gone"))
        if names
    ]
    if parts:
        return f"News: {now.module}: {', '.join(parts)}"
    return f"News: {now.module} is available again" if was_down and new else ""


def _count(number: int) -> str:
    return f"{number} function" if number == 1 else f"{number} functions"
