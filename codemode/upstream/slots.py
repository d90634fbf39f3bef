"""Bounds how many servers start at once, without letting a slow one keep the others waiting.

Enters: requests of owner tasks. Leaves: a release function. A start that takes longer than `hold_s` gives its slot back
by itself: it is waiting for something slow then, not using this machine.
"""

from __future__ import annotations

from collections.abc import Callable

import anyio
import anyio.abc


class StartSlots:
    """Slots for servers that are starting. `tasks` runs the timers."""

    def __init__(self, tasks: anyio.abc.TaskGroup, *, count: int = 4, hold_s: float = 5.0) -> None:
        self._tasks = tasks
        self._slots = anyio.Semaphore(count)
        self._hold_s = hold_s

    async def take(self) -> Callable[[], None]:
        """Wait for a slot; call the result when the start is over, once or more often."""
        await self._slots.acquire()
        is_over = anyio.Event()
        has_slot = True

        def give_back() -> None:
            nonlocal has_slot
            if has_slot:
                has_slot = False
                self._slots.release()

        async def watch() -> None:
            with anyio.move_on_after(self._hold_s):
                await is_over.wait()
            give_back()

        self._tasks.start_soon(watch)

        def release() -> None:
            give_back()
            is_over.set()

        return release
