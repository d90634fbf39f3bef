"""What is said to a client that asks for something else than our two tools, or asks one of them in a wrong way.

Enters: the name and arguments of a call. Leaves: text with the exact call to send instead. Functions of servers are no
tools of the front; a model that calls one directly gets the program that does the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from codemode.bindings.signature import signature
from codemode.catalog.snapshot import Catalog
from codemode.catalog.spec import Tool
from codemode.catalog.text import clean_line
from codemode.jsonvalue import Json
from codemode.prose.refusal import Marks

_MAX_VALUE_CHARS: Final = 400
_MAX_CALL_CHARS: Final = 2_000
_PREFIXES: Final = ("mcp__codemode__", "codemode__", "codemode.")


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectText:
    """The answer to a call of something that is no tool of ours; `shown` is what has its signature in it."""

    text: str
    shown: tuple[Tool, ...] = ()


def direct_call_answer(name: str, arguments: Mapping[str, Json], catalog: Catalog, marks: Marks) -> DirectText:
    """The program to send in place of a direct call."""
    asked = clean_line(name, 120)
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    found = catalog.find(name) or catalog.find(name.replace("__", ".", 1)) or _joined(name, catalog)
    if len(found) == 1:
        tool = found[0]
        return DirectText(
            text=(
                f"Nothing was called: `{asked}` is no tool here. It is a function that programs call. Send this:\n"
                f"execute(code={program_text(tool, arguments)!r})\n"
                f"{signature(tool, marks=marks(tool)).line}"
            ),
            shown=(tool,),
        )
    near = found[:5] or catalog.nearest(name)[:5]
    said = f" Did you mean {' or '.join(tool.short for tool in near)}?" if near else ""
    words = " ".join(clean_line(name, 80).replace(".", " ").replace("_", " ").split())
    return DirectText(
        text=(
            f"Nothing was called: there is no tool `{asked}`. This front has `tool_search` and `execute`.{said}\n"
            f'Next: tool_search(query="{words}")'
        )
    )


def wrong_arguments_answer(tool: str, problem: str) -> str:
    """The answer to a call of `tool_search` or `execute` with arguments that cannot be used."""
    right = _RIGHT_CALLS.get(tool, "")
    return f"Nothing was done: {clean_line(problem, 300)}.\nNext: {right}"


_RIGHT_CALLS: Final = {
    "tool_search": 'tool_search(query="words for what is needed")  # optional: limit=8, server="<one server>"',
    "execute": 'execute(code="<the whole program>")  # or execute(resume="<run id>"), without code',
}


def program_text(tool: Tool, arguments: Mapping[str, Json]) -> str:
    """One line of Python that makes the call."""
    python = {one.wire: one.python for one in signature(tool).parameters}
    parts = [f"{python.get(key, clean_line(key, 60))}={_literal(value)}" for key, value in arguments.items()]
    text = f"{tool.path}({', '.join(parts)})"
    return text if len(text) <= _MAX_CALL_CHARS else f"{tool.path}(...)"


def _literal(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= _MAX_VALUE_CHARS else "..."


def _joined(name: str, catalog: Catalog) -> tuple[Tool, ...]:
    """`github_list_issues` and `github-list-issues`: server and function joined by another mark."""
    plain = name.replace("-", "_")
    return tuple(tool for tool in catalog.tools if plain == f"{tool.module}_{tool.function}")
