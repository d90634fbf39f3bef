"""One live connection to one server: the SDK's client, the listing of every page, calls with their deadlines.

Enters: a transport and its filter. Leaves: raw listings and `RawResult`s, or `UpstreamError`s.
The client is entered and left in the task of the owner (`owner.py`); calls come from any task. A cancelled or timed
out call tells the server. It never repeats a call.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, TypeAlias

import anyio
import mcp_types as types
from mcp import Client
from mcp.client.session import IncomingMessage
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError
from pydantic import TypeAdapter, ValidationError

from codemode.errors import UpstreamError
from codemode.jsonvalue import Json, JsonObject
from codemode.upstream.asking import Answers, Asker, Asking, OpenCall
from codemode.upstream.clock import CallBounds, Clock
from codemode.upstream.credentials import Redactor
from codemode.upstream.exchange import Page, Payload, Ticket
from codemode.upstream.filter import TICKET_KEY, Filter
from codemode.upstream.result import Outcome, RawResult, call_error, hint_for, quote, to_result

Progress: TypeAlias = ProgressFnT
Streams: TypeAlias = AbstractAsyncContextManager[tuple[Any, Any]]

_MAX_PAGES = 1_000
_MAX_TOOLS = 20_000  # chosen: ten times the largest host seen; a server that lists more is broken or hostile
_MAX_LISTING_BYTES = 128 << 20  # chosen: twice the largest single page; all pages together
_MAX_INSTRUCTIONS = 64 * 1024  # chosen: three times the longest seen
_MAX_INPUT_ROUNDS = 10  # as the SDK
_CALL: TypeAdapter[Any] = TypeAdapter(types.CallToolResult | types.InputRequiredResult)
_READ: TypeAdapter[Any] = TypeAdapter(types.ReadResourceResult | types.InputRequiredResult)

_OURSELVES = types.Implementation(name="codemode", version=version("codemode"))

for _noisy in ("mcp", "client", "httpx2", "httpcore2", "httpx", "httpcore"):
    # The SDK logs a traceback for each odd line of a server and whole messages at lower levels; what matters is raised.
    logging.getLogger(_noisy).setLevel(logging.CRITICAL)


@dataclass(slots=True, eq=False, kw_only=True)
class Connection:
    """What a connected server offers. `is_over` tells whether the transport has ended; `list_ms`: the first listing.

    `ttl_s`: how long the last listing holds by the server's own word, 0 without one. `era_since`: Unix time of the
    negotiation that found `protocol`.
    """

    server: str
    client: Client
    filter: Filter
    redactor: Redactor
    asking: Asking
    is_over: Callable[[], bool]
    describe_end: Callable[[], str]
    protocol: str = ""
    instructions: str = ""
    tools: tuple[Json, ...] = ()
    list_ms: int = 0
    ttl_s: float = 0.0
    era_since: float = field(default_factory=time.time)
    answered: int = 0
    in_flight: int = 0
    last_used: float = field(default_factory=anyio.current_time)

    @property
    def passed_over(self) -> tuple[str, ...]:
        """What the server offers beside tools and is not used: "prompts", "resources" (but for links in results)."""
        offered = self.client.server_capabilities
        return tuple(name for name in ("prompts", "resources") if getattr(offered, name) is not None)

    async def list_tools(self) -> tuple[Json, ...]:
        """Every definition of every page, as it came.

        Raises:
            UpstreamError: the server refused, or ended.
        """
        tools: list[Json] = []
        cursors: set[str] = set()
        cursor: str | None = None
        size = 0
        ttls: list[float] = []
        for _ in range(_MAX_PAGES):
            page = await self._page(cursor)
            tools.extend(page.tools)
            size += page.size_bytes
            ttls.extend([page.ttl_s] if page.ttl_s else [])
            is_over = len(tools) >= _MAX_TOOLS or size > _MAX_LISTING_BYTES
            if not page.next_cursor or page.next_cursor in cursors or is_over:
                break
            cursors.add(page.next_cursor)
            cursor = page.next_cursor
        self.ttl_s = min(ttls, default=0.0)
        return tuple(tools[:_MAX_TOOLS])

    async def _page(self, cursor: str | None) -> Page:
        with self.filter.ticket() as ticket:
            params = types.PaginatedRequestParams(cursor=cursor, _meta=_ticket_meta(ticket))
            try:
                await self.client.session.list_tools(params=params)
            except MCPError as error:
                if error.code == types.METHOD_NOT_FOUND and ticket.fault is None and not self.tools:
                    return Page()  # a server without tools
                raise self._failure(error, ticket, "") from error
            except (ValidationError, RuntimeError) as error:
                if not isinstance(ticket.kept, Page):
                    raise self._failure(error, ticket, "") from error
            return ticket.kept if isinstance(ticket.kept, Page) else Page()

    async def call(
        self,
        tool: str,
        arguments: JsonObject,
        bounds: CallBounds,
        *,
        progress: Progress | None = None,
        asker: Asker | None = None,
    ) -> RawResult:
        """Call a tool once; `asker` answers what the server asks meanwhile.

        Raises:
            UpstreamError: see `result.py`; `upstream.died` when the connection ended under the call.
        """

        async def send(ticket: Ticket, heard: Progress, answers: Answers) -> types.Result:
            params = types.CallToolRequestParams(
                name=tool,
                arguments=dict(arguments),
                input_responses=answers.responses,
                request_state=answers.state,
                _meta=_ticket_meta(ticket),
            )
            request = types.CallToolRequest(params=params)
            result: types.Result = await self.client.session.send_request(request, _CALL, progress_callback=heard)
            return result

        return await self._counted(send, tool, bounds, progress, asker)

    async def read_resource(self, uri: str, bounds: CallBounds, *, asker: Asker | None = None) -> RawResult:
        """Read a resource once; `content` is the JSON array `contents`.

        Raises:
            UpstreamError: see `result.py`.
        """

        async def send(ticket: Ticket, heard: Progress, answers: Answers) -> types.Result:
            params = types.ReadResourceRequestParams(
                uri=uri,
                input_responses=answers.responses,
                request_state=answers.state,
                _meta=_ticket_meta(ticket),
            )
            request = types.ReadResourceRequest(params=params)
            result: types.Result = await self.client.session.send_request(request, _READ, progress_callback=heard)
            return result

        return await self._counted(send, "", bounds, None, asker)

    async def _counted(
        self, send: _Send, tool: str, bounds: CallBounds, listener: Progress | None, asker: Asker | None
    ) -> RawResult:
        self.in_flight += 1
        clock = Clock(bounds)
        try:
            with self.asking.call(tool, asker, clock) as call:
                try:
                    result = await self._bounded(send, call, bounds, listener)
                    if result.is_error and call.refused:
                        raise call_error(
                            "upstream.tool_error",
                            result.text or "without a text",
                            server=self.server,
                            tool=tool,
                            outcome="answered",
                        )
                except UpstreamError as error:
                    raise await self.asking.explained(call, error) from error
                return result
        finally:
            self.in_flight -= 1
            self.last_used = anyio.current_time()

    async def _bounded(self, send: _Send, call: OpenCall, bounds: CallBounds, listener: Progress | None) -> RawResult:
        sent = False
        clock, tool = call.clock, call.tool
        with clock.absolute, clock.idle:

            async def heard(progress: float, total: float | None, message: str | None) -> None:
                clock.heard()
                if listener is not None:
                    await listener(progress, total, message)

            answers = Answers()
            for _ in range(_MAX_INPUT_ROUNDS):
                with self.filter.ticket(call.modes) as ticket:
                    call.ticket = ticket
                    try:
                        result = await self._once(send, ticket, heard, answers, tool, was_sent=sent)
                    finally:
                        sent = sent or ticket.is_sent
                    if isinstance(result, RawResult):
                        self.answered += 1
                        return result
                answers = await self.asking.answers(call, result)
            raise call_error(
                "upstream.unsupported",
                f"`{self.server}` asked for input {_MAX_INPUT_ROUNDS} times in one call",
                server=self.server,
                tool=tool,
                outcome="unknown",
            )
        if clock.absolute.cancelled_caught:
            what = f"in {bounds.shown_s or bounds.timeout_s:g} s (absolute limit of one call)"
        else:
            assert clock.idle.cancelled_caught
            what = f"for {bounds.idle_s:g} s (idle limit, no progress came either)"
        raise self._timeout(what, tool, sent=sent)

    async def _once(
        self, send: _Send, ticket: Ticket, heard: Progress, answers: Answers, tool: str, *, was_sent: bool
    ) -> RawResult | types.InputRequiredResult:
        """One round; `was_sent`: an earlier one went out, so the server may have acted whatever becomes of this one."""
        try:
            result = await send(ticket, heard, answers)
        except (MCPError, ValidationError, ValueError, RuntimeError, anyio.ClosedResourceError) as error:
            if isinstance(ticket.kept, Payload):  # the answer is there; only the session did not like its stub
                return to_result(ticket.kept, self.redactor)
            raise self._failure(error, ticket, tool, was_sent=was_sent) from error
        if isinstance(result, types.InputRequiredResult):
            return result
        assert isinstance(ticket.kept, Payload)  # the filter keeps every complete result of these methods
        return to_result(ticket.kept, self.redactor)

    def _timeout(self, what: str, tool: str, *, sent: bool) -> UpstreamError:
        return call_error(
            "upstream.timeout",
            f"`{self.server}` did not answer {what}" + ("; the server was told to stop" if sent else ""),
            server=self.server,
            tool=tool,
            outcome="unknown" if sent else "not_sent",
            hint_operator=f"raise `call_timeout_s` of the server `{self.server}` if this is normal for it",
            retryable=not sent,
        )

    def _failure(self, error: Exception, ticket: Ticket, tool: str, *, was_sent: bool = False) -> UpstreamError:
        """The error of a request that gave no result."""
        outcome: Outcome = "unknown" if was_sent or ticket.is_sent else "not_sent"
        fault = ticket.fault
        if fault is not None:
            if not (was_sent or fault.may_have_happened):
                outcome = "not_sent"
            text = f"`{self.server}`: {quote(fault.message, self.redactor)}"
            hint = hint_for(fault.code, self.server)
            return call_error(fault.code, text, server=self.server, tool=tool, outcome=outcome, hint_operator=hint)
        if not ticket.is_sent or self.is_over() or _is_closed(error):
            return call_error("upstream.died", self.describe_end(), server=self.server, tool=tool, outcome=outcome)
        if isinstance(error, MCPError):
            return call_error(
                "upstream.rpc_error",
                f"`{self.server}` refused the request: {quote(error.message, self.redactor)} (code {error.code})",
                server=self.server,
                tool=tool,
                outcome="answered",
                details={"rpc_code": error.code, "is_later_round": was_sent},
            )
        text = f"`{self.server}` answered something that is not MCP: {quote(_first_line(error), self.redactor)}"
        return call_error("upstream.protocol", text, server=self.server, tool=tool, outcome="unknown")


_Send: TypeAlias = Callable[[Ticket, Progress, Answers], Awaitable[types.Result]]


@asynccontextmanager
async def open_connection(
    server: str,
    streams: Streams,
    filter_: Filter,
    *,
    mode: str,
    redactor: Redactor,
    is_over: Callable[[], bool],
    describe_end: Callable[[], str],
    on_tools_changed: Callable[[], None],
    may_ask: bool = True,
) -> AsyncIterator[Connection]:
    """Connect and read the whole listing. To be entered and left in one task.

    `may_ask`: whether the server is told that it can ask people (elicitation); each call decides whether it can.

    Raises:
        UpstreamError, MCPError, OSError, RuntimeError or a group of them: the server did not come up.
    """

    async def heard(message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            on_tools_changed()

    asking = Asking(server, filter_, redactor, is_allowed=may_ask)
    client = Client(
        streams,
        mode=mode,
        cache=None,
        message_handler=heard,
        elicitation_callback=asking.hear if may_ask else None,
        client_info=_OURSELVES,
    )
    async with client:
        connection = Connection(
            server=server,
            client=client,
            filter=filter_,
            redactor=redactor,
            asking=asking,
            is_over=is_over,
            describe_end=describe_end,
            protocol=client.protocol_version,
            instructions=redactor.clean((client.instructions or "")[:_MAX_INSTRUCTIONS]),
        )
        began = anyio.current_time()
        connection.tools = await connection.list_tools()
        connection.list_ms = round((anyio.current_time() - began) * 1000)
        yield connection


def _ticket_meta(ticket: Ticket) -> types.RequestParamsMeta:
    meta: Any = {TICKET_KEY: ticket.number}  # an open map by its definition, which mypy does not know (extra_items)
    return meta  # type: ignore[no-any-return]  # see above


def _is_closed(error: Exception) -> bool:
    return isinstance(error, anyio.ClosedResourceError) or (
        isinstance(error, MCPError) and error.code == types.CONNECTION_CLOSED
    )


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
