"""A guest's place in the control groups of its sandbox: entered with a fork, lowered for a run, asked after its end.

Enters: groups, a slot, a ceiling. Leaves: descriptors for the zygote, and whether the kernel ended the guest for its
memory. Where there are no groups, nothing is done. Files of groups are written in threads, because the kernel may let
a writer wait while processes move between groups; reading a counter never waits.
"""

from __future__ import annotations

from anyio import to_thread

from sandbox.errors import GuestError
from sandbox.linux.cgroups import Bound, Groups
from sandbox.linux.rlimits import MIB, RESERVE_BYTES, STACK_BYTES
from sandbox.spec import Limits

_KERNEL_BYTES = 32 * MIB  # chosen: page tables, stacks of threads and socket buffers of one guest


def bound_of(limits: Limits, data_bytes: int) -> Bound:
    """The bounds of one guest as a whole: above what RLIMIT_DATA lets it use, so that Python can say MemoryError first.

    `data_bytes` is what it has of the zygote's and may change, which makes the pages its own.
    """
    beside = data_bytes + RESERVE_BYTES + STACK_BYTES + _KERNEL_BYTES
    return Bound(memory_bytes=limits.memory_bytes + beside, tasks=limits.threads + 1)


class Seat:
    """The groups of one slot while one guest has it."""

    def __init__(self, groups: Groups, slot: int, bound: Bound, data_bytes: int) -> None:
        self.slot = slot
        self._groups = groups
        self._bound = bound
        self._data_bytes = data_bytes
        self._kills = 0

    async def take(self) -> list[int]:
        """Set the bounds; returns descriptors to enter with, which the caller closes.

        Raises:
            GuestError: the kernel refused.
        """
        if not self._groups.controllers:
            return []
        try:
            if self._groups.is_ready(self.slot, self._bound):  # a thread would cost ten times the work
                return self._take()
            return await to_thread.run_sync(self._take)
        except OSError as error:
            raise _refused(error) from error

    def _take(self) -> list[int]:
        descriptors = self._groups.enter(self.slot, self._bound)
        self._kills = self._groups.memory_kills(self.slot)
        return descriptors

    async def lower(self, limits: Limits) -> None:
        """Take the bounds of a run instead of those of the ceiling.

        Raises:
            GuestError: the kernel refused.
        """
        bound = bound_of(limits, self._data_bytes)
        if not self._groups.controllers or bound == self._bound:
            return
        try:
            await to_thread.run_sync(self._groups.bind, self.slot, bound)
        except OSError as error:
            raise _refused(error) from error

    def was_full(self) -> bool:
        """Whether the kernel has ended a process here for want of memory since `take`."""
        return self._groups.memory_kills(self.slot) > self._kills


def _refused(error: OSError) -> GuestError:
    return GuestError(f"a guest's control group could not be bounded: {error.strerror}", code="guest.start")
