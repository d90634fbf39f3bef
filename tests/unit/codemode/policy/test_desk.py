"""Questions wait outside of requests and are answered once."""

import anyio
import pytest

from codemode.policy.desk import Desk, FormQuestion, Reply
from codemode.policy.form import Form

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
            key = desk.question.key
            assert not desk.answer("another", True)
            assert desk.answer(key, True)
            assert not desk.answer(key, False)
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
                desk.answer(desk.question.key, is_yes)
    assert sorted(answers.values()) == [False, True]


async def test_a_run_that_is_cancelled_takes_its_question_back():
    desk = Desk(lambda: None)
    with anyio.move_on_after(0.01):
        await desk.ask(("x",))
    assert desk.question is None


def form_question():
    return FormQuestion(server="shop", tool="buy", message="Which?", form=Form())


async def test_a_servers_question_is_answered_by_a_reply_and_never_by_a_yes():
    desk = Desk(lambda: None)
    replies: list[Reply] = []
    question = form_question()

    async def ask() -> None:
        replies.append(await desk.pass_on(question))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            assert not desk.answer(question.key, True)
            assert not desk.reply("another", Reply(action="accept"))
            assert desk.reply(question.key, Reply(action="decline"))
            assert not desk.reply(question.key, Reply(action="accept"))
    assert [reply.action for reply in replies] == ["decline"]


async def test_an_approval_is_never_given_by_a_reply():
    desk = Desk(lambda: None)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(desk.ask, ("delete it",))
            await anyio.wait_all_tasks_blocked()
            assert not desk.reply(desk.question.key, Reply(action="accept", content={"allow": True}))
            assert desk.question is not None
            tasks.cancel_scope.cancel()


async def test_the_same_question_put_again_has_another_key():
    assert form_question().key != form_question().key


async def test_whoever_waits_for_a_question_to_be_settled_is_woken_when_it_is_taken_back():
    desk = Desk(lambda: None)
    with anyio.fail_after(5):
        await desk.settled("not open")
        async with anyio.create_task_group() as tasks:
            scope = anyio.CancelScope()

            async def ask() -> None:
                with scope:
                    await desk.ask(("delete it",))

            tasks.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(desk.settled, desk.question.key)
            scope.cancel()
