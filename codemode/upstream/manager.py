"""All upstream servers of one host: starts them, lists them, calls them, ends them.

Enters: a `Config`. Leaves: listings at any moment, raw results, status. It is the only way to a server.
Servers with a recent cached listing start on first use; the others start in the background when it opens. Stopping is
bounded and leaves no process.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.to_thread

from codemode.catalog.spec import Listing
from codemode.config.model import Config, ServerConfig
from codemode.errors import CodemodeError, ConfigError
from codemode.jsonvalue import JsonObject
from codemode.upstream.asking import Asker
from codemode.upstream.cache import KnownListing, ListingCache
from codemode.upstream.clock import CallBounds
from codemode.upstream.connection import Connection, Progress
from codemode.upstream.logfile import open_folder
from codemode.upstream.owner import Shared
from codemode.upstream.process import Grace, open_guard
from codemode.upstream.result import RawResult, call_error
from codemode.upstream.server import Server, ServerStatus
from codemode.upstream.slots import StartSlots

_log = logging.getLogger(__name__)

_STOP_S = 12.0  # chosen: two graces and two reaps of `process.py`, with room


def _ignore() -> None:
    """What happens on a change when nobody wants to know."""


class Manager:
    """The open servers. Made by `Manager.open`."""

    def __init__(self, servers: Mapping[str, Server], dumps: Sequence[Listing], config: Config) -> None:
        self._servers = servers
        self._dumps = tuple(dumps)
        self._config = config
        self.generation = 0
        """Grows by one whenever a listing or a state changes."""

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        config: Config,
        *,
        cache_dir: Path | None,
        log_dir: Path | None,
        dumps: Sequence[Listing] = (),
        on_change: Callable[[], None] = _ignore,
        environ: Mapping[str, str] | None = None,
        principal: str = "",
        grace: Grace | None = None,
    ) -> AsyncIterator[Manager]:
        """All configured servers, coming up in the background; without the two folders nothing is read or left on disk.

        Raises:
            UpstreamError, ConfigError: a server that is `required` did not come up; the message names it.
            ConfigError: a dump has the name of a configured server.
        """
        _check_names(config, dumps)
        cache = ListingCache(cache_dir, principal) if cache_dir is not None else None
        known = await anyio.to_thread.run_sync(_load, cache, config.servers)
        await anyio.to_thread.run_sync(_open_folders, cache_dir, log_dir)
        servers: dict[str, Server] = {}
        manager = cls(servers, dumps, config)

        def changed() -> None:
            manager.generation += 1
            on_change()

        failure: Exception | None = None
        async with open_guard(is_needed=_has_processes(config)) as guard, anyio.create_task_group() as tasks:
            shared = Shared(
                config=config,
                environ=environ if environ is not None else dict(os.environ),
                guard=guard,
                slots=StartSlots(tasks),
                cache=cache,
                log_dir=log_dir,
                on_change=changed,
                grace=grace or Grace(),
            )
            for entry in config.servers:
                servers[entry.name] = Server(entry, shared)
                await servers[entry.name].standing.prepare(known.get(entry.name))
                tasks.start_soon(servers[entry.name].owner.run)
            try:
                manager._start_what_is_needed(known)
                await manager._check_required()
                yield manager
            except Exception as error:  # noqa: BLE001 (raised again below: a task group would wrap it)
                failure = error
            finally:
                with anyio.move_on_after(_STOP_S, shield=True):
                    await manager._stop()
                tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure

    def _start_what_is_needed(self, known: Mapping[str, KnownListing]) -> None:
        now_s = time.time()
        for name, server in self._servers.items():
            listing = known.get(name)
            if server.entry.is_required or listing is None or not listing.is_fresh(now_s):
                server.owner.want()

    async def _check_required(self) -> None:
        for server in self._servers.values():
            if server.entry.is_required and not server.entry.is_disabled:
                limit = server.entry.start_timeout_s or self._config.start_timeout_s
                try:
                    await server.connected(limit + 5.0)
                except CodemodeError as error:
                    raise type(error)(
                        f"the required server `{server.entry.name}` did not come up: {error.message}",
                        code=error.code,
                        hint_operator=error.hint_operator,
                        details=error.details,
                    ) from error

    async def _stop(self) -> None:
        for server in self._servers.values():
            server.owner.stop()
        for server in self._servers.values():
            await server.owner.over.wait()

    def listings(self) -> tuple[Listing, ...]:
        """What every server lists now, in configuration order; dumps last."""
        return (*(server.standing.listing for server in self._servers.values()), *self._dumps)

    def start(self, servers: Collection[str] | None = None) -> None:
        """Ask for servers, all by default, without waiting."""
        for name, server in self._servers.items():
            if servers is None or name in servers:
                server.owner.want()

    async def wait_ready(self, servers: Collection[str] | None, timeout_s: float) -> bool:
        """Wait until servers are up or have failed; with None, those that are under way. Whether all settled in time.

        Named servers are started when they are not up yet.
        """
        if servers is not None:
            self.start(servers)
        with anyio.move_on_after(timeout_s) as scope:
            for name, server in self._servers.items():
                if servers is None or name in servers:
                    await server.settled()
        return not scope.cancelled_caught

    async def call(
        self,
        server: str,
        tool: str,
        arguments: JsonObject,
        *,
        timeout_s: float | None = None,
        repeatable: bool = False,
        progress: Progress | None = None,
        asker: Asker | None = None,
    ) -> RawResult:
        """Call a tool, starting its server first when it is not up.

        `timeout_s` bounds everything, start included, but for the time that a person takes to answer what the server
        asks through `asker`; None is the configured limit. `repeatable`: the tool only reads,
        or doing it twice is the same as once; only then is a call whose answer was lost sent again (once).

        Raises:
            UpstreamError, ConfigError: `details["outcome"]` is "not_sent", "answered" or "unknown".
        """
        owner = self._server(server, tool)

        async def act(connection: Connection, bounds: CallBounds) -> RawResult:
            return await connection.call(tool, arguments, bounds, progress=progress, asker=asker)

        limit = timeout_s if timeout_s is not None else self._call_timeout_s(owner)
        return await owner.use(act, tool=tool, timeout_s=limit, repeatable=repeatable)

    async def read_resource(
        self, server: str, uri: str, *, timeout_s: float | None = None, asker: Asker | None = None
    ) -> RawResult:
        """Read a resource of a server; `content` of the result is the JSON array of its contents.

        Raises:
            UpstreamError, ConfigError: as for `call`; reading is always repeatable.
        """
        owner = self._server(server)

        async def act(connection: Connection, bounds: CallBounds) -> RawResult:
            return await connection.read_resource(uri, bounds, asker=asker)

        limit = timeout_s if timeout_s is not None else self._call_timeout_s(owner)
        return await owner.use(act, tool="", timeout_s=limit, repeatable=True)

    def _server(self, name: str, tool: str = "") -> Server:
        server = self._servers.get(name)
        if server is not None:
            return server
        if any(listing.server == name for listing in self._dumps):
            text = f"`{name}` is a listing from a file; there is nothing to call"
        else:
            text = f"there is no server `{name[:100]}`"
        raise call_error("upstream.unreachable", text, server=name, tool=tool, outcome="not_sent")

    def _call_timeout_s(self, server: Server) -> float:
        own = server.entry.call_timeout_s
        return own if own is not None else self._config.call_timeout_s

    def status(self) -> tuple[ServerStatus, ...]:
        """Facts about every configured server, in configuration order."""
        return tuple(server.status() for server in self._servers.values())


def _check_names(config: Config, dumps: Sequence[Listing]) -> None:
    for listing in dumps:
        if config.server(listing.server) is not None:
            text = f"the server `{listing.server}` is configured and also in a dump"
            raise ConfigError(text, code="config.server")


def _load(cache: ListingCache | None, entries: Sequence[ServerConfig]) -> dict[str, KnownListing]:
    if cache is None:
        return {}
    found = {entry.name: cache.load(entry) for entry in entries if not entry.problem and not entry.is_disabled}
    return {name: listing for name, listing in found.items() if listing is not None}


def _has_processes(config: Config) -> bool:
    return any(entry.transport == "stdio" and not entry.problem and not entry.is_disabled for entry in config.servers)


def _open_folders(*folders: Path | None) -> None:
    for folder in folders:
        try:
            if folder is not None:
                open_folder(folder)
        except OSError as error:
            _log.warning("%s cannot be made: %s", folder, error.strerror)  # costs the cache or the logs, nothing else
