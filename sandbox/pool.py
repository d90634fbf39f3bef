"""Guests that wait, sealed and warm, so that a run starts in under a millisecond instead of after a fork.

Enters: a backend and how many shall wait. Leaves: guests, each handed out once. The pool owns a guest until it is
taken; whoever takes it kills and closes it. A guest that dies while it waits is replaced, and so is everything after
the backend has lost its zygote, because the next spawn starts a new one.
"""

from __future__ import annotations

import logging
from collections import deque
from types import TracebackType

import anyio
from anyio.abc import TaskGroup

from sandbox.backends.base import Backend, Guest
from sandbox.errors import ClosedError, SandboxError
from sandbox.spec import Limits

_log = logging.getLogger(__name__)

_YIELD_S = 0.005  # chosen: while others wait, a run that was just handed a guest has the processors to itself
_FIRST_PAUSE_S, _LAST_PAUSE_S = 0.1, 5.0  # chosen: between attempts while guests cannot be had or keep dying


class Pool:
    """Keeps `size` guests waiting while it is open. An async context manager.

    Args:
        backend: started, and open for as long as the pool is.
        size: how many guests wait; 0 spawns each when it is asked for.
        ceiling: the most that a run in a waiting guest may get (memory, processor time, threads).
    """

    def __init__(self, backend: Backend, size: int, *, ceiling: Limits | None = None) -> None:
        self._backend = backend
        self._size = size
        self._ceiling = ceiling or Limits()
        self._waiting: deque[Guest] = deque()
        self._wanted = anyio.Event()
        self._failures = 0  # in a row, until a waiting guest was of use
        self._is_pause_due = False
        self._tasks: TaskGroup | None = None

    async def __aenter__(self) -> Pool:
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        self._tasks.start_soon(self._refill, self._tasks)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        tasks, self._tasks = self._tasks, None
        assert tasks is not None
        tasks.cancel_scope.cancel()
        try:
            await tasks.__aexit__(None, None, None)
        finally:
            with anyio.CancelScope(shield=True):
                async with anyio.create_task_group() as closing:
                    for guest in self._waiting:
                        closing.start_soon(guest.aclose)
            self._waiting.clear()

    @property
    def waiting(self) -> int:
        """How many guests wait now."""
        return len(self._waiting)

    async def take(self, limits: Limits | None = None) -> Guest:
        """A guest that nobody has used; it is the caller's from now on.

        Waits for a fork when none waits, or when `limits` want more than the ceiling of those that do.

        Raises:
            GuestError: none could be started.
            ClosedError: the pool is closed.
        """
        if self._tasks is None:
            raise ClosedError("the pool of guests is closed")
        if limits is not None and not _fits(limits, self._ceiling):
            return await self._backend.spawn(limits)
        while self._waiting:
            guest = self._waiting.popleft()
            self._wanted.set()
            if not guest.has_ended:
                self._failures = 0
                return guest
            self._tasks.start_soon(guest.aclose)
        return await self._backend.spawn(self._ceiling)

    async def _refill(self, tasks: TaskGroup) -> None:
        while True:
            if len(self._waiting) >= self._size:
                await self._wanted.wait()
                self._wanted = anyio.Event()
                if self._waiting:
                    await anyio.sleep(_YIELD_S)
                continue
            if self._is_pause_due:
                self._is_pause_due = False
                await anyio.sleep(min(_LAST_PAUSE_S, _FIRST_PAUSE_S * 2.0 ** min(self._failures - 1, 16)))
            try:
                guest = await self._backend.spawn(self._ceiling)
            except (SandboxError, OSError) as error:
                self._note_failure(f"no guest could be made ready: {error}")
                continue
            self._waiting.append(guest)
            tasks.start_soon(self._watch, guest)

    async def _watch(self, guest: Guest) -> None:
        """Replace a guest that ends while it waits. Ends with the guest, also when it was taken."""
        ending = await guest.wait_exit()
        if guest in self._waiting:
            self._waiting.remove(guest)
            self._note_failure(f"a waiting guest ended ({ending.how} {ending.code})")
            self._wanted.set()
            await guest.aclose()

    def _note_failure(self, what: str) -> None:
        self._failures += 1
        self._is_pause_due = True
        _log.warning("%s; failures in a row: %d", what, self._failures)


def _fits(limits: Limits, ceiling: Limits) -> bool:
    return (
        limits.memory_bytes <= ceiling.memory_bytes
        and limits.cpu_s <= ceiling.cpu_s
        and limits.threads <= ceiling.threads
    )
