"""What odd servers ask for during calls: whose call it is, who is asked, and what is never sent twice."""

import json
from pathlib import Path

import anyio
import pytest

from codemode.upstream.asking import Answer, Refused
from tests.support.upstream import failure, managed, odd, text_of, until_said

pytestmark = pytest.mark.anyio

ERAS = pytest.mark.parametrize(("era", "act"), [("old", "ask_old"), ("new", "ask")])
BOTH = frozenset({"form", "url"})


class Asker:
    """Answers for one call: with `said`, once the test allows it."""

    def __init__(self, said=None, *, run=None, modes=BOTH, waits=False):
        self.said = said or Answer(action="accept", content={"name": "Joe"})
        self.run = run or self
        self.modes = modes
        self.asked = []
        self.is_asked = anyio.Event()
        self.may_answer = anyio.Event()
        if not waits:
            self.may_answer.set()

    async def __call__(self, asked):
        self.asked.append(asked)
        self.is_asked.set()
        await self.may_answer.wait()
        return self.said


def calls_in(log: Path) -> list[dict]:
    return [json.loads(line) for line in log.read_text().splitlines() if '"tools/call"' in line]


@ERAS
async def test_with_somebody_to_ask_the_answer_reaches_the_server(tmp_path, era, act):
    asker = Asker()
    async with managed(tmp_path, odd(era=era, acts={"ask": act})) as manager:
        result = await manager.call("odd", "ask", {}, asker=asker)
    assert b"Joe" in (result.structured or b"")
    (asked,) = asker.asked
    assert (asked.server, asked.tool, asked.mode, asked.message) == ("odd", "ask", "form", "Who?")
    assert asked.schema == {"type": "object", "properties": {"name": {"type": "string"}}}


async def test_with_nobody_to_ask_a_result_that_wants_input_is_an_error(tmp_path):
    async with managed(tmp_path, odd(era="new", acts={"ask": "ask"})) as manager:
        error = await failure(manager, "odd", "ask")
    assert (error.code, error.details["outcome"]) == ("upstream.unsupported", "unknown")
    assert "`odd.ask` asked the person at the client something, in vain: nobody can be asked here" in error.message


async def test_with_nobody_to_ask_an_older_server_gets_an_error_with_the_reason(tmp_path):
    async with managed(tmp_path, odd(era="old", acts={"ask": "ask_old"})) as manager:
        reply = json.loads((await manager.call("odd", "ask", {})).structured or b"")
    assert reply["reply"]["error"]["message"] == "nobody can be asked here"


async def test_each_request_says_what_can_be_asked_during_it(tmp_path):
    log = tmp_path / "seen"
    key = "io.modelcontextprotocol/clientCapabilities"
    async with managed(tmp_path, odd(era="new", log=str(log))) as manager:
        await manager.call("odd", "t", {})
        await manager.call("odd", "t", {}, asker=Asker(modes=frozenset({"form"})))
        await manager.call("odd", "t", {}, asker=Asker())
    declared = [call["params"]["_meta"][key].get("elicitation") for call in calls_in(log)]
    assert declared == [None, {"form": {}}, {"form": {}, "url": {}}]


async def test_a_server_that_never_has_enough_answers_is_given_up_after_ten(tmp_path):
    log = tmp_path / "seen"
    async with managed(tmp_path, odd(era="new", acts={"ask": "ask_forever"}, log=str(log))) as manager:
        error = await failure(manager, "odd", "ask", asker=Asker())
    assert (error.code, error.details["outcome"]) == ("upstream.unsupported", "unknown")
    assert "asked for input 10 times in one call" in error.message
    assert len(calls_in(log)) == 10


async def test_a_server_that_dies_after_its_question_is_not_called_anew(tmp_path):
    log = tmp_path / "seen"
    asker = Asker(waits=True)
    errors = []
    server = odd(era="new", acts={"ask": "ask_and_die"}, log=str(log))
    async with managed(tmp_path, server) as manager, anyio.create_task_group() as tasks:

        async def call():
            errors.append(await failure(manager, "odd", "ask", asker=asker))

        tasks.start_soon(call)
        await asker.is_asked.wait()
        await manager._servers["odd"].owner.attempt.ended.wait()
        asker.may_answer.set()
    assert (errors[0].code, errors[0].details["outcome"]) == ("upstream.outcome_unknown", "unknown")
    assert len(calls_in(log)) == 1


