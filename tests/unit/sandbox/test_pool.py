"""The pool of waiting guests, over a backend that only pretends."""

import math
import socket

import anyio
import pytest

from sandbox.backends.base import UNKNOWN_EXIT, GuestExit
from sandbox.errors import ClosedError, GuestError
from sandbox.pool import Pool
from sandbox.spec import MIB, Limits

pytestmark = pytest.mark.anyio


class FakeGuest:
    def __init__(self, ceiling):
        self.ceiling = ceiling
        self.channel, self._far = socket.socketpair()
        self.is_closed = False
        self._end = anyio.Event()

    @property
    def has_ended(self):
        return self._end.is_set()

    def kill(self):
        self._end.set()

    async def wait_exit(self, timeout_s=math.inf):
        with anyio.move_on_after(None if math.isinf(timeout_s) else timeout_s):
            await self._end.wait()
            return GuestExit(how="signaled", code=9)
        return UNKNOWN_EXIT

    async def aclose(self):
        self.kill()
        self.channel.close()
        self._far.close()
        self.is_closed = True


class FakeBackend:
    def __init__(self, failures=0):
        self.made = []
        self.failures = failures
        self.changed = anyio.Event()

    async def spawn(self, ceiling):
        await anyio.lowlevel.checkpoint()
        if self.failures:
            self.failures -= 1
            raise GuestError("no", code="guest.start")
        guest = FakeGuest(ceiling)
        self.made.append(guest)
        self.changed.set()
        self.changed = anyio.Event()
        return guest

    async def until(self, count):
        with anyio.fail_after(5):
            while len(self.made) < count:
                await self.changed.wait()
            await anyio.wait_all_tasks_blocked()


async def test_as_many_guests_wait_as_were_asked_for():
    backend = FakeBackend()
    async with Pool(backend, 3) as pool:
        await backend.until(3)
        assert (pool.waiting, len(backend.made)) == (3, 3)


async def test_each_guest_is_handed_out_once_and_replaced():
    backend = FakeBackend()
    async with Pool(backend, 2) as pool:
        await backend.until(2)
        taken = [await pool.take() for _ in range(2)]
        await backend.until(4)
        taken += [await pool.take() for _ in range(2)]
        assert len(set(map(id, taken))) == 4
        for guest in taken:
            await guest.aclose()


async def test_an_empty_pool_spawns_at_once():
    backend = FakeBackend()
    async with Pool(backend, 0) as pool:
        guest = await pool.take()
        assert backend.made == [guest]
        await guest.aclose()


async def test_a_guest_that_dies_while_it_waits_is_replaced_and_never_handed_out():
    backend = FakeBackend()
    async with Pool(backend, 1) as pool:
        await backend.until(1)
        first = backend.made[0]
        first.kill()
        guest = await pool.take()
        assert guest is not first
        await backend.until(3)
        assert first.is_closed
        await guest.aclose()


async def test_the_pool_heals_after_failures():
    backend = FakeBackend(failures=2)
    async with Pool(backend, 1) as pool:
        await backend.until(1)
        assert pool.waiting == 1


async def test_a_failure_to_spawn_reaches_who_asked():
    async with Pool(FakeBackend(failures=1), 0) as pool:
        with pytest.raises(GuestError):
            await pool.take()


async def test_limits_above_the_ceiling_get_a_guest_of_their_own():
    backend = FakeBackend()
    ceiling = Limits(memory_bytes=64 * MIB)
    async with Pool(backend, 1, ceiling=ceiling) as pool:
        await backend.until(1)
        wide = await pool.take(Limits(memory_bytes=128 * MIB))
        narrow = await pool.take(Limits(memory_bytes=32 * MIB))
        assert wide.ceiling.memory_bytes == 128 * MIB
        assert narrow is backend.made[0]
        for guest in (wide, narrow):
            await guest.aclose()


async def test_closing_ends_the_waiting_guests_and_not_those_taken():
    backend = FakeBackend()
    async with Pool(backend, 2) as pool:
        await backend.until(2)
        taken = await pool.take()
    assert [guest.is_closed for guest in backend.made if guest is not taken] == [True] * (len(backend.made) - 1)
    assert not taken.is_closed
    await taken.aclose()
    with pytest.raises(ClosedError):
        await pool.take()


async def test_a_guest_that_comes_while_the_pool_closes_is_ended_too():
    backend = FakeBackend()
    spawn = backend.spawn

    async def spawn_and_do_not_notice_the_cancellation(ceiling):
        with anyio.CancelScope(shield=True):
            return await spawn(ceiling)

    backend.spawn = spawn_and_do_not_notice_the_cancellation
    async with Pool(backend, 1):
        await anyio.lowlevel.checkpoint()
    assert [guest.is_closed for guest in backend.made] == [True]


async def test_an_error_in_the_body_comes_out_as_it_is():
    with pytest.raises(KeyError):
        async with Pool(FakeBackend(), 1):
            raise KeyError("own")
