"""The memory of all runs together: a bound, a queue, no reservation lost."""

import anyio
import pytest

from sandbox.memory import MemoryBudget

pytestmark = pytest.mark.anyio


async def test_a_run_that_does_not_fit_waits_for_its_turn():
    budget = MemoryBudget(100)
    order: list[str] = []
    first_holds, release = anyio.Event(), anyio.Event()

    async def first() -> None:
        async with budget.reserve(80):
            first_holds.set()
            await release.wait()
            order.append("first ends")

    async def second() -> None:
        async with budget.reserve(50):
            order.append("second runs")

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(first)
            await first_holds.wait()
            tasks.start_soon(second)
            await anyio.wait_all_tasks_blocked()
            assert order == []
            release.set()
    assert order == ["first ends", "second runs"]
    assert budget.reserved_bytes == 0


async def test_a_small_run_does_not_overtake_a_large_one():
    budget = MemoryBudget(100)
    order: list[int] = []

    async def run(size: int) -> None:
        async with budget.reserve(size):
            order.append(size)

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks, budget.reserve(60):
            tasks.start_soon(run, 90)
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(run, 10)
            await anyio.wait_all_tasks_blocked()
            assert order == []
    assert order == [90, 10]


async def test_a_waiting_run_that_is_cancelled_leaves_the_queue():
    budget = MemoryBudget(100)
    with anyio.fail_after(5):
        async with budget.reserve(100):
            with anyio.move_on_after(0.01):
                async with budget.reserve(10):
                    raise AssertionError("there was no room")
        async with budget.reserve(100):
            assert budget.reserved_bytes == 100
    assert budget.reserved_bytes == 0


async def test_a_run_larger_than_the_whole_budget_runs_alone():
    budget = MemoryBudget(100)
    with anyio.fail_after(5):
        async with budget.reserve(1_000):
            assert budget.reserved_bytes == 100
