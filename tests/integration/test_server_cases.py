"""More of what people reported about servers, through the whole host: starts, sign-ins, links, texts, limits."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from starlette.responses import JSONResponse, Response

from codemode import Host, load_config
from codemode.prose.search_answer import search_answer
from codemode.runs.outcome import RunOutcome
from tests.support.hand_made import HandMade
from tests.support.upstream import ODD_SERVER, failure, managed, odd, text_of, tool
from tests.support.web import serving

pytestmark = pytest.mark.anyio


def entry(**quirks: Any) -> dict[str, Any]:
    tools = [{**item, "annotations": {"readOnlyHint": True}} for item in quirks.pop("tools", [])]
    return {"command": sys.executable, "args": [str(ODD_SERVER), json.dumps({"tools": tools, **quirks})]}


@asynccontextmanager
async def hosting(folder: Path, servers: dict[str, Any], **settings: Any) -> AsyncIterator[Host]:
    file = folder / "mcp.json"
    file.write_text(json.dumps({"mcpServers": servers, "codemode": {"gate": "open", "approve": "all", **settings}}))
    with anyio.fail_after(100):
        async with Host.open(load_config(file), state_dir=folder / "state") as host:
            yield host


async def run(host: Host, program: str) -> RunOutcome:
    return await host.session().execute(program, wait_s=90)


async def test_a_link_in_a_result_is_read_from_its_own_server(tmp_path: Path) -> None:
    link = {"type": "resource_link", "uri": "file:///notes.txt", "name": "notes", "mimeType": "text/plain"}
    log = tmp_path / "seen"
    servers = {
        "files": entry(tools=[tool("find")], results={"find": {"content": [link]}}, log=str(log)),
        "other": entry(tools=[tool("find")], log=str(tmp_path / "other")),
    }
    async with hosting(tmp_path, servers) as host:
        await host.wait_ready(["files", "other"], 60)
        outcome = await run(host, "found = tools.files.find()\n[found.uri, found.read(), found.read()]")
    assert (outcome.status, outcome.value) == ("ok", ["file:///notes.txt", "hello", "hello"])
    assert "resources/read" in log.read_text()
    assert "resources/read" not in (tmp_path / "other").read_text()


@pytest.mark.parametrize("era", ["old", "new"])
async def test_what_a_server_offers_beside_tools_is_told_as_passed_over(tmp_path: Path, era: str) -> None:
    rich = odd("rich", era=era, offers={"prompts": {}, "resources": {"subscribe": True}})
    async with managed(tmp_path, rich, odd("plain", era=era)) as manager:
        await manager.wait_ready(None, 30)
        assert [status.passed_over for status in manager.status()] == [("prompts", "resources"), ()]


async def test_the_first_search_answers_without_the_servers_that_do_not_come_up_and_names_them(tmp_path: Path) -> None:
    servers = {
        "good": entry(tools=[tool("plain", description="Plain words")]),
        "silent": entry(tools=[tool("plain")], gate=str(tmp_path / "never")),
        "missing": {"command": "no-such-program-xyz"},
        "web": {"url": "http://127.0.0.1:9/mcp"},
        "needed": {"command": "no-such-program-xyz", "required": False},
    }
    async with hosting(tmp_path, servers) as host:
        await host.wait_ready(["good", "missing", "web", "needed"], 60)
        answer = await host.session().tool_search("plain")
        text = search_answer(answer, lambda found: ()).text
    assert [hit.tool.short for hit in answer.found.hits] == ["good.plain"]
    (line,) = (line for line in text.splitlines() if line.startswith("Not in this search: "))
    assert "silent (starting" in line
    assert "missing (failed: the command `no-such-program-xyz` of `missing` does not exist)" in line
    assert "needed (failed: the command `no-such-program-xyz` of `needed` does not exist)" in line
    assert "web (failed: `web`: 127.0.0.1:9 cannot be reached" in line


async def test_a_sign_in_that_is_asked_for_at_the_start_leaves_the_tools_listed_and_the_others_at_work(
    tmp_path: Path,
) -> None:
    hand = HandMade()
    refuse: list[bool] = []

    def reply(message: dict[str, Any]) -> Response | None:
        return JSONResponse({"error": "invalid_token s3cret-canary"}, 401) if refuse else None

    hand.reply = reply
    program = """
