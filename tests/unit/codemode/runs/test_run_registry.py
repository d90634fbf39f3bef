"""A run belongs to the host: it is found by label, waited for, and survives the request that started it."""

import anyio
import pytest

from codemode.errors import RunRequestError
from codemode.runs.outcome import RunOutcome
from codemode.runs.registry import KEPT_RUNS, Registry
from codemode.session import Session

pytestmark = pytest.mark.anyio


def _registry():
    return Registry(Session())


async def test_labels_count_up_and_last_is_the_newest():
    registry = _registry()
    first, second = registry.add("1"), registry.add("2")
    assert (first.label, second.label) == ("r1", "r2")
    assert registry.find("last") is second
    assert registry.find(" r1 ") is first


async def test_keys_cannot_be_guessed_from_labels():
    registry = _registry()
    assert len({registry.add("x").key for _ in range(20)}) == 20
    assert all(len(run.key) == 24 for run in registry)


@pytest.mark.parametrize("label", ["r9", "", "R1", "last "])
async def test_an_unknown_label_says_what_there_is(label):
    registry = _registry()
    with pytest.raises(RunRequestError, match="nothing has run"):
        registry.find(label)
    registry.add("1")
    if label.strip() != "last":
        with pytest.raises(RunRequestError, match="newest is `r1`"):
            registry.find(label)


async def test_old_finished_runs_are_dropped_and_running_ones_never():
    registry = _registry()
    running = registry.add("while True: pass")
    for _ in range(KEPT_RUNS + 20):
        run = registry.add("1")
        run.end(RunOutcome(run="", status="ok"))
    labels = [run.label for run in registry]
    assert len(labels) <= KEPT_RUNS + 1
    assert running.label in labels
    assert registry.find("last") is run


async def test_a_wait_ends_when_the_run_does():
    run = _registry().add("1")
    outcomes = []

    async def wait():
        outcomes.append(await run.wait(60))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            run.end(RunOutcome(run="", status="ok"))
    assert (outcomes[0].run, outcomes[0].status, outcomes[0].receipt) == ("r1", "ok", run.key)


async def test_a_wait_that_is_over_before_the_run_tells_how_it_stands():
    run = _registry().add("1")
    assert (await run.wait(0.01)).status == "running"


async def test_a_wait_ends_when_the_run_asks_something():
    run = _registry().add("1")
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run.desk.ask, ("delete it",))
            assert (await run.wait(60)).question.lines == ("delete it",)
            run.desk.answer(run.desk.question.key, True)


async def test_the_first_end_counts():
    run = _registry().add("1")
    run.end(RunOutcome(run="", status="ok"))
    run.end(RunOutcome(run="", status="error"))
    assert run.outcome.status == "ok"
