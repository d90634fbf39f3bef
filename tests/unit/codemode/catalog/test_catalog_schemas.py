"""Listed schemas repaired, or refused with a reason."""

from typing import Any

import jsonschema_rs
import pytest

from codemode.catalog.schemas import SchemaError, repair_input, repair_schema


@pytest.mark.parametrize("listed", [None, True, [], {}])
def test_a_missing_schema_allows_any_object(listed: object) -> None:
    schema, notes = repair_input(listed)
    assert schema == {"type": "object"}
    assert len(notes) == 1


@pytest.mark.parametrize("listed", ["object", 5, False, {"type": "string"}, {"type": "array"}, {"type": "null"}])
def test_a_schema_of_something_else_than_an_object_is_refused(listed: object) -> None:
    with pytest.raises(SchemaError):
        repair_input(listed)


def test_a_root_union_gets_its_type_and_keeps_its_alternatives() -> None:
    schema, notes = repair_input({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]})
    assert schema == {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    assert notes == ("$: the type `object` was added",)


def of(listed: object) -> Any:
    """What becomes of one property."""
    schema, _ = repair_input({"type": "object", "properties": {"a": listed}})
    return schema["properties"]["a"]


@pytest.mark.parametrize(
    ("listed", "kept"),
    [
        ({"type": "int"}, {"type": "integer"}),
        ({"type": "Dict"}, {"type": "object"}),
        ({"type": ["string", "none"]}, {"type": ["string", "null"]}),
        ({"type": ["string", "string"]}, {"type": "string"}),
        ({"type": "any"}, {}),
        ({"type": 5}, {}),
        ("string", {}),
        (None, {}),
        (True, True),
        ({"enum": []}, {}),
        ({"enum": "a"}, {}),
        ({"enum": ["a", float("nan"), "\ud800"]}, {"enum": ["a"]}),
        ({"default": float("inf")}, {}),
        ({"default": {"k": [1, None]}}, {"default": {"k": [1, None]}}),
        ({"const": "\udc00"}, {}),
        ({"minimum": "0", "maximum": True, "multipleOf": 0}, {}),
        ({"minimum": 0, "exclusiveMinimum": True}, {"minimum": 0}),
        ({"minLength": -1, "maxLength": 2.0, "minItems": "3"}, {"maxLength": 2}),
        ({"pattern": "("}, {}),
        ({"pattern": "^a"}, {"pattern": "^a"}),
        ({"required": True}, {}),
        ({"required": ["x", 5, "x"]}, {"required": ["x"]}),
        ({"anyOf": []}, {}),
        ({"oneOf": {"type": "string"}}, {}),
        (
            {"items": [{"type": "string"}], "additionalItems": False},
            {"prefixItems": [{"type": "string"}], "items": False},
        ),
        ({"properties": []}, {"properties": {}}),
        ({"description": "a\u202eb\x07", "title": "t\nu"}, {"description": "ab", "title": "t u"}),
        ({"description": 5}, {}),
        ({"x-order": 3, "x-more": {"$ref": "http://far.test/"}}, {"x-order": 3}),
        ({"$comment": "c", "$id": "http://far.test/"}, {}),
        ({"patternProperties": {"(": {}, "^a": {}}}, {"patternProperties": {"^a": {}}}),
        ({"$dynamicRef": "#node"}, {}),
        ({"dependentRequired": {"a": ["b", 5]}}, {"dependentRequired": {"a": ["b"]}}),
    ],
)
def test_a_keyword_of_the_wrong_shape_is_repaired_or_dropped(listed: object, kept: object) -> None:
    assert of(listed) == kept


def test_keywords_are_ordinary_names_where_properties_stand() -> None:
    properties = {"$ref": {"type": "string"}, "type": {"type": "string"}, "properties": {"type": "integer"}, "": {}}
    schema, notes = repair_input({"type": "object", "properties": properties})
    assert schema["properties"] == properties
    assert notes == ()


def test_a_required_name_that_is_no_property_is_kept_and_noted() -> None:
    schema, notes = repair_input({"type": "object", "properties": {"a": {}}, "required": ["a", "b"]})
    assert schema["required"] == ["a", "b"]
    assert notes == ("$.required: `b` is no listed property",)


@pytest.mark.parametrize(
    "reference",
    [
        "http://far.test/x.json",
        "file:///etc/passwd",
        "other.json#/a",
        "#/$defs/nope",
        "#anchor",
        "#/%2e%2e/%00~0~1",
        5,
        ["#"],
        "//far.test/x",
        "",
    ],
)
def test_a_reference_elsewhere_or_to_nothing_is_refused_wherever_it_stands(reference: object) -> None:
    for schema in (
        {"properties": {"a": {"$ref": reference}}},
        {"$defs": {"unused": {"items": {"anyOf": [{"$ref": reference}]}}}},
        {"additionalProperties": {"not": {"$ref": reference}}},
    ):
        with pytest.raises(SchemaError):
            repair_input({"type": "object", **schema})


def test_a_remote_dynamic_reference_is_refused() -> None:
    with pytest.raises(SchemaError):
        repair_schema({"properties": {"a": {"$dynamicRef": "http://far.test/"}}})


def test_a_reference_through_the_schemas_own_id_is_local() -> None:
    definitions = {"A": {"type": "string"}}
    listed = {"$id": "http://own.test/s", "$defs": definitions, "items": {"$ref": "http://own.test/s#/$defs/A"}}
    schema, _ = repair_schema(listed)
    assert schema == {"$defs": definitions, "items": {"$ref": "#/$defs/A"}}


def test_a_reference_into_a_keyword_of_its_own_is_moved_to_the_definitions() -> None:
    schemas = {"A": {"type": "int", "items": {"$ref": "#/components/schemas/B"}}, "B": {"type": "string"}}
    listed = {"components": {"schemas": schemas}, "properties": {"a": {"$ref": "#/components/schemas/A"}}}
    schema, _ = repair_schema(listed)
    assert "components" not in schema
    validator = jsonschema_rs.validator_for(schema)
    assert validator.is_valid({"a": 5})
    assert not validator.is_valid({"a": "x"})
    with pytest.raises(SchemaError):
        repair_schema({**listed, "components": {"schemas": {"A": {"$ref": "http://far.test/"}}}})


TREE = {
    "type": "object",
    "$defs": {
        "N": {
            "type": "object",
            "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/N"}}, "peer": {"$ref": "#/$defs/M"}},
        },
        "M": {"anyOf": [{"$ref": "#/$defs/N"}, {"type": "null"}]},
        "Self": {"$ref": "#/$defs/Self"},
        "Ping": {"allOf": [{"$ref": "#/$defs/Pong"}]},
        "Pong": {"anyOf": [{"$ref": "#/$defs/Ping"}, {"type": "string"}]},
    },
    "properties": {
        "root": {"$ref": "#/$defs/N"},
        "loop": {"$ref": "#/$defs/Self"},
        "ping": {"$ref": "#/$defs/Ping"},
    },
}


