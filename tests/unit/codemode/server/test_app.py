"""The front over a scripted host, through a real client in memory, in both protocol eras."""

import anyio
import pytest
from mcp import types
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from codemode.catalog.build import build_listing
from codemode.policy.desk import FormQuestion, Reply
from codemode.policy.form import read_form
from codemode.prose.descriptions import MAX_DESCRIPTION_CHARS
from codemode.runs.outcome import RunOutcome
from tests.support.fake_front import FakeHost, asking, asking_for, ended, fake_front
from tests.support.small_catalog import LIST_ISSUES, STARTING, small_catalog

pytestmark = pytest.mark.anyio

ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])


def text_of(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


def answering(action, content=None, seen=None):
    async def elicit(context, params):
        if seen is not None:
            seen.append(params.message)
        return types.ElicitResult(action=action, content=content)

    return elicit


@ERAS
async def test_exactly_two_tools_are_listed_with_their_marks(mode):
    async with fake_front(FakeHost()) as server, Client(server, mode=mode) as client:
        tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == ["tool_search", "execute"]
    for tool in tools:
        assert tool.output_schema is None
        assert tool.meta == {"anthropic/alwaysLoad": True}
        assert tool.title
        assert len(tool.description) < MAX_DESCRIPTION_CHARS
    assert tools[0].annotations.read_only_hint is True
    assert tools[1].annotations.destructive_hint is True


@ERAS
async def test_the_listing_is_frozen_and_its_signatures_count_as_shown(mode):
    host = FakeHost()
    async with fake_front(host) as server, Client(server, mode=mode) as client:
        first = await client.list_tools()
        host.catalog = small_catalog(build_listing("late", [LIST_ISSUES], state="ready"))
        assert (await client.list_tools()).tools == first.tools
    assert len(host.sessions) == 1
    assert "github.list_issues" in host.sessions[0].shown


async def test_a_listing_waits_only_for_servers_of_which_nothing_is_known():
    host = FakeHost(catalog=small_catalog(STARTING), catalog_after_wait=small_catalog())
    async with fake_front(host) as server, Client(server) as client:
        tools = (await client.list_tools()).tools
    assert host.waited == [(("jira",), 3.0)]
    assert "jira" not in tools[0].input_schema["properties"]["query"]["description"]


@ERAS
async def test_a_search_shows_and_marks_and_has_facts_in_meta(mode):
    host = FakeHost()
    async with fake_front(host) as server, Client(server, mode=mode) as client:
        result = await client.call_tool("tool_search", {"query": "send message; bake bread"})
    assert text_of(result).startswith("Ready to call (1 shown)")
    assert result.meta["codemode/search"] == {"shown": ["slack.post_message"], "missed": ["bake bread"]}
    assert host.sessions[0].shown[:1] == ["slack.post_message"]  # the client lists the tools after the call
    assert not result.is_error
    assert result.structured_content is None


@ERAS
async def test_a_run_comes_back_as_text_with_facts_in_meta(mode):
    host = FakeHost(script=[ended("r7", receipt="abc")])
    async with fake_front(host) as server, Client(server, mode=mode) as client:
        result = await client.call_tool("execute", {"code": "1 + 1"})
    assert text_of(result) == "r7 ok.\n2"
    assert result.meta["codemode/run"]["run"] == "r7"
    assert result.meta["codemode/run"]["status"] == "ok"
    assert result.meta["codemode/run"]["calls"] == {"total": 0}
    assert host.sessions[0].calls == [("1 + 1", "", 45.0)]


async def test_a_failed_program_is_no_protocol_error():
    host = FakeHost(script=[RunOutcome(run="r1", status="error", code="guest.raised")])
    async with fake_front(host) as server, Client(server) as client:
        result = await client.call_tool("execute", {"code": "1 / 0"})
    assert not result.is_error
    assert text_of(result).startswith("r1 failed")


async def test_an_image_is_a_block_of_its_own():
    host = FakeHost(script=[ended(value_form="image", value_type="image/png", value_raw=b"PNG")])
    async with fake_front(host) as server, Client(server) as client:
        result = await client.call_tool("execute", {"code": "x"})
    assert [block.type for block in result.content] == ["text", "image"]
    assert result.content[1].data == "UE5H"


async def test_half_surrogate_pairs_do_not_break_an_answer():
    host = FakeHost(script=[ended(printed="\ud800 half")])
    async with fake_front(host) as server, Client(server) as client:
        assert "\\ud800 half" in text_of(await client.call_tool("execute", {"code": "x"}))


@pytest.mark.parametrize("name", ["github.list_issues", "mcp__github__list_issues"])
async def test_a_direct_call_is_answered_with_the_program_to_send(name):
    host = FakeHost()
    async with fake_front(host) as server, Client(server) as client:
        result = await client.call_tool(name, {"owner": "a", "repo": "b"})
    assert "execute(code=\"tools.github.list_issues(owner='a', repo='b')\")" in text_of(result)
    assert not result.is_error
    assert host.sessions[0].shown[:1] == ["github.list_issues"]


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("execute", {"program": "1"}, "as `code`, not as `program`"),
        ("execute", {"code": 7}, "`code` must be a string, got a number"),
        ("tool_search", {"query": "x", "limit": "many"}, "`limit` must be a whole number, got a string"),
        ("tool_search", {"query": "x", "top": 3}, "has no argument `top`"),
        ("execute", {"resume": "r404"}, "there is no run `r404`"),
    ],
)
async def test_wrong_arguments_are_explained_and_no_error(tool, arguments, said):
    async with fake_front(FakeHost()) as server, Client(server) as client:
        result = await client.call_tool(tool, arguments)
    assert said in text_of(result)
    assert "\nNext: " in text_of(result)
    assert not result.is_error