@pytest.mark.parametrize("era", ["old", "new"])
async def test_a_server_never_gets_a_completion_of_the_clients_model(tmp_path, era):
    async with managed(tmp_path, odd(era=era, acts={"sample": "sample"})) as manager:
        if era == "new":
            error = await failure(manager, "odd", "sample", asker=Asker())
            assert error.code == "upstream.unsupported"
            assert "`odd.sample` asks for `sampling/createMessage`, which is never passed on" in error.message
        else:
            reply = json.loads((await manager.call("odd", "sample", {}, asker=Asker())).structured or b"")
            assert reply["reply"]["error"]["message"] == "Sampling not supported"


async def test_while_two_runs_have_calls_under_way_nobody_is_asked(tmp_path):
    log = tmp_path / "seen"
    first, second = Asker(), Asker()
    quirks = {"acts": {"ask": "ask_old", "wait": "wait"}, "wait_for": str(tmp_path / "go"), "log": str(log)}
    async with managed(tmp_path, odd(era="old", **quirks)) as manager, anyio.create_task_group() as tasks:

        async def wait():
            await manager.call("odd", "wait", {}, asker=first)

        tasks.start_soon(wait)
        await until_said(log, "waiting")
        reply = json.loads((await manager.call("odd", "ask", {}, asker=second)).structured or b"")
        (tmp_path / "go").touch()
    assert "calls of several programs are under way" in reply["reply"]["error"]["message"]
    assert (first.asked, second.asked) == ([], [])


async def test_while_one_run_has_several_calls_under_way_its_person_is_asked_without_a_tools_name(tmp_path):
    log = tmp_path / "seen"
    first = Asker()
    second = Asker(run=first.run)
    quirks = {"acts": {"ask": "ask_old", "wait": "wait"}, "wait_for": str(tmp_path / "go"), "log": str(log)}
    async with managed(tmp_path, odd(era="old", **quirks)) as manager, anyio.create_task_group() as tasks:

        async def wait():
            await manager.call("odd", "wait", {}, asker=first)

        tasks.start_soon(wait)
        await until_said(log, "waiting")
        assert b"Joe" in ((await manager.call("odd", "ask", {}, asker=second)).structured or b"")
        (tmp_path / "go").touch()
    assert [asked.tool for asked in (*first.asked, *second.asked)] == [""]


async def test_a_question_after_the_end_of_its_call_is_asked_of_nobody(tmp_path):
    log = tmp_path / "seen"
    asker = Asker()
    async with managed(tmp_path, odd(era="old", acts={"ask": "ask_stray"}, log=str(log))) as manager:
        assert text_of(await manager.call("odd", "ask", {}, asker=asker)) == "done"
        lines = await until_said(log, "reply ")
    assert "no call is under way that this could belong to" in lines[-1]
    assert asker.asked == []


async def test_a_call_that_is_given_up_takes_its_question_back(tmp_path):
    log = tmp_path / "seen"
    asker = Asker(waits=True)
    async with managed(tmp_path, odd(era="old", acts={"ask": "ask_old"}, log=str(log))) as manager:
        async with anyio.create_task_group() as tasks:

            async def call():
                await manager.call("odd", "ask", {}, asker=asker)

            tasks.start_soon(call)
            await asker.is_asked.wait()
            tasks.cancel_scope.cancel()
        lines = await until_said(log, "reply ")
    assert "the call that it belongs to has ended" in lines[-1]


async def test_a_refusal_is_told_to_the_server_in_our_words(tmp_path):
    asker = Asker(Refused("a call may ask 5 times"))
    async with managed(tmp_path, odd(era="old", acts={"ask": "ask_old"})) as manager:
        reply = json.loads((await manager.call("odd", "ask", {}, asker=asker)).structured or b"")
    assert reply["reply"]["error"]["message"] == "a call may ask 5 times"


@ERAS
async def test_secrets_of_the_servers_entry_are_masked_in_its_questions(tmp_path, era, act):
    asker = Asker()
    entry = {"env": {"API_TOKEN": "t0ken-of-the-entry"}}
    server = odd(era=era, acts={"ask": act}, question="send t0ken-of-the-entry", entry=entry)
    async with managed(tmp_path, server) as manager:
        await manager.call("odd", "ask", {}, asker=asker)
    assert asker.asked[0].message.startswith("send ")
    assert "t0ken" not in asker.asked[0].message
