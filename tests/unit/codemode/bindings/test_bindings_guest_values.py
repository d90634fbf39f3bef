"""Python values as arguments: each in its JSON form, or refused with the parameter's name."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import pathlib
import uuid
from collections import OrderedDict, deque
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.binding_guest import Guest, refused, sent, web_guest


@pytest.fixture
def guest() -> Iterator[Guest]:
    with web_guest() as made:
        yield made


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: int
    y: decimal.Decimal


class Array:
    def tolist(self) -> list[int]:
        return [1, 2]


class Table:
    columns = ("a",)

    def to_dict(self, orient: str) -> list[dict[str, int]]:
        assert orient == "records"
        return [{"a": 1}]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (datetime.datetime(2026, 1, 2, 3, 4, tzinfo=datetime.UTC), "2026-01-02T03:04:00+00:00"),
        (datetime.date(2026, 1, 2), "2026-01-02"),
        (datetime.time(3, 4), "03:04:00"),
        (datetime.timedelta(minutes=2), 120.0),
        (decimal.Decimal("5"), 5),
        (decimal.Decimal("1.10"), 1.1),
        (decimal.Decimal("1.2345678901234567890123"), "1.2345678901234567890123"),
        (decimal.Decimal("1e999999"), "1E+999999"),
        ((1, 2), [1, 2]),
        ({3, 1, 2}, [1, 2, 3]),
        (frozenset("b"), ["b"]),
        (range(3), [0, 1, 2]),
        ((i for i in (1, 2)), [1, 2]),
        ({"a": 1}.keys(), ["a"]),
        (OrderedDict(a=1), {"a": 1}),
        (deque([1]), [1]),
        (pathlib.PurePosixPath("/a/b"), "/a/b"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Colour.RED, "red"),
        (Point(1, decimal.Decimal("2.5")), {"x": 1, "y": 2.5}),
        (b"text", "text"),
        (bytearray("ü".encode()), "ü"),
        (Array(), [1, 2]),
        (Table(), [{"a": 1}]),
        ({"nested": [datetime.date(2026, 1, 2)]}, {"nested": ["2026-01-02"]}),
        ({1: "a", None: "b"}, {"1": "a", "null": "b"}),
        ("half \ud83d", "half \ud83d"),
        (10**30, 10**30),
    ],
)
def test_value_is_sent_in_its_json_form(guest: Guest, value: Any, expected: Any) -> None:
    assert sent(guest, "search(data=value)", value=value) == {"data": expected}


def test_bytes_for_a_base64_parameter_are_encoded(guest: Guest) -> None:
    assert sent(guest, "search(blob=value)", value=b"\x89PNG") == {"blob": "iVBORw=="}


def deep() -> Any:
    value: Any = []
    for _ in range(100_000):
        value = [value]
    return value


def circle() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (float("nan"), "argument `data`: holds NaN or Infinity, which is not JSON; send None or leave it out"),
        ([{"a": float("inf")}], "argument `data`: holds NaN or Infinity, which is not JSON; send None or leave it out"),
        (decimal.Decimal("NaN"), "argument `data`: NaN is no JSON number; send None or leave it out"),
        (object(), "argument `data`: a object cannot be sent as JSON"),
        (b"\xff", "argument `data`: these bytes are no UTF-8 text; send base64.b64encode(data).decode()"),
        (circle(), "argument `data`: holds itself"),
        ({(1, 2): 3}, "argument `data`: keys must be str, int, float, bool or None, not tuple"),
        (len, "argument `data`: a builtin_function_or_method cannot be sent as JSON"),
        (int, "argument `data`: a type cannot be sent as JSON"),
    ],
)
def test_value_without_a_json_form_is_refused_with_its_parameter(guest: Guest, value: Any, message: str) -> None:
    assert refused(guest, "search(query='a', data=value)", value=value) == message


def test_value_nested_too_deep_is_refused(guest: Guest) -> None:
    assert refused(guest, "search(data=value)", value=deep()) == "argument `data`: is nested too deep"
