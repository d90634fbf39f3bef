"""Arguments against schemas: every problem at once, nothing legal refused."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from codemode.broker.arguments import ArgumentChecker, describe
from codemode.broker.validators import SchemaCache, SchemaError, compile_schema
from tests.support.schemas import TEXT, WHOLE, check, closed, opened, texts, tool_of


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        (WHOLE, "x", '`$.a`: expected int, got "x" (string)'),
        (WHOLE, 5.5, "`$.a`: expected int, got 5.5 (number)"),
        (WHOLE, True, "`$.a`: expected int, got true"),
        (WHOLE, None, "`$.a`: expected int, got null"),
        (TEXT, [1], "`$.a`: expected str, got [1] (array)"),
        ({"type": ["string", "null"]}, 5.5, "`$.a`: expected str | None, got 5.5 (number)"),
        ({"anyOf": [WHOLE, {"type": "null"}]}, "x", '`$.a`: expected int | None, got "x" (string)'),
        ({"type": "array", "items": WHOLE}, "x", '`$.a`: expected list[int], got "x" (string)'),
        (
            {"enum": ["open", "closed"]},
            "OPEN",
            "`$.a`: expected one of 'open', 'closed', got \"OPEN\" (string); did you mean 'open'?",
        ),
        ({"const": "b"}, 5.5, "`$.a`: expected one of 'b', got 5.5 (number)"),
        ({"type": "number", "exclusiveMinimum": 0}, -5, "`$.a`: expected a number above 0, got -5 (integer)"),
        ({"type": "number", "maximum": 100}, 101, "`$.a`: expected a number up to 100, got 101 (integer)"),
        (
            {**TEXT, "pattern": "^[A-Z]{2}$"},
            "x'; --",
            '`$.a`: expected text that matches ^[A-Z]{2}$, got "x\'; --" (string)',
        ),
        (
            {**TEXT, "minLength": 3},
            "ab",
            '`$.a`: expected text with at least this many characters: 3, got "ab" (string)',
        ),
        ({"type": "array", "maxItems": 1}, [1, 2], "`$.a`: expected at most this many items: 1, got [1,2] (array)"),
        ({"type": "array", "uniqueItems": True}, [1, 1], "`$.a`: expected no item twice, got [1,1] (array)"),
        ({"not": TEXT}, "x", '`$.a`: expected Any, got "x" (string)'),
        (False, "x", '`$.a`: nothing is allowed here, got "x" (string)'),
    ],
)
def test_problem_says_where_what_was_expected_and_what_came(schema: Any, value: Any, expected: str) -> None:
    assert texts(opened({"a": schema}), {"a": value}) == [expected]


def test_problem_names_the_place_inside_a_value() -> None:
    item = opened({"price": {"type": "number"}, "x-y": WHOLE}, "price")
    schema = opened({"items": {"type": "array", "items": item}})

    assert texts(schema, {"items": [{"price": 1}, {}, {"price": "dear", "x-y": 1.5}]}) == [
        "required `price` (float) is missing in `$.items[1]`",
        '`$.items[2].price`: expected float, got "dear" (string)',
        "`$.items[2]['x-y']`: expected int, got 1.5 (number)",
    ]


def test_all_problems_come_at_once_and_are_bounded() -> None:
    schema = closed({f"p{i}": WHOLE for i in range(40)}, *(f"p{i}" for i in range(40)))

    assert texts(closed({"a": WHOLE, "title": TEXT}, "a", "title"), {"a": "x", "titl": 1}) == [
        "no parameter `titl`; did you mean `title`?",
        "required `title` (str) is missing",
        '`$.a`: expected int, got "x" (string)',
    ]
    assert len(texts(schema, {})) == 8


def test_text_of_a_problem_is_one_bounded_line() -> None:
    long = "x\n" * 1_000_000
    schema = closed({"a": {"enum": [f"{i}{'y' * 200}\n" for i in range(900)]}, "b\nc" * 100: WHOLE})

    for problem in check(schema, {"a": long, "b\nc" * 100: long, "d\ne" * 10_000: 1}).problems:
        assert "\n" not in problem.text
        assert len(problem.text) < 700


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("titles", "no parameter `titles`; did you mean `title`?"),
        ("Title", "no parameter `Title`; did you mean `title`?"),
        ("issue_title", "no parameter `issue_title`; did you mean `title`?"),
        ("name", "no parameter `name`; did you mean `title`?"),
        ("zzz", "no parameter `zzz`; did you mean `title`?"),
    ],
)
def test_unknown_name_is_told_with_what_was_probably_meant(given: str, expected: str) -> None:
    properties = {"title": TEXT, "priority": {"enum": ["low", "high"]}, "labels": {"type": "array"}}

    assert texts(closed(properties, "title", "priority"), {given: "printer on fire"})[0] == expected


def test_unknown_name_like_nothing_lists_what_there_is() -> None:
    assert texts(closed({"a": TEXT, "b": TEXT}), {"zzz": 5}) == ["no parameter `zzz`; there are `a`, `b`"]


def test_names_are_those_that_a_program_writes() -> None:
    assert texts(closed({"from": TEXT, "to-date": TEXT}, "from"), {"to_dat": "x"}) == [
        "no parameter `to_dat`; did you mean `to_date`?",
        "required `from_` (str) is missing",
    ]


def test_choice_between_parameters_is_told_as_one() -> None:
    branches = [opened({name: TEXT}, name) for name in ("content", "source_url", "file_id")]
    schema = {"type": "object", "anyOf": branches}

    assert texts(schema, {}) == ["`$`: give one of these: `content` | `source_url` | `file_id`; got {} (object)"]
    assert texts(schema, {"content": "x"}) == []


def test_choice_with_a_discriminator_is_followed_into_the_branch_that_is_meant() -> None:
    line = opened({"kind": {"const": "line"}, "length": WHOLE}, "kind", "length")
    disc = opened({"kind": {"const": "disc"}, "radius": WHOLE}, "kind", "radius")

    assert texts(opened({"shape": {"oneOf": [line, disc]}}), {"shape": {"kind": "disc", "radius": "x"}}) == [
        '`$.shape.radius`: expected int, got "x" (string)'
    ]


def test_more_than_one_fitting_choice_of_exactly_one_is_told() -> None:
    assert texts(opened({"a": {"oneOf": [WHOLE, {"type": "number"}]}}), {"a": 5}) == [
        "`$.a`: fits 2 of the choices, only one may fit"
    ]


def test_condition_is_followed() -> None:
    schema = {
        **opened({"mode": TEXT, "path": TEXT}),
        "if": {"properties": {"mode": {"const": "file"}}, "required": ["mode"]},
        "then": {"required": ["path"]},
    }

    assert texts(schema, {"mode": "file"}) == ["required `path` (Any) is missing"]
    assert texts(schema, {"mode": "text"}) == []


def test_problem_is_found_through_references() -> None:
    node = opened({"v": WHOLE, "kids": {"type": "array", "items": {"$ref": "#/$defs/a node"}}})
    schema = {**opened({"root": {"$ref": "#/$defs/a%20node"}}), "$defs": {"a node": node}}

    assert texts(schema, {"root": {"v": 1, "kids": [{"v": 2, "kids": [{"v": "x"}]}]}}) == [
        '`$.root.kids[0].kids[0].v`: expected int, got "x" (string)'
    ]


# -- what is legal is never refused -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        (opened({}), {}),
        (opened({}), {"anything": 1}),
        (opened({"a": TEXT}), {"b": 1}),
        (opened({"name": TEXT}), {"names": "x"}),
        ({**opened({"a": TEXT}), "additionalProperties": TEXT}, {"b": "x"}),
        (opened({"a": {**TEXT, "format": "date-time"}}), {"a": "tomorrow"}),
        (opened({"a": WHOLE}), {"a": 10**400}),
        (opened({"a": {"type": "number"}}), {"a": 1e308}),
        (opened({"a": {}}), {"a": None}),
        (opened({"a": {**TEXT, "pattern": "(?=x)a"}}), {"a": "b"}),
        (opened({"a": {"$ref": "#/$defs/D"}, "": TEXT}), {"": "x"}),
    ],
)
def test_call_that_fits_the_schema_is_sent_as_it_is(schema: Any, arguments: Any) -> None:
    checked = ArgumentChecker().check_now(tool_of({**schema, "$defs": {"D": {}}}), arguments)

    assert checked.is_ok
    assert checked.arguments == arguments


def test_unknown_name_that_the_schema_lets_through_is_noted_when_it_looks_like_a_slip() -> None:
    checked = check(opened({"state": TEXT}), {"stat": "open", "other_thing": 1})

    assert checked.is_ok
    assert checked.notes == ("no parameter `stat`; did you mean `state`? It was sent as it is",)


def test_unknown_name_is_told_beside_another_problem() -> None:
    properties = {"title": TEXT, "priority": {"enum": ["low", "high"]}}

    assert texts(opened(properties, "title", "priority"), {"name": "printer on fire"}) == [
        "no parameter `name`; did you mean `title`?",
        "required `title` (str) is missing",
        "required `priority` (Literal['low','high']) is missing",
    ]


# -- results ----------------------------------------------------------------------------------------------------------

TOTAL = {"type": "object", "properties": {"total": {"type": "number"}}, "required": ["total"]}


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b'{"total": 5}', ""),
        (b'{"total": "x"}', 'it does not fit the tool\'s outputSchema: `$.total`: expected float, got "x" (string)'),
        (b"{}", "it does not fit the tool's outputSchema: required `total` (float) is missing"),
        (b"{", "it cannot be read as JSON"),
        (b'{"total": ' + b"[" * 5_000 + b"]" * 5_000 + b"}", "it cannot be read as JSON"),
    ],
)
def test_result_that_does_not_fit_its_schema_is_told_in_one_line(raw: bytes, message: str) -> None:
    assert ArgumentChecker().check_output(tool_of({}, TOTAL), raw) == message


def test_result_without_a_schema_or_too_large_is_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codemode.broker.arguments.MAX_OUTPUT_BYTES", 10)

    assert ArgumentChecker().check_output(tool_of({}), b"{") == ""
    assert ArgumentChecker().check_output(tool_of({}, TOTAL), b'{"total": "x"}') == ""


# -- the checker ------------------------------------------------------------------------------------------------------

TICKET = tool_of(opened({"title": TEXT, "priority": {"enum": ["low", "high"]}, "count": WHOLE}, "title", "priority"))


@pytest.mark.anyio
async def test_schema_met_for_the_first_time_is_compiled_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[int] = []

    def noted(schema: Any) -> Any:
        threads.append(threading.get_ident())
        return compile_schema(schema)

    monkeypatch.setattr("codemode.broker.validators.compile_schema", noted)
    checker = ArgumentChecker()

    for _ in range(3):
        assert (await checker.check(TICKET, {"title": "a", "priority": "low"})).is_ok

    assert len(threads) == 1
    assert threads[0] != threading.get_ident()


def test_changed_definition_is_compiled_anew() -> None:
    checker = ArgumentChecker()
    before, after = tool_of(opened({"a": WHOLE})), tool_of(opened({"a": {**WHOLE, "maximum": 3}}))

    assert checker.check_now(before, {"a": 5}).is_ok
    assert not checker.check_now(after, {"a": 5}).is_ok


def test_cache_forgets_the_least_recently_used() -> None:
    cache = SchemaCache(size=2)
    for key in ("a", "b", "a", "c"):
        cache.get(key, {})

    assert [key in cache for key in "abc"] == [True, False, True]


def test_schema_that_cannot_be_used_is_told_each_time() -> None:
    cache = SchemaCache()
    for _ in range(2):
        with pytest.raises(SchemaError, match="leads nowhere"):
            cache.get("a", {"$ref": "#/none"})


def test_problems_are_described_in_one_line() -> None:
    checked = ArgumentChecker().check_now(TICKET, {})

    assert describe(TICKET, checked.problems) == (
        "tools.mail.f: required `title` (str) is missing; required `priority` (Literal['low','high']) is missing"
    )
