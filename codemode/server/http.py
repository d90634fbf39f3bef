"""The front over streamable HTTP, on a loopback address only: there is no authentication.

Enters: `HOST:PORT`. Leaves: a server at `http://HOST:PORT/mcp` until it is told to stop. The protocol library checks
the headers `Host` and `Origin`, so that a web page in a browser on the same machine cannot reach it.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import uvicorn
from mcp.server import Server

from codemode.errors import ConfigError

PATH: Final = "/mcp"
_MAX_BODY_BYTES: Final = 4 << 20  # given: the protocol library's own default; a program has 256 kB at most
_BACKLOG: Final = 128  # given: as many as asyncio lets wait; a web server raises it to its own figure
_MAX_SESSIONS: Final = 200  # chosen: clients of one person on one machine


class HttpFront:
    """A bound front; `url` is where clients find it."""

    def __init__(self, server: Server[Any], listener: socket.socket, host: str) -> None:
        port = listener.getsockname()[1]
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{port}{PATH}"
        app = server.streamable_http_app(
            streamable_http_path=PATH,
            host="127.0.0.1",  # any loopback name here turns on the library's check of `Host` and `Origin`
            max_request_body_size=_MAX_BODY_BYTES,
            max_sessions=_MAX_SESSIONS,
        )
        config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=2)
        self._listener = listener
        self._uvicorn = _Uvicorn(config)

    async def serve(self) -> None:
        """Serve until `stop`."""
        await self._uvicorn.serve(sockets=[self._listener])

    def stop(self) -> None:
        """Let `serve` end."""
        self._uvicorn.should_exit = True


class _Uvicorn(uvicorn.Server):
    """Without signal handlers of its own: whoever serves decides what a signal means."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def bind(address: str) -> tuple[socket.socket, str]:
    """A listening socket for `HOST:PORT`, and the host. Port 0 takes a free one.

    Raises:
        ConfigError: the address is none, is not a loopback address, or is in use.
    """
    host, colon, port_text = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or not port_text.isascii() or not port_text.isdigit() or int(port_text) > 65_535:
        raise ConfigError(
            f"`--http` wants HOST:PORT, got `{address[:100]}`", hint_operator="for example `--http 127.0.0.1:8900`"
        )
    if not _is_loopback(host):
        raise ConfigError(
            f"`--http {address[:100]}`: without authentication only a loopback address is served, got `{host[:80]}`",
            hint_operator="use 127.0.0.1, ::1 or localhost, and a tunnel or a proxy that authenticates in front of it",
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1" if host == "localhost" else host, int(port_text)))
        listener.listen(_BACKLOG)  # before the address is told: whoever connects at once waits, and is not refused
    except OSError as error:
        listener.close()
        reason = (error.strerror or type(error).__name__).lower()
        raise ConfigError(f"`--http {address[:100]}`: {reason}", hint_operator="choose another port") from error
    return listener, host


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