async def test_a_fault_of_ours_is_the_only_error_and_tells_nothing_of_itself(caplog):
    host = FakeHost(failure=ZeroDivisionError("inner detail"))
    async with fake_front(host) as server, Client(server) as client:
        result = await client.call_tool("execute", {"code": "1"})
    assert result.is_error
    assert "inner detail" not in text_of(result)
    assert "inner detail" in caplog.text


@ERAS
async def test_changed_servers_are_news_once(mode):
    host = FakeHost(script=[ended("r1"), ended("r2")])
    async with fake_front(host) as server, Client(server, mode=mode) as client:
        await client.list_tools()
        host.catalog = small_catalog(build_listing("late", [LIST_ISSUES], state="ready"))
        first = await client.call_tool("execute", {"code": "1"})
        second = await client.call_tool("execute", {"code": "1"})
    assert text_of(first) == "r1 ok.\n2\nNews: late is there now, with 1 function; search for them"
    assert text_of(second) == "r2 ok.\n2"


# -- approval ----------------------------------------------------------------------------------------------------------


@ERAS
@pytest.mark.parametrize(
    ("action", "content", "is_yes"),
    [
        ("accept", {"allow": True}, True),
        ("accept", {"allow": False}, False),
        ("accept", {}, False),
        ("accept", {"allow": "true"}, False),
        ("decline", None, False),
        ("cancel", None, False),
    ],
)
async def test_only_a_plain_yes_is_a_yes(mode, action, content, is_yes):
    host = FakeHost(script=[asking("r1"), ended("r1")])
    asked = []
    async with (
        fake_front(host) as server,
        Client(server, mode=mode, elicitation_callback=answering(action, content, asked)) as client,
    ):
        result = await client.call_tool("execute", {"code": "x"})
    assert host.sessions[0].answers == [("r1", is_yes)]
    assert asked == ["A program (r1) wants to do this:\n- github: delete_repo — line 1\nAllow it?"]
    assert text_of(result) == "r1 ok.\n2"


@ERAS
async def test_several_questions_are_asked_one_after_the_other(mode):
    host = FakeHost(script=[asking(lines=["one"]), asking(lines=["two"]), ended()])
    asked = []
    elicit = answering("accept", {"allow": True}, asked)
    async with fake_front(host) as server, Client(server, mode=mode, elicitation_callback=elicit) as client:
        await client.call_tool("execute", {"code": "x"})
    assert [text.splitlines()[1] for text in asked] == ["- one", "- two"]
    assert host.sessions[0].answers == [("r1", True), ("r1", True)]


async def test_a_request_ends_with_the_line_to_go_on_before_clients_give_up_on_questions():
    host = FakeHost(script=[asking(lines=[f"question {number}"]) for number in range(12)])
    elicit = answering("accept", {"allow": True})
    async with fake_front(host) as server, Client(server, elicitation_callback=elicit) as client:
        result = await client.call_tool("execute", {"code": "x"})
    assert text_of(result).startswith("r1 waits for a person")
    assert text_of(result).endswith('Next: execute(resume="r1")')


