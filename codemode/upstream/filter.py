"""Stands between a transport and the SDK's session: keeps what is large or odd aside, hands on what always validates.

Enters: messages of ours on their way out, raw bytes of the server on their way in. Leaves: messages for the session.
For `tools/list` the raw definitions are kept and the session sees a reduced page, so one bad tool never costs the
list. For `tools/call` and `resources/read` the payload is kept as bytes and never decoded here; the session sees an
empty result. A reply that cannot be read becomes an error of its own request at once.
Safety: everything that comes in is hostile; the caller finds what was kept through its own `Ticket`, never through a
key a server could guess.
Source: MCP specification 2025-11-25 and 2026-07-28, JSON-RPC 2.0.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)
from mcp_types import jsonrpc_message_adapter as message_adapter
from msgspec import UNSET, Raw
from pydantic import ValidationError

from codemode.jsonvalue import is_object
from codemode.upstream.credentials import Redactor
from codemode.upstream.envelope import (
    UNREADABLE,
    Envelope,
    decode_batch,
    decode_envelope,
    decode_page,
    decode_result,
    decode_tool,
    not_json,
    plain_id,
    reduced,
    seconds_of,
    wire_id,
)
from codemode.upstream.exchange import Fault, Noise, Page, Payload, RequestId, Ticket
from codemode.upstream.lines import TooLong
from codemode.upstream.repair import as_utf8, find_id, without_lone_surrogates

TICKET_KEY = "codemode/ticket"
"""Key in the `_meta` of our own requests, between session and filter; it is taken off before anything is sent."""

_TRACE_KEYS = ("traceparent", "tracestate", "baggage")
_LATE_KEPT = 1024  # chosen: ids of abandoned requests whose answer may still come
_META_BYTES = 64 * 1024  # chosen: `_meta` of a result is small; a larger one is dropped
_PARSED_BYTES = 4 << 20  # chosen: whatever is no result of a call is small; a larger one is not decoded at all
_PAGE_BYTES = 64 << 20  # chosen: a hundred times the largest listing seen
_QUESTIONS = 64  # chosen: requests of a server that wait for our reply; more are dropped


class Filter:
    """The state of one connection's filter. Not for use from several event loops."""

    def __init__(self, redactor: Redactor | None = None) -> None:
        self._redactor = redactor or Redactor()
        self.noise = Noise()
        self.fault: Fault | None = None
        """What went wrong last on a request that has no ticket (the handshake), or outside any request."""
        self._next = 0
        self._open: dict[int, Ticket] = {}
        self._pending: dict[RequestId, tuple[str, Ticket | None]] = {}
        self._dropped: set[RequestId] = set()
        self._late: OrderedDict[RequestId, None] = OrderedDict()
        self._questions: dict[RequestId, Ticket | None] = {}

    @contextmanager
    def ticket(self, modes: frozenset[str] = frozenset()) -> Iterator[Ticket]:
        """A ticket for one request; when the block ends, an answer that comes later is thrown away unread."""
        self._next += 1
        ticket = Ticket(self._next, modes)
        self._open[ticket.number] = ticket
        try:
            yield ticket
        finally:
            ticket.is_abandoned = True
            del self._open[ticket.number]
            for key in [key for key, (_, owner) in self._pending.items() if owner is ticket]:
                del self._pending[key]
                self._note_late(key)

    def outgoing(self, message: JSONRPCMessage) -> JSONRPCMessage | None:
        """The message as it goes out, or None when nobody waits for it any more.

        Trace context is taken off: it would tell a third party about the rest of the user's system.
        """
        if isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            cancelled = plain_id((message.params or {}).get("requestId"))
            if cancelled in self._dropped:
                self._dropped.discard(cancelled)
                return None
        if not isinstance(message, JSONRPCRequest):
            if not isinstance(message, JSONRPCNotification) and message.id is not None:
                self._questions.pop(message.id, None)
            return message
        ticket = self._take_ticket(message)
        key = plain_id(message.id)
        assert key is not None
        if ticket is not None:
            if ticket.is_abandoned:
                self._dropped.add(key)
                return None
            ticket.is_sent = True
        else:
            self.fault = None  # a fault of an earlier try says nothing about this one
        self._pending[key] = (message.method, ticket)
        return message

    def _take_ticket(self, message: JSONRPCRequest) -> Ticket | None:
        meta = (message.params or {}).get("_meta")
        if not isinstance(meta, dict):
            return None
        for name in _TRACE_KEYS:
            meta.pop(name, None)
        number = meta.pop(TICKET_KEY, None)
        if not meta and message.params is not None:
            del message.params["_meta"]
        if number is None:
            return None
        ticket = self._open.get(number) or Ticket(number, is_abandoned=True)
        declared = meta.get(CLIENT_CAPABILITIES_META_KEY)
        if isinstance(declared, dict) and "elicitation" in declared:  # 2026-07-28: each request says what can be asked
            kept = {name: value for name, value in declared.items() if name != "elicitation"}
            if ticket.modes:
                kept["elicitation"] = {mode: {} for mode in sorted(ticket.modes)}
            meta[CLIENT_CAPABILITIES_META_KEY] = kept
        return ticket

    def asked_in(self, question: RequestId) -> Ticket | None:
        """The ticket of the request in whose response the server asked; None where nothing tells."""
        return self._questions.get(question)

    def unsent(self, message: JSONRPCMessage, fault: Fault) -> JSONRPCError | None:
        """The error reply for a request that never left; None when the message expects no reply."""
        if not isinstance(message, JSONRPCRequest):
            return None
        key = plain_id(message.id)
        _, ticket = self._pending.get(key, ("", None)) if key is not None else ("", None)
        if ticket is not None:
            ticket.is_sent = fault.may_have_happened
        return self.fail(message.id, fault)

    def fail(self, request_id: RequestId, fault: Fault) -> JSONRPCError:
        """An error reply of ours for a pending request."""
        key = plain_id(request_id)
        _, ticket = self._pending.pop(key, ("", None)) if key is not None else ("", None)
        if ticket is not None:
            ticket.fault = fault
        else:
            self.fault = fault
        return JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=-32603, message=fault.message))

    def incoming(self, raw: bytes | TooLong, *, answers: RequestId | None = None) -> list[JSONRPCMessage]:
        """The messages in one line or event of the server; none for noise.

        `answers`: over HTTP, the id of the request whose response this is; a reply that cannot be read is its reply.
        """
        if isinstance(raw, TooLong):
            fault = Fault(code="upstream.protocol", message=f"the answer is larger than allowed: {raw.length} bytes")
            return self._unreadable(raw.head, raw.tail, fault, answers)
        line = as_utf8(raw)
        start = line.lstrip()[:1]
        if start == b"[":
            return self._batch(line)
        if start != b"{":
            self.noise.add(line)
            return []
        try:
            envelope = decode_envelope(line)
        except UNREADABLE as error:
            repaired = without_lone_surrogates(line)  # only looked for here: the decoder refuses every one of them
            if repaired != line:
                return self.incoming(repaired, answers=answers)
            return self._unreadable(line[:1024], line[-1024:], not_json(error), answers)
        return self._message(line, envelope, answers)

    def _batch(self, line: bytes) -> list[JSONRPCMessage]:
        """JSON-RPC batches, which protocol 2025-03-26 has; anything else in brackets is noise."""
        try:
            items = [bytes(item) for item in decode_batch(without_lone_surrogates(line))]
        except UNREADABLE:
            items = []
        if not items or not all(item.startswith(b"{") and b'"jsonrpc"' in item for item in items):
            self.noise.add(line)
            return []
        return [message for item in items for message in self.incoming(item)]

    def _message(self, line: bytes, envelope: Envelope, answers: RequestId | None) -> list[JSONRPCMessage]:
        if envelope.method is not UNSET or (envelope.result is UNSET and envelope.error is UNSET):
            asked = plain_id(answers)
            _, ticket = self._pending.get(asked, ("", None)) if asked is not None else ("", None)
            return self._unasked(line, envelope, ticket)
        key = wire_id(envelope.id) if answers is None else plain_id(answers)
        if key is None or key not in self._pending:
            if key is not None and key in self._late:
                del self._late[key]
            else:
                self.noise.add(line)
            return []
        if isinstance(envelope.result, Raw):
            return [self._reply(key, line, envelope.result)]
        return self._parsed(line, key)

    def _unasked(self, line: bytes, envelope: Envelope, ticket: Ticket | None) -> list[JSONRPCMessage]:
        """A notification or a request of the server; noise when it is neither, or too much to be taken seriously.

        `ticket`: of the request of ours in whose response it came.
        """
        key = wire_id(envelope.id)
        is_message = envelope.jsonrpc is not UNSET and envelope.method is not UNSET
        if not is_message or len(line) > _PARSED_BYTES or (key is not None and len(self._questions) >= _QUESTIONS):
            self.noise.add(line)
            return []
        messages = self._parsed(line)
        for message in messages:
            if isinstance(message, JSONRPCRequest):
                self._questions.setdefault(message.id, ticket)
            elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
                cancelled = (message.params or {}).get("requestId")
                if isinstance(cancelled, (int, str)):  # the session does not answer what was taken back
                    self._questions.pop(cancelled, None)
        return messages

    def _reply(self, key: RequestId, line: bytes, result: Raw) -> JSONRPCMessage:
        method, ticket = self._pending[key]
        stub: dict[str, object] | None = None
        try:
            if ticket is not None and method == "tools/list":
                stub = self._page(ticket, result)
            elif ticket is not None and method in ("tools/call", "resources/read"):
                stub = self._payload(ticket, result)
        except UNREADABLE as error:
            return self.fail(key, not_json(error))
        if stub is None:
            parsed = self._parsed(line, key)
            return parsed[0]
        del self._pending[key]
        return JSONRPCResponse(jsonrpc="2.0", id=key, result=stub)

    def _payload(self, ticket: Ticket, raw: Raw) -> dict[str, object] | None:
        """Keep a call's payload aside. None when the result is of a kind that the session itself must see."""
        result = decode_result(raw)
        kind = bytes(result.result_type) if isinstance(result.result_type, Raw) else b'"complete"'
        if kind not in (b'"complete"', b"null"):
            return None
        is_error = isinstance(result.is_error, Raw) and bytes(result.is_error) == b"true"
        content = result.contents if isinstance(result.contents, Raw) else result.content
        blocks = bytes(content) if isinstance(content, Raw) else b"[]"
        structured = bytes(result.structured) if isinstance(result.structured, Raw) else None
        meta = bytes(result.meta) if isinstance(result.meta, Raw) else b"{}"
        ticket.kept = Payload(
            is_error=is_error,
            content=blocks if blocks.startswith(b"[") else b"[]",
            structured=None if structured == b"null" else structured,
            meta=meta if meta.startswith(b"{") and len(meta) <= _META_BYTES else b"{}",
        )
        return {
            "content": [],
            "contents": [],
            "isError": is_error,
            "resultType": "complete",
            "ttlMs": 0,
            "cacheScope": "private",
        }

    def _page(self, ticket: Ticket, raw: Raw) -> dict[str, object]:
        text = bytes(raw)
        if len(text) > _PAGE_BYTES:
            raise msgspec.DecodeError(f"a listing of {len(text)} bytes is larger than allowed")
        page = decode_page(self._redactor.clean_json(text))
        tools = tuple(decode_tool(item) for item in page.tools)
        cursor = msgspec.json.decode(page.next_cursor) if isinstance(page.next_cursor, Raw) else ""
        ticket.kept = Page(
            tools=tools,
            next_cursor=cursor if isinstance(cursor, str) else "",
            size_bytes=len(text),
            ttl_s=seconds_of(page.ttl_ms),
        )
        shown = [
            reduced(tool, item)
            for tool, item in zip(tools, page.tools, strict=True)
            if is_object(tool) and isinstance(tool.get("name"), str)
        ]
        return {"tools": shown, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}

    def _parsed(self, line: bytes, key: RequestId | None = None) -> list[JSONRPCMessage]:
        """The whole message, through the SDK's own models."""
        if key is not None and len(line) > _PARSED_BYTES:
            text = f"the answer is larger than allowed for its kind: {len(line)} bytes"
            return [self.fail(key, Fault(code="upstream.protocol", message=text))]
        try:
            message = message_adapter.validate_json(line, by_name=False)
        except (ValidationError, ValueError):
            if key is not None:
                return [self.fail(key, Fault(code="upstream.protocol", message="the answer is not valid JSON-RPC"))]
            self.noise.add(line)
            return []
        if key is not None:
            self._pending.pop(key, None)
            if isinstance(message, (JSONRPCResponse, JSONRPCError)):
                message.id = key
        return [message]

    def _unreadable(self, head: bytes, tail: bytes, fault: Fault, answers: RequestId | None) -> list[JSONRPCMessage]:
        if answers is not None and b'"method"' in head[:256]:
            answers = None  # a notification that came on the way to the answer
        key = plain_id(find_id(head, tail) if answers is None else answers)
        if key is not None and key in self._pending:
            return [self.fail(key, fault)]
        self.noise.add(head)
        return []

    def _note_late(self, key: RequestId) -> None:
        self._late[key] = None
        while len(self._late) > _LATE_KEPT:
            self._late.popitem(last=False)
