"""The one rule for `{"result": x}`."""

from __future__ import annotations

from typing import Any

import pytest

from codemode.bindings.results import unwraps_result, value_schema

INT = {"type": "integer"}


@pytest.mark.parametrize(
    ("schema", "unwraps"),
    [
        (None, True),
        ({"type": "object", "properties": {"result": INT}, "required": ["result"]}, True),
        ({"type": "object", "properties": {"result": INT}, "x-fastmcp-wrap-result": True}, True),
        ({"type": "object"}, True),
        ({"type": "object", "properties": {"result": INT, "next": INT}}, False),
        ({"type": "object", "properties": {"total": INT}}, False),
        ({"type": "object", "properties": {}}, False),
        ({"anyOf": [{"properties": {"a": INT}}]}, False),
        ({"$defs": {"R": {"properties": {"result": INT}}}, "$ref": "#/$defs/R"}, True),
        ({"$defs": {"R": {"properties": {"a": INT}}}, "$ref": "#/$defs/R"}, False),
        ({"$ref": "#/$defs/none"}, False),
        ({"properties": 3}, True),
    ],
)
def test_result_is_unwrapped_unless_the_schema_says_otherwise(schema: Any, unwraps: bool) -> None:
    assert unwraps_result(schema) is unwraps


def test_value_schema_is_what_stands_under_result() -> None:
    assert value_schema({"type": "object", "properties": {"result": INT}}) == INT
    assert value_schema({"type": "object", "properties": {"total": INT}}) == {
        "type": "object",
        "properties": {"total": INT},
    }
    assert value_schema(None) is None
