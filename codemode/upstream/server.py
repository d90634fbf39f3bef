"""One server as its callers use it: waits for a connection, acts within one deadline, repeats only what it may.

Enters: calls from any task. Leaves: their results, or an `UpstreamError` whose details say whether anything may have
happened. A call is sent a second time at most once, and only when nothing can have happened or the caller says that
repeating is harmless.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import anyio
from mcp_types import HEADER_MISMATCH

from codemode.catalog.bounds import MAX_NAME_CHARS
from codemode.catalog.spec import Quarantined, ServerState
from codemode.config.model import ServerConfig
from codemode.errors import CodemodeError, ConfigError, UpstreamError
from codemode.upstream.clock import CallBounds
from codemode.upstream.connection import Connection
from codemode.upstream.credentials import has_credential
from codemode.upstream.owner import Owner, Shared, tool_names
from codemode.upstream.result import call_error, quote
from codemode.upstream.standing import Standing

_T = TypeVar("_T")

_PATIENCE_S = 3.0  # chosen: a call waits for a next try that is this near, and fails at once for a later one
_RETRYABLE = ("upstream.died", "upstream.unreachable", "upstream.timeout", "upstream.start")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerStatus:
    """One server as `doctor` and `catalog` show it.

    Texts that came from the server are cleaned of every value that its entry holds: people paste reports.

    Attributes:
        code, hint: the error code of the last failure and what to change, "" while there is none.
        listed: definitions the server lists, before patterns and quarantine; names: their raw names, bounded.
        has_credential: the entry gives the server something with a telling name.
        tools: how many of them can be used; quarantined: which are held back, and why.
        passed_over: what it offers beside tools and is not used, as in "prompts".
        pid: process id of a running stdio server, else 0.
        start_ms: how long the last successful start took, 0 before it; list_ms: the part of it that the listing took.
        starts: how many there were.
        noise_lines: lines on its stdout that were no message; noise_samples: the first few of them.
        stderr_tail: the last lines it wrote to stderr; log: the file with more of them.
    """

    server: str
    state: ServerState
    reason: str = ""
    code: str = ""
    hint: str = ""
    protocol: str = ""
    listed: int = 0
    names: tuple[str, ...] = ()
    tools: int = 0
    has_credential: bool = False
    quarantined: tuple[Quarantined, ...] = ()
    passed_over: tuple[str, ...] = ()
    pid: int = 0
    start_ms: int = 0
    list_ms: int = 0
    starts: int = 0
    noise_lines: int = 0
    noise_samples: tuple[str, ...] = ()
    stderr_tail: tuple[str, ...] = ()
    log: str = ""


class Server:
    """One configured server."""

    def __init__(self, entry: ServerConfig, shared: Shared) -> None:
        self.entry = entry
        self.standing = Standing(entry, shared.on_change)
        self.owner = Owner(entry, shared, self.standing)
        self._config = shared.config
        self._places = anyio.Semaphore(entry.in_flight or shared.config.server_in_flight)

    async def settled(self) -> None:
        """Wait until no start is under way."""
        while self.standing.is_starting:
            await self.standing.changed.wait()

    async def connected(self, timeout_s: float) -> Connection:
        """A live connection, after starting the server if need be.

        Raises:
            UpstreamError, ConfigError: it cannot be had now; nothing was sent.
        """
        deadline = anyio.current_time() + timeout_s
        standing, owner = self.standing, self.owner
        tried = owner.starts
        while True:
            connection = owner.connection
            if connection is not None and not connection.is_over():
                return connection
            if owner.is_stopping or not standing.is_usable:
                raise self._unavailable()
            if connection is None and not standing.is_starting:
                wait_s = standing.wait_s()
                if owner.starts > tried or wait_s > min(_PATIENCE_S, deadline - anyio.current_time()):
                    raise self._unavailable()
                await anyio.sleep(wait_s)
                owner.want()
                continue
            changed = standing.changed
            is_late = True
            with anyio.CancelScope(deadline=deadline):
                await changed.wait()
                is_late = False
            if is_late:
                raise call_error(
                    "upstream.starting",
                    f"`{self.entry.name}` is still starting after {timeout_s:.3g} s",
                    server=self.entry.name,
                    outcome="not_sent",
                    hint_model="do something else first, then call again",
                    retryable=True,
                )

    def _unavailable(self) -> CodemodeError:
        error = self.standing.error
        if isinstance(error, ConfigError):
            return ConfigError(
                error.message,
                code=error.code,
                hint_operator=error.hint_operator,
                details={**error.details, "server": self.entry.name, "outcome": "not_sent"},
            )
        text = error.message if error else f"`{self.entry.name}`: {self.standing.listing.reason or 'stopped'}"
        wait_s = self.standing.wait_s()
        if wait_s:
            text += f"; next try in {math.ceil(wait_s)} s"
        code = error.code if error else "upstream.unreachable"
        return call_error(
            code,
            text,
            server=self.entry.name,
            outcome="not_sent",
            hint_operator=error.hint_operator if error else "",
            retryable=code in _RETRYABLE,
        )

    async def use(
        self,
        act: Callable[[Connection, CallBounds], Awaitable[_T]],
        *,
        tool: str,
        timeout_s: float,
        repeatable: bool,
    ) -> _T:
        """Do something on a live connection, within one absolute deadline that counts waiting for a free place too.

        Raises:
            UpstreamError, ConfigError: `details["outcome"]` says whether anything may have happened.
        """
        deadline = anyio.current_time() + timeout_s
        has_place = False
        with anyio.CancelScope(deadline=deadline):
            await self._places.acquire()
            has_place = True
        if not has_place:
            raise self._busy(tool, timeout_s)
        try:
            return await self._act(act, tool, timeout_s, deadline, repeatable=repeatable)
        finally:
            self._places.release()

    async def _act(
        self,
        act: Callable[[Connection, CallBounds], Awaitable[_T]],
        tool: str,
        timeout_s: float,
        deadline: float,
        *,
        repeatable: bool,
    ) -> _T:
        idle_s = self.entry.idle_timeout_s
        if idle_s is None:
            idle_s = self._config.idle_timeout_s
        is_first = True
        while True:
            connection = await self.connected(max(0.0, deadline - anyio.current_time()))
            left_s = max(0.001, deadline - anyio.current_time())
            try:
                return await act(connection, CallBounds(timeout_s=left_s, idle_s=idle_s, shown_s=timeout_s))
            except UpstreamError as error:
                if not (is_first and await self._may_go_again(error, connection, deadline, repeatable=repeatable)):
                    raise self._final(error, tool) from error
            is_first = False

    def _busy(self, tool: str, timeout_s: float) -> UpstreamError:
        number = self.entry.in_flight or self._config.server_in_flight
        return call_error(
            "upstream.timeout",
            f"`{self.entry.name}` was busy for {timeout_s:.3g} s: {number} calls were under way all the time",
            server=self.entry.name,
            tool=tool,
            outcome="not_sent",
            hint_operator=f"raise `in_flight` of the server `{self.entry.name}` if it can do more at once",
            retryable=True,
        )

    async def _may_go_again(
        self, error: UpstreamError, connection: Connection, deadline: float, *, repeatable: bool
    ) -> bool:
        """Whether the same call may be sent once more; prepares for it."""
        is_gone = error.code == "upstream.unreachable" and error.details.get("outcome") == "not_sent"
        if error.code == "upstream.sign_in" or (is_gone and not connection.in_flight):
            # Over HTTP nothing else tells that a server went away; the next call connects anew.
            self.standing.error = error
            self.owner.leave()
            return False
        if error.details.get("rpc_code") == HEADER_MISMATCH and not error.details.get("is_later_round"):
            # 2026-07-28: refused because the listing we know is stale; nothing was executed.
            await self.owner.list_again(connection)
            return True
        if error.code != "upstream.died" or not (repeatable or error.details.get("outcome") == "not_sent"):
            return False
        with anyio.CancelScope(deadline=deadline):
            while connection.is_over() and self.owner.connection is connection:
                await self.standing.changed.wait()
        return True

    def _final(self, error: UpstreamError, tool: str) -> UpstreamError:
        if error.code != "upstream.died" or error.details.get("outcome") != "unknown":
            return error
        return call_error(
            "upstream.outcome_unknown",
            f"{error.message} after the call was sent: whether it happened is not known",
            server=self.entry.name,
            tool=tool,
            outcome="unknown",
            hint_model="look whether it happened before you send it again",
        )

    def status(self) -> ServerStatus:
        """The facts a person asks for."""
        attempt, listing, error = self.owner.attempt, self.standing.listing, self.standing.error
        log = attempt.log if attempt else None
        known = self.standing.known.tools if self.standing.known else ()
        clean = attempt.clean if attempt else str
        return ServerStatus(
            server=self.entry.name,
            state=listing.state,
            reason=clean(listing.reason),
            code=error.code if error else "",
            hint=error.hint_operator if error else "",
            protocol=listing.protocol,
            listed=len(known),
            names=tuple(quote(clean(name), limit=MAX_NAME_CHARS) for name in sorted(tool_names(known))),
            tools=len(listing.tools),
            has_credential=has_credential(self.entry),
            quarantined=tuple(
                replace(item, tool=quote(clean(item.tool), limit=MAX_NAME_CHARS), reason=quote(clean(item.reason)))
                for item in listing.quarantined
            ),
            passed_over=self.owner.passed_over,
            pid=attempt.pid if attempt and not attempt.ended.is_set() else 0,
            start_ms=self.owner.start_ms,
            list_ms=self.owner.list_ms,
            starts=self.owner.starts,
            noise_lines=attempt.noise.lines if attempt else 0,
            noise_samples=attempt.noise_samples() if attempt else (),
            stderr_tail=log.tail(clean) if log else (),
            log=str(log.path) if log and log.path else "",
        )
