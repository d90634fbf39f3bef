"""The text of a query → what is asked: exact names, needs in words, required name words, a pattern. Total.

Enters: any string. Leaves: a `Query`. What cannot be understood becomes words or a note, never an error.

Forms: `select:github.list_issues,slack.post` · words in any language · `;` between needs · `+word` (must be in the
name) · `/regex/` · empty.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from codemode.catalog.text import clean_line, clean_text

MAX_QUERY_CHARS = 2_000
MAX_NEEDS = 12  # chosen: one search for a whole job; jobs with more parts are rare
MAX_SELECTED = 40
_MAX_NAME_CHARS = 330  # a server's and a tool's raw name, each at its limit, with `mcp__` around them
_SELECT = re.compile("select\\s*[:\uff1a]\\s*", re.IGNORECASE)
_PATTERN = re.compile(r"/(.+)/i?")
_NEED_ENDS = re.compile("[;\uff1b]")
_REQUIRED = re.compile(r"(?:^|(?<=\s))\+(\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """One thing that is looked for.

    Attributes:
        text: its words as they were typed, without the `+`.
        required: words that must be in the name of the server or tool.
        pattern: a regular expression instead of words, "" when there is none.
    """

    text: str
    required: tuple[str, ...] = ()
    pattern: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is asked.

    Attributes:
        text: the query, made safe to show.
        selected: names asked for exactly, in order, each once.
        needs: what is looked for by words or pattern, in order.
        notes: what was left out of the query, one line each.
    """

    text: str = ""
    selected: tuple[str, ...] = ()
    needs: tuple[Need, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was asked: the answer is the servers and their state."""
        return not self.selected and not self.needs


def parse_query(text: str) -> Query:
    """The query a text stands for."""
    notes: list[str] = []
    if len(text) > MAX_QUERY_CHARS:
        notes.append(f"only the first {MAX_QUERY_CHARS} characters of the query were read")
    asked = clean_text(text[:MAX_QUERY_CHARS], MAX_QUERY_CHARS)
    selected: list[str] = []
    needs: list[Need] = []
    for part in _parts(asked):
        select = _SELECT.match(part)
        if select:
            selected.extend(_names(part[select.end() :]))
        elif need := _need(part):
            needs.append(need)
    selected = list(dict.fromkeys(selected))
    needs = list(dict.fromkeys(needs))
    if len(selected) > MAX_SELECTED:
        notes.append(f"only the first {MAX_SELECTED} names were looked up")
    if len(needs) > MAX_NEEDS:
        notes.append(f"only the first {MAX_NEEDS} needs were searched")
    return Query(
        text=clean_line(asked, MAX_QUERY_CHARS),
        selected=tuple(selected[:MAX_SELECTED]),
        needs=tuple(needs[:MAX_NEEDS]),
        notes=tuple(notes),
    )


def _parts(text: str) -> list[str]:
    """The text at its `;`; a text that is a pattern as a whole stays one part."""
    if _PATTERN.fullmatch(text):
        return [text]
    return [part.strip() for part in _NEED_ENDS.split(text)]


def _names(text: str) -> list[str]:
    """Names after `select:`: parted by commas, and by spaces where no comma is needed to tell them apart."""
    names: list[str] = []
    for piece in re.split("[,\uff0c\u3001]", text):
        name = piece.strip().strip("`'\"")
        # A raw tool name may hold spaces; several whole names without a comma do not share their dots.
        words = name.split()
        names.extend(words if len(words) > 1 and all("." in word for word in words) else [name])
    return [name[:_MAX_NAME_CHARS] for name in names if name]


def _need(part: str) -> Need | None:
    if pattern := _PATTERN.fullmatch(part):
        return Need(text=part, pattern=pattern[1])
    required = tuple(dict.fromkeys(_REQUIRED.findall(part)))
    words = clean_line(_REQUIRED.sub(r"\1", part), MAX_QUERY_CHARS)
    return Need(text=words, required=required) if any(char.isalnum() for char in words) else None
