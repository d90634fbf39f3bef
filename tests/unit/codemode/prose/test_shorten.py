"""Cutting at borders, whatever is given."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemode.prose.shorten import count_items, shorten_json, shorten_text

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=60),
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(st.text(max_size=20), inner, max_size=12),
    max_leaves=60,
)


@given(value=VALUES, room=st.integers(160, 4_000))
def test_the_result_fits_and_short_values_are_untouched(value, room):
    raw = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    text = shorten_json(raw, room)
    assert len(text.encode()) <= max(room, 0)
    if len(raw) <= room:
        assert text == raw.decode()


@given(text=st.text(max_size=2_000), room=st.integers(100, 1_000), share=st.sampled_from([0.0, 0.25, 0.5]))
def test_text_fits_and_short_text_is_untouched(text, room, share):
    cut = shorten_text(text, room, tail_share=share)
    size = len(text.encode("utf-8", "replace"))
    assert cut == text if size <= room else len(cut.encode("utf-8", "replace")) <= room


def test_an_array_is_cut_between_items():
    raw = json.dumps(list(range(1_000)), separators=(",", ":")).encode()
    text = shorten_json(raw, 80)
    head, _, mark = text.partition(", … ")
    assert json.loads(head + "]") == list(range(len(json.loads(head + "]"))))
    assert mark.endswith("of 1,000 items left out]")


def test_a_long_array_inside_an_object_is_cut_and_its_neighbours_stay():
    raw = json.dumps(
        {"total": 500, "rows": [{"id": n} for n in range(500)], "next": None}, separators=(",", ":")
    ).encode()
    text = shorten_json(raw, 200)
    assert text.startswith('{"total":500,"rows":[{"id":0},')
    assert text.endswith(' of 500 items left out],"next":null}')


def test_the_first_item_is_shown_in_part_when_it_is_too_long_itself():
    raw = json.dumps([{"id": 1, "body": "x" * 5_000}] * 3, separators=(",", ":")).encode()
    text = shorten_json(raw, 300)
    assert text.startswith('[{"id":1,"body":"xxx')
    assert text.endswith("… 2 of 3 items left out]")


def test_head_and_tail_of_prints_stay():
    text = "\n".join(f"line {number}" for number in range(1_000))
    cut = shorten_text(text, 200)
    assert cut.startswith("line 0\nline 1\n")
    assert cut.endswith("\nline 999")
    assert "characters left out" in cut


@pytest.mark.parametrize(
    ("raw", "count"), [(b"[1,2,3]", 3), (b'{"a":1}', 1), (b" []", 0), (b'"text"', None), (b"[1,", None), (b"", None)]
)
def test_items_are_counted(raw, count):
    assert count_items(raw) == count
