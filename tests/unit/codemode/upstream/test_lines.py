"""Lines of a byte stream: whole, in order, bounded."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from codemode.upstream.lines import LineSplitter, TooLong


def split(chunks: list[bytes], max_bytes: int = 100) -> list[bytes | TooLong]:
    splitter = LineSplitter(max_bytes)
    return [line for chunk in chunks for line in splitter.feed(chunk)]


def test_only_a_line_feed_ends_a_line() -> None:
    assert split(["a\u2028b\u0085c\rd\n".encode(), b"e\n"]) == ["a\u2028b\u0085c\rd".encode(), b"e"]


def test_a_line_at_the_cap_is_whole_and_one_over_it_keeps_its_ends() -> None:
    assert split([b"x" * 100 + b"\n"]) == [b"x" * 100]
    assert split([b"x" * 101 + b"\ny\n"]) == [TooLong(b"x" * 101, b"x" * 101, 101), b"y"]


def test_a_line_over_the_cap_costs_no_memory() -> None:
    splitter = LineSplitter(10_000)
    for _ in range(1_000):
        assert list(splitter.feed(b"m" * 10_000)) == []
    assert sum(len(part) for part in splitter._parts) == 0
    (line,) = splitter.feed(b"end\n")
    assert isinstance(line, TooLong)
    assert (line.head, line.tail, line.length) == (b"m" * 1024, b"m" * 1021 + b"end", 10_000_003)


def test_an_unfinished_line_is_not_given_out() -> None:
    assert split([b"a\nb"]) == [b"a"]


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=6))
def test_the_cuts_of_the_stream_do_not_matter(data: bytes, cuts: list[int]) -> None:
    edges = sorted({0, *(min(cut, len(data)) for cut in cuts), len(data)})
    chunks = [data[start:end] for start, end in pairwise(edges)]
    assert split(chunks, 20) == split([data], 20)


@given(st.binary(max_size=300))
def test_nothing_is_lost_below_the_cap(data: bytes) -> None:
    assert split([data], 1_000) == data.split(b"\n")[:-1]
