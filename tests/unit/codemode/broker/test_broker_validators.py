"""Hostile schemas and values: nothing fetched, bounded work, what cannot be used is dropped alone."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from codemode.broker.arguments import ArgumentChecker
from tests.support.schemas import TEXT, WHOLE, check, closed, opened, texts, unrepaired


@pytest.fixture
def contacts() -> Any:
    """Counts connections to a local port."""
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(0.2)
    yield server
    server.close()


def test_reference_is_never_fetched(contacts: Any, tmp_path: Path) -> None:
    port = contacts.getsockname()[1]
    secret = tmp_path / "schema.json"
    secret.write_text('{"type": "integer"}')
    for reference in (f"http://127.0.0.1:{port}/x", secret.as_uri(), str(secret), f"//127.0.0.1:{port}/x"):
        for schema in ({"properties": {"a": {"$ref": reference}}}, {"$schema": reference, "$ref": reference}):
            checked = ArgumentChecker().check_now(unrepaired(schema), {"a": "x"})
            assert [one.kind for one in checked.problems] in (["schema"], [])

    with pytest.raises(TimeoutError):
        contacts.accept()


def test_dead_reference_refuses_the_call() -> None:
    checked = ArgumentChecker().check_now(unrepaired({"properties": {"a": {"$ref": "#/$defs/none"}}}), {"a": 1})

    assert [one.text for one in checked.problems] == [
        "this tool cannot be called: a reference of its schema leads nowhere"
    ]


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(([a-z])+.)+[A-Z]([a-z])+$", "^(.*)*x", "^(a|aa)+$"])
def test_pattern_that_backtracks_elsewhere_is_linear_here(pattern: str) -> None:
    checked = check(opened({"a": {**TEXT, "pattern": pattern}}), {"a": "a" * 50_000 + "!"})

    assert len(checked.problems) == 1


@pytest.mark.parametrize(
    "bad",
    [
        {"pattern": "("},
        {"pattern": "(?=x)"},
        {"pattern": "(x{1000}){1000}"},
        {"pattern": 5},
        {"type": "int"},
        {"type": []},
        {"type": 5},
        {"patternProperties": {"(": {}}},
    ],
)
def test_keyword_that_cannot_be_used_is_dropped_and_the_rest_still_checked(bad: Any) -> None:
    schema = {"properties": {"a": bad, "b": WHOLE}, "required": ["b"], "$schema": "http://example.org/unknown"}
    tool = unrepaired(schema)

    assert ArgumentChecker().check_now(tool, {"a": "x", "b": 1}).is_ok
    assert [one.text for one in ArgumentChecker().check_now(tool, {"a": "x"}).problems] == [
        "required `b` (int) is missing"
    ]


@pytest.mark.parametrize(
    "schema", [{"properties": 5, "required": "ab"}, {"required": [1, {}]}, {"enum": 3}, {"$id": 5}, {"anyOf": {}}]
)
def test_schema_of_no_sense_never_raises(schema: Any) -> None:
    ArgumentChecker().check_now(unrepaired(schema), {"a": 1})


def test_schema_nested_too_deep_is_checked_by_its_names() -> None:
    deep: Any = TEXT
    for _ in range(600):
        deep = {"type": "object", "properties": {"a": deep}}
    tool = unrepaired({"properties": {"x": deep}, "required": ["x"], "additionalProperties": False})

    assert ArgumentChecker().check_now(tool, {"x": {}}).is_ok
    assert not ArgumentChecker().check_now(tool, {"y": 1}).is_ok


def test_choices_that_multiply_with_depth_are_explained_in_bounded_work() -> None:
    branch = {"type": "object", "properties": {"c": {"$ref": "#/$defs/A"}}, "required": ["c"]}
    schema = {**opened({"a": {"$ref": "#/$defs/A"}}), "$defs": {"A": {"anyOf": [branch, {**branch, "title": "x"}]}}}
    value: Any = 1
    for _ in range(60):
        value = {"c": value}

    assert len(texts(schema, {"a": value})) == 1


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#", "type": "string"},
        {"allOf": [{"$ref": "#"}, {"type": "string"}]},
        {"anyOf": [{"$ref": "#"}, {"type": "string"}]},
        {"$defs": {"A": {"$ref": "#/$defs/B", "type": "string"}, "B": {"$ref": "#/$defs/A"}}, "$ref": "#/$defs/A"},
    ],
)
def test_schema_that_refers_to_itself_in_place_ends(schema: Any) -> None:
    for arguments in ({"a": 1}, {}):
        assert len(ArgumentChecker().check_now(unrepaired(schema), arguments).problems) <= 1


def test_many_wrong_items_of_a_wide_choice_are_explained_in_bounded_work() -> None:
    branches = [opened({f"k{i}": WHOLE}, f"k{i}") for i in range(50)]
    schema = opened({"a": {"type": "array", "items": {"anyOf": branches}}})

    assert len(texts(schema, {"a": [{"x": 1}] * 20_000})) == 8


def test_half_of_a_surrogate_pair_is_refused_with_its_place() -> None:
    assert texts(opened({"a": {"type": "array"}}), {"a": ["ok", {"k": "half \ud83d"}]}) == [
        "`$.a[1].k`: holds half of a surrogate pair, which cannot be sent"
    ]


def test_similar_names_of_a_hostile_length_cost_bounded_work() -> None:
    names = {f"{'ab' * 250}{i:05}": TEXT for i in range(800)}

    assert texts(closed(names), {"ab" * 250: 1})[0].startswith("no parameter `abab")
