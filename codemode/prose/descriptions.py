"""The two tools of the front as a client lists them, and the front's own instructions.

Enters: an index, the limits in force. Leaves: names, titles, descriptions (each under 2,000 characters, because
clients cut longer ones), input schemas, annotations. Equal input gives equal bytes: clients cache what they see first.
What is promised here works; a feature that is not there is not named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from codemode.config.model import LimitSettings
from codemode.jsonvalue import Json

SEARCH: Final = "tool_search"
EXECUTE: Final = "execute"
DEFAULT_LIMIT: Final = 8
MAX_LIMIT: Final = 50
MAX_DESCRIPTION_CHARS: Final = 2_000  # measured: a common client cuts descriptions and instructions there
_MAX_SERVERS_NAMED: Final = 40
_MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolText:
    """One of our tools as it is listed. `annotations` has the keys of the MCP specification's ToolAnnotations."""

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Json]
    annotations: Mapping[str, bool]


def search_tool(index: str) -> ToolText:
    """`tool_search`, with the index of what there is in the description of `query`."""
    return ToolText(
        name=SEARCH,
        title="Find functions",
        description=_SEARCH_TEXT,
        input_schema={
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "description": f"What is needed, in words; `select:` with exact names; or empty.\n{index}",
                },
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MAX_LIMIT,
                    "default": DEFAULT_LIMIT,
                    "description": "How many functions at most.",
                },
                "server": {"type": "string", "default": "", "description": "Only functions of this server."},
            },
            "required": ["query"],
            "additionalProperties": False,
        },
        annotations={"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False},
    )


def execute_tool(limits: LimitSettings, packages: Sequence[str] = ()) -> ToolText:
    """`execute`, with the limits that a program has to live with and the packages that it may import."""
    return ToolText(
        name=EXECUTE,
        title="Run a program over tools",
        description=_EXECUTE_TEXT.format(
            output=f"{limits.output_tokens:,}",
            wall=f"{limits.wall_s:g}",
            cpu=f"{limits.cpu_s:g}",
            memory=f"{limits.memory_bytes // _MIB:,}",
            calls=f"{limits.calls:,}",
            writes=f"{limits.writes:,}",
            modules=", ".join((*packages, MODULES)),
            tables=_TABLES_TEXT if "pandas" in packages else "",
            kept=_kept(limits),
            no_files="" if limits.workspace_bytes else " no files,",
        ),
        input_schema={
            "type": "object",
            "properties": {
                "code": {"type": "string", "default": "", "description": "The whole program, as plain Python text."},
                "resume": {
                    "type": "string",
                    "default": "",
                    "description": "The id of an earlier run (`r3`, or `last`), without `code`.",
                },
            },
            "additionalProperties": False,
        },
        annotations={"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True},
    )


def _kept(limits: LimitSettings) -> str:
    """What outlives a program."""
    kept = []
    if limits.store_bytes:
        kept.append(f'`store["k"] = v` (copies as JSON, {_in_mib(limits.store_bytes)})')
    if limits.workspace_bytes:
        kept.append(f"files from `open()` ({_in_mib(limits.workspace_bytes)}, relative names)")
    return f"; {' and '.join(kept)} {'do' if len(kept) > 1 or limits.workspace_bytes else 'does'}" if kept else ""


def _in_mib(count: int) -> str:
    return f"{count / _MIB:,.3g} MiB" if count < 1_000 * _MIB else f"{count // _MIB:,} MiB"


def instructions(modules: Sequence[str]) -> str:
    """What the front says about itself when a client connects. `modules` are the servers' Python names."""
    named = ", ".join(sorted(modules)[:_MAX_SERVERS_NAMED])
    more = f" and {len(modules) - _MAX_SERVERS_NAMED} more" if len(modules) > _MAX_SERVERS_NAMED else ""
    behind = f"It reaches these servers: {named}{more}. " if modules else ""
    return _INSTRUCTIONS.format(behind=behind)


_SEARCH_TEXT: Final = """\
Find functions that programs sent to `execute` can call. Functions of the servers listed under `query` exist only \
there: they are no tools of yours, never call them directly.
- Words for one action: "create issue". Any language. Several needs at once: "list issues; send message; read sheet".
- Exact: "select:server.function,server.other". "+word" must be in the name. "/regex/" over names. Empty: all servers \
and their state.
Answers are Python signatures, ready to call. `-> ?` means the result's shape is not known. Marks behind `#`: `read`; \
`write` and `destructive` change something; `asks` waits for a person's approval; `denied` is refused.
Search once for everything the job needs; skip it for functions whose signature you already see. Use only names from \
here or from the index; a miss is said plainly."""

MODULES: Final = (
    "json, re, math, statistics, decimal, datetime, zoneinfo, time, random, itertools, functools, collections, string, "
    "textwrap, csv, difflib, base64, hashlib, uuid, urllib.parse, html, xml.etree.ElementTree, dataclasses, enum, "
    "typing, heapq, asyncio, concurrent.futures, threading"
)
"""Modules that programs use most, all of them on offer; a program that imports another one is told what there is."""

_EXECUTE_TEXT: Final = """\
Run one Python program that calls tools as functions: `tools.github.list_issues(repo="a/b")`, or \
`from tools.github import list_issues` (names are examples). Use keyword arguments.
Do the whole job in one program: loop, filter, join, count here; end with only the answer. Calls block and return \
values; in parallel with `ThreadPoolExecutor().map` or `await asyncio.gather(...)` at top level. A failed call raises \
ToolError; catch it to go on.
Comes back: prints, then the last expression{tables}, up to {output} tokens together. Variables do not survive the \
program{kept}.
Full Python 3 syntax; no network,{no_files} no installs. Importable: {modules} and more of that kind. Defined from the \
start: `tools`, `ToolError`, `help(tools.github)`.
Limits of one program: {wall} s, {cpu} s of processor time, {memory} MiB, {calls} calls, {writes} of them writes.
A function not yet shown to you is refused once, with its signature, before anything runs. `resume="<run id>"` without \
`code` then runs the same program; it also collects a program that still runs. A changed program is sent whole, as \
`code` alone.
Result shape unknown (`-> ?`)? Index plainly, not `.get(k, [])`: a KeyError shows the real shape."""

_TABLES_TEXT: Final = " (a DataFrame as its records)"

_INSTRUCTIONS: Final = """\
Come here for everything that other MCP servers can do: their functions are called from one Python program instead of \
one by one. {behind}`tool_search` finds functions and shows their signatures; `execute` runs a program that calls \
them, loops, filters, joins and counts, and brings back only the answer. Use it for a single call, for chains of \
calls, and for bulk work whose data should not pass through the conversation."""