def test_recursion_through_parts_stays_and_recursion_in_place_is_loosened() -> None:
    schema, notes = repair_input(TREE)
    definitions: Any = schema["$defs"]
    assert definitions["N"] == TREE["$defs"]["N"]
    assert definitions["Self"] == {}
    assert notes == ("$: a reference to itself was dropped; it said nothing about a value",)
    validator = jsonschema_rs.validator_for(dict(schema))
    assert validator.is_valid({"root": {"kids": [{"peer": None}]}, "loop": 5, "ping": "x"})
    assert not validator.is_valid({"root": {"kids": [{"kids": 5}]}})


def test_what_is_cut_does_not_depend_on_the_order_of_keys() -> None:
    def backwards(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: backwards(item) for key, item in reversed(value.items())}
        return [backwards(item) for item in value] if isinstance(value, list) else value

    assert repair_input(TREE)[0] == repair_input(backwards(TREE))[0]


def test_references_that_grow_without_bound_are_refused() -> None:
    definitions: dict[str, Any] = {"d0": {"type": "string"}}
    for number in range(1, 29):
        reference = {"$ref": f"#/$defs/d{number - 1}"}
        definitions[f"d{number}"] = {"properties": {"l": reference, "r": reference}}
    with pytest.raises(SchemaError, match="expand"):
        repair_input({"type": "object", "$defs": definitions, "properties": {"a": {"$ref": "#/$defs/d28"}}})


def test_a_chain_of_thousands_of_references_is_refused_without_exhausting_the_stack() -> None:
    definitions: dict[str, Any] = {f"d{n}": {"items": {"$ref": f"#/$defs/d{n + 1}"}} for n in range(3_000)}
    definitions["d3000"] = {}
    with pytest.raises(SchemaError, match="in a row"):
        repair_input({"type": "object", "$defs": definitions, "properties": {"a": {"$ref": "#/$defs/d0"}}})


@pytest.mark.parametrize("name", ["n" * 513, "half \ud83d"])
def test_a_property_name_that_cannot_be_sent_is_refused(name: str) -> None:
    with pytest.raises(SchemaError, match="property name"):
        repair_input({"type": "object", "properties": {name: {}}})


def test_a_known_dialect_stays_and_an_unknown_one_goes() -> None:
    seven = "http://json-schema.org/draft-07/schema#"
    assert repair_schema({"$schema": seven})[0] == {"$schema": seven}
    assert repair_schema({"$schema": "https://far.test/meta"})[0] == {}
    assert repair_schema({"$schema": seven, "items": [{}]})[0] == {"$schema": seven, "items": [{}]}


def test_a_dialect_that_is_no_string_is_dropped() -> None:
    schema, _ = repair_schema({"$schema": [], "items": [{}]})
    assert schema == {"prefixItems": [{}]}


def test_notes_are_bounded() -> None:
    _, notes = repair_input({"type": "object", "properties": {f"p{n}": {"type": "zzz"} for n in range(500)}})
    assert len(notes) == 20


def test_the_listed_schema_is_not_changed() -> None:
    listed = {"type": "object", "properties": {"a": {"type": "int"}, "b": {"$ref": "#/properties/b"}}}
    before = repr(listed)
    repair_input(listed)
    assert repr(listed) == before
