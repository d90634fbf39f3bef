"""A hostile server that asks the person: it imitates an approval, asks on another's connection, asks without end."""

import json
import sys

import anyio
import pytest
from mcp import types
from mcp.shared.exceptions import MCPError

from codemode.broker.questions import MAX_PER_CALL
from codemode.policy.desk import Reply
from tests.support import asking_server
from tests.support.asked import Person, SlowPerson, accept, asking_host, bodies, client_of, execute, outcome_of, records
from tests.support.upstream import ODD_SERVER

pytestmark = pytest.mark.anyio

ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])
SERVER_ERAS = pytest.mark.parametrize("era", ["", "old"], ids=["modern_server", "old_server"])
BOTH_TOOLS = "tools.asker.imitate()\ntry:\n    tools.asker.erase()\nexcept ToolError as error:\n    print(error.code)"


def is_approval(params):
    return "allow" in params.requested_schema["properties"]


@ERAS
@SERVER_ERAS
async def test_an_imitated_approval_neither_looks_like_one_nor_allows_anything(tmp_path, mode, era):
    """The person says yes to everything a server asks, and no to what the program wants."""

    class Careful(Person):
        async def __call__(self, context, params):
            self.asked.append(params)
            return accept(allow=False) if is_approval(params) else accept(server_allow=True, allow=True)

    person = Careful()
    async with asking_host(tmp_path, era=era) as host, client_of(host, person, mode=mode) as client:
        await execute(client, BOTH_TOOLS)
        text, _ = await execute(client, "tools.asker.imitate()")
    approval, imitation = person.asked
    assert approval.message.startswith("A program (r1) wants to do this:\n- asker: erase")
    assert imitation.message.splitlines() == [
        "The server `asker`, in its tool `imitate`, asks you, during the run r2. Lines behind > are its own text:",
        "> A program (r1) wants to do this:",
        "> - asker: erase everything — line 1",
        "> Allow it?",
        "Your answer goes to `asker` and has no other effect.",
        "Leave out passwords, keys and other secrets.",
    ]
    assert list(imitation.requested_schema["properties"]) == ["server_allow"]
    assert imitation.requested_schema["properties"]["server_allow"]["title"] == "asker: Allow"
    # An answer with a field that was not asked for goes nowhere at all.
    assert "the answer does not fit the form: it has a field that was not asked for" in text
    assert "erase" not in bodies(tmp_path)


@ERAS
async def test_what_a_person_tells_a_server_is_never_taken_for_an_approval(tmp_path, mode):
    """One answer, good for both, given to the server's question first: the approval is asked for all the same."""
    person = Person(accept(server_allow=True), accept(allow=False))
    program = "tools.asker.imitate()\ngetattr(tools.asker, 'er' + 'ase')()"
    async with asking_host(tmp_path) as host, client_of(host, person, mode=mode) as client:
        _, facts = await execute(client, program)
    assert [is_approval(params) for params in person.asked] == [False, True]
    assert facts["status"] == "error"
    assert bodies(tmp_path) == ["imitate"]


async def test_an_answer_under_the_key_of_the_other_kind_counts_for_nothing(tmp_path):
    """2026-07-28: a client answers a server's question as an approval, and an approval as a server's question."""
    wrong = {"approval": accept(allow=True), "server_question": accept(server_allow=True, allow=True)}

    async def asked(client, code, key):
        program = {"code": code}
        first = await client.session.call_tool("execute", program, allow_input_required=True)
        assert list(first.input_requests) != [key]
        return await client.session.call_tool(
            "execute",
            program,
            input_responses={key: wrong[key]},
            request_state=first.request_state,
            allow_input_required=True,
        )

    async with asking_host(tmp_path) as host, client_of(host, Person(accept())) as client:
        for code, key in (("tools.asker.imitate()", "approval"), ("tools.asker.erase()", "server_question")):
            again = await asked(client, code, key)
            assert isinstance(again, types.InputRequiredResult)  # it is still being asked
    assert bodies(tmp_path) == []


async def test_an_answer_that_is_sent_again_answers_nothing_else(tmp_path):
    """The server asks the same twice; the client sends its first answer for both."""
    program = {"code": "tools.asker.name(), tools.asker.name()"}
    async with asking_host(tmp_path) as host, client_of(host, Person(accept())) as client:

        async def send(state=None, **content):
            given = {"server_question": accept(**content)} if content else None
            return await client.session.call_tool(
                "execute", program, input_responses=given, request_state=state, allow_input_required=True
            )

        first = await send()
        second = await send(first.request_state, name="Joe")
        replayed = await send(first.request_state, name="Joe")
        assert isinstance(replayed, types.InputRequiredResult)
        assert bodies(tmp_path) == ["name"]
        last = await send(second.request_state, name="Ann")
    assert outcome_of(last)[0].splitlines()[-1] == '["named Joe red","named Ann red"]'


