"""An MCP server over HTTP written by hand: the handshake of 2025, and answers as a test says."""

import json
from collections.abc import Callable
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from codemode.config.model import ServerConfig
from tests.support.upstream import tool


def http(name: str, url: str, **fields: Any) -> ServerConfig:
    return ServerConfig(name=name, transport="http", url=url, **fields)


class HandMade:
    """Answers POSTs as `reply` says; keeps what it saw."""

    def __init__(self, reply: Callable[[dict[str, Any]], Response | None] = lambda message: None) -> None:
        self.reply = reply
        self.seen: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.session = "s1"
        self.app = Starlette(routes=[Route("/mcp", self.answer, methods=["GET", "POST", "DELETE"])])

    async def answer(self, request: Request) -> Response:
        self.headers.append(dict(request.headers))
        if request.method != "POST":
            return Response(status_code=405)
        message = json.loads(await request.body())
        self.seen.append(message)
        own = self.reply(message)
        if own is not None:
            return own
        if "id" not in message:
            return Response(status_code=202)
        method = message["method"]
        if method == "initialize":
            info = {"serverInfo": {"name": "hand", "version": "0"}, "capabilities": {"tools": {}}}
            version = message["params"]["protocolVersion"]
            return result(message, {"protocolVersion": version, **info}, {"mcp-session-id": self.session})
        if request.headers.get("mcp-session-id") != self.session and method != "server/discover":
            return Response(status_code=404)
        if method == "tools/list":
            return result(message, {"tools": [tool("read"), tool("other")]})
        if method == "tools/call":
            return result(message, {"content": [{"type": "text", "text": "page"}]})
        return JSONResponse(
            {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}, status_code=400
        )

    def count(self, method: str) -> int:
        return sum(message.get("method") == method for message in self.seen)


def result(message: dict[str, Any], value: Any, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": value}, headers=headers)


def on_call(make: Callable[[dict[str, Any]], Response]) -> Callable[[dict[str, Any]], Response | None]:
    return lambda message: make(message) if message.get("method") == "tools/call" else None
