"""Frames: round trip, linear splitting, and bytes that are no frame."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox import wire


@given(st.binary(max_size=2_000), st.text(max_size=200))
def test_a_frame_comes_back_as_it_was(payload, text):
    frame = wire.encode({"kind": "print", "text": text}, payload)
    (body,) = wire.Splitter(1 << 20).feed(frame)
    assert wire.decode(body) == ({"kind": "print", "text": text}, payload)


@settings(max_examples=50)
@given(st.lists(st.binary(max_size=300), max_size=20), st.integers(1, 97))
def test_frames_come_back_whole_however_the_stream_is_cut(payloads, step):
    stream = b"".join(wire.encode({"kind": "print"}, payload) for payload in payloads)
    splitter = wire.Splitter(1 << 20)
    bodies = [body for at in range(0, len(stream), step) for body in splitter.feed(stream[at : at + step])]
    assert [wire.decode(body)[1] for body in bodies] == payloads
    assert splitter.held_bytes == 0


def test_more_is_asked_for_while_a_long_frame_is_on_its_way():
    splitter = wire.Splitter(1 << 20)
    little = splitter.appetite_bytes
    splitter.feed((1 << 20).to_bytes(4, "big"))
    assert splitter.appetite_bytes > little
    splitter.feed(b"x" * (1 << 20))
    assert splitter.appetite_bytes == little


def test_a_length_above_the_cap_is_refused_before_anything_of_it_is_stored():
    splitter = wire.Splitter(100)
    with pytest.raises(wire.WireError):
        splitter.feed((101).to_bytes(4, "big"))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b'{"kind":1}',
        b'{"kind":"x"',
        b'{"kind":"x","a":NaN}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"kind":' * 100_000,
        b"x" * (wire.MAX_HEADER_BYTES + 1),
        b'{"kind":"x"}' + b" " * wire.MAX_HEADER_BYTES + b"\n",
    ],
)
def test_bytes_that_are_no_frame_are_refused(body):
    with pytest.raises(wire.WireError):
        wire.decode(body)


def test_a_newline_in_a_text_field_does_not_end_the_header():
    frame = wire.encode({"kind": "x", "text": "a\nb\u2028\x1c"}, b"\n\n")
    assert wire.decode(frame[4:]) == ({"kind": "x", "text": "a\nb\u2028\x1c"}, b"\n\n")
