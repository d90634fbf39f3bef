"""`codemode search`: what a model would get for a query.

Enters: a query and where to look. Leaves: the model's answer as text, or hits as JSON. Nothing is called.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from codemode.bindings.signature import signature
from codemode.catalog.spec import Tool
from codemode.cli.hosting import settled_host, unreachable
from codemode.cli.opening import read_config, run_async
from codemode.cli.output import OK, UNREACHABLE, print_json, print_text, tell_error
from codemode.discover import Answer
from codemode.host import HostSession
from codemode.jsonvalue import Json
from codemode.prose.search_answer import search_answer


def run_search(
    query: str, limit: int, detail: str, files: Sequence[Path] | None, catalogs: Sequence[Path] | None, *, as_json: bool
) -> int:
    """Search, print, and say whether there was anything to search: 3 when every configured server is down."""
    config = read_config(files, catalogs)

    async def work() -> int:
        async with settled_host(config, catalogs) as host:
            session = host.session(can_ask=True)
            answer = await session.tool_search(query, limit, mark=False)
            if as_json:
                print_json(_document(answer, session))
            else:
                print_text(_text(answer, session, detail))
            if not answer.catalog.tools and answer.unavailable:
                error = unreachable(answer.unavailable[0])
                tell_error(error.code, error.message)
                return UNREACHABLE
        return OK

    return run_async(work)


def _text(answer: Answer, session: HostSession, detail: str) -> str:
    if detail == "names" and answer.found.hits:
        return "\n".join(hit.tool.short for hit in answer.found.hits)
    if detail == "full" and answer.found.hits:
        return "\n\n".join(_full(hit.tool, session) for hit in answer.found.hits)
    return search_answer(answer, session.marks).text


def _full(tool: Tool, session: HostSession) -> str:
    known = signature(tool, marks=session.marks(tool))
    lines = [known.line, *(f"    {line}" for line in tool.spec.description.splitlines())]
    for one in known.parameters:
        need = "required" if one.required else "optional"
        lines.append(f"    {one.python} ({one.type}, {need}){f': {one.description}' if one.description else ''}")
    return "\n".join([*lines, *(f"    Note: {note}" for note in known.notes)])


def _document(answer: Answer, session: HostSession) -> dict[str, Json]:
    found = answer.found
    notes = [*found.notes, *(f"nothing fits: {text}" for text in found.missed)]
    notes += [f"{item.name}: {item.reason}" for item in found.unknown]
    return {
        "hits": [
            {
                "id": str(hit.tool.spec.id),
                "server": hit.tool.spec.server,
                "tool": hit.tool.spec.name,
                "module": hit.tool.module,
                "function": hit.tool.function,
                "signature": signature(hit.tool, marks=session.marks(hit.tool)).line,
                "risk": hit.tool.effect,
                "score": hit.score,
            }
            for hit in found.hits
        ],
        "unavailable": [
            {"server": entry.id, "state": entry.state, "reason": entry.reason} for entry in answer.unavailable
        ],
        "note": "; ".join(notes),
    }
