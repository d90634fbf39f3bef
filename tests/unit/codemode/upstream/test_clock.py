"""The deadlines of a call stand still while a person is asked."""

import math

import anyio
import pytest

from codemode.upstream.clock import CallBounds, Clock

pytestmark = pytest.mark.anyio


async def test_both_deadlines_stand_still_until_the_last_question_is_settled():
    clock = Clock(CallBounds(timeout_s=100, idle_s=10))
    clock.stop()
    clock.stop()
    clock.go_on()
    clock.heard()
    assert (clock.absolute.deadline, clock.idle.deadline) == (math.inf, math.inf)
    clock.go_on()
    now = anyio.current_time()
    assert 99 < clock.absolute.deadline - now <= 100
    assert 9 < clock.idle.deadline - now <= 10


async def test_time_that_was_spent_before_a_question_stays_spent():
    clock = Clock(CallBounds(timeout_s=100))
    clock.absolute.deadline -= 60
    clock.stop()
    clock.go_on()
    assert clock.absolute.deadline - anyio.current_time() <= 40


async def test_without_an_idle_limit_silence_ends_nothing():
    clock = Clock(CallBounds(timeout_s=100))
    clock.heard()
    assert clock.idle.deadline == math.inf