out = []
for act in (tools.wiki.read, tools.other.say, tools.soft.fail):
    try:
        out.append(act())
    except ToolError as e:
        out.append(str(e))
out"""
    soft = {"isError": True, "content": [{"type": "text", "text": "invalid access token for user 7f3"}]}
    with serving(hand.app) as address:
        servers = {
            "wiki": {"url": f"{address}/mcp", "headers": {"Authorization": "Bearer s3cret-canary"}},
            "other": entry(tools=[tool("say")]),
            "soft": entry(tools=[tool("fail")], results={"fail": soft}),
        }
        async with hosting(tmp_path, servers) as host:
            await host.wait_ready(["wiki", "other", "soft"], 60)
        refuse.append(True)
        async with hosting(tmp_path, servers) as host:
            outcome = await run(host, program)
            listed = host.catalog.find("wiki.read")
            answer = await host.session().tool_search("wiki read")
            text = search_answer(answer, lambda found: ()).text
    assert isinstance(outcome.value, list)
    wiki, other, soft_said = map(str, outcome.value)
    assert "asks for a sign-in (HTTP 401): the `Authorization` it was given is not accepted" in wiki
    assert (other, "invalid access token for user 7f3" in soft_said) == ("1", True)
    assert [found.short for found in listed] == ["wiki.read"]
    assert "wiki.read" in text
    assert "wiki (needs a sign-in: " in text
    assert "canary" not in text + repr(outcome)


async def test_texts_that_break_parsers_reach_a_program_whole_or_as_an_error_of_their_call(tmp_path: Path) -> None:
    raw = {
        "cut": '{"content":[{"type":"text","text":"half \\ud83d pair"}]}',
        "sep": '{"content":[{"type":"text","text":"a\\u2028b\\u0085c"}]}',
        "nul": '{"content":[{"type":"text","text":"a\\u0000b"}]}',
        "big": '{"content":[],"structuredContent":{"v":9007199254740993123}}',
        "nan": '{"content":[],"structuredContent":{"v":NaN}}',
    }
    program = """
out = []
for name in ("cut", "sep", "nul", "big", "nan"):
    try:
        out.append(getattr(tools.emoji, name)())
    except ToolError as e:
        out.append("ERR " + str(e))
