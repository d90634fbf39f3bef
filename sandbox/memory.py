"""What all runs of one host together may use of the machine's memory; further runs queue in order.

Enters: reservations. Leaves: turns. The bound is on what runs *may* use (the sum of their `memory_bytes`), so that the
machine is safe even when every run goes to its limit.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

SHARE = 0.5  # chosen: leaves room for the host, its servers and the page cache


class MemoryBudget:
    """A counter of reserved bytes with a queue. A reservation larger than the whole still gets its turn, alone."""

    def __init__(self, total_bytes: int | None = None, *, share: float = SHARE) -> None:
        self.total_bytes = total_bytes or int(_machine_bytes() * share)
        self.reserved_bytes = 0
        self._queue: deque[tuple[int, anyio.Event]] = deque()

    @asynccontextmanager
    async def reserve(self, size_bytes: int) -> AsyncIterator[None]:
        """Hold `size_bytes` while the block runs; wait in line when they are not free."""
        size = min(size_bytes, self.total_bytes)
        if self._queue or self.reserved_bytes + size > self.total_bytes:
            turn = anyio.Event()
            entry = (size, turn)
            self._queue.append(entry)
            try:
                await turn.wait()
            except BaseException:
                if turn.is_set():
                    self._give_back(size)
                else:
                    self._queue.remove(entry)
                raise
        else:
            self.reserved_bytes += size
        try:
            yield
        finally:
            self._give_back(size)

    def _give_back(self, size: int) -> None:
        self.reserved_bytes -= size
        while self._queue and self.reserved_bytes + self._queue[0][0] <= self.total_bytes:
            next_size, turn = self._queue.popleft()
            self.reserved_bytes += next_size
            turn.set()


def _machine_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
