"""`codemode serve`: the MCP front, over stdio or loopback HTTP, until the client goes away or a signal comes.

Enters: configuration. Leaves: an exit code. The front answers while the host is still being opened: what the first
answers do not need is imported and started beside them.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from mcp.server import Server

from codemode.catalog.names import module_names
from codemode.cli.opening import read_config, run_async
from codemode.cli.output import OK, tell
from codemode.config.model import Config
from codemode.errors import ConfigError
from codemode.server.app import Front
from codemode.server.ports import FrontHost, HostSlot
from codemode.server.stdio import serve_stdio
from codemode.upstream.environment import served_above


def run_serve(
    http: str, files: Sequence[Path] | None, catalogs: Sequence[Path] | None, *, gate: str, approve: str
) -> int:
    """Serve until the end.

    Raises:
        ConfigError: the configuration, a dump or the address cannot be used.
        UpstreamError: a required server did not come up.
    """
    config = read_config(files, catalogs, gate=gate, approve=approve)
    if file := served_above(os.environ, config.files):
        raise ConfigError(
            f"{file}: a front that serves this file started this one: one of its servers starts codemode over it again",
            hint_operator="remove the entry that starts `codemode serve`, or give it a configuration of its own",
        )
    listen = _http(http) if http else serve_stdio
    if not http and sys.stdin.isatty():
        tell("speaking MCP on standard input and output: a client starts this, not a person (`codemode demo` shows it)")
    return run_async(lambda: _serve(config, tuple(catalogs or ()), listen, is_http=bool(http)))


async def _serve(
    config: Config, catalogs: Sequence[Path], listen: Callable[[Server[Any]], Awaitable[None]], *, is_http: bool
) -> int:
    slot = HostSlot(lambda: _open(config, catalogs))
    names = module_names(entry.name for entry in config.servers if not entry.is_disabled)
    server = Front(slot, is_local=not is_http).server(sorted(names.values()))
    async with anyio.create_task_group() as group:
        group.start_soon(slot.own)
        await listen(server)
        slot.close()
    return OK


@asynccontextmanager
async def _open(config: Config, catalogs: Sequence[Path]) -> AsyncIterator[FrontHost]:
    """A host; its module is imported in a thread, so that the front can answer meanwhile."""
    module = await anyio.to_thread.run_sync(import_module, "codemode.host")
    async with module.Host.open(config, catalogs=catalogs) as host:
        gc.freeze()
        gc.enable()
        yield host


def _http(address: str) -> Callable[[Server[Any]], Awaitable[None]]:
    """How to serve HTTP at an address; the address is taken now, so that a mistake is told at once.

    Raises:
        ConfigError: the address cannot be used.
    """
    http = import_module("codemode.server.http")  # it brings a web server along that stdio does not need
    listener, host = http.bind(address)

    async def listen(server: Server[Any]) -> None:
        front = http.HttpFront(server, listener, host)
        tell(f"serving {front.url}")
        try:
            await front.serve()
        finally:
            front.stop()

    return listen