out"""
    servers = {"emoji": entry(tools=[tool(name) for name in raw], results_raw=raw)}
    async with hosting(tmp_path, servers) as host:
        await host.wait_ready(["emoji"], 60)
        outcome = await run(host, program)
        again = await run(host, "tools.emoji.nul()")
        (status,) = host.manager.status()
    assert isinstance(outcome.value, list)
    cut, sep, nul, big, nan = outcome.value
    assert (cut, sep, nul) == ("half \ufffd pair", "a\u2028b\u0085c", "a\0b")
    assert big == {"v": 9007199254740993123}
    assert str(nan).startswith("ERR ")
    assert "not valid JSON" in str(nan)
    assert (again.value, status.starts) == ("a\0b", 1)


async def test_calls_that_are_silent_or_too_long_are_told_apart_and_both_are_cancelled_on_the_server(
    tmp_path: Path,
) -> None:
    log = tmp_path / "seen"
    lab = odd("lab", acts={"work": "progress"}, log=str(log), entry={"idle_timeout_s": 1.5})
    async with managed(tmp_path, lab) as manager:
        await manager.wait_ready(None, 30)
        assert text_of(await manager.call("lab", "work", {"steps": 10, "pause_s": 0.25}, timeout_s=30)) == "done"
        idle = await failure(manager, "lab", "work", {"steps": 1, "silent": True}, timeout_s=30)
        absolute = await failure(manager, "lab", "work", {"steps": 1000, "pause_s": 0.25}, timeout_s=3)
        while log.read_text().count("notifications/cancelled") < 2:
            await anyio.sleep(0.01)
        lines = log.read_text().splitlines()
    assert "for 1.5 s (idle limit, no progress came either); the server was told to stop" in idle.message
    assert "in 3 s (absolute limit of one call); the server was told to stop" in absolute.message
    calls = [json.loads(line)["id"] for line in lines if '"tools/call"' in line]
    cancelled = [json.loads(line)["params"]["requestId"] for line in lines if "notifications/cancelled" in line]
    assert cancelled == calls[1:]


SPINNING = {
    "a loop": "while True:\n    pass",
    "a pattern": "import re\nre.match('(a+)+$', 'a' * 40 + 'b')",
    "a loop that catches everything": (
        "try:\n    while True:\n        pass\nexcept BaseException:\n    while True:\n        pass"
    ),
    "a power": "x = 10 ** 10 ** 8",
    "a sleep": "import time\ntime.sleep(60)",
}


async def test_a_program_that_does_not_end_is_ended_and_told_so_and_other_sessions_go_on(tmp_path: Path) -> None:
    say = entry(tools=[tool("say")])
    outcomes: dict[str, RunOutcome] = {}
    async with hosting(tmp_path, {"other": say}, limits={"wall_s": 6.0}) as host:
        await host.wait_ready(["other"], 60)

        async def spin(name: str) -> None:
            outcomes[name] = await run(host, f"print(tools.other.say())\n{SPINNING[name]}")

        async with anyio.create_task_group() as tasks:
            for name in SPINNING:
                tasks.start_soon(spin, name)
            assert (await run(host, "1 + 1")).value == 2
            assert outcomes == {}
    assert outcomes.keys() == SPINNING.keys()
    for outcome in outcomes.values():
        assert (outcome.status, outcome.code, outcome.printed) == ("limit", "limit.wall", "1\n")
        assert [call.name for call in outcome.calls] == ["say"]
        assert outcome.error is not None
        assert "6" in outcome.error.message


async def test_ten_definitions_of_which_eight_are_odd_leave_a_server_with_every_tool_usable_or_held_back(
    tmp_path: Path,
) -> None:
    def with_n(**schema: Any) -> dict[str, Any]:
        return {"type": "object", "properties": {"n": schema}}

    odd_ones = [
        {"name": "no_schema"},
        {"name": "typeless_out", "inputSchema": with_n(), "outputSchema": {"description": "anything"}},
        {"name": "array_out", "inputSchema": with_n(), "outputSchema": {"type": "array", "items": {"type": "string"}}},
        {"name": "typeless_in", "inputSchema": {"anyOf": [{"type": "object"}]}},
        {"name": "bad_type", "inputSchema": with_n(type="int")},
        {"name": "bad_ref", "inputSchema": with_n(**{"$ref": "#/$defs/nope"})},
        {"name": "bad_regex", "inputSchema": with_n(type="string", pattern="(")},
        {"name": "", "inputSchema": with_n()},
    ]
    servers = {"mixed": entry(tools=[tool("good1"), *odd_ones, tool("good2")])}
    async with hosting(tmp_path, servers) as host:
        await host.wait_ready(["mixed"], 60)
        (server,) = host.catalog.servers
        usable = {found.spec.name for found in server.tools}
        held = {item.tool: item.reason for item in server.quarantined}
        outcome = await run(host, "[tools.mixed.good1(), tools.mixed.good2(), tools.mixed.no_schema()]")
    assert usable | held.keys() == {item["name"] for item in [tool("good1"), *odd_ones, tool("good2")]}
    assert not usable & held.keys()
    assert held.keys() == {"bad_ref", ""} | (held.keys() & {"bad_type", "bad_regex"})
    assert all(held.values())
    assert (outcome.status, outcome.value) == ("ok", [1, 1, 1])
