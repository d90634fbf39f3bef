"""Any JSON at all is a schema that can be read, shown, bound and checked: nothing raises, everything is bounded."""

from __future__ import annotations

import ast
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from codemode.bindings.function import Binding, bind
from codemode.bindings.references import Resolver
from codemode.bindings.schema_types import fits, read_type, takes_null, takes_object
from codemode.bindings.signature import MAX_CHARS, signature
from codemode.bindings.type_text import ANNOTATION_NAMES, annotation, display
from codemode.broker.arguments import ArgumentChecker
from codemode.catalog.spec import Tool, ToolSpec

WORDS = ["a", "b", "result", "#", "#/$defs/a", "#/properties/a", "string", "object", "array", "null", "\ud83d"]
TEXTS = st.one_of(st.text(max_size=12), st.sampled_from(WORDS))
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=20,
)
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "null", "object", "array", "file", ""])


def keywords(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Schemas of every keyword that is read, with right and wrong values."""
    named = st.dictionaries(TEXTS, inner, max_size=4)
    listed = st.lists(inner, max_size=4)
    right: dict[str, st.SearchStrategy[Any]] = {
        "type": st.one_of(TYPES, st.lists(TYPES, max_size=3)),
        "enum": st.lists(SCALARS, max_size=12),
        "const": JSON,
        "default": JSON,
        "properties": named,
        "patternProperties": named,
        "additionalProperties": inner,
        "required": st.lists(TEXTS, max_size=4),
        "items": st.one_of(inner, listed),
        "prefixItems": listed,
        "anyOf": listed,
        "oneOf": listed,
        "allOf": listed,
        "$ref": st.sampled_from(["#", "#/$defs/a", "#/$defs/b", "#/properties/a", "#/none", "http://127.0.0.1/x", "a"]),
        "$defs": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
        "nullable": st.booleans(),
        "format": TEXTS,
        "pattern": TEXTS,
        "description": TEXTS,
        "minLength": st.integers(0, 3),
    }
    optional = {name: st.one_of(value, JSON) if name != "$ref" else value for name, value in right.items()}
    return st.one_of(st.booleans(), st.fixed_dictionaries({}, optional=optional))


SCHEMAS = st.recursive(st.one_of(st.just({}), JSON), keywords, max_leaves=12)
BOUNDED = settings(max_examples=100, deadline=None)  # no test here is about time
NAMED = {"properties": st.dictionaries(TEXTS, SCHEMAS, max_size=4)}
OBJECTS = st.one_of(
    st.fixed_dictionaries({"type": st.just("object")}, optional=NAMED),
    SCHEMAS.filter(lambda value: isinstance(value, dict)),
)


def tool_of(schema: Any, output: Any = None, description: str = "") -> Tool:
    spec = ToolSpec(
        server="s",
        name="f",
        description=description,
        input_schema=schema,
        output_schema=output,
        semantic_digest="0" * 64,
        cosmetic_digest="0" * 64,
    )
    return Tool(spec=spec, module="s", function="f", effect="write", effect_source="default")


@given(SCHEMAS, st.integers(4, 300))
@BOUNDED
def test_any_json_is_shown_within_its_room(schema: Any, room: int) -> None:
    kind = read_type(schema)

    text = display(kind, room)

    assert len(text) <= max(room, 60)
    assert "\n" not in text
    takes_null(kind), takes_object(kind), fits(kind, schema)


@given(SCHEMAS)
@BOUNDED
def test_any_json_gives_an_annotation_of_plain_names(schema: Any) -> None:
    tree = ast.parse(annotation(read_type(schema)), mode="eval")

    for node in ast.walk(tree):
        assert not isinstance(node, (ast.Call, ast.Attribute, ast.Lambda, ast.JoinedStr, ast.NamedExpr))
        assert not isinstance(node, ast.Name) or node.id in ANNOTATION_NAMES


@given(SCHEMAS, st.text(max_size=80))
@BOUNDED
def test_any_reference_ends(document: Any, reference: str) -> None:
    resolver = Resolver(document)

    resolver.follow({"$ref": reference})
    assert resolver.name(reference).isidentifier()


@given(OBJECTS, st.one_of(st.none(), OBJECTS), TEXTS)
@BOUNDED
def test_any_tool_is_bound_or_refused_and_its_source_is_one_function(schema: Any, output: Any, words: str) -> None:
    tool = tool_of(schema, output, words)

    found = signature(tool)
    bound = bind(tool)

    assert len(found.text) <= MAX_CHARS
    assert len({one.python for one in found.parameters}) == len(found.parameters)
    order = [one.required for one in found.parameters]
    assert order == sorted(order, reverse=True)
    if isinstance(bound, Binding):
        bound.source.encode("utf-8")
        kinds = [type(node).__name__ for node in ast.parse(bound.source).body]
        assert kinds == ["ImportFrom", "ImportFrom", "ImportFrom", "FunctionDef"]


@given(OBJECTS, st.dictionaries(TEXTS, JSON, max_size=4))
@BOUNDED
def test_any_arguments_are_judged_against_any_schema(schema: Any, arguments: dict[str, Any]) -> None:
    checker = ArgumentChecker()

    checked = checker.check_now(tool_of(schema), arguments)

    assert len(checked.problems) <= 8
    assert all("\n" not in one.text and len(one.text) < 1_000 for one in checked.problems)
    assert checked.arguments == arguments or checked.notes


@given(OBJECTS, st.dictionaries(TEXTS, JSON, max_size=4))
@BOUNDED
def test_repaired_arguments_need_no_repair(schema: Any, arguments: dict[str, Any]) -> None:
    checker = ArgumentChecker()
    tool = tool_of(schema)

    once = checker.check_now(tool, arguments)

    if once.is_ok:
        again = checker.check_now(tool, once.arguments)
        assert again.is_ok
        assert again.arguments == once.arguments


@given(OBJECTS, st.dictionaries(TEXTS, JSON, max_size=4))
@BOUNDED
def test_literals_that_are_all_known_are_judged_as_the_call_is(schema: Any, arguments: dict[str, Any]) -> None:
    checker = ArgumentChecker()
    tool = tool_of(schema)
    wires = {one.wire for one in signature(tool).parameters}
    given_names = {name: value for name, value in arguments.items() if name in wires and value is not None}

    before = checker.check_literals(tool, keywords=given_names, unknown=object())

    assert bool(before) == bool(checker.check_now(tool, given_names).problems)
