"""`codemode serve` over stdio: a real client in both protocol eras, a real server behind it, a real sandbox."""

import json
import shlex
import signal
import sys

import anyio
import pytest
from mcp import StdioServerParameters, types
from mcp.client import Client
from mcp.client.stdio import stdio_client

from tests.support.front_process import ROOT, RawFront, calls_of, codemode, environment, write_config

pytestmark = pytest.mark.anyio

ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])


@pytest.fixture(scope="module")
def module_folder(tmp_path_factory):
    """One folder for all tests of this file; what the server lists is in the cache, so that no test waits for it."""
    folder = tmp_path_factory.mktemp("front")
    assert codemode("catalog", "--config", write_config(folder), folder=folder).returncode == 0
    return folder


@pytest.fixture
def folder(module_folder):
    (module_folder / "calls.jsonl").unlink(missing_ok=True)
    return module_folder


def front(folder, *, mode="auto", elicit=None, **settings):
    config = write_config(folder, **settings)
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "codemode", "serve", "--config", str(config)], env=environment(folder)
    )
    return Client(stdio_client(parameters, errlog=sys.stderr), mode=mode, elicitation_callback=elicit)


def text_of(result):
    assert not result.is_error, result
    return "\n".join(block.text for block in result.content if block.type == "text")


@ERAS
async def test_exactly_the_two_tools_are_listed(folder, mode):
    async with front(folder, mode=mode) as client:
        tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == ["tool_search", "execute"]
    index = tools[0].input_schema["properties"]["query"]["description"]
    assert "tools.tracker.get_issue(number: int)" in index


@ERAS
async def test_a_chain_of_calls_runs_in_one_program(folder, mode):
    program = "number = 1\nfor _ in range(20):\n    number = tools.tracker.get_issue(number=number)['next']\nnumber"
    async with front(folder, mode=mode) as client:
        await client.list_tools()
        result = await client.call_tool("execute", {"code": program})
    assert text_of(result).endswith("\n21")
    assert result.meta["codemode/run"]["calls"] == {"total": 20, "ok": 20}
    assert [call["arguments"]["number"] for call in calls_of(folder)] == list(range(1, 21))


@ERAS
async def test_a_function_that_was_not_shown_is_refused_once_and_resume_runs_it(folder, mode):
    async with front(folder, mode=mode, tool_search={"enabled": True}) as client:
        await client.list_tools()
        refused = await client.call_tool("execute", {"code": "tools.tracker.get_issue(number=5)"})
        assert calls_of(folder) == []
        passed = await client.call_tool("execute", {"resume": refused.meta["codemode/run"]["run"]})
    assert "you had not been shown (loaded now)" in text_of(refused)
    assert "tools.tracker.get_issue(number: int)" in text_of(refused)
    assert '{"number":5,"title":"issue 5","next":6}' in text_of(passed)


async def test_a_function_found_by_search_runs_at_once(folder):
    async with front(folder, tool_search={"enabled": True}) as client:
        await client.call_tool("tool_search", {"query": "one issue by number"})
        result = await client.call_tool("execute", {"code": "tools.tracker.get_issue(number=5)['title']"})
    assert text_of(result).endswith("\nissue 5")


@ERAS
@pytest.mark.parametrize(("allow", "last_line"), [(True, "deleted a/b"), (False, None)])
async def test_a_destructive_call_asks_the_person_at_the_client(folder, mode, allow, last_line):
    asked = []

    async def elicit(context, params):
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"allow": allow})

    async with front(folder, mode=mode, elicit=elicit) as client:
        await client.list_tools()
        result = await client.call_tool("execute", {"code": "tools.tracker.delete_repo(repo='a/b')"})
    assert len(asked) == 1
    assert "tracker: delete_repo" in asked[0]
    assert [call["name"] for call in calls_of(folder)] == (["delete_repo"] if allow else [])
    assert text_of(result).splitlines()[-1] == last_line if allow else "said no" in text_of(result)


