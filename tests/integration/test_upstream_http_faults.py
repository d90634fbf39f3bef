"""What is no answer of an MCP server over HTTP: sign-ins, pages, silence, broken connections."""

import json
import socket
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.support.hand_made import HandMade, http, on_call
from tests.support.upstream import failure, managed, text_of
from tests.support.web import serving

pytestmark = pytest.mark.anyio


async def test_an_expired_sign_in_is_called_so_and_the_tools_stay_listed(tmp_path: Path) -> None:
    hand = HandMade()
    left = [2]

    def reply(message: dict[str, Any]) -> Response | None:
        if message.get("method") == "tools/call":
            left[0] -= 1
        if left[0] >= 0:
            return None
        return JSONResponse({"error": "invalid_token s3cret-canary"}, 401, headers={"www-authenticate": "Bearer"})

    hand.reply = reply
    with serving(hand.app) as address:
        entry = http("wiki", f"{address}/mcp", headers={"Authorization": "Bearer s3cret-canary"})
        async with managed(tmp_path, entry) as manager:
            for _ in range(2):
                assert text_of(await manager.call("wiki", "read", {})) == "page"
            errors = [await failure(manager, "wiki", "read", repeatable=True) for _ in range(2)]
            (listing,) = manager.listings()
            left[0] = 10
            assert text_of(await manager.call("wiki", "read", {})) == "page"
            assert manager.listings()[0].state == "ready"
    assert [error.code for error in errors] == ["upstream.sign_in", "upstream.sign_in"]
    assert [error.details["outcome"] for error in errors] == ["not_sent", "not_sent"]
    assert "asks for a sign-in (HTTP 401)" in errors[0].message
    assert (listing.state, len(listing.tools)) == ("sign_in", 2)
    assert all("renew the token in `headers` of `wiki`" in error.hint_operator for error in errors)
    assert "canary" not in repr(listing) + str(errors) + str([error.details for error in errors])


async def test_a_session_that_the_server_forgot_is_opened_again_and_the_call_goes_through(tmp_path: Path) -> None:
    hand = HandMade()
    with serving(hand.app) as address:
        async with managed(tmp_path, http("web", f"{address}/mcp")) as manager:
            await manager.call("web", "read", {})
            hand.session = "s2"
            assert text_of(await manager.call("web", "read", {})) == "page"
            assert manager.status()[0].starts == 2


@pytest.mark.parametrize(
    ("make", "code", "outcome", "text"),
    [
        (lambda m: PlainTextResponse("busy", 503), "upstream.unreachable", "unknown", "failed (HTTP 503 text/plain)"),
        (lambda m: PlainTextResponse("slow down", 429), "upstream.rpc_error", "not_sent", "too many requests"),
        (lambda m: HTMLResponse("<h1>Hi</h1>"), "upstream.protocol", "unknown", "HTTP 200 text/html"),
        (lambda m: JSONResponse({"hello": 1}), "upstream.protocol", "unknown", "HTTP 200 application/json"),
        (lambda m: Response("{", media_type="application/json"), "upstream.protocol", "unknown", "not valid JSON"),
        (lambda m: Response(status_code=202), "upstream.rpc_error", "answered", "202"),
        (lambda m: Response(status_code=302, headers={"location": "http://other/x?token=s3cret"}),
         "upstream.rpc_error", "answered", "Redirect to http://other/x not followed"),
        (lambda m: JSONResponse({"jsonrpc": "2.0", "id": None, "error": {"code": -32602, "message": "bad"}}, 400),
         "upstream.rpc_error", "answered", "bad (code -32602)"),
        (lambda m: StreamingResponse(iter([b"data: {}\n\n"]), media_type="text/event-stream"),
         "upstream.outcome_unknown", "unknown", "whether it happened is not known"),
        (lambda m: StreamingResponse(iter([b'data: {"id":1,"result":{"v":NaN}}\n\n']), media_type="text/event-stream"),
         "upstream.protocol", "unknown", "not valid JSON"),
    ],
)  # fmt: skip
async def test_an_answer_that_is_none_becomes_an_error_of_its_call_alone(
    tmp_path: Path, make: Callable[[dict[str, Any]], Response], code: str, outcome: str, text: str
) -> None:
    hand = HandMade(on_call(make))
    with serving(hand.app) as address:
        async with managed(tmp_path, http("web", f"{address}/mcp")) as manager:
            error = await failure(manager, "web", "read")
            hand.reply = lambda message: None
            assert text_of(await manager.call("web", "read", {})) == "page"
            assert manager.status()[0].starts == 1
    assert (error.code, error.details["outcome"]) == (code, outcome)
    assert text in error.message
    assert "s3cret" not in error.message


async def test_an_unreadable_event_before_the_answer_does_not_cost_the_answer(tmp_path: Path) -> None:
    def make(message: dict[str, Any]) -> Response:
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": {"content": [{"type": "text", "text": "page"}]}}
        parts = [
            b": hello\n\ndata: not json\n\n",
            b'data: {"jsonrpc":"2.0","method":"notifications/x","params":{"v":NaN}}\n\n',
            b"event: message\r\ndata: " + json.dumps(answer).encode() + b"\r\n\r\n",
        ]
        return StreamingResponse(iter(parts), media_type="text/event-stream")

    hand = HandMade(on_call(make))
    with serving(hand.app) as address:
        async with managed(tmp_path, http("web", f"{address}/mcp")) as manager:
            assert text_of(await manager.call("web", "read", {})) == "page"


