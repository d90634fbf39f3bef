"""The shape of a value in words: complete where it is small, bounded where it is large, never anything but data."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.guest.results.outline import below, key_text, lists_in, nearest_key, outline, quoted, sample, samples

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=40,
)


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        (None, "None"),
        (7, "int"),
        ("text", "str of 4 characters"),
        ([], "[]"),
        ({}, "{}"),
        ([1, 2.5, None], "[3 × int | float | None]"),
        ({"a": 1, "b": {"c": "x"}}, '{"a": int, "b": {"c": str}}'),
        ([{"a": 1, "b": 2}, {"a": None}], '[2 × {"a": int | None, "b"?: int}]'),
        ([{"t": []}, {"t": ["x", "y"]}], '[2 × {"t": [0-2 × str]}]'),
        ([["x"], ["y", "z"]], "[2 × [1-2 × str]]"),
        ({1: "a", None: "b"}, "{1: str, None: str}"),
        ({"a": {"b": {"c": {"d": {"e": 1}}}}}, '{"a": {"b": {"c": {"d": {1 key}}}}}'),
        ({"a": {1, 2}}, '{"a": set}'),
    ],
)
def test_a_shape_names_keys_types_and_lengths(value, shape):
    assert outline(value) == shape


def test_a_shape_that_does_not_fit_loses_its_depth_first_and_its_keys_last():
    deep = {f"key{n}": {"one": 1, "two": {"three": [1]}} for n in range(12)}
    assert outline(deep, 300).startswith('{"key0": {2 keys}, "key1": {2 keys}')
    wide = {f"key{n}": n for n in range(1_000)}
    assert outline(wide, 60) == '{"key0": int, "key1": int, … 998 more keys}'


def test_samples_are_the_first_two_items_or_the_value_itself():
    assert samples([{"a": "x"}, 2, 3]) == ['[0] {"a": "x"}', "[1] 2"]
    assert samples({"a": [1, 2, 3]}) == ['{"a": [1, 2, … 1 more]}']
    assert samples("text") == ['"text"']
    assert samples([]) == samples(None) == samples({}) == []


@pytest.mark.parametrize(
    "text",
    ["\0" * 200, "a" * 80 + "\0" * 10, "a" * 70 + "\ud800" * 9, '"' * 85],
    ids=["nulls", "some nulls", "some surrogates", "quotes"],
)
def test_a_text_of_escapes_has_no_more_room_than_any_other(text):
    assert len(sample(text, 100)) <= 100


@settings(max_examples=60, deadline=None)
@given(JSON)
def test_every_value_has_a_bounded_shape_on_one_line(value):
    shape, shown = outline(value, 200), sample(value, 100)
    assert len(shape) <= 200
    assert len(shown) <= 110
    assert (shape + shown).isprintable()
    assert outline(value, 200) == shape


@settings(max_examples=100, deadline=None)
@given(st.text())
def test_quoted_text_stays_in_its_quotes(text):
    found = quoted(text, 30)
    assert found.isprintable()
    assert isinstance(json.loads(found), str)


def test_a_number_of_many_digits_is_told_by_its_size():
    assert sample([10**5_000]) == "[<int of 16610 bits>]"
    assert key_text(object()) == "<object>"


@pytest.mark.parametrize(
    ("wanted", "keys", "nearest"),
    [
        ("titel", ["id", "title"], "title"),
        ("createdAt", ["created_by", "created_at"], "created_at"),
        ("itms", ["items", "id"], "items"),
        ("name", ["id", "full_name"], "full_name"),
        ("desc", ["id", "description"], "description"),
        ("Title", ["title"], "title"),
        (10, ["10", "11"], "10"),
        ("10", [10, 11], 10),
        ("name", ["number", "id"], None),
        ("body", ["title", "id"], None),
        ("x", [], None),
        (None, ["a"], None),
        (2.5, ["a"], None),
    ],
)
def test_the_nearest_key_is_the_one_that_was_probably_meant(wanted, keys, nearest):
    assert nearest_key(wanted, keys) == nearest


def test_a_key_further_down_is_found_by_the_shortest_way():
    assert below({"data": {"items": [{"name": 1}]}}, "name") == ("data", "items", 0, "name")
    assert below({"a": {"x": 1}, "b": {"y": {"x": 2}}}, "x") == ("a", "x")
    assert below({"a": [1, 2]}, "x") is None


def test_the_lists_of_an_object_are_told_longest_first():
    assert lists_in({"a": [1], "b": [1, 2], "c": [], "d": 1}) == [("b", 2), ("a", 1)]
