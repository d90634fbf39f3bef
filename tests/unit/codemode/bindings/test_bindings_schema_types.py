"""JSON Schema → type text: what a model reads for every kind of schema met, and bounds on hostile ones."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from codemode.bindings.schema_types import ANY, MAX_NODES, Literals, Scalar, Union, fits, read_type, takes_null
from codemode.bindings.type_text import annotation, display
from codemode.jsonvalue import Json


def text(schema: Any, max_chars: int = 400) -> str:
    return display(read_type(schema), max_chars)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, "str"),
        ({"type": "integer"}, "int"),
        ({"type": "number"}, "float"),
        ({"type": "boolean"}, "bool"),
        ({"type": "null"}, "None"),
        ({"type": ["string", "null"]}, "str | None"),
        ({"type": "string", "nullable": True}, "str | None"),
        ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, "int | None"),
        ({"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}, "str | list[str]"),
        ({"type": "array"}, "list"),
        ({"type": "array", "items": {}}, "list"),
        ({"items": {"type": "integer"}}, "list[int]"),
        ({"type": "object"}, "dict"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "dict[str, int]"),
        ({"patternProperties": {"^a": {"type": "integer"}, "^b": {"type": "string"}}}, "dict[str, int | str]"),
        ({"type": "object", "additionalProperties": True}, "dict"),
        ({}, "Any"),
        (True, "Any"),
        (False, "Never"),
        (None, "Any"),
        ("string", "Any"),
        ([{"type": "string"}], "Any"),
        ({"type": "file"}, "Any"),
        ({"type": [{}, "string"]}, "Any"),
        ({"type": "string", "format": "date-time"}, "str"),
    ],
)
def test_plain_schema_reads_as_python_type(schema: Json, expected: str) -> None:
    assert text(schema) == expected


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"enum": ["open", "closed"]}, "Literal['open','closed']"),
        ({"enum": ["a", None]}, "Literal['a'] | None"),
        ({"enum": [1, True, "1"]}, "Literal[1,True,'1']"),
        ({"const": "x"}, "Literal['x']"),
        ({"const": None}, "None"),
        ({"const": {"a": 1}}, "dict"),
        ({"enum": []}, "Any"),
        ({"enum": ["it's", 'a"b']}, "Literal[\"it's\",'a\"b']"),
        ({"anyOf": [{"const": "a"}, {"const": "b"}, {"type": "null"}]}, "Literal['a','b'] | None"),
        ({"enum": [f"v{i}" for i in range(20)]}, "Literal['v0','v1','v2','v3','v4','v5','v6','v7',...]"),
        ({"enum": ["x" * 500, "y"]}, "Literal['y',...]"),
    ],
)
def test_choice_shows_its_first_values_and_never_half_of_one(schema: Json, expected: str) -> None:
    assert text(schema) == expected


def test_object_marks_what_may_be_absent_only_when_the_schema_says_what_is_required() -> None:
    properties = {"number": {"type": "integer"}, "title": {"type": "string"}}

    assert text({"type": "object", "properties": properties}) == "{number: int, title: str}"
    assert text({"properties": properties, "required": ["number"]}) == "{number: int, title?: str}"


def test_open_object_says_that_there_is_more() -> None:
    schema = {"properties": {"a": {"type": "integer"}}, "additionalProperties": True}

    assert text(schema) == "{a: int, ...}"


def test_key_that_is_no_plain_name_is_quoted() -> None:
    schema: Json = {"properties": {"a-b": {}, "名": {}, "x\u202ey": {}, "k" * 100: {}}}

    assert text(schema) == f"{{'a-b': Any, '名': Any, 'x\\u202ey': Any, '{'k' * 39}…': Any}}"


def test_reference_is_read_where_it_points() -> None:
    schema = {
        "$defs": {"a/b": {"type": "object", "properties": {"n": {"$ref": "#/definitions/N"}}}},
        "definitions": {"N": {"type": "integer"}},
        "type": "array",
        "items": {"$ref": "#/$defs/a~1b"},
    }

    assert text(schema) == "list[{n: int}]"


@pytest.mark.parametrize("reference", ["#/$defs/none", "http://127.0.0.1/x", "file:///etc/passwd", "other.json", "#a"])
def test_reference_that_leads_nowhere_is_anything(reference: str) -> None:
    assert text({"$ref": reference}) == "Any"


def test_recursive_type_is_named_once() -> None:
    node = {"type": "object", "properties": {"v": {"type": "integer"}, "kids": {"items": {"$ref": "#/$defs/Node"}}}}
    schema = {"$defs": {"Node": node}, "$ref": "#/$defs/Node"}

    assert text(schema) == "Node{v: int, kids: list[Node]}"


def test_recursive_choice_is_named_once() -> None:
    schema = {"$defs": {"J": {"oneOf": [{"type": "string"}, {"items": {"$ref": "#/$defs/J"}}]}}, "$ref": "#/$defs/J"}

    assert text(schema) == "J(str | list[J])"


def test_reference_to_itself_is_anything() -> None:
    assert text({"$defs": {"Self": {"$ref": "#/$defs/Self"}}, "$ref": "#/$defs/Self"}) == "Any"


def test_mutual_references_end() -> None:
    schema = {
        "$defs": {
            "N": {"type": "object", "properties": {"peer": {"$ref": "#/$defs/M"}}},
            "M": {"anyOf": [{"$ref": "#/$defs/N"}, {"type": "null"}]},
        },
        "$ref": "#/$defs/N",
    }

    assert text(schema) == "N{peer: N | None}"


def test_all_of_joins_properties_and_required_names() -> None:
    schema = {
        "$defs": {"Base": {"properties": {"id": {"type": "integer"}}, "required": ["id"]}},
        "allOf": [{"$ref": "#/$defs/Base"}, {"properties": {"name": {"type": "string"}}}],
    }

    assert text(schema) == "{id: int, name?: str}"


def test_choice_that_only_adds_conditions_leaves_the_base_type() -> None:
    schema = {"type": "string", "anyOf": [{"pattern": "^a"}, {"minLength": 3}]}

    assert text(schema) == "str"


def test_choice_beside_properties_keeps_them_in_every_branch() -> None:
    schema = {
        "type": "object",
        "properties": {"kind": {"type": "string"}},
        "anyOf": [{"properties": {"a": {"type": "integer"}}}, {"properties": {"b": {"type": "integer"}}}],
    }

    assert text(schema) == "{kind: str, a: int} | {kind: str, b: int}"


@pytest.mark.parametrize(
    "schema",
    [
        {"prefixItems": [{"type": "integer"}, {"type": "string"}]},
        {"items": [{"type": "integer"}, {"type": "string"}]},
        {"prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False},
    ],
)
def test_tuple_shows_its_types_by_position(schema: Json) -> None:
    assert text(schema) in ("[int, str]", "[int, str, ...]")


def test_type_gets_shorter_until_it_fits() -> None:
    inner = {f"field_{i}": {"type": "object", "properties": {"a": {"type": "string"}}} for i in range(10)}
    schema = {"type": "array", "items": {"type": "object", "properties": inner}}

    sizes = [len(text(schema, room)) for room in (1_000, 200, 100, 40, 4)]

    assert sizes == sorted(sizes, reverse=True)
    assert all(size <= room for size, room in zip(sizes, (1_000, 200, 100, 40, 4), strict=True))
    assert text(schema, 4) == "list"


def test_required_keys_are_the_last_to_be_left_out() -> None:
    properties = {f"k{i}": {"type": "string"} for i in range(40)}

    assert "k39: str" in text({"properties": properties, "required": ["k39"]}, 120)


def test_deep_schema_is_bounded() -> None:
    schema: Json = {"type": "string"}
    for _ in range(2_000):
        schema = {"type": "object", "properties": {"a": schema}}

    assert len(text(schema, 200)) <= 200


def test_references_that_double_at_each_step_are_bounded() -> None:
    definitions: dict[str, Any] = {"d0": {"type": "string"}}
    for i in range(1, 60):
        below = {"$ref": f"#/$defs/d{i - 1}"}
        definitions[f"d{i}"] = {"type": "object", "properties": {"l": below, "r": below}}

    assert len(text({"$defs": definitions, "$ref": "#/$defs/d59"}, 300)) <= 300


def test_all_of_that_contains_itself_ends() -> None:
    part = {"allOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]}

    assert text({"$defs": {"A": part, "B": part}, "$ref": "#/$defs/A"}) == "Any"


def test_wide_schema_is_bounded() -> None:
    schema = {"anyOf": [{"properties": {f"k{i}": {"enum": list(range(1_000))}}} for i in range(5 * MAX_NODES)]}

    assert len(text(schema, 300)) <= 300


def test_huge_number_in_a_choice_is_left_out() -> None:
    assert text({"enum": [10**4_000, 1]}) == "Literal[1,...]"


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"enum": ["a", "b"]}, "Literal['a', 'b']"),
        ({"enum": ["名", "x\ny"]}, "Literal['\\u540d', 'x\\ny']"),
        ({"enum": [f"v{i}" for i in range(9)]}, "str"),
        ({"enum": [-1, 2]}, "int"),
        ({"enum": [1.5, "a"]}, "float | str"),
        ({"properties": {"a": {}}}, "dict[str, Any]"),
        ({"type": "object"}, "dict[str, Any]"),
        ({"items": {"properties": {"a": {}}}}, "list[dict[str, Any]]"),
        ({"additionalProperties": {"type": "integer"}}, "dict[str, int]"),
        ({"type": ["string", "null"]}, "str | None"),
        ({"anyOf": [{"type": "string"}, {}]}, "Any"),
        (False, "Any"),
    ],
)
def test_annotation_is_valid_python_in_ascii(schema: Json, expected: str) -> None:
    found = annotation(read_type(schema))

    assert found == expected
    assert found.isascii()
    ast.parse(found, mode="eval")


def test_null_is_taken_where_the_schema_lets_it() -> None:
    assert takes_null(read_type({"type": ["string", "null"]}))
    assert takes_null(ANY)
    assert not takes_null(read_type({"type": "string", "default": None}))


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"type": "integer"}, 5, True),
        ({"type": "integer"}, "5", False),
        ({"type": "integer"}, True, False),
        ({"type": "number"}, 5, True),
        ({"type": "integer"}, 5.0, True),
        ({"type": "boolean"}, False, True),
        ({"enum": ["a"]}, "b", False),
        ({"enum": [1]}, True, False),
        ({"type": ["string", "null"]}, None, True),
        ({}, "anything", True),
        ({"type": "object"}, "x", False),
    ],
)
def test_default_is_judged_by_type(schema: Json, value: Json, expected: bool) -> None:
    assert fits(read_type(schema), value) is expected


def test_true_and_one_are_different_literals() -> None:
    assert read_type({"anyOf": [{"const": 1}, {"const": True}]}) == Literals((1, True))
    assert read_type({"type": ["integer", "integer"]}) == Scalar("int")
    assert isinstance(read_type({"type": ["integer", "string"]}), Union)
