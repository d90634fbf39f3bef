"""Servers over streamable HTTP, real ones and hand-made ones, in both eras and with both kinds of answers."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response, StreamingResponse

from codemode.config.model import LimitSettings
from tests.support.hand_made import HandMade, http, on_call, result
from tests.support.upstream import failure, managed, text_of, tool
from tests.support.web import serving

pytestmark = pytest.mark.anyio

EVENTS: list[str] = []


def real_app(**options: Any) -> Starlette:
    server = MCPServer("real", instructions="be kind")

    @server.tool()
    def add(a: int, b: int) -> int:
        return a + b

    @server.tool()
    def big(size: int) -> str:
        return "x" * size

    @server.tool()
    async def wait(name: str) -> str:
        EVENTS.append(f"started {name}")
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            EVENTS.append(f"cancelled {name}")
            raise
        return "never"

    @server.tool()
    async def report(ctx: Context, steps: int) -> int:
        for step in range(steps):
            await ctx.report_progress(step, steps, "on it")
        return steps

    @server.tool()
    async def grow(ctx: Context, name: str) -> str:
        server.add_tool(add, name=name)
        await ctx.notify_tools_changed()
        return "grown"

    return server.streamable_http_app(**options)


@pytest.fixture(scope="module", params=["events", "stateless"])
def streaming(request: pytest.FixtureRequest) -> Iterator[str]:
    """A server that may answer with a stream of events."""
    with serving(real_app(stateless_http=request.param == "stateless")) as address:
        yield f"{address}/mcp"


@pytest.fixture(scope="module", params=["events", "json"])
def real(request: pytest.FixtureRequest) -> Iterator[str]:
    """A server that answers with events, and one that answers with JSON bodies alone."""
    with serving(real_app(json_response=request.param == "json")) as address:
        yield f"{address}/mcp"


async def test_a_real_server_is_listed_and_called(tmp_path: Path, real: str) -> None:
    async with managed(tmp_path, http("web", real)) as manager:
        assert await manager.wait_ready(None, 30)
        (listing,) = manager.listings()
        assert (listing.state, listing.protocol, listing.instructions) == ("ready", "2026-07-28", "be kind")
        assert {"add", "big", "wait", "report", "grow"} <= {spec.name for spec in listing.tools}
        assert (await manager.call("web", "add", {"a": 1, "b": 2})).structured == b'{"result":3}'
        assert (await manager.call("web", "nope", {})).is_error


async def test_a_result_far_over_the_limits_of_the_sdk_arrives(tmp_path: Path, real: str) -> None:
    async with managed(tmp_path, http("web", real)) as manager:
        result = await manager.call("web", "big", {"size": 5_000_000}, timeout_s=50)
        assert len(text_of(result)) == 5_000_000


async def test_a_result_over_our_cap_fails_its_own_call(tmp_path: Path, real: str) -> None:
    limits = LimitSettings(result_bytes=1 << 20)
    async with managed(tmp_path, http("web", real), settings={"limits": limits}) as manager:
        error = await failure(manager, "web", "big", {"size": 3_000_000})
        assert (error.code, "larger than allowed" in error.message) == ("upstream.protocol", True)
        assert (await manager.call("web", "add", {"a": 1, "b": 2})).structured == b'{"result":3}'
        assert manager.status()[0].starts == 1


async def test_progress_arrives(tmp_path: Path, streaming: str) -> None:
    heard: list[float] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    async with managed(tmp_path, http("web", streaming)) as manager:
        await manager.call("web", "report", {"steps": 3}, progress=listen)
    assert sorted(heard) == [0, 1, 2]


async def test_a_cancelled_call_is_cancelled_in_the_server(tmp_path: Path, streaming: str) -> None:
    name = tmp_path.name
    async with managed(tmp_path, http("web", streaming)) as manager:
        await manager.wait_ready(None, 30)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(manager.call, "web", "wait", {"name": name})
            while f"started {name}" not in EVENTS:
                await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()
        while f"cancelled {name}" not in EVENTS:
            await anyio.sleep(0.01)


async def test_a_modern_server_that_says_its_tools_changed_is_listed_again(tmp_path: Path, streaming: str) -> None:
    new = f"new_{tmp_path.name}"
    async with managed(tmp_path, http("web", streaming)) as manager:
        await manager.wait_ready(None, 30)
        while new not in {spec.name for spec in manager.listings()[0].tools}:
            # Repeated, because the subscription may not be there yet when the first notice goes out.
            await manager.call("web", "grow", {"name": new})
            await anyio.sleep(0.1)
        assert (await manager.call("web", new, {"a": 1, "b": 2})).structured == b'{"result":3}'


async def test_fifty_calls_overlap(tmp_path: Path, real: str) -> None:
    name = tmp_path.name
    async with managed(tmp_path, http("web", real)) as manager:
        await manager.wait_ready(None, 30)
        async with anyio.create_task_group() as tasks:
            for _ in range(50):
                tasks.start_soon(manager.call, "web", "wait", {"name": name})
            while EVENTS.count(f"started {name}") < 50:
                await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()


async def test_headers_of_the_entry_are_sent_and_a_session_is_said_goodbye_to(tmp_path: Path) -> None:
    hand = HandMade()
    with serving(hand.app) as address:
        entry = http("web", f"{address}/mcp", headers={"Authorization": "Bearer ${KEY}", "X-Note": "é"})
        async with managed(tmp_path, entry, environ={"KEY": "abc"}) as manager:
            assert text_of(await manager.call("web", "read", {})) == "page"
            assert manager.listings()[0].protocol == "2025-11-25"
    assert all(headers["authorization"] == "Bearer abc" for headers in hand.headers)
    assert hand.headers[-1]["mcp-session-id"] == "s1"


async def test_a_compressed_answer_is_read(tmp_path: Path) -> None:
    import gzip

    def make(message: dict[str, Any]) -> Response:
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": {"content": [{"type": "text", "text": "x" * 9999}]}}
        body = gzip.compress(json.dumps(answer).encode())
        return Response(body, media_type="application/json", headers={"content-encoding": "gzip"})

    hand = HandMade(on_call(make))
    with serving(hand.app) as address:
        async with managed(tmp_path, http("web", f"{address}/mcp")) as manager:
            assert len(text_of(await manager.call("web", "read", {}))) == 9999


async def test_a_subscription_that_breaks_is_taken_up_again_and_the_tools_are_read_again(tmp_path: Path) -> None:
    hand = HandMade()

    def reply(message: dict[str, Any]) -> Response | None:
        if message.get("method") == "server/discover":
            capabilities = {"tools": {"listChanged": True}}
            body = {"supportedVersions": ["2026-07-28"], "capabilities": capabilities, "resultType": "complete"}
            return result(message, {**body, "ttlMs": 0, "cacheScope": "private"})
        if message.get("method") == "tools/list":
            names = ["read"] if hand.count("subscriptions/listen") < 2 else ["read", "late"]
            return result(message, {"tools": [tool(name) for name in names], "ttlMs": 0, "cacheScope": "private"})
        if message.get("method") == "subscriptions/listen":
            meta = {"io.modelcontextprotocol/subscriptionId": message["id"]}
            params = {"notifications": {"toolsListChanged": True}, "_meta": meta}
            note = {"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params}
            return StreamingResponse(
                iter([b"data: %b\n\n" % json.dumps(note).encode()]), media_type="text/event-stream"
            )
        return None

    hand.reply = reply
    with serving(hand.app) as address:
        async with managed(tmp_path, http("web", f"{address}/mcp")) as manager:
            await manager.wait_ready(None, 30)
            while [spec.name for spec in manager.listings()[0].tools] != ["read", "late"]:
                await anyio.sleep(0.02)


async def test_a_changed_schema_with_header_parameters_is_listed_again_and_the_call_goes_through(
    tmp_path: Path,
) -> None:
    hand = HandMade()
    listed = [0]

    def reply(message: dict[str, Any]) -> Response | None:
        if message.get("method") == "server/discover":
            body = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "resultType": "complete"}
            return result(message, {**body, "ttlMs": 0, "cacheScope": "private"})
        if message.get("method") == "tools/list":
            listed[0] += 1
            header = {} if listed[0] == 1 else {"x-mcp-header": "Region"}
            schema = {"type": "object", "properties": {"region": {"type": "string", **header}}}
            return result(message, {"tools": [tool("read", inputSchema=schema)], "ttlMs": 0, "cacheScope": "private"})
        if message.get("method") == "tools/call":
            if hand.headers[-1].get("mcp-param-region") != "eu":
                error = {"code": -32020, "message": "header mismatch"}
                return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "error": error}, 400)
            return result(message, {"content": [{"type": "text", "text": "eu page"}], "resultType": "complete"})
        return None

    hand.reply = reply
    with serving(hand.app) as address:
        async with managed(tmp_path, http("web", f"{address}/mcp")) as manager:
            assert text_of(await manager.call("web", "read", {"region": "eu"})) == "eu page"
            assert listed[0] == 2
            assert hand.headers[-1]["mcp-name"] == "read"
