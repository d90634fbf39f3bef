"""The streamable HTTP transport: the SDK's, over an HTTP client of ours that reads every body through the filter.

Enters: an expanded `Endpoint`. Leaves: (read, write) for `mcp.Client`. Network faults, sign-ins and answers that are
not MCP become error replies of the request they belong to, with our own words beside them (`Fault`): the SDK would end
the connection for the first and hide the status of the others.
Source: MCP specification 2025-11-25 and 2026-07-28, streamable HTTP.
"""

from __future__ import annotations

import html
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import msgspec
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage, JSONRPCRequest

from codemode.upstream.credentials import Endpoint
from codemode.upstream.events import EventRewriter
from codemode.upstream.exchange import Fault, RequestId
from codemode.upstream.filter import Filter
from codemode.upstream.lines import TooLong

_CONNECT_S = 20.0  # chosen: DNS, TCP and TLS to the other side of the world take 2 s
_WRITE_S = 60.0
_GOODBYE_S = 2.0  # chosen: the DELETE of a session is a courtesy
_CONNECTIONS = 256
_ERROR_BYTES = 64 * 1024
_NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)
_DROPPED_HEADERS = ("content-length", "content-encoding", "transfer-encoding", "content-type")


@dataclass(slots=True, eq=False)
class HttpLine:
    """What the owner of a connection may watch: the filter, and when the session is lost."""

    filter: Filter
    max_bytes: int
    ended: anyio.Event = field(default_factory=anyio.Event)


@asynccontextmanager
async def open_http(line: HttpLine, endpoint: Endpoint) -> AsyncIterator[tuple[Any, Any]]:
    """Connect the SDK's transport to an endpoint. Nothing is sent yet."""
    headers = {name.encode("utf-8"): value.reveal().encode("utf-8") for name, value in endpoint.headers.items()}

    def build() -> FilteringClient:  # loads the CA bundle from disk
        return FilteringClient(
            line,
            headers=list(headers.items()),
            timeout=httpx2.Timeout(_CONNECT_S, write=_WRITE_S, read=None, pool=_CONNECT_S),
            limits=httpx2.Limits(max_connections=_CONNECTIONS, max_keepalive_connections=16),
        )

    async with (
        await anyio.to_thread.run_sync(build) as client,
        streamable_http_client(endpoint.url.reveal(), http_client=client, max_sse_event_size=line.max_bytes + 1024) as (
            read,
            write,
        ),
    ):
        yield read, _Outbox(line.filter, write)


class _Outbox:
    """The write stream as the session sees it: what goes out passes the filter first."""

    def __init__(self, filter_: Filter, inner: Any) -> None:
        self._filter = filter_
        self._inner = inner

    async def send(self, item: SessionMessage) -> None:
        """Hand one message on, unless nobody waits for its answer any more."""
        message = self._filter.outgoing(item.message)
        if message is not None:
            await self._inner.send(item)

    async def aclose(self) -> None:
        """Close the stream below."""
        await self._inner.aclose()

    async def __aenter__(self) -> _Outbox:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class _Asked(msgspec.Struct):
    id: int | str | None = None
    method: str | None = None