@pytest.mark.parametrize(
    ("make", "state", "text"),
    [
        (lambda: HTMLResponse("<html><style>x{}</style><body>Sign <b>in</b></body></html>"), "failed",
         "no MCP server answers there, but HTTP 200 text/html, which begins with `Sign in`"),
        (lambda: PlainTextResponse("nothing here", 404), "failed", "an SSE server of 2024-11-05, perhaps"),
        (lambda: PlainTextResponse("oops", 502), "failed", "the server failed (HTTP 502 text/plain)"),
        (lambda: JSONResponse({}, 401), "sign_in", "it was given no `Authorization`"),
        (lambda: JSONResponse({"hello": "world"}), "failed", "HTTP 200 application/json"),
    ],
)  # fmt: skip
async def test_an_address_without_an_mcp_server_says_what_answered(
    tmp_path: Path, make: Callable[[], Response], state: str, text: str
) -> None:
    async def answer(request: Request) -> Response:
        return make()

    with serving(Starlette(routes=[Route("/", answer, methods=["GET", "POST"])])) as address:
        async with managed(tmp_path, http("web", address)) as manager:
            await manager.wait_ready(None, 30)
            (listing,) = manager.listings()
    assert listing.state == state
    assert text in listing.reason
    assert "\n" not in listing.reason


async def test_a_port_nobody_listens_on_is_named_without_path_or_query(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        async with managed(tmp_path, http("web", f"http://127.0.0.1:{port}/s3cret?key=s3cret")) as manager:
            error = await failure(manager, "web", "x")
            assert (error.code, error.details["outcome"]) == ("upstream.unreachable", "not_sent")
            assert f"127.0.0.1:{port} cannot be reached" in error.message
            assert "s3cret" not in error.message


async def test_a_server_that_is_away_keeps_its_listing(tmp_path: Path) -> None:
    hand = HandMade()
    with serving(hand.app) as address:
        port = int(address.rpartition(":")[2])
        entry = http("web", f"{address}/mcp")
        async with managed(tmp_path, entry) as manager:
            await manager.call("web", "read", {})
    async with managed(tmp_path, entry) as manager:
        assert manager.listings()[0].state == "cached"
        assert (await failure(manager, "web", "read")).code == "upstream.unreachable"
        assert f"127.0.0.1:{port} cannot be reached" in manager.listings()[0].reason
        assert len(manager.listings()[0].tools) == 2


async def test_a_lost_server_does_not_stay_ready(tmp_path: Path) -> None:
    hand = HandMade()
    with ExitStack() as stack:
        address = stack.enter_context(serving(hand.app))
        async with managed(tmp_path, http("web", f"{address}/mcp")) as manager:
            await manager.call("web", "read", {})
            await anyio.to_thread.run_sync(stack.close)
            while manager.listings()[0].state == "ready":
                assert (await failure(manager, "web", "read")).code in (
                    "upstream.unreachable",
                    "upstream.outcome_unknown",  # the kept-alive connection broke under the first call
                )
            assert "cannot be reached" in manager.listings()[0].reason
            assert len(manager.listings()[0].tools) == 2


async def test_a_name_that_does_not_resolve_is_unreachable(tmp_path: Path) -> None:
    async with managed(tmp_path, http("web", "http://no-such-host.invalid/mcp")) as manager:
        assert (await failure(manager, "web", "x")).code == "upstream.unreachable"


async def test_a_connection_that_breaks_in_a_call_costs_that_call_only(tmp_path: Path) -> None:
    hand = HandMade()

    async def breaking(scope: Any, receive: Any, send: Any) -> None:
        class Stop(Exception):
            pass

        if scope["type"] == "http" and breaks:
            body = (await receive())["body"]
            if b"tools/call" in body:
                breaks.pop()
                headers = [(b"content-type", b"application/json"), (b"content-length", b"999")]
                await send({"type": "http.response.start", "status": 200, "headers": headers})
                await send({"type": "http.response.body", "body": b'{"jso', "more_body": True})
                raise Stop
            messages = [{"type": "http.request", "body": body, "more_body": False}]

            async def replay() -> Any:
                return messages.pop() if messages else await receive()

            await hand.app(scope, replay, send)
            return
        await hand.app(scope, receive, send)

    breaks = [1, 2]
    with serving(breaking) as address:
        async with managed(tmp_path, http("web", f"{address}/mcp")) as manager:
            error = await failure(manager, "web", "read")
            assert (error.code, error.details["outcome"]) == ("upstream.outcome_unknown", "unknown")
            assert text_of(await manager.call("web", "read", {}, repeatable=True)) == "page"
            assert manager.status()[0].starts == 1


async def test_a_server_that_takes_the_connection_and_says_nothing_ends_at_the_start_limit(tmp_path: Path) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        entry = http("web", f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", start_timeout_s=1.0)
        async with managed(tmp_path, entry) as manager:
            await manager.wait_ready(None, 30)
            assert manager.listings()[0].reason == "`web` did not come up in 1 s"


async def test_closing_does_not_wait_for_a_server_that_ignores_the_goodbye(tmp_path: Path) -> None:
    hand = HandMade()
    inner = hand.answer

    async def answer(request: Request) -> Response:
        if request.method == "DELETE":
            await anyio.sleep(30)
        return await inner(request)

    app = Starlette(routes=[Route("/mcp", answer, methods=["GET", "POST", "DELETE"])])
    with serving(app) as address, anyio.fail_after(20):
        async with managed(tmp_path, http("web", f"{address}/mcp"), bound_s=20) as manager:
            await manager.call("web", "read", {})
