"""Guests as sealed processes of this machine: the default backend.

Enters: limits. Leaves: guests forked from a warm zygote, each sealed by `sandbox.guest.seal` and killed through a
pidfd. Linux on x86_64 and aarch64 only; there is no weaker mode.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import TracebackType

import anyio
from anyio import to_thread

from sandbox.backends import isolation
from sandbox.backends.base import IsolationReport
from sandbox.backends.forks import ForkedGuest, Forks, Origin
from sandbox.backends.zygote import open_link
from sandbox.errors import IsolationError
from sandbox.guest.control import Ready
from sandbox.linux.cgroups import Bound, Groups
from sandbox.linux.syscalls import MACHINE, MACHINES
from sandbox.spec import MIB, Limits

START_S = 30.0  # chosen: 0.3 s measured here; cold disks and large packages need longer
_BESIDE_BYTES = 256 * MIB  # chosen: least room beside the programs' memory, for what all guests change of the zygote's
_BESIDE_PART = 8  # chosen: or an eighth of that memory, where it is more
_TASKS = 16_384  # chosen: of all guests; half of what a machine may have where `pid_max` is the kernel's default
_REMEDY = "use the docker backend"


class ProcessBackend:
    """The process backend, for one event loop.

    Args:
        packages: what programs may import besides the standard library (`numpy`), preloaded once.
        all_runs_bytes: what all programs together may hold of memory where control groups can be had; None: no bound.
    """

    def __init__(self, *, packages: tuple[str, ...] = (), all_runs_bytes: int | None = None) -> None:
        self._all_runs_bytes = all_runs_bytes
        self._groups = Groups()
        origin = Origin(
            backend="process",
            open_link=lambda: open_link(packages, START_S),
            report=self._judge,
            remedy=_REMEDY,
            groups=self._groups,
        )
        self._forks = Forks(origin)

    async def __aenter__(self) -> ProcessBackend:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def start(self) -> None:
        """Start a zygote and test the isolation.

        Raises:
            IsolationError: `isolation.platform`, or `isolation.layer` with the layer's name and the remedy.
            GuestError: the zygote could not be started.
        """
        if sys.platform != "linux" or MACHINE not in MACHINES:
            raise IsolationError(
                f"the process backend needs Linux on {' or '.join(MACHINES)}, this is {sys.platform} on {MACHINE}",
                code="isolation.platform",
                hint_operator=_REMEDY,
            )
        await to_thread.run_sync(self._groups.open, _bound_of_all(self._all_runs_bytes))
        try:
            await self._forks.start()
        except BaseException:
            await self.aclose()
            raise

    def describe(self) -> IsolationReport:
        """What the last start found, also when it failed for a missing layer.

        Raises:
            ClosedError: nothing was found yet.
        """
        return self._forks.describe()

    async def spawn(self, ceiling: Limits) -> ForkedGuest:
        """Fork a guest from the zygote; starts a new zygote when the last one has ended.

        Raises:
            GuestError: `guest.start`.
            IsolationError: a new zygote lacks a required layer.
            ClosedError: not started, or closed.
        """
        return await self._forks.spawn(ceiling)

    async def aclose(self) -> None:
        """End the zygote and with it every guest. May be called again."""
        await self._forks.aclose()
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(self._groups.close)

    def _judge(self, ready: Ready, claims: Mapping[str, bool], is_killed: bool) -> IsolationReport:
        return isolation.report(ready, claims, is_killed=is_killed, controllers=self._groups.controllers)


def _bound_of_all(memory_bytes: int | None) -> Bound:
    """Of all guests together. Guests need room beside their programs: pages of the zygote that they change."""
    beside = max(_BESIDE_BYTES, memory_bytes // _BESIDE_PART) if memory_bytes is not None else 0
    return Bound(memory_bytes=memory_bytes + beside if memory_bytes is not None else None, tasks=_TASKS)
