"""Builds managers over odd servers, and looks at what their processes and logs say."""

import json
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from codemode.config.model import Config, ServerConfig
from codemode.errors import CodemodeError
from codemode.upstream.manager import Manager
from codemode.upstream.process import Grace
from codemode.upstream.result import RawResult

ODD_SERVER = Path(__file__).with_name("odd_server.py")
OBJECT = {"type": "object", "properties": {}}


def odd(name: str = "odd", *, entry: dict[str, Any] | None = None, **quirks: Any) -> ServerConfig:
    """A server with these quirks; `entry` sets other fields of its configuration."""
    args = (str(ODD_SERVER), json.dumps(quirks))
    return ServerConfig(name=name, command=sys.executable, args=args, **(entry or {}))


def tool(name: str, **more: Any) -> dict[str, Any]:
    """A raw definition."""
    return {"name": name, "description": "", "inputSchema": OBJECT, **more}


def text_of(result: RawResult) -> str:
    """The joined text of a result's blocks."""
    return "".join(block["text"] for block in json.loads(result.content))


def states(manager: Manager) -> dict[str, str]:
    """The state of every server."""
    return {listing.server: listing.state for listing in manager.listings()}


@asynccontextmanager
async def managed(
    folder: Path, *servers: ServerConfig, settings: dict[str, Any] | None = None, bound_s: float = 60, **options: Any
) -> AsyncIterator[Manager]:
    """A manager over servers; nothing in the block may take longer than `bound_s`."""
    config = Config(servers=servers, **{"start_timeout_s": 30.0, **(settings or {})})
    grace = Grace(eof_s=1.0, term_s=0.3)
    with anyio.fail_after(bound_s):
        async with Manager.open(
            config, **{"cache_dir": folder / "cache", "log_dir": folder / "log", "grace": grace, **options}
        ) as manager:
            yield manager


async def failure(
    manager: Manager, server: str, tool_name: str, arguments: Any = None, **options: Any
) -> CodemodeError:
    """The error that a call ends with."""
    try:
        result = await manager.call(server, tool_name, arguments or {}, **{"timeout_s": 20.0, **options})
    except CodemodeError as error:
        return error
    raise AssertionError(f"no error, but {result}")


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that is dead and not yet collected does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


async def until_dead(pids: Sequence[int]) -> None:
    """Wait for processes that somebody else ends."""
    while any(is_alive(pid) for pid in pids):
        await anyio.sleep(0.02)


async def until_said(log: Path, text: str) -> list[str]:
    """Wait until a server's own log has a line with this text; all its lines."""
    while True:
        lines = log.read_text().splitlines() if log.exists() else []
        if any(text in line for line in lines):
            return lines
        await anyio.sleep(0.01)
