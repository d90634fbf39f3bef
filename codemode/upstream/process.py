"""Starts a server in its own session and ends all of it: the process, its group, and what left the group.

Enters: an expanded `Launch`. Leaves: a running process with pipes. Every wait has a bound.
Order of ending (MCP specification, lifecycle): close stdin, wait, SIGTERM to the group, wait, SIGKILL to the group.
Whatever still carries this start's mark in its environment (a browser that a server detached) is ended the same way.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.to_thread

from codemode.upstream import guard
from codemode.upstream.child import Child, ReadEnd, start_child
from codemode.upstream.credentials import Launch

_log = logging.getLogger(__name__)

_POLL_S = 0.01
_PIPE_BYTES = 1 << 20
_SET_PIPE_SIZE: int | None = getattr(fcntl, "F_SETPIPE_SZ", None)  # Linux only
_REAP_S = 2.0  # chosen: the kernel ends a killed process at once, unless it hangs in a device


@dataclass(frozen=True, slots=True, kw_only=True)
class Grace:
    """How long each step of ending a server may take, in seconds."""

    eof_s: float = 2.0  # as the MCP SDK
    term_s: float = 2.0  # as the MCP SDK


class Guard:
    """The host's line to the guard process; without one, servers of a killed host may live on until they see EOF."""

    def __init__(self, process: Child | None = None) -> None:
        self._process = process

    async def note(self, group: int, mark: str) -> None:
        """Tell the guard about a group that now runs."""
        await self._write(f"+{group} {mark}\n")

    async def forget(self, group: int) -> None:
        """Tell the guard that a group has ended."""
        await self._write(f"-{group}\n")

    async def _write(self, line: str) -> None:
        if self._process is None or self._process.stdin is None:
            return
        try:
            with anyio.move_on_after(1.0, shield=True):
                await self._process.stdin.send(line.encode())
        except (anyio.ClosedResourceError, OSError):
            _log.warning("the guard process is gone; servers of a killed host would live on")
            self._process = None


@asynccontextmanager
async def open_guard(*, is_needed: bool = True) -> AsyncIterator[Guard]:
    """A running guard; it ends by itself when this block, or this process, ends."""
    if not is_needed:
        yield Guard()
        return
    try:
        process = await start_child(
            [sys.executable, "-I", "-S", guard.__file__], env={}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
    except OSError as error:
        _log.warning("no guard process: %s", error.strerror)
        yield Guard()
        return
    try:
        yield Guard(process)
    finally:
        with anyio.CancelScope(shield=True):
            process.close()
            if not await process.ended_within(_REAP_S):
                process.kill()
                await process.ended_within(_REAP_S)


@dataclass(slots=True, eq=False)
class ServerProcess:
    """A started server. `group` equals its process id, because it leads its own session."""

    process: Child
    group: int
    mark: str
    guard: Guard

    async def end(self, grace: Grace) -> None:
        """End everything this start has brought up. Takes at most the two graces and four reaps."""
        process = self.process
        if process.stdin is not None:
            process.stdin.close()
        await process.ended_within(grace.eof_s)
        if signal_group(self.group, signal.SIGTERM):
            await self._wait_for_group(grace.term_s)
            signal_group(self.group, signal.SIGKILL)
        if not await process.ended_within(_REAP_S):
            _log.warning("server process %d is still alive after SIGKILL; it is left behind", process.pid)
        await self._end_marked(grace.term_s)
        await self.guard.forget(self.group)

    async def _wait_for_group(self, timeout_s: float) -> None:
        with anyio.move_on_after(timeout_s):
            while signal_group(self.group, 0):
                await anyio.sleep(_POLL_S)

    async def _end_marked(self, timeout_s: float) -> None:
        """End what left the group; a forked daemon or a browser still carries the mark."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            left = await anyio.to_thread.run_sync(_signal_marked, self.mark, number)
            if not left:
                return
            with anyio.move_on_after(timeout_s):
                while await anyio.to_thread.run_sync(_signal_marked, self.mark, 0):
                    await anyio.sleep(_POLL_S * 5)


async def start_process(launch: Launch, environment: dict[str, str], guard_line: Guard) -> ServerProcess:
    """Start a server with pipes on all three streams.

    Raises:
        OSError: the command does not exist or cannot be run, or the folder does not exist.
    """
    mark = secrets.token_hex(12)
    process = await start_child(
        [launch.command.reveal(), *(arg.reveal() for arg in launch.args)],
        env={**environment, guard.MARK: mark},
        cwd=Path(launch.cwd.reveal()) if launch.cwd else None,
    )
    if process.stdout is not None:
        _widen(process.stdout)
    started = ServerProcess(process, process.pid, mark, guard_line)
    await guard_line.note(process.pid, mark)
    return started


def _widen(pipe: ReadEnd) -> None:
    """Give a server's stdout a larger pipe, so that a large result costs fewer switches (measured: a third faster)."""
    if _SET_PIPE_SIZE is not None:
        with contextlib.suppress(OSError):  # a user's pipes may hold so much in all; the small pipe works too
            fcntl.fcntl(pipe.fileno(), _SET_PIPE_SIZE, _PIPE_BYTES)


def signal_group(group: int, number: int) -> bool:
    """Whether the group exists and took the signal; 0 only asks."""
    try:
        os.killpg(group, number)
    except OSError:
        return False
    return True


def _signal_marked(mark: str, number: int) -> int:
    count = 0
    for pid in guard.marked_processes(mark):
        try:
            os.kill(pid, number)
        except OSError:
            continue
        count += 1
    return count
