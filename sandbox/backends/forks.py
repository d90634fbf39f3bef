"""Guests forked from a zygote, wherever that runs: which slots are in use, the one zygote, its examination.

Enters: a way to open a zygote and what its facts mean. Leaves: guests, each killed through a pidfd. A zygote that ends
is replaced at the next spawn, after a throw-away guest has shown again that every required layer has an effect.
Shared by the backends of processes and containers, which do not know each other.
"""

from __future__ import annotations

import json
import math
import os
import signal
import socket
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace

import anyio

from sandbox import wire
from sandbox.backends.base import UNKNOWN_EXIT, GuestExit, IsolationReport
from sandbox.backends.seat import Seat, bound_of
from sandbox.backends.zygote import ZygoteLink
from sandbox.errors import ClosedError, GuestError, IsolationError
from sandbox.guest import selftest
from sandbox.guest.control import Ready
from sandbox.linux import pidfd
from sandbox.linux.cgroups import Bound, Groups
from sandbox.spec import MIB, Limits

CLOSE_S = 2.0  # chosen: a killed process ends in milliseconds; an unkillable one is left to the kernel
_EXAMINE_S = 10.0
_SHARED_SLOTS = 4_096  # guests at once where they share the caller's user id
_EXAMINED = Limits(memory_bytes=64 * MIB, cpu_s=5, threads=4)
_EXAMINED_BOUND = Bound(memory_bytes=selftest.GROUP_BYTES, tasks=_EXAMINED.threads + 1)


