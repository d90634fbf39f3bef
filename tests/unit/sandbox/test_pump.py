"""What the host does at the end of a run, with a guest that the test speaks for."""

import anyio
import pytest

from sandbox import wire
from sandbox.channel import Channel
from sandbox.pump import Pump
from sandbox.spec import Limits
from tests.support.fake_guest import FakeGuest

pytestmark = pytest.mark.anyio
CALL = wire.encode({"kind": "call", "id": 1, "target": "slow"}, b"{}")


def pump_of(guest, limits, call):
    return Pump(guest, Channel(guest.channel, limits), limits, call=call)


async def test_at_the_deadline_the_guest_is_killed_before_slow_callbacks_have_been_cancelled():
    unwound = []
    with FakeGuest() as guest:

        async def slow(call):
            try:
                await anyio.sleep_forever()
            finally:
                with anyio.move_on_after(30, shield=True):
                    await guest.killed.wait()
                    unwound.append("after the kill")

        guest.far.send(CALL)
        result = await pump_of(guest, Limits(wall_s=0.05), slow).run({})
    assert (result.status, result.error.code, result.usage.calls) == ("limit", "limit.wall", 1)
    assert unwound == ["after the kill"]


async def test_when_the_caller_gives_up_the_guest_is_killed_before_slow_callbacks_have_been_cancelled():
    with FakeGuest() as guest:
        started = anyio.Event()

        async def slow(call):
            started.set()
            try:
                await anyio.sleep_forever()
            finally:
                with anyio.CancelScope(shield=True), anyio.fail_after(30):
                    await guest.killed.wait()

        guest.far.send(CALL)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pump_of(guest, Limits(), slow).run, {})
            await started.wait()
            tasks.cancel_scope.cancel()
    assert guest.killed.is_set()


async def test_a_guest_that_closes_its_channel_and_goes_on_breaks_the_protocol():
    with FakeGuest() as guest:
        guest.far.shutdown(2)
        result = await pump_of(guest, Limits(), None).run({})
    assert (result.status, result.error.code) == ("error", "guest.protocol")
    assert guest.killed.is_set()


async def test_a_guest_that_ends_without_a_word_is_told_by_its_exit():
    with FakeGuest() as guest:
        guest.far.close()
        result = await pump_of(guest, Limits(), None).run({})
    assert (result.status, result.error.code) == ("error", "guest.died")
    assert "exit status 7" in result.error.message
