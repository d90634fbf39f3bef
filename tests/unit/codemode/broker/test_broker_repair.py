"""Lossless repairs of arguments, by one table; nothing is guessed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.schemas import TEXT, WHOLE, check, opened

MAIL = opened(
    {
        "ids": {"type": "array", "items": TEXT},
        "max": WHOLE,
        "ratio": {"type": "number"},
        "dry": {"type": "boolean"},
        "opts": {"type": "object"},
        "who": {"anyOf": [WHOLE, {"type": "null"}]},
        "note": TEXT,
    },
    "ids",
)


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"ids": '["a", "b"]'}, {"ids": ["a", "b"]}),
        ({"max": "5"}, {"max": 5}),
        ({"max": "-12"}, {"max": -12}),
        ({"max": 5.0}, {"max": 5}),
        ({"ratio": "5.5"}, {"ratio": 5.5}),
        ({"ratio": "0.10"}, {"ratio": 0.1}),
        ({"ratio": "7"}, {"ratio": 7}),
        ({"dry": "false"}, {"dry": False}),
        ({"dry": "True"}, {"dry": True}),
        ({"opts": "{}"}, {"opts": {}}),
        ({"who": "5"}, {"who": 5}),
        ({"note": 7}, {"note": "7"}),
        ({"ids": [1, 2]}, {"ids": ["1", "2"]}),
        ({"ids": list(range(40))}, {"ids": [str(i) for i in range(40)]}),
    ],
)
def test_value_of_the_wrong_type_that_can_only_mean_one_thing_is_repaired_and_noted(given: Any, sent: Any) -> None:
    checked = check(MAIL, {"ids": [], **given})

    assert checked.problems == ()
    assert checked.arguments == {"ids": [], **sent}
    assert checked.notes


@pytest.mark.parametrize(
    "given",
    [
        {"ids": "a"},
        {"ids": "[1"},
        {"ids": '{"a": 1}'},
        {"max": "5.5"},
        {"max": "05"},
        {"max": " 5"},
        {"max": "five"},
        {"max": 5.5},
        {"max": True},
        {"max": ""},
        {"max": "٥"},
        {"ratio": "123456.1234567890123"},
        {"ratio": "1e999"},
        {"ratio": "NaN"},
        {"dry": "yes"},
        {"dry": 0},
        {"dry": "FALSE"},
        {"opts": "[]"},
        {"note": 5.5},
        {"note": True},
        {"note": None},
        {"who": "null"},
    ],
)
def test_value_that_would_have_to_be_guessed_is_refused(given: Any) -> None:
    checked = check(MAIL, {"ids": [], **given})

    assert not checked.is_ok
    assert checked.arguments == {"ids": [], **given}
    assert checked.notes == ()


def test_repair_that_does_not_make_the_whole_call_fit_is_not_made() -> None:
    checked = check(opened({"max": {**WHOLE, "minimum": 10}, "a": WHOLE}), {"max": "5", "a": "x"})

    assert checked.arguments == {"max": "5", "a": "x"}
    assert len(checked.problems) == 2


def test_confused_call_is_refused_as_a_whole() -> None:
    schema = opened({"amount": {"type": "number", "maximum": 100}, "to": TEXT}, "amount", "to")

    assert not check(schema, {"amount": "50", "to": "AB1234", "extra": 1}).is_ok
    assert check(schema, {"amount": "50", "to": "AB1234"}).arguments == {"amount": 50, "to": "AB1234"}


def test_text_stays_text_where_text_is_allowed() -> None:
    schema = opened({"a": {"type": ["string", "integer"]}, "b": {"anyOf": [TEXT, {"type": "array"}]}})

    assert check(schema, {"a": "5", "b": "[1]"}).arguments == {"a": "5", "b": "[1]"}


def test_number_stays_a_float_where_floats_are_allowed() -> None:
    assert isinstance(check(opened({"a": {"type": "number"}}), {"a": 5.0}).arguments["a"], float)
