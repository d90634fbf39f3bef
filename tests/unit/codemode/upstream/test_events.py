"""A stream of server-sent events is rewritten on its way: the stream stays one, the filter sees each message."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from mcp_types import JSONRPCMessage, JSONRPCNotification

from codemode.upstream.events import EventRewriter
from codemode.upstream.lines import TooLong


def rewrite(chunks: list[bytes], max_bytes: int = 1_000) -> tuple[bytes, list[bytes | TooLong]]:
    seen: list[bytes | TooLong] = []

    def translate(data: bytes | TooLong) -> list[JSONRPCMessage]:
        seen.append(data)
        return [] if data == b"noise" else [JSONRPCNotification(jsonrpc="2.0", method=f"m{len(seen)}")]

    rewriter = EventRewriter(translate, max_bytes)
    return b"".join(piece for chunk in chunks for piece in rewriter.feed(chunk)), seen


def test_the_data_of_a_message_is_replaced_and_its_id_stays() -> None:
    out, seen = rewrite([b"id: 5\nretry: 10\nevent: message\ndata: {}\n\n"])
    assert out == b'id: 5\nretry: 10\ndata: {"jsonrpc":"2.0","method":"m1"}\n\n'
    assert seen == [b"{}"]


def test_several_data_lines_are_one_text() -> None:
    assert rewrite([b"data: a\ndata:b\ndata\n\n"])[1] == [b"a\nb\n"]


def test_an_event_without_data_passes_as_it_is() -> None:
    assert rewrite([b"id: 7\ndata:\n\n"])[0] == b"id: 7\ndata:\n\n"
    assert rewrite([b"id: 7\n\n"])[0] == b"id: 7\n\n"


def test_noise_is_dropped_and_its_id_stays() -> None:
    assert rewrite([b"id: 8\ndata: noise\n\n"])[0] == b"id: 8\n\n"


def test_other_events_and_comments_are_dropped() -> None:
    out, seen = rewrite([b": ping\n\nevent: ping\ndata: x\n\ndata: y\n\n"])
    assert seen == [b"y"]
    assert out.count(b"jsonrpc") == 1


def test_every_kind_of_line_end_counts_also_across_chunks() -> None:
    assert rewrite([b"data: a\r", b"\nid: 1\r", b"\r", b"data: b\r\n\r\n"])[1] == [b"a", b"b"]


def test_a_byte_order_mark_at_the_start_is_skipped() -> None:
    assert rewrite([b"\xef\xbb\xbfdata: a\n\n"])[1] == [b"a"]


def test_an_event_over_the_cap_keeps_only_its_ends() -> None:
    one_line = rewrite([b"data: " + b"x" * 2_000 + b"\n\n"])[1]
    many_lines = rewrite([b"data: " + b"y" * 600 + b"\n", b"data: " + b"z" * 600 + b"\n\n"])[1]
    assert isinstance(one_line[0], TooLong)
    assert one_line[0].head.startswith(b"xxx")
    assert isinstance(many_lines[0], TooLong)
    assert (many_lines[0].head[:1], many_lines[0].tail[-1:]) == (b"y", b"z")


def test_a_cut_off_event_is_not_given_out() -> None:
    assert rewrite([b"data: a\n"]) == (b"", [])


stream = st.lists(
    st.sampled_from([b"data: a", b"data: b", b"id: 1", b":c", b"event: x", b"\n", b"\r\n", b"\r"]), max_size=20
)


@given(stream, st.lists(st.integers(0, 100), max_size=5))
def test_the_cuts_of_the_stream_do_not_matter(pieces: list[bytes], cuts: list[int]) -> None:
    data = b"".join(pieces) + b"\n\n"
    edges = sorted({0, *(min(cut, len(data)) for cut in cuts), len(data)})
    assert rewrite([data[start:end] for start, end in pairwise(edges)]) == rewrite([data])