async def test_where_nobody_can_be_asked_the_refusal_names_the_rule(folder):
    async with front(folder) as client:
        await client.list_tools()
        result = await client.call_tool("execute", {"code": "tools.tracker.delete_repo(repo='a/b')"})
    assert '{"tool": "tracker.delete_repo", "decision": "allow"}' in text_of(result)
    assert calls_of(folder) == []


async def test_an_image_that_a_tool_returns_is_shown(folder):
    async with front(folder) as client:
        await client.list_tools()
        result = await client.call_tool("execute", {"code": "tools.tracker.draw()"})
    assert [block.type for block in result.content] == ["text", "image"]
    assert result.content[1].mime_type == "image/png"


async def test_a_program_outlives_the_request_that_started_it(folder):
    async with front(folder) as client:
        await client.list_tools()
        with anyio.move_on_after(0.5):
            await client.call_tool("execute", {"code": "tools.tracker.wait(seconds=1.5)"})
        result = await client.call_tool("execute", {"resume": "last"})
    assert text_of(result).endswith("\nwaited")
    assert len(calls_of(folder)) == 1


def test_standard_output_carries_the_protocol_and_nothing_else(folder):
    config = write_config(folder)
    program = "import sys\nprint('to stdout')\nprint('to stderr', file=sys.stderr)\n1"
    with RawFront("--config", config, folder=folder) as raw:
        raw.initialize()
        raw.request("tools/list", {})
        raw.request("tools/call", {"name": "execute", "arguments": {"code": program}})
        raw.send({"method": "this is no method", "params": [1]})
        raw.process.stdin.write("this is no JSON\n")
        raw.request("ping", {})
        rest, _ = raw.process.communicate(timeout=30)
    for line in [*raw.lines, *rest.splitlines()]:
        assert json.loads(line)["jsonrpc"] == "2.0"


def test_instructions_name_the_servers_before_any_of_them_is_up(folder):
    config = write_config(folder)
    with RawFront("--config", config, folder=folder) as raw:
        assert "It reaches these servers: tracker." in raw.initialize()["result"]["instructions"]


def test_the_front_ends_when_the_client_goes_away(folder):
    with RawFront("--config", write_config(folder), folder=folder) as raw:
        raw.initialize()
        raw.request("tools/list", {})
        raw.process.stdin.close()
        assert raw.process.wait(timeout=30) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_front_while_it_waits_for_its_client(folder, number):
    with RawFront("--config", write_config(folder), folder=folder) as raw:
        raw.initialize()
        raw.process.send_signal(number)
        assert raw.process.wait(timeout=30) == 130


def test_a_required_server_that_does_not_come_up_ends_the_front_with_the_reason(folder):
    config = write_config(folder, name="broken.json", server={"command": "/no/such/program", "required": True})
    with RawFront("--config", config, folder=folder) as raw:
        assert raw.process.wait(timeout=30) == 3
        assert "error[upstream.not_found]: the required server `tracker` did not come up" in raw.process.stderr.read()


@pytest.mark.parametrize("is_hidden", [False, True], ids=["in the open", "behind a shell"])
def test_an_entry_that_starts_the_front_over_its_own_file_costs_that_entry_and_starts_no_chain(folder, is_hidden):
    file = folder / "circular.json"
    words = ["-m", "codemode", "serve", "--config", str(file)]
    shell = {"command": "/bin/sh", "args": ["-c", "exec " + shlex.join([sys.executable, *words])]}
    open_entry = {"command": sys.executable, "args": words}
    write_config(folder, name=file.name)
    document = json.loads(file.read_text())
    entry = {**(shell if is_hidden else open_entry), "env": {"PYTHONPATH": str(ROOT), **environment(folder)}}
    document["mcpServers"]["itself"] = entry
    file.write_text(json.dumps(document))
    done = codemode("catalog", "--config", file, "--json", folder=folder)
    itself, tracker = (by_name(json.loads(done.stdout), name) for name in ("itself", "tracker"))
    assert (done.returncode, itself["state"], tracker["state"]) == (3, "failed", "ready")
    assert ("serves this file started this one" if is_hidden else "would start this program") in itself["reason"]


def by_name(document, server):
    return next(item for item in document["servers"] if item["server"] == server)
