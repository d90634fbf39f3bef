"""The owner task of one server: opens and closes every connection, notices the end, lists again on a notice.

Enters: wishes (`want`, `stop`). Leaves: a live `Connection` or an error in the server's `Standing`. At no time does a
server have more than one process tree: the next start waits until the last one is gone.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio
import anyio.to_thread

from codemode.config.model import Config, ServerConfig
from codemode.errors import CodemodeError
from codemode.jsonvalue import Json, as_text, is_object
from codemode.upstream.announcements import hear_changes
from codemode.upstream.cache import KnownListing, ListingCache
from codemode.upstream.connect import Attempt, connect
from codemode.upstream.connection import Connection
from codemode.upstream.process import Grace, Guard
from codemode.upstream.result import call_error, quote
from codemode.upstream.slots import StartSlots
from codemode.upstream.standing import Standing

_log = logging.getLogger(__name__)

_SETTLE_S = 0.25  # chosen: a hundred change notices within this time cost one listing
_LEAST_AGE_S = 60.0  # chosen: a listing that holds for a second is not read every second
_RELIST_S = 30.0  # chosen: as long as a slow server may take for its pages


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What all servers of one manager have in common. Without `cache` and `log_dir` nothing is left on the disk."""

    config: Config
    environ: Mapping[str, str]
    guard: Guard
    slots: StartSlots
    cache: ListingCache | None
    log_dir: Path | None
    on_change: Callable[[], None]
    grace: Grace = field(default_factory=Grace)


