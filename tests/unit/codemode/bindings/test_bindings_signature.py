"""Signatures: the line a model reads, and the parameters behind it."""

from __future__ import annotations

from typing import Any

from codemode.bindings.signature import MAX_CHARS, Signature, signature
from tests.support.catalogs import catalog_of, tool

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}


def signature_of(entry: Any, **more: Any) -> Signature:
    return signature(catalog_of({"github": [entry]}).tools[0], **more)


def raw(schema: Any, output: Any = None) -> Any:
    return {"name": "f", "inputSchema": schema, **({"outputSchema": output} if output is not None else {})}


def test_signature_has_required_first_and_known_defaults() -> None:
    state = {"enum": ["open", "closed", "all"], "default": "open"}
    properties = {"state": state, "owner": TEXT, "page": {**WHOLE, "default": 1}, "repo": TEXT}
    item = {"type": "object", "properties": {"number": WHOLE, "title": TEXT}}
    output = {"type": "object", "properties": {"result": {"type": "array", "items": item}}}

    found = signature_of(tool("list_issues", properties, ("owner", "repo"), outputSchema=output), marks=("read",))

    assert found.line == (
        "tools.github.list_issues(owner: str, repo: str, state: Literal['open','closed','all'] = 'open', "
        "page: int = 1) -> list[{number: int, title: str}]  # read"
    )
    assert [(one.python, one.required, one.default) for one in found.parameters] == [
        ("owner", True, ""),
        ("repo", True, ""),
        ("state", False, "'open'"),
        ("page", False, "1"),
    ]


def test_default_that_is_long_nested_or_of_another_type_is_not_shown() -> None:
    properties = {
        "a": {**TEXT, "default": "x" * 80},
        "b": {"type": "array", "default": []},
        "c": {**WHOLE, "default": "5"},
        "d": {**TEXT, "default": None},
        "e": {"type": "boolean", "default": False},
        "f": TEXT,
    }

    found = signature_of(tool("f", properties))

    assert found.text == (
        "tools.github.f(a: str = ..., b: list = ..., c: int = ..., d: str = None, e: bool = False, f: str = ...) -> ?"
    )


def test_required_parameter_with_a_default_stays_required() -> None:
    found = signature_of(tool("f", {"level": {**TEXT, "default": "info"}}, ("level",)))

    assert found.text == "tools.github.f(level: str) -> ?"
    assert found.required == found.parameters


def test_result_is_the_declared_type_else_the_observed_one_else_unknown() -> None:
    declared = {"type": "object", "properties": {"total": {"type": "number"}}}

    assert signature_of(raw({}, declared), observed="{x: int}").result == "{total: float}"
    assert signature_of(raw({}), observed="{x: int}").result == "{x: int}"
    assert signature_of(raw({}, {"type": "object"}), observed="{x: int}").result == "{x: int}"
    assert signature_of(raw({}, {"type": "object"})).result == "dict"
    assert signature_of(raw({})).result == "?"


def test_marks_become_a_comment() -> None:
    marks = ("read", "shape seen in 12 calls")

    assert signature_of(raw({}), marks=marks).comment == "# read; shape seen in 12 calls"
    assert signature_of(raw({}), marks=("write", "asks")).comment == "# write, asks"
    assert signature_of(raw({})).comment == ""


def test_choice_of_parameter_sets_is_told_in_a_note() -> None:
    schema = {
        "type": "object",
        "anyOf": [
            {"properties": {"content": TEXT}, "required": ["content"]},
            {"properties": {"source_url": TEXT}, "required": ["source_url"]},
            {"properties": {"file_id": TEXT}, "required": ["file_id"]},
        ],
    }

    found = signature_of(raw(schema))

    assert found.text == "tools.github.f(content: str = ..., source_url: str = ..., file_id: str = ...) -> ?"
    assert found.notes == ("One of: content | source_url | file_id",)


def test_keyword_that_differs_from_the_wire_name_is_told_in_a_note() -> None:
    found = signature_of(tool("f", {"from": TEXT, 'x"""\nimport os #': TEXT}))

    assert [one.python for one in found.parameters] == ["from_", "x_import_os"]
    assert found.notes == (
        "`from_` stands for the key 'from'",
        '`x_import_os` stands for the key \'x"""\\nimport os #\'',
    )


def test_root_reference_and_all_of_give_their_parameters() -> None:
    schema = {
        "$defs": {"Base": {"type": "object", "properties": {"a": TEXT}, "required": ["a"]}},
        "allOf": [{"$ref": "#/$defs/Base"}, {"properties": {"b": WHOLE}}],
    }

    assert signature_of(raw(schema)).text == "tools.github.f(a: str, b: int = ...) -> ?"


def test_required_name_without_a_schema_is_a_parameter() -> None:
    assert signature_of(raw({"required": ["a"]})).text == "tools.github.f(a: Any) -> ?"


def test_tool_without_parameters_takes_none_unless_its_schema_asks_for_any() -> None:
    assert signature_of(raw({"type": "object"})).text == "tools.github.f() -> ?"
    assert signature_of(raw({"additionalProperties": TEXT})).text == "tools.github.f(**arguments) -> ?"


def test_null_and_base64_are_noted_on_parameters() -> None:
    properties = {"a": {"type": ["string", "null"]}, "b": {**TEXT, "contentEncoding": "base64"}, "c": {}}

    found = signature_of(tool("f", properties))

    assert [(one.nullable, one.is_base64) for one in found.parameters] == [(True, False), (False, True), (True, False)]


def test_text_stays_inside_its_budget_and_keeps_every_name() -> None:
    nested = {"type": "object", "properties": {f"key_{i}": TEXT for i in range(20)}}
    found = signature_of(tool("f", {f"option_{i}": nested for i in range(60)}, ("option_59",)))

    assert len(found.text) <= MAX_CHARS
    assert all(f"option_{i}" in found.text for i in range(60))
    assert found.text.startswith("tools.github.f(option_59: ")


def test_more_parameters_than_fit_are_counted() -> None:
    found = signature_of(tool("f", {f"a_rather_long_parameter_name_{i}": TEXT for i in range(900)}))

    assert len(found.text) <= MAX_CHARS
    assert " more) -> ?" in found.text
    assert len(found.parameters) == 900


def test_described_keys_of_the_result_are_noted() -> None:
    item = {"type": "object", "properties": {"total": {**WHOLE, "description": "gross,\nin cents"}, "n": WHOLE}}
    wrapped = {"type": "object", "properties": {"result": {"type": "array", "items": {"$ref": "#/$defs/I"}}}}

    assert signature_of(raw({}, item)).result_notes == (("total", "gross, in cents"),)
    assert signature_of(raw({}, {**wrapped, "$defs": {"I": item}})).result_notes == (("total", "gross, in cents"),)
    assert signature_of(raw({})).result_notes == ()
