"""What everybody else sees of one server: its listing, its state with a reason, and when it may be tried again.

Enters: what the owner task reports. Leaves: an immutable `Listing` at any moment, and a wake-up on each change.
It never touches a connection.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace

import anyio
import anyio.to_thread
from mcp.shared.inbound import find_invalid_x_mcp_header
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from codemode.catalog.build import build_listing
from codemode.catalog.spec import Listing, Quarantined, ServerState
from codemode.config.model import ServerConfig
from codemode.errors import CodemodeError, ConfigError
from codemode.upstream.cache import KnownListing
from codemode.upstream.connection import Connection
from codemode.upstream.result import quote

_BACKOFF_S = (0.0, 0.0, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Seconds before the next try after so many failures in a row (chosen: one immediate retry, then politely slower)."""

_QUICK_ENDS = 3  # chosen: a crash or two while somebody tries things out cost no wait
_QUICK_S = 10.0  # chosen: more ends within this time are a habit
_PACE_S = 1.0  # chosen: below `_PATIENCE_S` of `server.py`, so that calls wait for the start and are not refused


class Standing:
    """State, listing and back-off of one server."""

    def __init__(self, entry: ServerConfig, on_change: Callable[[], None]) -> None:
        self.entry = entry
        self.listing = Listing(server=entry.name, state="stopped", description=entry.description)
        self.known: KnownListing | None = None
        self.error: CodemodeError | None = None
        self.failures = 0
        self.changed = anyio.Event()
        """Set, and replaced by a fresh one, on the next change."""
        self._next_try = 0.0
        self._ends: deque[float] = deque(maxlen=_QUICK_ENDS + 1)
        self._on_change = on_change

    @property
    def is_usable(self) -> bool:
        """Whether this entry can be started at all."""
        return not self.entry.problem and not self.entry.is_disabled

    @property
    def is_starting(self) -> bool:
        """Whether a start is under way or ordered."""
        return self.listing.state == "starting"

    def wait_s(self) -> float:
        """Seconds until the next try is allowed."""
        return max(0.0, self._next_try - anyio.current_time()) if self.failures else 0.0

    async def prepare(self, known: KnownListing | None) -> None:
        """Set the listing that is there before anything runs."""
        if self.entry.problem:
            self.error = ConfigError(self.entry.problem, code="config.server", details={"server": self.entry.name})
            await self._show("failed", self.entry.problem)
        elif self.entry.is_disabled:
            await self._show("stopped", "disabled in the configuration")
        else:
            self.known = known
            await self._show("cached" if known else "stopped", "starts on first use")

    def starting(self) -> None:
        """A start has been ordered."""
        self.listing = replace(self.listing, state="starting", reason="starting")
        self.notify()

    async def ready(self, connection: Connection) -> None:
        """The server is up, or has listed again."""
        self.known = KnownListing(
            tools=connection.tools,
            protocol=connection.protocol,
            instructions=connection.instructions,
            saved_at=time.time(),
            ttl_s=connection.ttl_s,
            era_since=connection.era_since,
        )
        await self._show("ready", "", is_new=True)

    async def ended(self, *, was_ready: bool) -> None:
        """The server is down: it ended, or never came up; `error` says why.

        One that answers a call and ends, again and again, never fails in a row; its starts are paced all the same.
        """
        now = anyio.current_time()
        self._ends.append(now)
        self.failures += 1
        pause_s = _BACKOFF_S[min(self.failures, len(_BACKOFF_S) - 1)]
        if len(self._ends) > _QUICK_ENDS and now - self._ends[0] < _QUICK_S:
            pause_s = max(pause_s, _PACE_S)
        self._next_try = now + pause_s
        error = self.error
        reason = error.message if error else f"`{self.entry.name}` ended"
        if error is not None and error.code == "upstream.sign_in":
            await self._show("sign_in", reason)
        elif was_ready:
            again = "is tried" if self.entry.transport == "http" else "starts"
            await self._show("cached", f"{reason}; it {again} again on the next call")
        else:
            await self._show("failed", reason)

    async def resting(self, limit_s: float) -> None:
        """The server was stopped because nobody used it; that is no failure."""
        await self._show("cached", f"stopped after {limit_s:g} s without a call; it starts again on the next call")

    async def stopped(self) -> None:
        """The host is closing."""
        await self._show("stopped", "stopped")

    def notify(self) -> None:
        """Wake whoever waits for a change."""
        changed, self.changed = self.changed, anyio.Event()
        changed.set()
        self._on_change()

    async def _show(self, state: ServerState, reason: str, *, is_new: bool = False) -> None:
        if is_new or self.known is None or not self.listing.tools:
            # Normalising a listing of hundreds of tools takes a while; the event loop goes on meanwhile.
            self.listing = await anyio.to_thread.run_sync(_build, self.entry, self.known, state, reason)
        else:
            self.listing = replace(self.listing, state=state, reason=reason)
        self.notify()


def _build(entry: ServerConfig, known: KnownListing | None, state: ServerState, reason: str) -> Listing:
    listing = build_listing(
        entry.name,
        known.tools if known else (),
        state=state,
        reason=reason,
        protocol=known.protocol if known else "",
        instructions=known.instructions if known else "",
        description=entry.description,
        allowed=entry.allowed_tools,
        disabled=entry.disabled_tools,
    )
    if known is None or known.protocol not in MODERN_PROTOCOL_VERSIONS:
        return listing
    return _without_bad_headers(listing)


def _without_bad_headers(listing: Listing) -> Listing:
    """Hold back tools whose `x-mcp-header` annotations are invalid, as a client of 2026-07-28 must."""
    bad: list[Quarantined] = []
    for tool in listing.tools:
        reason = find_invalid_x_mcp_header(tool.input_schema)
        if reason is not None:
            bad.append(Quarantined(server=listing.server, tool=tool.name, reason=quote(reason, limit=200)))
    if not bad:
        return listing
    names = {item.tool for item in bad}
    kept = tuple(tool for tool in listing.tools if tool.name not in names)
    return replace(listing, tools=kept, quarantined=(*listing.quarantined, *bad))
