"""Starts every configured server at once, waits until each is up or has failed, and says how it went.

Enters: a `Config`, the environment, the folder of cached listings. Leaves: `ServerFacts` and the listings. Bounded by
the start time-outs; a server that hangs is reported and delays nobody. No tool is called; nothing is kept on disk.

Safety: what a server says is data. Its texts come bounded, printable and without the values of its entry from
`upstream`; arguments, headers, paths and queries of an entry are not shown at all.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import anyio.to_thread
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from codemode.catalog.spec import Listing
from codemode.config.circular import CIRCULAR, starts_itself
from codemode.config.model import Config, ServerConfig
from codemode.doctor.advice import advise
from codemode.doctor.report import Auth, Era, Held, ServerFacts, ServerState
from codemode.upstream.cache import KnownListing, ListingCache
from codemode.upstream.manager import Manager
from codemode.upstream.owner import tool_names
from codemode.upstream.result import quote
from codemode.upstream.server import ServerStatus

OUR_TOOLS = frozenset({"tool_search", "execute"})
_QUIET_S = 1.5  # chosen: servers that are up by then need no word
_ENDING_S = 15.0  # chosen: a server that hung is ended in two graces and four reaps before its failure is told
_SLOT_S = 5.0  # as `StartSlots`: at most this long do four slow starts keep the next four waiting
_SLOTS = 4
_SHOWN_HELD = 50
_STDERR_LINES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """What came of starting everything."""

    facts: tuple[ServerFacts, ...]
    listings: tuple[Listing, ...]
    names: Mapping[str, Collection[str]]
    """Server → raw names of its tools, for the servers that listed any."""


def _ignore(servers: Sequence[str]) -> None:
    """What is said while nobody listens."""


async def start_all(
    config: Config,
    *,
    environ: Mapping[str, str],
    cache_dir: Path,
    dumps: Sequence[Listing] = (),
    tell_waiting: Callable[[Sequence[str]], None] = _ignore,
) -> Started:
    """Start all servers that are not disabled and can be used.

    Raises:
        ConfigError: a dump has the name of a configured server.
    """
    circular = {entry.name for entry in config.servers if starts_itself(entry, config.files)}
    # A server that is required keeps a host from opening; here it is one of the facts.
    entries = tuple(replace(entry, is_required=False) for entry in config.servers)
    known = await anyio.to_thread.run_sync(_known, entries, cache_dir)
    async with Manager.open(
        replace(config, servers=entries), cache_dir=None, log_dir=None, dumps=dumps, environ=environ
    ) as manager:
        if not await manager.wait_ready(None, _QUIET_S):
            tell_waiting([item.server for item in manager.status() if item.state == "starting"])
            await manager.wait_ready(None, _bound_s(config))
        statuses, listings = manager.status(), manager.listings()
    facts = [
        _facts(entry, status, known.get(entry.name), is_circular=entry.name in circular)
        for entry, status in zip(config.servers, statuses, strict=True)
    ]
    facts.extend(_dumped(listing) for listing in dumps)
    return Started(
        facts=tuple(facts),
        listings=listings,
        names={item.server: item.names for item in statuses if item.state == "ready"},
    )


def _bound_s(config: Config) -> float:
    limits = [entry.start_timeout_s or config.start_timeout_s for entry in config.servers]
    return max(limits, default=0.0) + math.ceil(len(limits) / _SLOTS) * _SLOT_S + _ENDING_S


def _known(entries: Sequence[ServerConfig], cache_dir: Path) -> dict[str, KnownListing]:
    cache = ListingCache(cache_dir)
    found = {entry.name: cache.load(entry) for entry in entries if not entry.is_disabled and not entry.problem}
    return {name: listing for name, listing in found.items() if listing is not None}


def _facts(entry: ServerConfig, status: ServerStatus, known: KnownListing | None, *, is_circular: bool) -> ServerFacts:
    state = _state(entry, status, is_circular=is_circular)
    is_fine = state in ("ready", "disabled")
    facts = ServerFacts(
        server=entry.name,
        state=state,
        reason=CIRCULAR if is_circular else status.reason,
        code="config.server" if is_circular else status.code,
        is_required=entry.is_required,
        may_ask=entry.may_ask,
        start=how_started(entry),
        protocol=status.protocol,
        era=_era(status.protocol),
        tools=status.tools,
        listed=status.listed,
        held=tuple(Held(tool=item.tool, reason=item.reason) for item in status.quarantined[:_SHOWN_HELD]),
        passed_over=status.passed_over,
        auth=_auth(entry, state, has_credential=status.has_credential),
        is_nested=OUR_TOOLS.issubset(status.names),
        noise_lines=status.noise_lines,
        noise_samples=status.noise_samples,
        start_ms=status.start_ms,
        list_ms=status.list_ms,
        starts=status.starts,
        stderr=() if is_fine else status.stderr_tail[-_STDERR_LINES:],
        known=_difference(known, status) if not entry.is_disabled else "",
    )
    return replace(facts, todo=advise(facts, transport=entry.transport, hint=status.hint))


def _state(entry: ServerConfig, status: ServerStatus, *, is_circular: bool) -> ServerState:
    if entry.is_disabled:
        return "disabled"
    if is_circular:
        return "not_started"
    match status.state:
        case "cached":
            return "ended"  # no listing is read from disk here: it came up in this very process
        case "stopped":
            return "failed"
        case state:
            return state


def _era(protocol: str) -> Era:
    if protocol in MODERN_PROTOCOL_VERSIONS:
        return "modern"
    return "handshake" if protocol in HANDSHAKE_PROTOCOL_VERSIONS else ""


def _auth(entry: ServerConfig, state: ServerState, *, has_credential: bool) -> Auth:
    if state == "sign_in":
        return "refused"
    if entry.problem:
        return ""
    return "sent" if has_credential else "none"


def how_started(entry: ServerConfig) -> str:
    """The command without its arguments, or the host of a URL: the rest may hold a secret."""
    if entry.problem:
        return ""
    if entry.transport == "stdio":
        count = len(entry.args)
        arguments = f", {count} argument{'s' if count != 1 else ''}" if count else ""
        return f"process `{entry.command[:200]}`{arguments}"
    try:
        parts = urlsplit(entry.url)
        if "$" not in parts.netloc and parts.hostname:
            port = f":{parts.port}" if parts.port else ""
            return f"{parts.scheme}://{parts.hostname}{port}"
    except ValueError:  # a port that is none
        pass
    return "http, at an address that is not plain text"


def _difference(known: KnownListing | None, status: ServerStatus) -> str:
    """What a front, which shows the cached listing before its servers are up, has wrong."""
    if known is None:
        return ""
    if status.state != "ready":
        days = max(0.0, (time.time() - known.saved_at) / 86_400)
        return f"fronts still show {len(known.tools)} tools, listed {days:.1f} days ago"
    before, now = tool_names(known.tools), set(status.names)
    gone, new = len(before - now), len(now - before)
    return f"fronts know an older listing: {gone} tools gone, {new} new since" if gone or new else ""


def _dumped(listing: Listing) -> ServerFacts:
    return ServerFacts(
        server=listing.server,
        state="listing_only",
        reason=listing.reason,
        protocol=listing.protocol,
        era=_era(listing.protocol),
        tools=len(listing.tools),
        listed=len(listing.tools) + len(listing.quarantined),
        held=tuple(
            Held(tool=quote(item.tool), reason=quote(item.reason)) for item in listing.quarantined[:_SHOWN_HELD]
        ),
        is_nested=OUR_TOOLS.issubset(tool.name for tool in listing.tools),
    )
