"""Guests as sealed processes of this machine: the default backend.

Enters: limits. Leaves: guests forked from a warm zygote, each sealed by `sandbox.guest.seal` and killed through a
pidfd. Linux on x86_64 and aarch64 only; there is no weaker mode.
"""

from __future__ import annotations

import sys
from types import TracebackType

from sandbox.backends import isolation
from sandbox.backends.base import IsolationReport
from sandbox.backends.forks import ForkedGuest, Forks, Origin
from sandbox.backends.zygote import open_link
from sandbox.errors import IsolationError
from sandbox.linux.syscalls import MACHINE, MACHINES
from sandbox.spec import Limits

START_S = 30.0  # chosen: 0.3 s measured here; cold disks and large packages need longer
_REMEDY = "use the docker backend"


class ProcessBackend:
    """The process backend, for one event loop.

    Args:
        packages: what programs may import besides the standard library (`numpy`), preloaded once.
    """

    def __init__(self, *, packages: tuple[str, ...] = ()) -> None:
        origin = Origin(
            backend="process",
            open_link=lambda: open_link(packages, START_S),
            report=lambda ready, claims, is_killed: isolation.report(ready, claims, is_killed=is_killed),
            remedy=_REMEDY,
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
        await self._forks.start()

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
