"""How many servers start at once."""

import anyio
import pytest

from codemode.upstream.slots import StartSlots

pytestmark = pytest.mark.anyio


async def test_only_so_many_start_at_once_and_a_release_lets_the_next_in() -> None:
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            slots = StartSlots(tasks, count=2, hold_s=60)
            first, second = await slots.take(), await slots.take()
            with anyio.move_on_after(0.05) as scope:
                await slots.take()
            assert scope.cancelled_caught
            first()
            third = await slots.take()
            for release in (second, third):
                release()


async def test_releasing_twice_gives_one_slot_back() -> None:
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            slots = StartSlots(tasks, count=1, hold_s=60)
            release = await slots.take()
            release()
            release()
            again = await slots.take()
            with anyio.move_on_after(0.05) as scope:
                await slots.take()
            assert scope.cancelled_caught
            again()


async def test_a_start_that_takes_long_gives_its_slot_back_by_itself() -> None:
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            slots = StartSlots(tasks, count=1, hold_s=0.01)
            for _ in range(3):
                await slots.take()
