"""Calls judged before they run, by their literal arguments: only what is certain is a problem."""

from __future__ import annotations

from typing import Any

from codemode.broker.arguments import ArgumentChecker
from codemode.catalog.spec import Tool
from tests.support.schemas import TEXT, WHOLE, closed, opened, tool_of

UNKNOWN = object()
TICKET = tool_of(opened({"title": TEXT, "priority": {"enum": ["low", "high"]}, "count": WHOLE}, "title", "priority"))


def literals(*positional: Any, is_open: bool = False, tool: Tool = TICKET, **keywords: Any) -> list[str]:
    checker = ArgumentChecker()
    found = checker.check_literals(tool, positional=positional, keywords=keywords, is_open=is_open, unknown=UNKNOWN)
    return [one.text for one in found]


def test_call_that_may_turn_out_right_has_no_problem_before_it_runs() -> None:
    assert literals(title=UNKNOWN, priority=UNKNOWN) == []
    assert literals(is_open=True) == []
    assert literals(UNKNOWN) == []
    assert literals(UNKNOWN, UNKNOWN) == []
    assert literals(title="a", priority=UNKNOWN, stat=UNKNOWN) == []
    assert literals(title="a", priority="low", count=None) == []
    assert literals(title="a", priority="low", count="5") == []
    assert literals({"title": "a", "priority": "low"}) == []


def test_call_that_cannot_turn_out_right_is_told_before_it_runs() -> None:
    assert literals(title=UNKNOWN) == ["required `priority` (Literal['low','high']) is missing"]
    assert literals(title=UNKNOWN, priority="hi") == [
        "`$.priority`: expected one of 'low', 'high', got \"hi\" (string); did you mean 'high'?"
    ]
    assert literals("a", "low", 1, 2) == ["at most 3 arguments by position, 4 are given"]
    assert literals("a", title="b") == ["`title` is given twice"]
    assert literals(name="x")[0] == "no parameter `name`; did you mean `title`?"
    assert literals({"title": "a"}) == ["required `priority` (Literal['low','high']) is missing"]


def test_closed_schema_refuses_an_unknown_name_before_it_runs() -> None:
    tool = tool_of(closed({"a": TEXT}))

    assert literals(tool=tool, b="x") == ["no parameter `b`; there are `a`"]
    assert literals(tool=tool, b=UNKNOWN) == ["no parameter `b`; there are `a`"]


def test_condition_on_an_argument_that_is_not_known_yet_is_left_open() -> None:
    schema = {
        **opened({"mode": TEXT, "path": TEXT, "n": WHOLE}),
        "if": {"properties": {"mode": {"const": "file"}}},
        "then": {"required": ["path"]},
    }

    assert literals(tool=tool_of(schema), mode=UNKNOWN, n=1) == []
    assert literals(tool=tool_of(schema), mode="file", n=1) == ["required `path` (Any) is missing"]


def test_literal_that_holds_an_unknown_part_is_unknown() -> None:
    assert literals(title=[UNKNOWN], priority="low") == []
    assert literals(title={"a": (1, UNKNOWN)}, priority="low") == []
    assert literals(title={1, 2}, priority=b"x") == []
    assert literals(title=(1, 2), priority="low") == ["`$.title`: expected str, got [1,2] (array)"]
    assert literals(title=float("nan"), priority="low") == []
