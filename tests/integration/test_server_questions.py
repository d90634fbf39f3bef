"""Servers that ask the person at the client during a program: real servers, real clients, both eras on both sides."""

import math
import sys
from pathlib import Path

import anyio
import pytest
from mcp import StdioServerParameters, types
from mcp.client import Client
from mcp.client.stdio import stdio_client

from tests.integration.test_front_http import http_front
from tests.support.asked import (
    Person,
    SlowPerson,
    accept,
    asking_host,
    bodies,
    client_of,
    execute,
    outcome_of,
    records,
    write_config,
)
from tests.support.asking_server import build
from tests.support.front_process import environment
from tests.support.web import serving

pytestmark = pytest.mark.anyio

SERVER = Path(__file__).parents[1] / "support" / "asking_server.py"
FRONT_ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])
SERVER_ERAS = pytest.mark.parametrize("era", ["", "old"], ids=["modern_server", "old_server"])
NAME = "tools.asker.name()"
SAID = """\
The server `asker`, in its tool `name`, asks you, during the run r1. Lines behind > are its own text:
> Which name?
Your answer goes to `asker` and has no other effect.
Leave out passwords, keys and other secrets."""
IN_VAIN = "asked the person at the client something, in vain"
CAUGHT = "try:\n    {}\nexcept ToolError as error:\n    print(error.code, error)"


def stdio_entry(folder, era=""):
    return {"command": sys.executable, "args": [str(SERVER), str(folder / "calls.jsonl"), era]}


# -- processes and sockets on both sides ------------------------------------------------------------------------------


@FRONT_ERAS
@SERVER_ERAS
async def test_a_form_goes_from_a_stdio_server_to_a_stdio_client_and_the_answer_back(tmp_path, mode, era):
    person = Person(accept(name="Joe", colour="green"))
    config = write_config(tmp_path, stdio_entry(tmp_path, era))
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "codemode", "serve", "--config", str(config)], env=environment(tmp_path)
    )
    streams = stdio_client(parameters, errlog=sys.stderr)
    with anyio.fail_after(100):
        async with Client(streams, mode=mode, elicitation_callback=person) as client:
            await client.list_tools()
            text, facts = await execute(client, NAME)
    assert (text.splitlines()[-1], facts["status"]) == ("named Joe green", "ok")
    assert [params.message for params in person.asked] == [SAID]
    assert person.asked[0].requested_schema == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "title": "asker: Name", "maxLength": 20},
            "colour": {
                "type": "string",
                "title": "asker: Colour",
                "oneOf": [{"const": "red", "title": "red"}, {"const": "green", "title": "green"}],
                "default": "red",
            },
        },
        "required": ["name"],
    }
    assert bodies(tmp_path) == ["name"]


@SERVER_ERAS
async def test_a_form_goes_from_an_http_server_to_http_clients_of_both_eras(tmp_path, era):
    with serving(build(tmp_path / "calls.jsonl", era).streamable_http_app()) as address:
        config = write_config(tmp_path, {"url": f"{address}/mcp"})
        with http_front(tmp_path, "--config", config) as (_, url), anyio.fail_after(100):
            for mode in ("auto", "legacy"):
                person = Person(accept(name="Joe"))
                async with Client(url, mode=mode, elicitation_callback=person) as client:
                    text, _ = await execute(client, NAME)
                assert (text.splitlines()[-1], len(person.asked)) == ("named Joe red", 1)


# -- answers ----------------------------------------------------------------------------------------------------------


@FRONT_ERAS
@SERVER_ERAS
async def test_a_person_who_declines_or_closes_the_form_is_a_plain_answer_to_the_server(tmp_path, mode, era):
    person = Person(types.ElicitResult(action="decline"), types.ElicitResult(action="cancel"))
    async with asking_host(tmp_path, era=era) as host, client_of(host, person, mode=mode) as client:
        ends = [(await execute(client, NAME))[0].splitlines()[-1] for _ in range(2)]
    assert ends == ["decline", "cancel"]
    assert [run["asked"] for run in records(tmp_path)] == [
        [{"server": "asker", "tool": "name", "mode": "form", "action": action, "reason": ""}] for action in ends
    ]


@SERVER_ERAS
async def test_an_answer_that_does_not_fit_the_form_never_reaches_the_server(tmp_path, era):
    person = Person(accept(name="x" * 21))
    async with asking_host(tmp_path, era=era) as host, client_of(host, person) as client:
        text, _ = await execute(client, NAME)
    assert text.splitlines()[1:] == [
        "cancel",
        "Note: asker asked the person at the client something, without an answer: "
        "the answer does not fit the form: `name` does not fit its field",
    ]


async def test_the_record_says_that_a_person_was_asked_and_neither_question_nor_answer(tmp_path):
    person = Person(accept(name="Josephine"))
    async with asking_host(tmp_path) as host, client_of(host, person) as client:
        await execute(client, f"{NAME}\n1")
    (run,) = records(tmp_path)
    assert run["asked"] == [{"server": "asker", "tool": "name", "mode": "form", "action": "accept", "reason": ""}]
    assert run["asked_total"] == 1
    assert "Josephine" not in str(run)
    assert "Which name" not in str(run)


# -- nobody to ask ----------------------------------------------------------------------------------------------------


