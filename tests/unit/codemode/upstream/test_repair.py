"""Single lines are repaired without a change of meaning, and hopeless ones still have their id."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemode.upstream.repair import as_utf8, find_id, without_lone_surrogates


def repair_line(line: bytes) -> bytes:
    return without_lone_surrogates(as_utf8(line))


@pytest.mark.parametrize(
    ("line", "repaired"),
    [
        (rb'"half \ud83d pair"', rb'"half \ufffd pair"'),
        (rb'"low \ude00"', rb'"low \ufffd"'),
        (rb'"pair \ud83d\ude00"', rb'"pair \ud83d\ude00"'),
        (rb'"\uD83D\ud83d\ude00\ude00"', rb'"\ufffd\ud83d\ude00\ufffd"'),
        (rb'"text \\ud83d"', rb'"text \\ud83d"'),
        (rb'"text \\\ud83d"', rb'"text \\\ufffd"'),
        (rb'"\\ud83d\ude00"', rb'"\\ud83d\ufffd"'),
        (rb'"\n\ud83d\t"', rb'"\n\ufffd\t"'),
        (b'\xef\xbb\xbf{"a":1}', b'{"a":1}'),
        (b'"\xff\xfe"', '"\ufffd\ufffd"'.encode()),
        ("é\u2028😀".encode(), "é\u2028😀".encode()),
    ],
)
def test_what_no_parser_takes_becomes_a_replacement_character(line: bytes, repaired: bytes) -> None:
    assert repair_line(line) == repaired


@given(st.text(max_size=40), st.booleans())
def test_valid_lines_keep_their_meaning(text: str, ascii_only: bool) -> None:
    line = json.dumps({"k": text.encode("utf-8", "replace").decode()}, ensure_ascii=ascii_only).encode()
    assert repair_line(line) == line


@given(st.text(st.characters(), max_size=30))
def test_what_comes_out_is_unicode(text: str) -> None:
    line = json.dumps("".join(chr(ord(char) % 0x11_0000) for char in text)).encode()
    json.loads(repair_line(line)).encode("utf-8")


@given(st.lists(st.sampled_from(["\\", "u", "d8", "3d", "de", "00", "x", '"']), max_size=30))
def test_a_repaired_line_has_nothing_left_to_repair(pieces: list[str]) -> None:
    once = repair_line("".join(pieces).encode())
    assert repair_line(once) == once


def test_a_long_run_of_backslashes_takes_linear_time() -> None:
    line = b'"' + b"\\" * 400_000 + b'ud8"'  # quadratic work on this would take minutes
    assert repair_line(line) == line


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (b'{"jsonrpc":"2.0","id":7,"result":{"v":NaN}}', 7),
        (b'{ "id" : "a-1" , "result": {', "a-1"),
        (b'{"result":{"v":NaN},"jsonrpc":"2.0","id":8}', 8),
        (b'{"result":{"v":NaN},"id":9,"jsonrpc":"2.0"}\r', 9),
        (b'{"result":{"id":5}}', None),
        (b'{"result":[{"id":5}', None),
        (b'{"jsonrpc":"2.0","method":"x","params":{"id":3}}', None),
        (b"INFO id: 4", None),
        (b"", None),
    ],
)
def test_an_id_is_taken_only_from_where_it_is_certain(line: bytes, found: int | str | None) -> None:
    assert find_id(line, line) == found
