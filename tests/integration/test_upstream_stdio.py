"""Servers on stdio as real processes: listings, calls, limits, and odd output that costs no more than it must."""

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from codemode.config.model import LimitSettings, ServerConfig
from codemode.upstream import owner
from tests.support.upstream import failure, managed, odd, states, text_of, tool, until_said

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("era", ["old", "new", "both"])
async def test_a_server_of_either_era_is_listed_and_called(tmp_path: Path, era: str) -> None:
    async with managed(tmp_path, odd(era=era, acts={"say": "echo"}, instructions="hello")) as manager:
        assert await manager.wait_ready(None, 30)
        (listing,) = manager.listings()
        assert (listing.state, listing.reason) == ("ready", "")
        assert listing.protocol == ("2025-11-25" if era == "old" else "2026-07-28")
        arguments: dict[str, Any] = {"a": None, "b": 0, "c": "", "d": [1.5, {"e": "é\u2028😀"}], "big": 2**70}
        result = await manager.call("odd", "say", arguments)
        assert json.loads(result.structured or b"") == arguments
        resource = await manager.read_resource("odd", "file:///x")
        assert json.loads(resource.content) == [{"uri": "file:///x", "text": "hello", "mimeType": "text/plain"}]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_a_server_that_speaks_one_older_version_only_is_listed_and_called(tmp_path: Path, version: str) -> None:
    async with managed(tmp_path, odd(era="old", version=version, acts={"say": "echo"})) as manager:
        assert await manager.wait_ready(None, 30)
        (listing,) = manager.listings()
        assert (listing.state, listing.protocol) == ("ready", version)
        assert text_of(await manager.call("odd", "say", {"a": 1})) == '{"a": 1}'


async def test_every_page_is_read_and_a_loop_of_cursors_ends(tmp_path: Path) -> None:
    pages = [[tool(f"tool_{index:03}") for index in range(start, min(start + 50, 101))] for start in (0, 50, 100)]
    erp = odd("erp", pages=pages, acts={}, entry={"allowed_tools": ("tool_100",)})
    async with managed(tmp_path, erp, odd("loop", loop_cursor=True)) as manager:
        await manager.wait_ready(None, 30)
        listed, loop = manager.listings()
        assert [spec.name for spec in listed.tools] == ["tool_100"]
        assert manager.status()[0].listed == 101
        assert (await manager.call("erp", "tool_100", {})).content
        assert [spec.name for spec in loop.tools] == ["t"]


@pytest.mark.parametrize("era", ["old", "new"])
async def test_one_bad_definition_never_costs_the_list(tmp_path: Path, era: str) -> None:
    tools = [
        tool("good"),
        {"name": "no_schema"},
        {"name": "typeless", "inputSchema": {"properties": {"a": {}}}},
        {"name": "odd_schema", "inputSchema": {"type": "object", "properties": [], "required": "a"}},
        {"name": "array_out", "inputSchema": {"type": "object"}, "outputSchema": {"type": "array"}},
        {"name": 5},
        {},
        "text",
        None,
        {"name": "hints", "inputSchema": {"type": "object"}, "annotations": "yes", "title": 5, "icons": {}},
    ]
    async with managed(tmp_path, odd(era=era, tools=tools)) as manager:
        await manager.wait_ready(None, 30)
        (listing,) = manager.listings()
        assert listing.state == "ready"
        assert {"good", "array_out"} <= {spec.name for spec in listing.tools}
        assert len(listing.tools) + len(listing.quarantined) == len(tools)
        assert (await manager.call("odd", "good", {})).content


