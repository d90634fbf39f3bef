"""The value of a run as bytes: one rule for every type, lossless or clearly marked, never an exception."""

import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import json
import pathlib
import uuid
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.guest.values import preview, render


@dataclasses.dataclass
class Point:
    x: int
    tags: object


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Pair(NamedTuple):
    a: int
    b: int


class Hostile:
    def __repr__(self):
        raise ValueError

    def __iter__(self):
        raise KeyError

    def __len__(self):
        return 3


class Picture:
    def __image__(self):
        return "image/png", b"\x89PNG"

    def __describe__(self):
        return {"type": "image/png", "size": 4}


def _json(value):
    rendered = render(value)
    assert rendered.form == "json"
    return json.loads(rendered.data)


def _cycle():
    items: list[object] = [1]
    items.append(items)
    return items


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, 1),
        (True, True),
        ({"a": [1, None, 2.5]}, {"a": [1, None, 2.5]}),
        ((1, 2), [1, 2]),
        ({3, 1, 2}, [1, 2, 3]),
        ({1, "a"}, ["a", 1]),
        (float("nan"), "NaN"),
        ([float("-inf")], ["-Infinity"]),
        (datetime.datetime(2026, 1, 2, 3, tzinfo=datetime.UTC), "2026-01-02T03:00:00+00:00"),
        (datetime.timedelta(minutes=2), 120.0),
        (decimal.Decimal("1.10"), "1.10"),
        (fractions.Fraction(1, 3), "1/3"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (pathlib.PurePosixPath("a/b"), "a/b"),
        (Point(1, {"z"}), {"x": 1, "tags": ["z"]}),
        (Pair(1, 2), [1, 2]),
        (Colour.RED, "red"),
        ([Level.HIGH], [3]),
        (b"abc", "abc"),
        (b"\x00\xff", {"$base64": "AP8="}),
        ({(1, 2): "x", 3: "y", None: 1, True: 2, 1.5: 3}, {"(1, 2)": "x", "3": "y", "null": 1, "true": 2, "1.5": 3}),
        ({Colour.RED: 1}, {"red": 1}),
        (10**400, 10**400),
        (_cycle(), [1, "<cycle>"]),
        (collections.Counter("aab"), {"a": 2, "b": 1}),
        (collections.deque([1, 2]), [1, 2]),
        (range(3), [0, 1, 2]),
        ({"k": 1}.keys(), ["k"]),
        (["a\ud83d"], ["a\ud83d"]),
        ([Picture()], [{"type": "image/png", "size": 4}]),
    ],
)
def test_each_type_has_its_documented_form(value, expected):
    assert _json(value) == expected


def test_an_int_beyond_the_printable_digits_is_marked_and_lossless():
    assert int(_json(10**5_000)["$int"], 16) == 10**5_000


def test_text_stays_text_and_none_is_nothing():
    assert render("a\nb") == ("text", "", b"a\nb")
    assert render(None) == ("none", "", b"")


def test_a_lone_surrogate_in_text_is_shown_as_an_escape():
    assert render("a\ud83d").data == b"a\\ud83d"


def test_an_image_as_the_whole_value_is_an_image():
    assert render(Picture()) == ("image", "image/png", b"\x89PNG")


def test_equal_programs_give_equal_text_for_objects_without_a_rule():
    assert render(object()).data == b'"<object object>"'


def test_foreign_methods_that_raise_end_as_text():
    assert "Hostile" in _json([Hostile()])[0]


def test_a_value_nested_without_end_is_cut():
    deep: list[object] = []
    for _ in range(5_000):
        deep = [deep]
    assert render(deep).form == "json"


def test_a_preview_has_name_shape_and_three_items():
    assert json.loads(preview("rows", [1, 2, 3, 4]).data) == {
        "name": "rows",
        "shape": "list of 4 items",
        "items": [1, 2, 3],
    }
    assert json.loads(preview("d", {"a": 1}).data)["shape"] == "dict of 1 keys"
    assert preview("x", None).form == "none"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.dates() | st.decimals(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.integers(), inner, max_size=4),
        max_leaves=20,
    )
)
def test_any_value_becomes_bytes_that_the_host_can_read(value):
    rendered = render(value)
    text = rendered.data.decode("utf-8")
    if rendered.form == "json":
        json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
