"""The front over standard input and output.

Enters: lines of a client. Leaves: protocol lines on standard output, and nothing else: while this serves, file
descriptor 1 is standard error for everybody but the protocol, and descriptor 0 is empty.

The protocol library's own reader waits for a line in a thread that cannot be cancelled; this one can be ended at any
moment, so that an interrupt or a failed start does not hang until the client goes away.
"""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any, Final, cast

import anyio
import anyio.to_thread
from mcp.server import Server
from mcp.server.stdio import stdio_server

logger = logging.getLogger(__name__)

MAX_LINE_BYTES: Final = 64 << 20  # chosen: equal to one frame of the sandbox; a request is a program, 256 kB at most
_CHUNK: Final = 64 << 10
_SAFE_FD: Final = 3  # above standard input, output and error


async def serve_stdio(server: Server[Any]) -> None:
    """Serve the one client at the other end of standard input and output, until it goes away."""
    with _claimed() as (wire_in, wire_out):
        # The library reads and writes through these few methods only, whatever its annotation says.
        lines = cast("anyio.AsyncFile[str]", _Lines(wire_in))
        writer = cast("anyio.AsyncFile[str]", _Writer(wire_out))
        async with stdio_server(lines, writer) as (read_stream, write_stream):
            await server.run(read_stream, write_stream, server.create_initialization_options())


@contextmanager
def _claimed() -> Iterator[tuple[int, int]]:
    """Private copies of descriptors 0 and 1, which point to nothing and to standard error meanwhile."""
    wire_in = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, _SAFE_FD)
    wire_out = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, _SAFE_FD)
    nothing = os.open(os.devnull, os.O_RDONLY)
    try:
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        yield wire_in, wire_out
    finally:
        os.dup2(wire_in, 0)
        os.dup2(wire_out, 1)
        for descriptor in (nothing, wire_in, wire_out):
            os.close(descriptor)


class _Lines:
    """Lines of text from a descriptor, as an asynchronous iterator."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def __aiter__(self) -> AsyncIterator[str]:
        held = bytearray()
        while chunk := await self._read():
            held += chunk
            *lines, rest = held.split(b"\n") if b"\n" in chunk else [held]
            for line in lines:
                yield line.decode("utf-8", "replace")
            held = rest
            if len(held) > MAX_LINE_BYTES:
                logger.error("the client sent a line of more than %d bytes; the connection ends", MAX_LINE_BYTES)
                return

    async def _read(self) -> bytes:
        try:
            await anyio.wait_readable(self._descriptor)
        except PermissionError:
            pass  # a regular file: it is always readable, and cannot be waited for
        return os.read(self._descriptor, _CHUNK)


class _Writer:
    """Writes whole lines to a descriptor from a thread; a client that does not read holds up nothing else."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def write(self, text: str) -> None:
        """Write one protocol line."""
        await anyio.to_thread.run_sync(_write_all, self._descriptor, text.encode("utf-8"), abandon_on_cancel=True)

    async def flush(self) -> None:
        """Nothing is held back."""


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
