"""Questions wait outside of requests and are answered once."""

import anyio
import pytest

from codemode.policy.approval import Desk

pytestmark = pytest.mark.anyio


async def test_a_question_waits_for_its_answer():
    changes: list[object] = []
    desk = Desk(lambda: changes.append(desk.question))
    answers: list[bool] = []

    async def ask() -> None:
        answers.append(await desk.ask(("delete it",)))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            assert desk.question is not None
            assert desk.question.lines == ("delete it",)
            number = desk.question.id
            assert not desk.answer(number + 1, True)
            assert desk.answer(number, True)
            assert not desk.answer(number, False)
    assert answers == [True]
    assert desk.question is None
    assert len(changes) == 2


async def test_questions_of_one_run_come_one_after_the_other():
    desk = Desk(lambda: None)
    answers: dict[str, bool] = {}

    async def ask(text: str) -> None:
        answers[text] = await desk.ask((text,))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, "a")
            tasks.start_soon(ask, "b")
            for is_yes in (True, False):
                await anyio.wait_all_tasks_blocked()
                desk.answer(desk.question.id, is_yes)
    assert sorted(answers.values()) == [False, True]


async def test_a_run_that_is_cancelled_takes_its_question_back():
    desk = Desk(lambda: None)
    with anyio.move_on_after(0.01):
        await desk.ask(("x",))
    assert desk.question is None
