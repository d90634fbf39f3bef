"""A host with twenty servers of which seven misbehave, and those who keep calling the seven meanwhile."""

import json
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from codemode import Host, load_config
from codemode.errors import CodemodeError
from codemode.runs.outcome import RunOutcome
from tests.support.upstream import ODD_SERVER

GOOD = tuple(f"good_{number:02}" for number in range(13))
PROGRAMS = 8
_READ = {"readOnlyHint": True}
_EMPTY: dict[str, Any] = {"type": "object", "properties": {}}
_ECHO = {"type": "object", "properties": {"n": {"type": "string"}}, "required": ["n"]}

_NO_ANSWER = '{"jsonrpc":"2.0","id":%ID%,"result":[]}'
_OF_ANOTHER = '{"jsonrpc":"2.0","id":987654,"result":{"content":[]}}'
_TWICE = '{"jsonrpc":"2.0","id":%ID%,"result":{"content":[{"type":"text","text":"again"}]}}'


def _tool(name: str, schema: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"name": name, "description": name, "inputSchema": schema or _EMPTY, "annotations": _READ}


def bad_servers(folder: Path) -> dict[str, dict[str, Any]]:
    """Quirks by server name; `use` is the tool that is called again and again. Names are those of `USUAL_END`."""
    noise = ["e29ca8205365727665", "6e756c6c", "5b312c20325d", "ff" * 40, "7b226c6576656c223a22696e666f227d"]
    return {
        "slow": {"tools": [_tool("use")], "gate": str(folder / "never")},
        "stillborn": {"die_at_start": True, "last_words": "no licence"},
        "dying": {"tools": [_tool("use")], "acts": {"use": "die"}},
        "short_lived": {"tools": [_tool("use")], "exit_after_calls": 1},
        "hanging": {"tools": [_tool("use")], "acts": {"use": "hang"}},
        "noisy": {"tools": [_tool("use")], "noise": noise * 20, "before": noise, "stderr_bytes": 5_000_000},
        "lying": {
            "tools": [_tool("use"), {"name": "use"}, {"name": ""}, 7],
            "lines": {"use": f'{_OF_ANOTHER}\n{_NO_ANSWER}\n{_TWICE}\n{{"jsonrpc":"2.0","id":%ID%,'},
        },
    }


def calm_servers() -> dict[str, dict[str, Any]]:
    """The same number of servers that behave, for comparison."""
    return {f"calm_{number}": {"tools": [_tool("use")]} for number in range(7)}


@asynccontextmanager
async def opened(folder: Path, others: dict[str, dict[str, Any]]) -> AsyncIterator[Host]:
    """A host whose good servers are up; each good server writes what it receives to `NAME.seen`."""
    entries: dict[str, Any] = {}
    for name in GOOD:
        quirks = {"tools": [_tool("echo", _ECHO)], "acts": {"echo": "echo"}, "log": str(folder / f"{name}.seen")}
        entries[name] = _entry(quirks)
    for name, quirks in others.items():
        entries[name] = _entry(quirks)
    file = folder / "mcp.json"
    file.write_text(json.dumps({"mcpServers": entries, "codemode": {"gate": "open"}}))
    async with Host.open(load_config(file), state_dir=folder / "state") as host:
        await host.wait_ready(GOOD, 60)
        yield host


def _entry(quirks: dict[str, Any]) -> dict[str, Any]:
    return {"command": sys.executable, "args": [str(ODD_SERVER), json.dumps(quirks)]}


async def run_programs(host: Host, rounds: int) -> list[RunOutcome]:
    """Eight sessions run one program each at once; each calls every good server `rounds` times."""
    outcomes: list[RunOutcome] = []

    async def run(program: int) -> None:
        calls = "\n".join(
            f"    n = f'{program}-{{r}}-{name}'\n    assert tools.{name}.echo(n=n) == {{'n': n}}\n    done += 1"
            for name in GOOD
        )
        source = f"done = 0\nfor r in range({rounds}):\n{calls}\ndone"
        outcomes.append(await host.session().execute(source, wait_s=80.0))

    async with anyio.create_task_group() as tasks:
        for program in range(PROGRAMS):
            tasks.start_soon(run, program)
    return outcomes


USUAL_END = {
    "slow": "upstream.starting",
    "stillborn": "upstream.start",
    "dying": "upstream.outcome_unknown",
    "short_lived": "answered",
    "hanging": "upstream.timeout",
    "noisy": "answered",
    "lying": "upstream.protocol",
}
"""How a call of each bad server ends once it is up; while it is starting, and between two lives, it ends otherwise."""


async def disturb(host: Host, until: anyio.Event) -> Counter[tuple[str, str]]:
    """Call the bad servers until told to stop, and each until it has misbehaved in its own way; how the calls ended."""
    ends: Counter[tuple[str, str]] = Counter()

    async def keep_calling(server: str) -> None:
        while not (until.is_set() and ends[server, USUAL_END[server]]):
            try:
                await host.manager.call(server, "use", {}, timeout_s=0.5)
                ends[server, "answered"] += 1
            except CodemodeError as error:
                ends[server, error.code] += 1
            await anyio.sleep(0.02)

    async with anyio.create_task_group() as tasks:
        for server in USUAL_END:
            tasks.start_soon(keep_calling, server)
    return ends