@ERAS
async def test_a_client_that_cannot_ask_is_told_how_things_stand(mode):
    host = FakeHost(script=[asking()])
    async with fake_front(host) as server, Client(server, mode=mode) as client:
        result = await client.call_tool("execute", {"code": "x"})
    assert host.sessions[0].session.can_ask is False
    assert host.sessions[0].answers == []
    assert text_of(result).startswith("r1 waits for a person")


async def test_an_answer_counts_only_for_the_question_that_was_shown():
    host = FakeHost(script=[asking(lines=["harmless"])])
    async with fake_front(host) as server, Client(server, elicitation_callback=answering("accept")) as client:
        first = await client.session.call_tool("execute", {"code": "x"}, allow_input_required=True)
        assert isinstance(first, types.InputRequiredResult)
        host.sessions[0].current = asking(lines=["something else"])
        yes = {"approval": types.ElicitResult(action="accept", content={"allow": True})}
        second = await client.session.call_tool(
            "execute", {"code": "x"}, input_responses=yes, request_state=first.request_state, allow_input_required=True
        )
    assert isinstance(second, types.InputRequiredResult)
    assert host.sessions[0].answers == []


@pytest.mark.parametrize("arguments", [{"code": "x"}, {"code": "y"}])
async def test_a_state_that_is_forged_or_belongs_to_another_request_is_refused(arguments):
    host = FakeHost(script=[asking()])
    async with fake_front(host) as server, Client(server, elicitation_callback=answering("accept")) as client:
        first = await client.session.call_tool("execute", {"code": "x"}, allow_input_required=True)
        state = first.request_state if arguments["code"] == "y" else '{"run":"r1","question":"","round":1}'
        with pytest.raises(MCPError, match="requestState"):
            await client.session.call_tool("execute", arguments, request_state=state, allow_input_required=True)
    assert host.sessions[0].answers == []


FORM = FormQuestion(
    server="shop",
    tool="buy",
    message="How many?",
    form=read_form({"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}),
)


@ERAS
async def test_a_servers_question_is_put_as_the_servers_own_and_answered_by_a_reply(mode):
    host = FakeHost(script=[asking_for(FORM), ended()])
    asked = []
    elicit = answering("accept", {"count": 2}, asked)
    async with fake_front(host) as server, Client(server, mode=mode, elicitation_callback=elicit) as client:
        result = await client.call_tool("execute", {"code": "x"})
    assert host.sessions[0].answers == [("r1", Reply(action="accept", content={"count": 2}))]
    assert asked[0].startswith("The server `shop`, in its tool `buy`, asks you, during the run r1.")
    assert text_of(result) == "r1 ok.\n2"


async def test_a_question_that_is_taken_back_is_taken_back_from_the_client():
    host = FakeHost(script=[asking_for(FORM), ended()])
    taken_back = anyio.Event()

    async def elicit(context, params):
        host.taken_back.set()
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            taken_back.set()
            raise

    async with fake_front(host) as server, Client(server, mode="legacy", elicitation_callback=elicit) as client:
        result = await client.call_tool("execute", {"code": "x"})
        with anyio.fail_after(5):
            await taken_back.wait()
    assert host.sessions[0].answers == []
    assert text_of(result) == "r1 ok.\n2"


@ERAS
async def test_a_client_that_shows_no_forms_is_told_what_a_run_waits_for(mode):
    host = FakeHost(script=[asking_for(FORM)])
    async with fake_front(host) as server, Client(server, mode=mode) as client:
        result = await client.call_tool("execute", {"code": "x"})
    assert text_of(result).splitlines()[:2] == [
        "r1 waits for a person to answer a server. Nothing is lost.",
        "shop, in its tool `buy`, asks the person to fill in a form",
    ]


async def test_a_client_that_asked_for_progress_gets_it_while_a_program_runs():
    host = FakeHost(script=[ended()], blocks_s=1.2)
    heard = anyio.Event()

    async def progress(value, total, message):
        assert message.startswith("the program runs")
        heard.set()

    async with fake_front(host) as server, Client(server, mode="legacy") as client:
        result = await client.call_tool("execute", {"code": "x"}, progress_callback=progress)
        with anyio.fail_after(5):
            await heard.wait()
    assert text_of(result) == "r1 ok.\n2"