class FilteringClient(httpx2.AsyncClient):
    """An HTTP client whose responses to MCP requests have passed the filter."""

    def __init__(self, line: HttpLine, **options: Any) -> None:
        super().__init__(**options)
        self._line = line

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request; a POST that carries a JSON-RPC request always gets a JSON-RPC answer."""
        if request.method == "DELETE":
            with anyio.fail_after(_GOODBYE_S):
                return await super().send(request, **options)
        asked = _asked(request) if request.method == "POST" else None
        try:
            response = await super().send(request, **options)
        except httpx2.RequestError as error:
            if request.method != "POST":
                raise
            return self._failed(request, asked, _network_fault(request, error))
        try:
            return await self._translated(request, response, asked)
        except httpx2.RequestError as error:
            await response.aclose()
            return self._failed(request, asked, _network_fault(request, error))
        except BaseException:
            with anyio.CancelScope(shield=True):
                await response.aclose()
            raise

    async def _translated(
        self, request: httpx2.Request, response: httpx2.Response, asked: RequestId | None
    ) -> httpx2.Response:
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "text/event-stream" and response.is_success:
            return self._events(request, response, asked)
        if asked is None or response.status_code == 202 or response.next_request is not None:
            return response
        body = await _read(response, self._line.max_bytes if response.is_success else _ERROR_BYTES)
        await response.aclose()
        if response.status_code == 401 or (response.status_code == 403 and "www-authenticate" in response.headers):
            return self._failed(request, asked, _sign_in_fault(response))
        messages: list[JSONRPCMessage] = []
        if kind.endswith("json") or (response.is_success and not kind):
            messages = self._line.filter.incoming(body, answers=asked)
        if messages:
            return _as_json(request, response, messages[-1])
        fault = self._status_fault(request, response, kind, body)
        return self._failed(request, asked, fault)

    def _events(self, request: httpx2.Request, response: httpx2.Response, asked: RequestId | None) -> httpx2.Response:
        def translate(data: bytes | TooLong) -> list[JSONRPCMessage]:
            return self._line.filter.incoming(data, answers=asked)

        headers = [(name, value) for name, value in response.headers.items() if name not in _DROPPED_HEADERS]
        stream = _EventStream(response, EventRewriter(translate, self._line.max_bytes))
        headers.append(("content-type", "text/event-stream"))
        return httpx2.Response(response.status_code, headers=headers, stream=stream, request=request)

    def _failed(self, request: httpx2.Request, asked: RequestId | None, fault: Fault) -> httpx2.Response:
        """A well-formed answer in place of one that never came or was none."""
        if asked is None:  # a notification, or a reply of ours: nobody waits for it
            self._line.filter.fault = fault
            return httpx2.Response(202, request=request)
        message = JSONRPCRequest(jsonrpc="2.0", id=asked, method="")
        reply = self._line.filter.unsent(message, fault)
        assert reply is not None  # a request always has one
        return _as_json(request, None, reply)

    def _status_fault(
        self, request: httpx2.Request, response: httpx2.Response, kind: str, body: bytes | TooLong
    ) -> Fault:
        status = response.status_code
        shown = f"HTTP {status} {kind or 'without a type'}".strip()
        if status == 404 and "mcp-session-id" in request.headers:
            self._line.ended.set()
            return Fault(code="upstream.died", message="the server has forgotten this session", may_have_happened=False)
        if status == 429:
            return Fault(code="upstream.rpc_error", message=f"too many requests ({shown})", may_have_happened=False)
        if status >= 500:
            return Fault(code="upstream.unreachable", message=f"the server failed ({shown})")
        text = _glimpse(body)
        hint = "; an SSE server of 2024-11-05, perhaps, which is not supported" if status in (404, 405) else ""
        said = f", which begins with `{text}`" if text else ""
        return Fault(
            code="upstream.protocol",
            message=f"no MCP server answers there, but {shown}{said}{hint}",
            may_have_happened=response.is_success,
        )


class _EventStream(httpx2.AsyncByteStream):
    """The rewritten body of a response; closing it closes the original."""

    def __init__(self, response: httpx2.Response, rewriter: EventRewriter) -> None:
        self._response = response
        self._rewriter = rewriter

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._response.aiter_bytes():
            for piece in self._rewriter.feed(chunk):
                yield piece

    async def aclose(self) -> None:
        await self._response.aclose()


def _asked(request: httpx2.Request) -> RequestId | None:
    """The id of the JSON-RPC request in a POST, None for a notification or a reply."""
    try:
        found = msgspec.json.decode(request.content, type=_Asked)
    except (msgspec.MsgspecError, RecursionError, httpx2.RequestNotRead):
        return None
    return found.id if found.method is not None else None


async def _read(response: httpx2.Response, limit: int) -> bytes | TooLong:
    """A whole body, or its two ends when it is over the limit (the rest is not read)."""
    parts: list[bytes] = []
    size = 0
    async for chunk in response.aiter_bytes():
        parts.append(chunk)
        size += len(chunk)
        if size > limit:
            body = b"".join(parts)
            return TooLong(body[:1024], body[-1024:], size)
    return b"".join(parts)


def _as_json(request: httpx2.Request, original: httpx2.Response | None, message: JSONRPCMessage) -> httpx2.Response:
    headers = [
        (name, value)
        for name, value in (original.headers.items() if original is not None else ())
        if name not in _DROPPED_HEADERS
    ]
    headers.append(("content-type", "application/json"))
    content = message.model_dump_json(by_alias=True, exclude_unset=True).encode()
    return httpx2.Response(200, headers=headers, content=content, request=request)


def _network_fault(request: httpx2.Request, error: httpx2.RequestError) -> Fault:
    """Where the connection broke. The host is shown, never the path or the query: they may hold a token."""
    where = f"{request.url.host}:{request.url.port or (443 if request.url.scheme == 'https' else 80)}"
    is_unsent = isinstance(error, _NOT_SENT)
    reason = str(error).partition("\n")[0] or type(error).__name__
    what = "cannot be reached" if is_unsent else "was lost in the middle of a request"
    return Fault(
        code="upstream.unreachable" if is_unsent else "upstream.died",
        message=f"{where} {what}: {reason[:200]}",
        may_have_happened=not is_unsent,
    )


def _sign_in_fault(response: httpx2.Response) -> Fault:
    given = "authorization" in response.request.headers
    advice = "the `Authorization` it was given is not accepted" if given else "it was given no `Authorization`"
    return Fault(
        code="upstream.sign_in",
        message=f"the server asks for a sign-in (HTTP {response.status_code}): {advice}",
        may_have_happened=False,
    )


def _glimpse(body: bytes | TooLong) -> str:
    """The first words of a page, without markup."""
    raw = body.head if isinstance(body, TooLong) else body[:1024]
    text = re.sub(
        r"<(script|style)\b.*?(</\1>|\Z)|<[^>]{0,200}>", " ", raw.decode("utf-8", "replace"), flags=re.S | re.I
    )
    words = " ".join(html.unescape(text).split())
    return words[:80]