class Owner:
    """The one task that may open and close this server's connections."""

    def __init__(self, entry: ServerConfig, shared: Shared, standing: Standing) -> None:
        self.entry = entry
        self.connection: Connection | None = None
        self.attempt: Attempt | None = None
        self.starts = 0
        self.start_ms = 0
        self.list_ms = 0
        self.passed_over: tuple[str, ...] = ()
        self.is_stopping = False
        self.over = anyio.Event()
        """Set when the task has ended."""
        self._shared = shared
        self._standing = standing
        self._is_wanted = anyio.Event()
        self._leave = anyio.Event()
        self._tools_changed = anyio.Event()
        self._start_scope: anyio.CancelScope | None = None
        self._is_unused = False

    def want(self) -> None:
        """Ask for a start; no effect while the server is up, starting, or not to be tried again yet."""
        standing = self._standing
        is_idle = self.connection is None and not standing.is_starting and not self.is_stopping
        if standing.is_usable and is_idle and not standing.wait_s():
            standing.starting()
            self._is_wanted.set()

    def leave(self) -> None:
        """End the present connection; the next call starts a new one."""
        if self.attempt is not None:
            self.attempt.ended.set()  # nobody is to use it any more
        self._leave.set()

    def stop(self) -> None:
        """End the server and this task."""
        self.is_stopping = True
        self._is_wanted.set()
        self._leave.set()
        if self._start_scope is not None:
            self._start_scope.cancel()

    async def run(self) -> None:
        """Until `stop`: start whenever wanted, and stay with the connection."""
        try:
            while not self.is_stopping:
                await self._is_wanted.wait()
                if not self.is_stopping:
                    self._is_wanted = anyio.Event()
                    self._leave = anyio.Event()
                    await self._live()
            if self._standing.is_usable:
                await self._standing.stopped()
        finally:
            self.over.set()

    async def _live(self) -> None:
        """One life of the server: up to its end or its failure."""
        limit = self.entry.start_timeout_s or self._shared.config.start_timeout_s
        attempt = self.attempt = Attempt(self.entry, self._shared.environ, self._shared.log_dir)
        standing = self._standing
        standing.error = None
        was_ready = self._is_unused = False
        try:
            with anyio.CancelScope() as scope:
                self._start_scope = scope
                release = await self._shared.slots.take()
                try:
                    began = anyio.current_time()
                    scope.deadline = began + limit
                    self.starts += 1
                    async with self._connect(attempt) as connection:
                        scope.deadline = math.inf
                        self._start_scope = None
                        release()
                        was_ready = True
                        self.start_ms = round((anyio.current_time() - began) * 1000)
                        self.list_ms = connection.list_ms
                        self.passed_over = connection.passed_over
                        await self._stay(connection, attempt)
                finally:
                    release()
            if scope.cancelled_caught:
                text = f"{attempt.named()} did not come up in {limit:g} s{attempt.circumstances(was_ended=True)}"
                standing.error = call_error("upstream.timeout", text, server=self.entry.name, outcome="not_sent")
        except CodemodeError as error:
            standing.error = standing.error or error
        finally:
            self._start_scope = None
            self.connection = None
        if self._is_unused and not self.is_stopping:
            await standing.resting(self._stop_unused_s())
            return
        if was_ready and standing.error is None:
            standing.error = attempt.end_error()  # only now is its exit code known, and its last words are read
        if not self.is_stopping:
            await standing.ended(was_ready=was_ready)
            _log.warning("%s", standing.listing.reason)

    def _connect(self, attempt: Attempt) -> AbstractAsyncContextManager[Connection]:
        return connect(
            attempt,
            config=self._shared.config,
            guard=self._shared.guard,
            grace=self._shared.grace,
            known=self._standing.known,
            on_tools_changed=self._tools_have_changed,
        )

    async def _stay(self, connection: Connection, attempt: Attempt) -> None:
        """Stay with a connection until it ends or is to end."""
        self.connection = connection  # before anybody is woken: who waits for "ready" looks here
        await self._publish(connection)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._follow_end, attempt)
            tasks.start_soon(self._follow_tools, connection)
            tasks.start_soon(hear_changes, connection, self._tools_have_changed)
            tasks.start_soon(self._follow_use, connection)
            tasks.start_soon(self._follow_age, connection)
            await self._leave.wait()
            tasks.cancel_scope.cancel()
        if connection.answered:
            self._standing.failures = 0

    async def _follow_end(self, attempt: Attempt) -> None:
        await attempt.ended.wait()
        self._leave.set()

    async def _follow_age(self, connection: Connection) -> None:
        """List again whenever the listing no longer holds by the server's own word; most give none."""
        while connection.ttl_s:
            await anyio.sleep(max(connection.ttl_s, _LEAST_AGE_S))
            await self.list_again(connection)

    def _stop_unused_s(self) -> float:
        own = self.entry.stop_unused_s
        return own if own is not None else self._shared.config.stop_unused_s

    async def _follow_use(self, connection: Connection) -> None:
        """Leave a connection that nobody has used for so long; never one with a call under way."""
        limit_s = self._stop_unused_s()
        while limit_s:
            unused_s = 0.0 if connection.in_flight else anyio.current_time() - connection.last_used
            if unused_s >= limit_s:
                self._is_unused = True
                self.leave()
                return
            await anyio.sleep(limit_s - unused_s)

    def _tools_have_changed(self) -> None:
        self._tools_changed.set()

    async def _follow_tools(self, connection: Connection) -> None:
        while True:
            await self._tools_changed.wait()
            await anyio.sleep(_SETTLE_S)
            self._tools_changed = anyio.Event()
            await self.list_again(connection)

    async def list_again(self, connection: Connection) -> None:
        """Read the listing again; one that fails leaves the old one in force."""
        try:
            with anyio.fail_after(_RELIST_S):
                tools = await connection.list_tools()
        except (CodemodeError, TimeoutError) as error:
            _log.warning("the tools of `%s` could not be listed again: %s", self.entry.name, error)
            return
        if self.connection is not connection:
            return
        if tools == connection.tools:
            await self._keep(replace(known, saved_at=time.time()) if (known := self._standing.known) else None)
            return
        _log_change(self.entry.name, connection.tools, tools)
        connection.tools = tools
        await self._publish(connection)

    async def _publish(self, connection: Connection) -> None:
        await self._standing.ready(connection)
        await self._keep(self._standing.known)

    async def _keep(self, known: KnownListing | None) -> None:
        self._standing.known = known
        if known is not None and self._shared.cache is not None:
            await anyio.to_thread.run_sync(self._shared.cache.save, self.entry, known)


def _log_change(server: str, before: tuple[Json, ...], after: tuple[Json, ...]) -> None:
    old, new = tool_names(before), tool_names(after)
    gone, come = sorted(old - new), sorted(new - old)
    _log.info(
        "the tools of `%s` changed: %d gone (%s), %d new (%s)",
        server,
        len(gone),
        quote(", ".join(gone[:5]), limit=200),
        len(come),
        quote(", ".join(come[:5]), limit=200),
    )


def tool_names(tools: tuple[Json, ...]) -> set[str]:
    """The raw names in a listing."""
    return {as_text(tool.get("name")) for tool in tools if is_object(tool)}