class ForkedGuest:
    """A guest process. Made by `Forks.spawn`."""

    def __init__(self, channel: socket.socket, link: ZygoteLink, seat: Seat, release: Callable[[], None]) -> None:
        self.channel = channel
        self._link = link
        self._seat = seat
        self._release = release
        self._pidfd = -1
        self._is_killed = False  # by us, so that nobody asks why
        self._exit: GuestExit | None = None
        self._exited = anyio.Event()

    def adopt(self, descriptor: int) -> None:
        """Take over the pidfd."""
        self._pidfd = descriptor

    def ended(self, how: GuestExit) -> None:
        """The zygote has told how the guest ended, or has ended itself: the slot is free again."""
        is_killed = how.how == "signaled" and how.code == signal.SIGKILL
        is_by_others = is_killed and not self._is_killed
        self._exit = replace(how, is_out_of_memory=is_by_others and self._seat.was_full())
        self._exited.set()
        self._release()

    @property
    def has_ended(self) -> bool:
        """Whether the guest has ended; asks the kernel, never waits."""
        return self._exit is not None or self._pidfd < 0 or pidfd.has_ended(self._pidfd)

    async def lower(self, limits: Limits) -> None:
        """Lower the bounds of its control groups to those of a run.

        Raises:
            GuestError: the kernel refused.
        """
        await self._seat.lower(limits)

    def kill(self) -> None:
        """SIGKILL through the pidfd: at once, never to a stranger; without effect after the end or `aclose`.

        Also when the zygote has ended: that ends its guests, and this does not rely on it.
        """
        if self._pidfd >= 0 and (self._exit is None or self._exit.how == "unknown"):
            self._is_killed = True
            self._link.end(self._pidfd, self._seat.slot)

    async def wait_exit(self, timeout_s: float = math.inf) -> GuestExit:
        """How it ended; "unknown" when that is not known within `timeout_s`."""
        with anyio.move_on_after(timeout_s):
            await self._exited.wait()
        return self._exit or UNKNOWN_EXIT

    async def aclose(self) -> None:
        """Kill, wait up to `CLOSE_S` for the end, close channel and pidfd. May be called again."""
        self.kill()
        try:
            with anyio.CancelScope(shield=True):
                await self.wait_exit(CLOSE_S)
        finally:
            self._close()

    def drop(self) -> None:
        """Kill, close channel and pidfd, wait for nothing."""
        self.kill()
        self._close()

    def _close(self) -> None:
        self.channel.close()
        descriptor, self._pidfd = self._pidfd, -1
        if descriptor >= 0:
            os.close(descriptor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a backend's guests come from.

    Attributes:
        backend: its name, for errors.
        open_link: starts a zygote and waits until it is ready.
        report: what its facts, the claims of an examined guest and whether the kill ended that guest mean.
        remedy: what to change when a layer cannot be put on.
        groups: control groups that guests enter, opened and closed by the backend; none unless it opens them.
    """

    backend: str
    open_link: Callable[[], Awaitable[ZygoteLink]]
    report: Callable[[Ready, Mapping[str, bool], bool], IsolationReport]
    remedy: str
    groups: Groups = field(default_factory=Groups)


class Forks:
    """One zygote at a time and its guests, for one event loop."""

    def __init__(self, origin: Origin) -> None:
        self._origin = origin
        self._link: ZygoteLink | None = None
        self._used_slots: set[int] = set()
        self._opening = anyio.Lock()
        self._is_open = False
        self._report: IsolationReport | None = None

    async def start(self) -> None:
        """Start a zygote and test the isolation.

        Raises:
            IsolationError: a layer is missing.
            GuestError: the zygote could not be started.
        """
        self._is_open = True
        try:
            await self._zygote()
        except BaseException:
            await self.aclose()
            raise

    def describe(self) -> IsolationReport:
        """What the last start found, also when it failed for a missing layer.

        Raises:
            ClosedError: nothing was found yet.
        """
        if self._report is None:
            raise ClosedError(f"the {self._origin.backend} backend was never started")
        return self._report

    async def spawn(self, ceiling: Limits) -> ForkedGuest:
        """Fork a guest from the zygote; starts a new zygote when the last one has ended.

        Raises:
            GuestError: `guest.start`.
            IsolationError: a new zygote lacks a required layer.
            ClosedError: not started, or closed.
        """
        return await self._fork(await self._zygote(), ceiling)

    async def aclose(self) -> None:
        """End the zygote and with it every guest. May be called again."""
        self._is_open = False
        with anyio.CancelScope(shield=True):
            async with self._opening:
                link, self._link = self._link, None
                if link is not None:
                    await link.aclose()

    async def _zygote(self) -> ZygoteLink:
        """The living zygote, or a new one that has passed its examination."""
        link = self._link
        if self._is_open and link is not None and not link.is_lost:
            return link
        async with self._opening:
            if not self._is_open:
                raise ClosedError(f"the {self._origin.backend} backend is not started")
            if self._link is None or self._link.is_lost:
                await self._replace_zygote()
            assert self._link is not None
            return self._link

    async def _replace_zygote(self) -> None:
        old, self._link = self._link, None
        if old is not None:
            await old.aclose()
        link = await self._origin.open_link()
        try:
            self._report = await self._examine(link)
            self._report.require()
        except BaseException:
            with anyio.CancelScope(shield=True):
                await link.aclose()
            raise
        self._link = link

    async def _fork(self, link: ZygoteLink, ceiling: Limits, *, examine: bool = False) -> ForkedGuest:
        link.catch_up()  # guests that have ended since give their slots back
        slot = next((n for n in range(link.ready.slots or _SHARED_SLOTS) if n not in self._used_slots), None)
        if slot is None:
            raise GuestError("no guest could be started: every user id is in use", code="guest.start")
        self._used_slots.add(slot)
        data_bytes = link.ready.data_bytes
        bound = _EXAMINED_BOUND if examine else bound_of(ceiling, data_bytes)
        seat = Seat(self._origin.groups, slot, bound, data_bytes)
        try:
            entrances = await seat.take()
        except BaseException:
            self._used_slots.discard(slot)
            raise
        near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        near.setblocking(False)
        guest = ForkedGuest(near, link, seat, release=lambda: self._used_slots.discard(slot))
        try:
            with far:
                guest.adopt(
                    await link.spawn(
                        far, slot=slot, ceiling=ceiling, on_exit=guest.ended, examine=examine, groups=entrances
                    )
                )
        except BaseException:
            near.close()
            raise
        finally:
            for descriptor in entrances:
                os.close(descriptor)
        return guest

    async def _examine(self, link: ZygoteLink) -> IsolationReport:
        """Have a throw-away guest test its own seal, then end it from outside."""
        guest = await self._fork(link, _EXAMINED, examine=True)
        try:
            with anyio.move_on_after(_EXAMINE_S):
                claims = await _claims(guest.channel, self._origin.remedy)
                guest.kill()
                ending = await guest.wait_exit(CLOSE_S)
                is_killed = ending.how == "signaled" and ending.code == signal.SIGKILL
                groups = self._origin.groups
                groups.keep(frozenset(name for name in groups.controllers if claims.get(f"cgroup-{name}", False)))
                return self._origin.report(link.ready, claims, is_killed)
        finally:
            await guest.aclose()
        raise GuestError(f"a guest did not finish testing its seal within {_EXAMINE_S:g} s", code="guest.start")


async def _claims(channel: socket.socket, remedy: str) -> dict[str, bool]:
    """The one frame of an examined guest.

    Raises:
        IsolationError: the guest could not be sealed; names the layer.
        GuestError: it ended without a word.
    """
    splitter = wire.Splitter(wire.MAX_HEADER_BYTES)
    while True:
        await anyio.wait_readable(channel)
        data = channel.recv(65_536)
        if not data:
            raise GuestError("a guest ended while it tested its seal", code="guest.start")
        for body in splitter.feed(data):
            header, payload = wire.decode(body)
            if header["kind"] != selftest.KIND:
                raise IsolationError(
                    f"the layer `{header.get('layer')}` could not be put on: {header.get('message')}",
                    hint_operator=remedy,
                    details={"missing": [header.get("layer")]},
                )
            return {str(name): value is True for name, value in json.loads(payload).items()}