async def test_a_header_annotation_that_is_invalid_holds_its_tool_back_in_the_modern_era(tmp_path: Path) -> None:
    def with_header(name: str, header: Any) -> dict[str, Any]:
        schema = {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": header}}}
        return tool(name, inputSchema=schema)

    tools = [with_header("fine", "Region"), with_header("bad", "no good")]
    async with managed(tmp_path, odd("new", tools=tools), odd("old", era="old", tools=tools)) as manager:
        await manager.wait_ready(None, 30)
        new, old = manager.listings()
    assert [spec.name for spec in new.tools] == ["fine"]
    assert [item.tool for item in new.quarantined] == ["bad"]
    assert [spec.name for spec in old.tools] == ["fine", "bad"]


async def test_junk_on_stdout_and_much_on_stderr_cost_no_answer(tmp_path: Path) -> None:
    junk = [line.encode().hex() for line in ("[09/15/25] INFO ┌──┐", '{"level": "info"}', "", "null", "[1, 2]")]
    chatty = odd(
        before=["efbbbf" + "✨ Server ready".encode().hex(), "1b5b33326d6f6b0d"],
        noise=[*junk, "fffe80"],
        stderr_bytes=5_000_000,
        results={"x": {"content": [{"type": "text", "text": "1"}]}},
    )
    async with managed(tmp_path, chatty) as manager:
        await manager.wait_ready(None, 30)
        answers = [text_of(await manager.call("odd", "x", {})) for _ in range(5)]
        (status,) = manager.status()
    assert answers == ["1"] * 5
    assert (status.starts, status.noise_lines) == (1, 2 + 6 * 6)
    assert 0 < len(status.noise_samples) <= 5
    assert len(status.stderr_tail) == 20
    assert sum(path.stat().st_size for path in (tmp_path / "log").iterdir()) <= 2 << 20


async def test_texts_that_break_parsers_end_at_once_with_a_value_or_an_error(tmp_path: Path) -> None:
    raw = {
        "cut": '{"content":[{"type":"text","text":"half \\ud83d pair"}]}',
        "sep": '{"content":[{"type":"text","text":"a\\u2028b\\u0085c\u2028\u0085"}]}',
        "nul": '{"content":[{"type":"text","text":"a\\u0000b"}]}',
        "big": '{"content":[],"structuredContent":{"v":9007199254740993123}}',
        "nan": '{"content":[],"structuredContent":{"v":NaN}}',
        "deep": '{"content":[],"structuredContent":' + "[" * 5_000 + "]" * 5_000 + "}",
        "odd": '{"content":[{"type":"widget","x":1}],"structuredContent":[1]}',
        "none": '{"content":null}',
        "text": '"just text"',
    }
    lines = {"bytes": '{"jsonrpc":"2.0","id":%ID%,"result":{"content":[{"type":"text","text":"\udcff"}]}}', "cr": "\r"}
    async with managed(tmp_path, odd(results_raw=raw, lines=lines), bound_s=60) as manager:
        await manager.wait_ready(None, 30)
        assert text_of(await manager.call("odd", "cut", {})) == "half \ufffd pair"
        assert text_of(await manager.call("odd", "sep", {})) == "a\u2028b\u0085c\u2028\u0085"
        assert text_of(await manager.call("odd", "nul", {})) == "a\0b"
        assert text_of(await manager.call("odd", "bytes", {})) == "\ufffd"
        assert (await manager.call("odd", "big", {})).structured == b'{"v":9007199254740993123}'
        assert (await manager.call("odd", "odd", {})).structured == b"[1]"
        assert (await manager.call("odd", "none", {})).content == b"[]"
        for name in ("nan", "deep", "text"):
            assert (await failure(manager, "odd", name)).code == "upstream.protocol"
        assert (await failure(manager, "odd", "cr", timeout_s=0.3)).code == "upstream.timeout"
        assert manager.status()[0].starts == 1


async def test_an_answer_over_the_cap_fails_its_own_call_and_the_server_stays(tmp_path: Path) -> None:
    limits = LimitSettings(result_bytes=1 << 20)
    async with managed(tmp_path, odd(acts={"big": "big", "say": "echo"}), settings={"limits": limits}) as manager:
        error = await failure(manager, "odd", "big", {"bytes": 3 << 20})
        assert (error.code, error.details["outcome"]) == ("upstream.protocol", "unknown")
        assert "larger than allowed" in error.message
        result = await manager.call("odd", "big", {"bytes": 900_000})
        assert len(text_of(result)) == 900_000
        assert manager.status()[0].starts == 1


async def test_errors_of_a_tool_and_of_the_server_are_told_apart(tmp_path: Path) -> None:
    failing = {"isError": True, "content": [{"type": "text", "text": "no such\nrow"}, {"type": "image", "data": "x"}]}
    quirks: dict[str, Any] = {"results": {"fail": failing}, "acts": {"refuse": "refuse", "malformed": "malformed"}}
    async with managed(tmp_path, odd(**quirks)) as manager:
        result = await manager.call("odd", "fail", {})
        assert (result.is_error, result.text) == (True, "no such\nrow")
        error = await failure(manager, "odd", "refuse")
        assert (error.code, error.details["outcome"]) == ("upstream.rpc_error", "answered")
        assert error.details["rpc_code"] == -32602
        assert error.message.startswith("`odd` refused the request: bad parameters xxx")
        assert len(error.message) < 600
        assert (await failure(manager, "odd", "malformed")).code == "upstream.protocol"


async def test_arguments_that_are_no_json_text_are_not_sent(tmp_path: Path) -> None:
    log = tmp_path / "seen"
    async with managed(tmp_path, odd(acts={"say": "echo"}, log=str(log))) as manager:
        error = await failure(manager, "odd", "say", {"a": "half \ud83d"})
        assert (error.code, error.details["outcome"]) == ("arguments.json", "not_sent")
        assert (await manager.call("odd", "say", {"a": 1})).structured
    assert sum("tools/call" in line for line in log.read_text().splitlines()) == 1


async def test_a_deadline_tells_the_server_and_names_the_limit(tmp_path: Path) -> None:
    log = tmp_path / "seen"
    async with managed(tmp_path, odd(acts={"wait": "hang"}, log=str(log))) as manager:
        await manager.wait_ready(None, 30)
        error = await failure(manager, "odd", "wait", timeout_s=0.3)
        assert (error.code, error.details["outcome"]) == ("upstream.timeout", "unknown")
        assert "in 0.3 s (absolute limit of one call)" in error.message
        await until_said(log, "notifications/cancelled")


async def test_a_cancelled_call_tells_the_server(tmp_path: Path) -> None:
    log = tmp_path / "seen"
    async with managed(tmp_path, odd(acts={"wait": "hang"}, log=str(log))) as manager:
        await manager.wait_ready(None, 30)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(manager.call, "odd", "wait", {})
            await until_said(log, "hanging")
            tasks.cancel_scope.cancel()
        lines = await until_said(log, "notifications/cancelled")
        call = next(json.loads(line) for line in lines if "tools/call" in line)
        cancel = next(json.loads(line) for line in lines if "notifications/cancelled" in line)
        assert cancel["params"]["requestId"] == call["id"]


async def test_progress_extends_the_idle_limit_and_not_the_absolute_one(tmp_path: Path) -> None:
    heard: list[float] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    async with managed(tmp_path, odd(acts={"work": "progress"}, entry={"idle_timeout_s": 1.0})) as manager:
        await manager.wait_ready(None, 30)
        lively = {"steps": 8, "pause_s": 0.2}
        assert text_of(await manager.call("odd", "work", lively, timeout_s=20, progress=listen)) == "done"
        assert sorted(heard) == [0, 1, 2, 3, 4, 5, 6, 7]
        error = await failure(manager, "odd", "work", {"steps": 1, "silent": True})
        assert (error.code, "idle limit" in error.message) == ("upstream.timeout", True)
        error = await failure(manager, "odd", "work", {"steps": 1000, "pause_s": 0.2}, timeout_s=1.5)
        assert (error.code, "absolute limit" in error.message) == ("upstream.timeout", True)


async def test_fifty_calls_of_one_server_overlap(tmp_path: Path) -> None:
    log = tmp_path / "seen"
    async with managed(tmp_path, odd(acts={"wait": "hang"}, log=str(log))) as manager:
        await manager.wait_ready(None, 30)
        async with anyio.create_task_group() as tasks:
            for _ in range(50):
                tasks.start_soon(manager.call, "odd", "wait", {})
            while log.read_text().count("hanging") < 50:
                await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()


async def test_a_hundred_change_notices_cost_few_listings_and_the_new_tools_are_there(tmp_path: Path) -> None:
    log = tmp_path / "seen"
    changes: list[int] = []
    quirks: dict[str, Any] = {"then_tools": [tool("tidy"), tool("pong")], "notices": 100, "acts": {"morph": "morph"}}
    server = odd(era="old", log=str(log), **quirks)
    async with managed(tmp_path, server, on_change=lambda: changes.append(1)) as manager:
        await manager.call("odd", "morph", {})
        before = manager.generation
        while [spec.name for spec in manager.listings()[0].tools] != ["tidy", "pong"]:
            await anyio.sleep(0.01)
        assert manager.generation > before
        assert manager.generation == len(changes)
    assert sum("tools/list" in line for line in log.read_text().splitlines()) <= 3


async def test_a_listing_that_fails_after_a_notice_leaves_the_old_one_in_force(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    quirks: dict[str, Any] = {"acts": {"morph": "morph", "say": "echo"}, "no_listing": "morphed"}
    async with managed(tmp_path, odd(era="old", **quirks)) as manager:
        before = manager.listings()
        await manager.call("odd", "morph", {})
        while "could not be listed again" not in caplog.text and [spec.name for spec in manager.listings()[0].tools]:
            await anyio.sleep(0.01)
        assert [spec.name for spec in manager.listings()[0].tools] == ["morph", "say"]
        assert manager.listings()[0].state == "ready"
        assert before[0].state == "starting"


async def test_a_listing_is_read_again_when_it_holds_no_longer_by_its_servers_own_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, "_LEAST_AGE_S", 0.05)
    log = tmp_path / "seen"
    async with managed(tmp_path, odd(log=str(log), era="new", ttl_ms=20)) as manager:
        await manager.wait_ready(None, 30)
        while log.read_text().count('"tools/list"') < 3:
            await anyio.sleep(0.01)
        before = manager.generation
        while log.read_text().count('"tools/list"') < 5:
            await anyio.sleep(0.01)
        assert manager.generation == before  # nothing changed, so nobody is told


async def test_a_server_without_tools_is_ready_and_empty(tmp_path: Path) -> None:
    async with managed(tmp_path, odd(no_listing="always")) as manager:
        await manager.wait_ready(None, 30)
        assert (states(manager)["odd"], manager.listings()[0].tools) == ("ready", ())


async def test_an_unknown_server_and_a_dump_cannot_be_called(tmp_path: Path) -> None:
    from codemode.catalog.build import build_listing

    dump = build_listing("dump", [tool("t")], state="listing_only")
    async with managed(tmp_path, dumps=[dump]) as manager:
        assert manager.listings() == (dump,)
        assert "there is no server `nope`" in (await failure(manager, "nope", "t")).message
        assert "a listing from a file" in (await failure(manager, "dump", "t")).message


@pytest.mark.parametrize("flags", [(), ("--modern",), ("--untyped",)])
async def test_the_common_bench_server_works_in_both_eras(tmp_path: Path, shared: Path, flags: tuple[str, ...]) -> None:
    args = (str(shared / "bench" / "toolserver.py"), "--filler", "40", *flags)
    server = ServerConfig(name="lab", command=sys.executable, args=args)
    async with managed(tmp_path, server) as manager:
        result = await manager.call("lab", "list_records", {"n": 1000}, timeout_s=30)
        assert len(json.loads(text_of(result))["records"]) == 1000
        assert (result.structured is None) == ("--untyped" in flags)
        assert len(manager.listings()[0].tools) == 46
        assert (await manager.call("lab", "fail", {"message": "boo"})).text == "boo"
