"""What a search found, as the model reads it: signatures first, then names, then what is missing and why.

Enters: an `Answer` of discovery. Leaves: text inside a budget, and the tools whose signatures are in it. A description
is a server's text: it stands indented below its signature, cut to one line (with `select:` of one tool, to a few).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from codemode.bindings.signature import MAX_CHARS, Signature, signature
from codemode.catalog.snapshot import Catalog
from codemode.catalog.spec import ServerEntry, Tool
from codemode.catalog.text import clean_line, clean_text
from codemode.discover import Answer
from codemode.prose.refusal import Marks
from codemode.search.index import Found, Unknown
from codemode.tokens import bytes_for

BUDGET_TOKENS: Final = 1_500  # given: ARCHITECTURE 4.3
ONE_TOOL_TOKENS: Final = 2_000  # given: ARCHITECTURE 4.3
_FIRST_DESCRIPTION_CHARS: Final = 300
_DESCRIPTION_CHARS: Final = 120
_SHORT_CHARS: Final = 400
_MAX_NAMES: Final = 24
_MAX_UNAVAILABLE: Final = 12
_INDENT: Final = "    "


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchText:
    """An answer: the text, and the tools that it shows with their signature: they count as loaded."""

    text: str
    shown: tuple[Tool, ...] = ()


def search_answer(answer: Answer, marks: Marks, *, budget_tokens: int = BUDGET_TOKENS) -> SearchText:
    """The answer to a search, at most `budget_tokens` estimated tokens long (2,000 for one tool asked for by name)."""
    found = answer.found
    if answer.query.is_empty:
        return SearchText(text=_overview(answer, bytes_for(budget_tokens)))
    is_one = len(found.hits) == 1 and len(answer.query.selected) == 1 and not answer.query.needs
    room = bytes_for(max(budget_tokens, ONE_TOOL_TOKENS) if is_one else budget_tokens)
    tail = _tail(answer)
    left = room - _size(*tail) - 120
    blocks, shown, not_shown = _one_tool(found.hits[0].tool, marks, left) if is_one else _hits(found, marks, left)
    names = _names([*not_shown, *found.further], left - _size(*blocks))
    head = _head(answer, len(shown))
    return SearchText(text="\n".join([head, *blocks, *names, *tail]), shown=shown)


def _head(answer: Answer, shown: int) -> str:
    asked = clean_line(answer.query.text, 160)
    if shown:
        return f'Ready to call ({shown} shown) for "{asked}":'
    count = len(answer.catalog.tools)
    return f'Nothing fits "{asked}" among {count:,} {"function" if count == 1 else "functions"}.'


def _hits(found: Found, marks: Marks, room: int) -> tuple[list[str], tuple[Tool, ...], list[Tool]]:
    """Signature lines of as many hits as fit; the first of each need has its description."""
    tools = [hit.tool for hit in found.hits]
    described = {need.hits[0].tool.short for need in found.per_need if need.hits} or {tool.short for tool in tools[:1]}
    max_chars = max(_SHORT_CHARS, min(MAX_CHARS, room // max(1, len(tools))))
    lines: list[str] = []
    shown: list[Tool] = []
    for place, tool in enumerate(tools):
        block = [signature(tool, marks=marks(tool), max_chars=max_chars).line]
        if tool.short in described or not place:
            block.extend(_description(tool, _DESCRIPTION_CHARS if place else _FIRST_DESCRIPTION_CHARS))
        if shown and _size(*block) > room:
            return lines, tuple(shown), tools[place:]
        room -= _size(*block)
        lines.extend(block)
        shown.append(tool)
    return lines, tuple(shown), []


def _description(tool: Tool, max_chars: int) -> list[str]:
    text = clean_line(tool.spec.description or tool.spec.title, max_chars)
    return [f"{_INDENT}{text}"] if text else []


def _one_tool(tool: Tool, marks: Marks, room: int) -> tuple[list[str], tuple[Tool, ...], list[Tool]]:
    """Everything about one tool: signature, description, every parameter, what differs on the wire."""
    known = signature(tool, marks=marks(tool))
    lines = [known.line]
    parameters = _parameter_lines(known)
    left = room - _size(*lines, *parameters, *known.notes)
    described = clean_text(tool.spec.description or tool.spec.title, max(200, min(4_000, left)))
    lines.extend(f"{_INDENT}{line}" for line in described.splitlines())
    used = _size(*lines)
    for line in (*parameters, *(f"{_INDENT}Note: {clean_line(note, 300)}" for note in known.notes)):
        used += _size(line)
        if used > room:
            lines.append(f"{_INDENT}… further parameters are in the signature")
            break
        lines.append(line)
    return lines, (tool,), []


def _parameter_lines(known: Signature) -> list[str]:
    lines = []
    for one in known.parameters:
        need = "required" if one.required else f"default {one.default}" if one.default != "..." else "optional"
        text = f": {one.description}" if one.description else ""
        lines.append(f"{_INDENT}{one.python} ({clean_line(one.type, 300)}, {need}){text}")
    return lines


def _names(tools: Sequence[Tool], room: int) -> list[str]:
    kept: list[str] = []
    for tool in tools[:_MAX_NAMES]:
        room -= len(tool.short) + 2
        if room < 0:
            break
        kept.append(tool.short)
    return [f"Names only: {', '.join(kept)}"] if kept else []


# -- what is missing ----------------------------------------------------------------------------------------------


def _tail(answer: Answer) -> list[str]:
    found = answer.found
    lines = [f"Note: {clean_line(note, 200)}" for note in found.notes]
    lines.extend(_unknown_line(item) for item in found.unknown)
    if found.missed and (found.hits or len(found.missed) > 1):
        missed = "; ".join(clean_line(text, 80) for text in found.missed)
        lines.append(f"Nothing fits: {missed}. Do not guess a name.")
    if not found.hits and not found.unknown:
        lines.append(_what_exists(answer.catalog))
    if answer.unavailable:
        lines.append(f"Not in this search: {_unavailable(answer.unavailable)}")
    return lines


def _unknown_line(item: Unknown) -> str:
    name = clean_line(item.name, 120)
    near = f"; {'one of' if item.reason.startswith('several') else 'nearest'}: " if item.candidates else ""
    return f"`{name}`: {clean_line(item.reason, 200)}{near}{', '.join(tool.short for tool in item.candidates[:5])}"


def _what_exists(catalog: Catalog) -> str:
    entries = [entry for entry in catalog.servers if entry.tools]
    if not entries:
        return "No server has a function now."
    named = ", ".join(f"{entry.module} ({len(entry.tools)})" for entry in entries[:20])
    more = f" and {len(entries) - 20} more" if len(entries) > 20 else ""
    return f"There is: {named}{more}. Try other words; nothing else can be called."


def _unavailable(entries: Sequence[ServerEntry]) -> str:
    named = [f"{entry.module} ({_state(entry)})" for entry in entries[:_MAX_UNAVAILABLE]]
    more = f" and {len(entries) - _MAX_UNAVAILABLE} more" if len(entries) > _MAX_UNAVAILABLE else ""
    return ", ".join(named) + more


def _state(entry: ServerEntry) -> str:
    state = _STATES.get(entry.state, entry.state)
    return f"{state}: {clean_line(entry.reason, 120)}" if entry.reason and entry.state in _EXPLAINED else state


_EXPLAINED: Final = frozenset({"starting", "failed", "sign_in", "stopped"})
_STATES: Final = {
    "ready": "ready",
    "cached": "known, starts when it is used",
    "starting": "starting",
    "failed": "failed",
    "sign_in": "needs a sign-in",
    "stopped": "stopped",
    "listing_only": "listed only, cannot be called",
}


# -- the empty query ----------------------------------------------------------------------------------------------


def _overview(answer: Answer, room: int) -> str:
    catalog = answer.catalog
    if not catalog.servers:
        return "There are no servers: the configuration names none."
    head = f"{len(catalog.servers)} servers, {len(catalog.tools):,} functions:"
    lines = [head]
    used = _size(head)
    for place, entry in enumerate(catalog.servers):
        line = _server_line(entry)
        used += _size(line)
        if used > room - 60:
            lines.append(f"… and {len(catalog.servers) - place} more servers")
            break
        lines.append(line)
    return "\n".join([*lines, *(f"Note: {clean_line(note, 200)}" for note in answer.found.notes)])


def _server_line(entry: ServerEntry) -> str:
    count = len(entry.tools)
    counted = f"{count} {'function' if count == 1 else 'functions'}"
    held = ""
    if entry.quarantined:
        some = ", ".join(
            f"{clean_line(item.tool, 60) or '(no name)'}: {clean_line(item.reason, 80)}"
            for item in entry.quarantined[:3]
        )
        more = f" and {len(entry.quarantined) - 3} more" if len(entry.quarantined) > 3 else ""
        held = f"; {len(entry.quarantined)} held back ({some}{more})"
    return f"{entry.module}: {counted}, {_state(entry)}{held}"


def _size(*parts: str) -> int:
    """UTF-8 bytes of lines, their line ends included."""
    return sum(len(part.encode("utf-8", "replace")) + 1 for part in parts)