@FRONT_ERAS
@SERVER_ERAS
async def test_where_the_client_shows_no_forms_the_program_gets_a_clear_error(tmp_path, mode, era):
    async with asking_host(tmp_path, era=era) as host, client_of(host, mode=mode) as client:
        text, facts = await execute(client, CAUGHT.format(NAME))
    what = "wants what this client does not offer" if era == "" else f"{IN_VAIN}: the client shows no forms"
    assert text.splitlines()[2].startswith(f"upstream.unsupported `asker.name` {what}")
    assert facts["calls"] == {"total": 1, "error": 1}
    assert records(tmp_path)[0]["calls"][0]["code"] == "upstream.unsupported"
    assert bodies(tmp_path) == []


@SERVER_ERAS
async def test_a_server_whose_entry_says_so_asks_nobody(tmp_path, era):
    person = Person(accept(name="Joe"))
    entry = {**stdio_entry(tmp_path, era), "elicitation": False}
    async with asking_host(tmp_path, entry=entry) as host, client_of(host, person) as client:
        _, facts = await execute(client, NAME)
    assert (facts["status"], person.asked, bodies(tmp_path)) == ("error", [], [])


async def test_a_run_that_ends_takes_its_question_back_from_the_person(tmp_path):
    person = SlowPerson(accept(name="Joe"))
    ends = []
    async with (
        asking_host(tmp_path) as host,
        client_of(host, person, mode="legacy") as client,
        anyio.create_task_group() as tasks,
    ):

        async def work():
            ends.append(await execute(client, NAME))

        tasks.start_soon(work)
        await person.reading.wait()
        (registry,) = host._registries
        registry.find("r1").scope.cancel()
        await person.taken_back.wait()
    assert ends[0][1]["status"] == "cancelled"
    assert records(tmp_path)[0]["asked"][0]["action"] == "withdrawn"


@SERVER_ERAS
async def test_the_time_a_person_takes_is_not_the_servers(tmp_path, era):
    person = SlowPerson(accept(name="Joe"))
    results = []
    async with (
        asking_host(tmp_path, era=era, call_timeout_s=20, idle_timeout_s=20) as host,
        client_of(host, person, mode="legacy") as client,
        anyio.create_task_group() as tasks,
    ):

        async def work():
            results.append(await execute(client, NAME))

        tasks.start_soon(work)
        await person.reading.wait()
        (call,) = host.manager._servers["asker"].owner.connection.asking._calls
        assert (call.clock.absolute.deadline, call.clock.idle.deadline) == (math.inf, math.inf)
        person.may_answer.set()
    assert results[0][0].splitlines()[-1] == "named Joe red"


# -- addresses --------------------------------------------------------------------------------------------------------


@FRONT_ERAS
@SERVER_ERAS
async def test_an_address_is_shown_with_its_host_and_opened_by_nobody_but_the_person(tmp_path, mode, era):
    person = Person(types.ElicitResult(action="accept"))
    url = "https://login.example.com:8443/start?x=1"
    async with asking_host(tmp_path, era=era) as host, client_of(host, person, mode=mode) as client:
        text, _ = await execute(client, f"tools.asker.sign_in(url={url!r})")
    assert text.splitlines()[-1] == "sign in: accept"
    (asked,) = person.asked
    assert (asked.mode, asked.url) == ("url", url)
    assert asked.message.splitlines()[1:] == [
        "> Sign in",
        "Your answer goes to `asker` and has no other effect.",
        "It wants you to open an address at login.example.com:8443 in your browser:",
        url,
        "Open it only if you know that host.",
    ]


@SERVER_ERAS
async def test_an_address_that_is_no_plain_https_is_shown_to_nobody(tmp_path, era):
    person = Person(types.ElicitResult(action="accept"))
    async with asking_host(tmp_path, era=era) as host, client_of(host, person) as client:
        text, _ = await execute(client, CAUGHT.format("tools.asker.sign_in(url='http://example.com')"))
    assert "upstream.unsupported" in text
    assert "its address is no plain `https://` address" in text
    assert (person.asked, bodies(tmp_path)) == ([], [])


async def test_a_server_that_wants_an_address_opened_first_is_called_again_by_the_program_only(tmp_path):
    person = Person(types.ElicitResult(action="accept"))
    call = "tools.asker.signed_in_only(url='https://example.com/in')"
    async with asking_host(tmp_path, era="old") as host, client_of(host, person) as client:
        text, _ = await execute(client, call)
    assert [params.url for params in person.asked] == ["https://example.com/in"]
    assert "call again when they have finished there" in text
    assert bodies(tmp_path) == ["signed_in_only"]


# -- approvals beside questions ---------------------------------------------------------------------------------------


@FRONT_ERAS
async def test_an_approval_and_a_servers_question_of_one_call_come_one_after_the_other(tmp_path, mode):
    person = Person(accept(allow=True), accept(name="Joe"))
    async with asking_host(tmp_path) as host, client_of(host, person, mode=mode) as client:
        text, _ = await execute(client, "tools.asker.rename(item=7)")
    assert text.splitlines()[-1] == "named Joe red"
    assert [params.message.splitlines()[0][:24] for params in person.asked] == [
        "A program (r1) wants to ",
        "The server `asker`, in i",
    ]
    assert bodies(tmp_path) == ["rename"]


async def test_a_run_that_waits_for_an_answer_can_be_left_and_collected(tmp_path):
    async with asking_host(tmp_path) as host, client_of(host, Person(accept(name="Joe"))) as client:
        first = await client.session.call_tool("execute", {"code": NAME}, allow_input_required=True)
        assert isinstance(first, types.InputRequiredResult)  # and this request is never sent again
        result = await client.call_tool("execute", {"resume": "r1"})
    assert outcome_of(result)[0].splitlines()[-1] == "named Joe red"
    assert bodies(tmp_path) == ["name"]
