"""A child process and our ends of its pipes, started and waited for without stopping the event loop.

Enters: a command, as `subprocess` takes it. Leaves: a `Child`, which leads a session of its own. Whoever starts one
ends it, waits for it and closes its pipes.
The start runs in a worker thread, and no thread waits for the end: asyncio's subprocesses start a thread for each child
and stop the loop until it runs, beside the fork itself (measured: 47 ms for each start of a server on a busy machine).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

import anyio
import anyio.to_thread

_POLL_S = 0.01
_SMALL = 64 * 1024  # measured: a larger buffer is a fresh mapping for each message
_LARGE = 1 << 20  # as large as the widest pipe


class ReadEnd:
    """Our end of a pipe that a child writes to. For one reader at a time."""

    def __init__(self, file: IO[bytes]) -> None:
        os.set_blocking(file.fileno(), False)
        self._file = file
        self._size = _SMALL

    def fileno(self) -> int:
        """The descriptor, while the pipe is open."""
        return self._file.fileno()

    async def receive(self) -> bytes:
        """What there is, at least one byte.

        Raises:
            EndOfStream: nobody has the other end any more.
            ClosedResourceError: we have closed ours.
        """
        while True:
            if self._file.closed:
                raise anyio.ClosedResourceError
            await anyio.wait_readable(self._file.fileno())
            try:
                data = os.read(self._file.fileno(), self._size)
            except BlockingIOError:
                continue
            if not data:
                raise anyio.EndOfStream
            self._size = _LARGE if len(data) == self._size else _SMALL
            return data

    def close(self) -> None:
        """Close our end; who waits for it is told."""
        _close(self._file)


class WriteEnd:
    """Our end of a pipe that a child reads from. Several writers take turns."""

    def __init__(self, file: IO[bytes]) -> None:
        os.set_blocking(file.fileno(), False)
        self._file = file
        self._turn = anyio.Lock()

    async def send(self, data: bytes) -> None:
        """Write all of it; a cancelled write may have written a part.

        Raises:
            OSError: the child has closed its end.
            ClosedResourceError: we have closed ours.
        """
        async with self._turn:
            rest = memoryview(data)
            while rest:
                if self._file.closed:
                    raise anyio.ClosedResourceError
                try:
                    rest = rest[os.write(self._file.fileno(), rest) :]
                except BlockingIOError:
                    await anyio.wait_writable(self._file.fileno())

    def close(self) -> None:
        """Close our end; who waits for it is told."""
        _close(self._file)


def _close(file: IO[bytes]) -> None:
    if not file.closed:
        anyio.notify_closing(file.fileno())
        file.close()


class Child:
    """A started process. `stdin`, `stdout` and `stderr` are there where a pipe was asked for."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.pid = process.pid
        self.stdin = WriteEnd(process.stdin) if process.stdin else None
        self.stdout = ReadEnd(process.stdout) if process.stdout else None
        self.stderr = ReadEnd(process.stderr) if process.stderr else None

    @property
    def returncode(self) -> int | None:
        """The exit code, negative for a signal; None while it runs. Collects the process when it has ended."""
        return self._process.poll()

    async def ended_within(self, timeout_s: float) -> bool:
        """Whether the process ends in time; pipes that a grandchild holds open do not count."""
        with anyio.move_on_after(timeout_s):
            while self._process.poll() is None:
                await anyio.sleep(_POLL_S)
        return self._process.poll() is not None

    def kill(self) -> None:
        """Kill the process alone, without its group."""
        self._process.kill()

    def close(self) -> None:
        """Close our ends of all pipes."""
        for end in (self.stdin, self.stdout, self.stderr):
            if end is not None:
                end.close()


async def start_child(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path | None = None,
    stdin: int = subprocess.PIPE,
    stdout: int = subprocess.PIPE,
    stderr: int = subprocess.PIPE,
) -> Child:
    """Start a process in a session of its own. `stdin` and the others as `subprocess.Popen` takes them.

    Raises:
        OSError: the command does not exist or cannot be run, or the folder does not exist.
    """

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - the command is the user's own
            command, env=env, cwd=cwd, stdin=stdin, stdout=stdout, stderr=stderr, bufsize=0, start_new_session=True
        )

    with anyio.CancelScope(shield=True):  # nobody would know of a child whose start was given up half way
        process = await anyio.to_thread.run_sync(start)
    return Child(process)
