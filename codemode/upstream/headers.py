"""Runs the command of an HTTP entry that prints headers (`headersHelper`), anew for each connection.

Enters: an entry and our environment. Leaves: headers whose values are `Secret`, or a `ConfigError`. The command is the
user's own, as `command` of a stdio server is; it gets the same allow-listed environment and the entry's `env`.
Safety: what it prints is a secret: no part of it gets into a message. It ends with its whole group after `_LIMIT_S`.
Source of the key: Claude Code, `.mcp.json`.
"""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Iterable, Mapping

import anyio
import anyio.to_thread
import msgspec

from codemode.config.model import ServerConfig
from codemode.errors import ConfigError
from codemode.upstream.child import Child, start_child
from codemode.upstream.credentials import Secret, expand_variables
from codemode.upstream.environment import child_environment
from codemode.upstream.process import signal_group

_LIMIT_S = 10.0  # as Claude Code
_MAX_BYTES = 64 * 1024
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


async def printed_headers(
    server: ServerConfig, environ: Mapping[str, str], inherit: Iterable[str] = ()
) -> dict[str, Secret]:
    """The headers that the entry's `headersHelper` prints now.

    Raises:
        ConfigError: `config.server`: it failed, took too long, or printed something else.
    """
    own = await anyio.to_thread.run_sync(expand_variables, server, environ)
    environment = child_environment(environ, {name: value.reveal() for name, value in own.items()}, inherit=inherit)
    try:
        process = await start_child(
            ["/bin/sh", "-c", server.headers_helper],
            env=environment,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError as error:
        raise _error(server, f"cannot be run: {(error.strerror or type(error).__name__).lower()}") from error
    try:
        with anyio.move_on_after(_LIMIT_S):
            printed = await _read(process)
            if len(printed) > _MAX_BYTES:  # it may be waiting for somebody to read the rest
                raise _error(server, f"printed more than {_MAX_BYTES} bytes")
            if not await process.ended_within(_LIMIT_S) or process.returncode:
                raise _error(server, f"ended with exit code {process.returncode}")
            return _parse(server, printed)
        raise _error(server, f"printed no headers in {_LIMIT_S:g} s")
    finally:
        with anyio.CancelScope(shield=True):
            signal_group(process.pid, signal.SIGKILL)
            await process.ended_within(1.0)
            process.close()


async def _read(process: Child) -> bytes:
    assert process.stdout is not None
    parts: list[bytes] = []
    try:
        while sum(map(len, parts)) <= _MAX_BYTES:
            parts.append(await process.stdout.receive())
    except anyio.EndOfStream:
        pass
    return b"".join(parts)


def _parse(server: ServerConfig, printed: bytes) -> dict[str, Secret]:
    try:
        found = msgspec.json.decode(printed, type=dict[str, str])
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        raise _error(server, "printed no JSON object of strings") from None  # its text would be in the cause
    if not all(_NAME.fullmatch(name) for name in found):
        raise _error(server, "printed a name that is no header name")
    return {name: Secret(value) for name, value in found.items()}


def _error(server: ServerConfig, problem: str) -> ConfigError:
    return ConfigError(
        f"{server.source or 'configuration'}: `headersHelper` of the server `{server.name}` {problem}",
        code="config.server",
        hint_operator='run it by hand: it must print an object such as {"Authorization": "Bearer ..."}',
        details={"server": server.name, "key": "headersHelper"},
    )
