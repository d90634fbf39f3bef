"""The filter between a transport and the session: large results are kept, odd lines cost only themselves."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse
from mcp_types.methods import validate_server_result

from codemode.upstream.credentials import Redactor
from codemode.upstream.exchange import Fault, Page, Payload, Ticket
from codemode.upstream.filter import TICKET_KEY, Filter
from codemode.upstream.lines import TooLong

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")


def ask(
    filter_: Filter, ticket: Ticket, method: str = "tools/call", request_id: int = 7, **meta: Any
) -> JSONRPCRequest:
    params = {"name": "t", "_meta": {TICKET_KEY: ticket.number, **meta}}
    request = JSONRPCRequest(jsonrpc="2.0", id=request_id, method=method, params=params)
    sent = filter_.outgoing(request)
    assert isinstance(sent, JSONRPCRequest)
    return sent


def reply(result: Any, request_id: Any = 7) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "result": result}).encode()


def received(filter_: Filter, raw: bytes | TooLong) -> Any:
    messages = filter_.incoming(raw)
    assert len(messages) <= 1
    return messages[0] if messages else None


def test_the_payload_of_a_call_is_kept_as_bytes_and_the_session_sees_an_empty_result() -> None:
    filter_ = Filter()
    with filter_.ticket() as ticket:
        ask(filter_, ticket)
        raw = (
            b'{"id":7,"jsonrpc":"2.0","result":{"content":[ {"type":"odd"} ],'
            b'"structuredContent":{"v": 12345678901234567890123},"_meta":{"a":1}}}'
        )
        message = received(filter_, raw)
        assert ticket.kept == Payload(
            content=b'[ {"type":"odd"} ]', structured=b'{"v": 12345678901234567890123}', meta=b'{"a":1}'
        )
    assert isinstance(message, JSONRPCResponse)
    assert message.result["content"] == []


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("method", ["tools/call", "resources/read", "tools/list"])
def test_what_the_session_sees_is_valid_in_every_protocol_version(version: str, method: str) -> None:
    filter_ = Filter()
    with filter_.ticket() as ticket:
        ask(filter_, ticket, method)
        tools = [{"name": "a", "inputSchema": {"properties": 5}}, {"name": "b"}, {"name": 5}, 7, None]
        message = received(filter_, reply({"tools": tools, "content": "none", "contents": {}, "nextCursor": 4}))
    assert isinstance(message, JSONRPCResponse)
    validate_server_result(method, version, message.result)


@pytest.mark.parametrize(
    ("result", "kept"),
    [
        ({"isError": True, "content": []}, Payload(is_error=True)),
        ({"isError": "yes"}, Payload()),
        ({}, Payload()),
        ({"content": None}, Payload()),
        ({"structuredContent": None}, Payload()),
        ({"structuredContent": [1]}, Payload(structured=b"[1]")),
        ({"structuredContent": 0}, Payload(structured=b"0")),
        ({"resultType": "complete"}, Payload()),
        ({"resultType": None}, Payload()),
        ({"_meta": []}, Payload()),
        ({"_meta": {"a": "x" * 70_000}}, Payload()),
    ],
)
def test_odd_results_are_kept_as_far_as_they_go(result: Any, kept: Payload) -> None:
    filter_ = Filter()
    with filter_.ticket() as ticket:
        ask(filter_, ticket)
        assert isinstance(received(filter_, reply(result)), JSONRPCResponse)
        assert ticket.kept == kept


@pytest.mark.parametrize("result", ["text", [1], None, 5])
def test_a_result_that_is_no_object_fails_its_own_call(result: Any) -> None:
    filter_ = Filter()
    with filter_.ticket() as ticket:
        ask(filter_, ticket)
        assert isinstance(received(filter_, reply(result)), JSONRPCError)
        assert ticket.fault is not None
        assert ticket.fault.code == "upstream.protocol"


def test_a_question_of_the_server_passes_untouched() -> None:
    filter_ = Filter()
    result = {"resultType": "input_required", "requestState": "s"}
    with filter_.ticket() as ticket:
        ask(filter_, ticket)
        message = received(filter_, reply(result))
        assert ticket.kept is None
    assert isinstance(message, JSONRPCResponse)
    assert message.result == result


def test_every_definition_of_a_page_is_kept_as_it_came() -> None:
    filter_ = Filter()
    tools: list[Any] = [{"name": "a", "inputSchema": {}, "x-own": 1}, {"name": "b"}, "odd", None]
    with filter_.ticket() as ticket:
        ask(filter_, ticket, "tools/list")
        message = received(filter_, reply({"tools": tools, "nextCursor": "n"}))
        assert isinstance(ticket.kept, Page)
        assert (ticket.kept.tools, ticket.kept.next_cursor) == (tuple(tools), "n")
    assert [tool["name"] for tool in message.result["tools"]] == ["a", "b"]


def test_one_definition_that_cannot_be_decoded_does_not_cost_the_page() -> None:
    filter_ = Filter()
    with filter_.ticket() as ticket:
        ask(filter_, ticket, "tools/list")
        raw = b'{"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"a"},{"name":"b","x":1e999},{"name":"c"}]}}'
        received(filter_, raw)
        assert isinstance(ticket.kept, Page)
        first, second, third = ticket.kept.tools
        assert (first, third) == ({"name": "a"}, {"name": "c"})
        assert isinstance(second, str)
        assert "Number out of range" in second


def test_header_annotations_reach_the_session() -> None:
    filter_ = Filter()
    properties = {"region": {"type": "string", "x-mcp-header": "Region"}, "n": {"type": "integer"}}
    with filter_.ticket() as ticket:
        ask(filter_, ticket, "tools/list")
        message = received(filter_, reply({"tools": [{"name": "a", "inputSchema": {"properties": properties}}]}))
    assert message.result["tools"][0]["inputSchema"] == {"type": "object", "properties": properties}


def test_a_listing_is_cleaned_of_known_secrets() -> None:
    filter_ = Filter(Redactor(sure=["s3cret-canary"]))
    with filter_.ticket() as ticket:
        ask(filter_, ticket, "tools/list")
        received(filter_, reply({"tools": [{"name": "a", "description": "db://u:s3cret-canary@h"}]}))
        assert isinstance(ticket.kept, Page)
        assert ticket.kept.tools == ({"name": "a", "description": "db://u:[secret]@h"},)


@pytest.mark.parametrize("echoed", [7, "7", 7.0])
def test_an_id_that_comes_back_in_another_form_is_the_same(echoed: Any) -> None:
    filter_ = Filter()
    with filter_.ticket() as ticket:
        ask(filter_, ticket)
        assert received(filter_, reply({"content": []}, echoed)).id == 7
        assert ticket.kept == Payload()


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":7,"result":{"structuredContent":{"v":NaN}}}',
        b'{"result":{"v":yes},"jsonrpc":"2.0","id":7}',
        b'{"jsonrpc":"2.0","id":7,"result":' + b"[" * 5000 + b"]" * 5000 + b"}",
        TooLong(b'{"jsonrpc":"2.0","id":7,"result":{', b'"}}', 10**9),
        b'{"jsonrpc":"2.0","id":7,"error":"text"}',
        b'{"jsonrpc":"2.0","id":7,"error":{"code":"x"}}',
    ],
)
def test_a_reply_that_cannot_be_read_fails_its_own_call_at_once(line: bytes | TooLong) -> None:
    filter_ = Filter()
    with filter_.ticket() as ticket:
        ask(filter_, ticket)
        message = received(filter_, line)
        assert isinstance(message, JSONRPCError)
        assert message.id == 7
        assert ticket.fault is not None
        assert (ticket.fault.code, ticket.fault.may_have_happened) == ("upstream.protocol", True)
    assert filter_.noise.lines == 0


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"INFO starting",
        b"null",
        b"[1, 2]",
        b"[]",
        b"[{}]",
        b'{"level": "info"}',
        b'{"id": 7}',
        b"\xff\xfe\x80",
        b"{",
        b'{"jsonrpc":"2.0","id":99,"result":{}}',
        b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}',
        b'{"jsonrpc":"2.0","method":5}',
        b'{"method":"notifications/x"}',
        b'{"jsonrpc":"2.0","id":{"a":1},"result":{}}',
        TooLong(b"x" * 1024, b"y" * 1024, 10**9),
    ],
)
def test_a_line_that_is_no_message_is_counted_and_dropped(line: bytes | TooLong) -> None:
    filter_ = Filter()
    with filter_.ticket() as ticket:
        ask(filter_, ticket)
        assert filter_.incoming(line) == []
        assert ticket.fault is None
    assert filter_.noise.lines == 1


def test_samples_of_noise_are_few_short_and_printable() -> None:
    filter_ = Filter()
    for index in range(20):
        filter_.incoming(b"\x1b[31m line %d " % index + b"x" * 1000)
    assert filter_.noise.lines == 20
    assert len(filter_.noise.samples()) == 5
    assert all(len(text) <= 160 and text.isprintable() for text in filter_.noise.samples())


def test_a_sample_of_noise_is_cleaned_before_it_is_cut() -> None:
    filter_ = Filter()
    filter_.incoming(b"x" * 155 + b"s3cret-canary")
    assert filter_.noise.samples(Redactor(["s3cret-canary"]).clean) == ("x" * 155 + "[secr",)


def test_a_batch_of_messages_is_taken_apart() -> None:
    filter_ = Filter()
    with filter_.ticket() as ticket:
        ask(filter_, ticket)
        batch = b'[{"jsonrpc":"2.0","method":"notifications/x"},' + reply({"content": [1]}) + b"]"
        messages = filter_.incoming(batch)
        assert ticket.kept == Payload(content=b"[1]")
    assert isinstance(messages[0], JSONRPCNotification)
    assert isinstance(messages[1], JSONRPCResponse)


def test_requests_and_notifications_of_the_server_pass() -> None:
    filter_ = Filter()
    line = b'{"jsonrpc":"2.0","id":"s1","method":"roots/list"}'
    assert received(filter_, line) == JSONRPCRequest(jsonrpc="2.0", id="s1", method="roots/list")


def test_neither_our_ticket_nor_trace_context_goes_out() -> None:
    filter_ = Filter()
    with filter_.ticket() as ticket:
        sent = ask(filter_, ticket, traceparent="00-1", tracestate="x", baggage="user=joe", progressToken=7)
    assert sent.params == {"name": "t", "_meta": {"progressToken": 7}}
    with filter_.ticket() as ticket:
        assert ask(filter_, ticket).params == {"name": "t"}


def test_a_request_nobody_waits_for_is_never_sent_and_neither_is_its_cancellation() -> None:
    filter_ = Filter()
    with filter_.ticket() as ticket:
        params = {"_meta": {TICKET_KEY: ticket.number}}
    request = JSONRPCRequest(jsonrpc="2.0", id=7, method="tools/call", params=params)
    cancel = JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params={"requestId": 7})
    other = JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params={"requestId": 8})
    assert filter_.outgoing(request) is None
    assert filter_.outgoing(cancel) is None
    assert filter_.outgoing(other) is other
    assert not ticket.is_sent


def test_an_answer_that_comes_too_late_is_dropped_unread_and_is_no_noise() -> None:
    filter_ = Filter()
    with filter_.ticket() as ticket:
        ask(filter_, ticket)
    assert filter_.incoming(reply({"content": [1]})) == []
    assert (ticket.kept, filter_.noise.lines) == (None, 0)


def test_a_second_answer_for_one_request_is_dropped() -> None:
    filter_ = Filter()
    with filter_.ticket() as ticket:
        ask(filter_, ticket)
        received(filter_, reply({"content": [1]}))
        assert filter_.incoming(reply({"content": [2]})) == []
        assert ticket.kept == Payload(content=b"[1]")


@pytest.mark.parametrize("text", [r"\ud83d", r"a \ude00 b", r"\ud83d\ud83d\ude00", r"\ud83d\n", r"x\uD83Dx"])
@pytest.mark.parametrize("before", ["", "x" * 100])
def test_no_half_character_gets_past_the_filter(text: str, before: str) -> None:
    filter_ = Filter()
    with filter_.ticket() as ticket:
        ask(filter_, ticket)
        line = f'{{"jsonrpc":"2.0","id":7,"result":{{"content":["{before}{text}{before}"]}}}}'.encode()
        assert isinstance(received(filter_, line), JSONRPCResponse)
        assert isinstance(ticket.kept, Payload)
        json.loads(ticket.kept.content)[0].encode("utf-8")
        assert b"\\ufffd" in ticket.kept.content


def test_a_server_cannot_name_a_ticket() -> None:
    filter_ = Filter()
    with filter_.ticket() as mine, filter_.ticket() as other:
        ask(filter_, mine, request_id=7)
        ask(filter_, other, request_id=8)
        received(filter_, reply({"content": [], "_meta": {TICKET_KEY: other.number}}, 7))
        assert other.kept is None


def test_over_http_an_unreadable_body_fails_the_request_it_answers() -> None:
    filter_ = Filter()
    with filter_.ticket() as ticket:
        ask(filter_, ticket)
        (message,) = filter_.incoming(b'{"result": {"v": NaN}, "x": 1}', answers=7)
        assert isinstance(message, JSONRPCError)
        assert ticket.fault is not None


def test_over_http_an_unreadable_notification_does_not_fail_the_request() -> None:
    filter_ = Filter()
    with filter_.ticket() as ticket:
        ask(filter_, ticket)
        assert filter_.incoming(b'{"jsonrpc":"2.0","method":"notifications/x","params":{"v":NaN}}', answers=7) == []
        assert ticket.fault is None


def test_a_request_that_never_left_is_marked_so() -> None:
    filter_ = Filter()
    with filter_.ticket() as ticket:
        sent = ask(filter_, ticket)
        fault = Fault(code="upstream.unreachable", message="m", may_have_happened=False)
        assert isinstance(filter_.unsent(sent, fault), JSONRPCError)
        assert (ticket.is_sent, ticket.fault) == (False, fault)


def test_a_server_that_asks_too_much_at_once_is_not_heard() -> None:
    filter_ = Filter()

    def question(number: int) -> list[Any]:
        return list(filter_.incoming(b'{"jsonrpc":"2.0","id":"q%d","method":"roots/list"}' % number))

    assert sum(len(question(number)) for number in range(100)) == 64
    filter_.outgoing(JSONRPCResponse(jsonrpc="2.0", id="q0", result={}))
    filter_.incoming(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q1"}}')
    assert [len(question(number)) for number in (200, 201, 202)] == [1, 1, 0]


@pytest.mark.parametrize("kind", [b'"method":"notifications/message","params":', b'"id":7,"error":'])
def test_what_is_no_result_is_not_decoded_when_it_is_huge(kind: bytes) -> None:
    filter_ = Filter()
    with filter_.ticket() as ticket:
        ask(filter_, ticket)
        messages = filter_.incoming(b'{"jsonrpc":"2.0",' + kind + b'{"code":1,"message":"' + b"x" * 5_000_000 + b'"}}')
        assert (len(messages), filter_.noise.lines) == ((1, 0) if b"error" in kind else (0, 1))
        assert (ticket.fault is not None) == (b"error" in kind)


def test_a_fault_of_an_earlier_handshake_does_not_stay() -> None:
    filter_ = Filter()
    filter_.outgoing(JSONRPCRequest(jsonrpc="2.0", id=1, method="server/discover"))
    filter_.fail(1, Fault(code="upstream.protocol", message="m"))
    assert filter_.fault is not None
    filter_.outgoing(JSONRPCRequest(jsonrpc="2.0", id=2, method="initialize"))
    assert filter_.fault is None


@given(st.binary(max_size=200))
def test_no_bytes_of_a_server_raise(data: bytes) -> None:
    filter_ = Filter()
    with filter_.ticket() as ticket:
        ask(filter_, ticket)
        filter_.incoming(data)
        filter_.incoming(b'{"jsonrpc":"2.0","id":7,"result":' + data)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=10,
)


@given(json_values, st.sampled_from(["tools/list", "tools/call", "resources/read", "other"]))
def test_any_json_result_gives_exactly_one_reply(value: Any, method: str) -> None:
    filter_ = Filter()
    with filter_.ticket() as ticket:
        ask(filter_, ticket, method)
        (message,) = filter_.incoming(reply(value))
        assert isinstance(message, (JSONRPCResponse, JSONRPCError))
        assert message.id == 7


@given(json_values)
def test_structured_content_arrives_as_it_was(value: Any) -> None:
    filter_ = Filter()
    with filter_.ticket() as ticket:
        ask(filter_, ticket)
        filter_.incoming(reply({"structuredContent": value, "content": []}))
        assert isinstance(ticket.kept, Payload)
        assert (json.loads(ticket.kept.structured) if ticket.kept.structured is not None else None) == value
