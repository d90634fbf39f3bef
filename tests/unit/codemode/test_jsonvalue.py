"""Strict JSON: one meaning or a refusal; digests that do not depend on order."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemode.jsonvalue import JsonError, canonical_bytes, digest, parse_strict

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=15,
)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"a":1,"a":2}', "twice"),
        ('{"x":{"a":1,"a":1}}', "twice"),
        ("NaN", "NaN"),
        ("[Infinity]", "Infinity"),
        ("1e400", "beyond a double"),
        ("[-1e999]", "beyond a double"),
        ("[" + "[]," * 600_000 + "[]]", "values"),
        ("{", "not JSON"),
        ("", "not JSON"),
        ("[" * 65 + "]" * 65, "deeper"),
        ("[" * 100_000, "deeper"),
    ],
)
def test_what_may_mean_two_things_or_none_is_refused(text, says):
    with pytest.raises(JsonError, match=says):
        parse_strict(text)


def test_brackets_inside_strings_are_no_depth():
    assert parse_strict(json.dumps(["[" * 1_000, '\\"[{' * 50])) == ["[" * 1_000, '\\"[{' * 50]


def test_a_long_text_full_of_commas_is_one_value():
    assert parse_strict(json.dumps({"csv": 'a,b,"c"\\,[{' * 200_000})) is not None


def test_depth_at_the_bound_passes():
    assert parse_strict("[" * 64 + "]" * 64) is not None


@given(VALUES)
def test_any_plain_value_comes_back(value):
    assert parse_strict(json.dumps(value)) == value


def test_equal_objects_have_equal_bytes_whatever_their_order():
    assert canonical_bytes({"b": 1, "a": [1, 2]}) == canonical_bytes({"a": [1, 2], "b": 1}) == b'{"a":[1,2],"b":1}'
    assert digest({"b": 1, "a": 2}) == digest({"a": 2, "b": 1}) != digest({"a": 2, "b": 2})
