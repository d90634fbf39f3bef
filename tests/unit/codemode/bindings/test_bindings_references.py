"""References inside one schema, and the union that `allOf` asks for."""

from __future__ import annotations

from codemode.bindings.references import Resolver, merged
from codemode.jsonvalue import Json


def test_chain_of_references_is_followed_to_its_end() -> None:
    resolver = Resolver({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"type": "integer"}}})

    assert resolver.follow({"$ref": "#/$defs/a"}) == {"type": "integer"}


def test_circle_of_references_has_no_end() -> None:
    resolver = Resolver({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}})

    assert resolver.follow({"$ref": "#/$defs/a"}) is None


def test_long_chain_is_given_up() -> None:
    chain: dict[str, Json] = {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(10_000)}

    assert Resolver({"$defs": chain}).follow({"$ref": "#/$defs/d0"}) is None


def test_name_of_a_reference_is_plain_ascii() -> None:
    resolver = Resolver({})

    assert resolver.name("#/$defs/My%20Type") == "My_Type"
    assert resolver.name("#/$defs/名") == "Type"
    assert resolver.name("#/$defs/1st") == "Type"
    assert resolver.name("#") == "Self"


def test_same_property_said_differently_in_two_parts_is_both() -> None:
    joined = merged([{"properties": {"a": {"type": "string"}}}, {"properties": {"a": {"minLength": 1}}}])

    assert joined == {"properties": {"a": {"allOf": [{"type": "string"}, {"minLength": 1}]}}}


def test_required_names_are_joined_without_doubles() -> None:
    many: list[Json] = [f"n{i}" for i in range(20_000)]

    joined = merged([{"required": many}, {"required": many}, {"required": ["x", {"no": "name"}]}])

    required = joined["required"]
    assert isinstance(required, list)
    assert len(required) == 20_001


def test_parts_that_are_no_schemas_are_passed_over() -> None:
    assert merged([True, None, {"type": "object"}, 3]) == {"type": "object"}