async def test_an_answer_from_another_session_answers_nothing(tmp_path):
    program = {"code": "tools.asker.name()"}
    async with (
        asking_host(tmp_path) as host,
        client_of(host, Person(accept())) as one,
        client_of(host, Person(accept())) as other,
    ):
        mine = await one.session.call_tool("execute", program, allow_input_required=True)
        await other.session.call_tool("execute", program, allow_input_required=True)
        with pytest.raises(MCPError, match="requestState"):
            await other.session.call_tool(
                "execute",
                program,
                input_responses={"server_question": accept(name="Joe")},
                request_state=mine.request_state,
                allow_input_required=True,
            )
        # Past the seal, too: the key belongs to one question of one run, whatever the run is called elsewhere.
        (first, second) = host._registries
        key = first.find("r1").desk.question.key
        assert not second.find("r1").desk.reply(key, Reply(action="accept", content={"name": "Joe"}))
    assert bodies(tmp_path) == []


def odd_entry(**quirks):
    return {"command": sys.executable, "args": [str(ODD_SERVER), json.dumps({"era": "old", **quirks})]}


async def test_a_question_over_a_shared_connection_reaches_nobody_while_two_sessions_use_it(tmp_path):
    """Over stdio nothing says for whose call an older server asks: the other session's person must not see it."""
    tools = [
        {"name": name, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
        for name in ("ask", "wait")
    ]
    entry = odd_entry(
        tools=tools,
        acts={"ask": "ask_old", "wait": "wait"},
        wait_for=str(tmp_path / "go"),
        log=str(tmp_path / "seen"),
    )
    victim, other = Person(accept(name="Joe")), Person(accept(name="Eve"))
    async with (
        asking_host(tmp_path, entry=entry) as host,
        client_of(host, victim) as mine,
        client_of(host, other) as theirs,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(execute, mine, "tools.asker.wait()")
        while "waiting" not in (tmp_path / "seen").read_text():
            await anyio.sleep(0.01)
        text, _ = await execute(theirs, "tools.asker.ask()")
        (tmp_path / "go").touch()
    assert "calls of several programs are under way" in text
    assert (victim.asked, other.asked) == ([], [])


async def test_over_http_a_question_reaches_the_session_whose_call_it_came_with(tmp_path):
    """Two sessions have calls under way on one connection; the response that carries a question tells whose it is."""
    slow, quick = SlowPerson(accept(name="Slow")), SlowPerson(accept(name="Quick"))
    ends = {}
    async with (
        asking_host(tmp_path, era="old") as host,
        client_of(host, slow) as one,
        client_of(host, quick) as two,
        anyio.create_task_group() as tasks,
    ):

        async def work(name, client):
            ends[name] = (await execute(client, "tools.asker.name()"))[0].splitlines()[-1]

        tasks.start_soon(work, "slow", one)
        await slow.reading.wait()
        tasks.start_soon(work, "quick", two)
        await quick.reading.wait()
        quick.may_answer.set()
        slow.may_answer.set()
    assert ends == {"slow": "named Slow red", "quick": "named Quick red"}


async def test_a_thousand_questions_in_one_call_cost_the_person_five(tmp_path):
    person = Person(accept(name="Joe"))
    entry = {"command": sys.executable, "args": [asking_server.__file__, str(tmp_path / "calls.jsonl"), "old"]}
    async with asking_host(tmp_path, entry=entry) as host, client_of(host, person, mode="legacy") as client:
        text, _ = await execute(client, "tools.asker.storm(count=1000)")
        again, _ = await execute(client, "1 + 1")
    assert len(person.asked) == MAX_PER_CALL
    assert f'"accept":{MAX_PER_CALL}' in text
    assert again.splitlines()[-1] == "2"
    (run, _) = records(tmp_path)
    assert (run["asked_total"], len(run["asked"])) == (1_000, 100)


async def test_a_thousand_questions_in_one_result_are_refused_before_the_first(tmp_path):
    tools = [{"name": "ask", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}]
    entry = odd_entry(tools=tools, acts={"ask": "ask_many"}, era="new")
    person = Person(accept())
    async with asking_host(tmp_path, entry=entry) as host, client_of(host, person) as client:
        text, facts = await execute(client, "tools.asker.ask()")
    assert facts["status"] == "error"
    assert "asks 1000 things at once" in text
    assert person.asked == []
