"""The last known listing of each server on disk, so that the first description is there before any server is.

Enters: a server entry as it was written (`${VAR}` is text), the principal, raw definitions. Leaves: the same, later.
The key is a digest of entry and principal: a changed entry, or another person, never sees an old listing. Files are
0600 in a 0700 folder. A damaged or foreign file is ignored with a log line, never fatal.
`ttlMs` of a listing (MCP 2026-07-28) shortens how long it counts as fresh. `cacheScope` needs no more: nothing is
shared between principals, not even what a server calls public.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from codemode.config.model import ServerConfig
from codemode.jsonvalue import Json, as_text, digest, is_object
from codemode.upstream.logfile import open_folder

_log = logging.getLogger(__name__)

_VERSION = 1
_FRESH_S = 24 * 3600.0  # chosen: a listing older than a day is read again in the background
_ERA_S = 7 * 24 * 3600.0  # chosen: the wait for a server that ignores the probe (10 s) then comes once a week
_MAX_BYTES = 64 << 20  # chosen: the largest real listing seen is 0.6 MB


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownListing:
    """What a server listed last. `saved_at` and `era_since` are Unix times in seconds.

    `ttl_s`: how long it holds by the server's own word, 0 without one. `era_since`: when `protocol` was negotiated.
    """

    tools: tuple[Json, ...]
    protocol: str = ""
    instructions: str = ""
    saved_at: float = 0.0
    ttl_s: float = 0.0
    era_since: float = 0.0

    def is_fresh(self, now_s: float) -> bool:
        """Whether it may stand without a new one being read."""
        return 0 <= now_s - self.saved_at < (min(self.ttl_s, _FRESH_S) if self.ttl_s else _FRESH_S)

    def era(self, now_s: float) -> str:
        """The protocol version to begin with, "" when it has been remembered for too long: servers are upgraded."""
        return self.protocol if 0 <= now_s - self.era_since < _ERA_S else ""


@dataclass(frozen=True, slots=True)
class ListingCache:
    """The folder of listings for one principal. All methods block: call them in a worker thread."""

    folder: Path
    principal: str = ""

    def load(self, server: ServerConfig) -> KnownListing | None:
        """The last listing, or None when there is none that can be used."""
        path = self._path(server)
        try:
            with open(path, "rb") as stream:
                raw = stream.read(_MAX_BYTES + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            _log.warning("the cached listing of %r cannot be read: %s", server.name, error.strerror)
            return None
        try:
            if len(raw) > _MAX_BYTES:
                raise ValueError("too large")
            value: Json = json.loads(raw)
            return _from_json(value)
        except (ValueError, RecursionError) as error:
            _log.warning("the cached listing of %r is damaged and ignored: %s", server.name, type(error).__name__)
            return None

    def save(self, server: ServerConfig, listing: KnownListing) -> None:
        """Keep a listing; a disk that is full or read-only costs the cache, not the server."""
        value: dict[str, Json] = {
            "version": _VERSION,
            "server": server.name,
            "saved_at": listing.saved_at or time.time(),
            "ttl_s": listing.ttl_s,
            "era_since": listing.era_since,
            "protocol": listing.protocol,
            "instructions": listing.instructions,
            "tools": list(listing.tools),
        }
        path = self._path(server)
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        try:
            data = json.dumps(value, separators=(",", ":")).encode("ascii")
            open_folder(self.folder)
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(handle, "wb") as stream:
                stream.write(data)
            temporary.replace(path)
        except (OSError, ValueError, RecursionError) as error:
            with contextlib.suppress(OSError):
                temporary.unlink()
            _log.warning("the listing of %r cannot be cached: %s", server.name, type(error).__name__)

    def _path(self, server: ServerConfig) -> Path:
        return self.folder / f"{entry_key(server, self.principal)}.json"


def entry_key(server: ServerConfig, principal: str) -> str:
    """A digest of what decides the listing: who asks, and the entry as it was written."""
    return digest(
        {
            "principal": hashlib.sha256(principal.encode("utf-8", "surrogatepass")).hexdigest(),
            "name": server.name,
            "transport": server.transport,
            "command": server.command,
            "args": list(server.args),
            "cwd": server.cwd,
            "env": _texts(server.env),
            "url": server.url,
            "headers": _texts(server.headers),
            "elicitation": server.may_ask,  # servers list other tools to clients that can be asked
            **({"headers_helper": server.headers_helper} if server.headers_helper else {}),
        }
    )


def _texts(values: Mapping[str, str]) -> dict[str, Json]:
    return dict(values)


def _from_json(value: Json) -> KnownListing | None:
    if not is_object(value) or value.get("version") != _VERSION:
        raise ValueError("another version")
    tools = value.get("tools")
    saved_at = value.get("saved_at")
    if not isinstance(tools, list) or isinstance(saved_at, bool) or not isinstance(saved_at, (int, float)):
        raise ValueError("a field is missing")
    return KnownListing(
        tools=tuple(tools),
        protocol=as_text(value.get("protocol")),
        instructions=as_text(value.get("instructions")),
        saved_at=float(saved_at),
        ttl_s=_seconds(value.get("ttl_s")),
        era_since=_seconds(value.get("era_since")),
    )


def _seconds(value: Json) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else 0.0
