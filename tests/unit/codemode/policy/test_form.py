"""Forms of servers: what is read, what clients are offered, which answers go back."""

import pytest

from codemode.policy.form import MAX_CHOICES, MAX_FIELDS, FormError, check_answer, form_schema, read_form


def schema(required=(), **properties):
    return {"type": "object", "properties": properties, "required": list(required)}


ALL = schema(
    ["text"],
    text={"type": "string", "title": "Text", "description": "Some text", "minLength": 1, "maxLength": 5},
    mail={"type": "string", "format": "email"},
    number={"type": "number", "minimum": 0.5, "maximum": 2},
    count={"type": "integer", "minimum": 1, "default": 3},
    sure={"type": "boolean", "default": False},
    old={"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]},
    one={"type": "string", "oneOf": [{"const": "x", "title": "X"}, {"const": "y", "title": "Y"}]},
    many={"type": "array", "items": {"type": "string", "enum": ["p", "q"]}, "maxItems": 1},
)


def test_every_kind_of_field_is_offered_in_our_own_writing():
    assert form_schema(read_form(ALL), "shop") == {
        "type": "object",
        "properties": {
            "text": {
                "type": "string",
                "title": "shop: Text",
                "description": "shop: Some text",
                "minLength": 1,
                "maxLength": 5,
            },
            "mail": {"type": "string", "title": "shop: mail", "format": "email"},
            "number": {"type": "number", "title": "shop: number", "minimum": 0.5, "maximum": 2},
            "count": {"type": "integer", "title": "shop: count", "minimum": 1, "default": 3},
            "sure": {"type": "boolean", "title": "shop: sure", "default": False},
            "old": {
                "type": "string",
                "title": "shop: old",
                "oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}],
            },
            "one": {
                "type": "string",
                "title": "shop: one",
                "oneOf": [{"const": "x", "title": "X"}, {"const": "y", "title": "Y"}],
            },
            "many": {
                "type": "array",
                "title": "shop: many",
                "items": {"anyOf": [{"const": "p", "title": "p"}, {"const": "q", "title": "q"}]},
                "maxItems": 1,
            },
        },
        "required": ["text"],
    }


def test_an_answer_that_fits_goes_back_and_what_was_left_empty_does_not():
    content = {"text": "abc", "mail": None, "number": 1, "count": 2.0, "sure": True, "one": "y", "many": ["q"]}
    checked = check_answer(read_form(ALL), content)
    assert checked == {"text": "abc", "number": 1, "count": 2, "sure": True, "one": "y", "many": ["q"]}
    assert isinstance(checked["count"], int)


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"text": ""},
        {"text": "too long"},
        {"text": 1},
        {"text": "\ud800"},
        {"text": "a", "mail": "nobody"},
        {"text": "a", "number": "1"},
        {"text": "a", "number": True},
        {"text": "a", "number": float("nan")},
        {"text": "a", "number": 3},
        {"text": "a", "count": 1.5},
        {"text": "a", "count": 10**400},
        {"text": "a", "sure": "true"},
        {"text": "a", "one": "X"},
        {"text": "a", "many": "p"},
        {"text": "a", "many": ["p", "q"]},
        {"text": "a", "many": ["r"]},
        {"text": "a", "more": 1},
    ],
)
def test_an_answer_that_does_not_fit_is_refused_without_being_quoted(content):
    with pytest.raises(FormError) as caught:
        check_answer(read_form(ALL), content)
    assert "too long" not in str(caught.value)


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"type": "array", "properties": {}},
        {"type": "object", "properties": []},
        schema(["b"], a={"type": "string"}),
        {**schema(a={"type": "string"}), "required": [["a"]]},
        schema(**{f"f{number}": {"type": "string"} for number in range(MAX_FIELDS + 1)}),
        schema(**{"a b": {"type": "string"}}),
        schema(**{"": {"type": "string"}}),
        schema(a={}),
        schema(a=None),
        schema(a={"type": ["string", "null"]}),
        schema(a={"type": "object", "properties": {}}),
        schema(a={"$ref": "#/$defs/A"}),
        schema(a={"anyOf": [{"type": "string"}]}),
        schema(a={"type": "string", "format": "password"}),
        schema(a={"type": "string", "enum": []}),
        schema(a={"type": "string", "enum": [1]}),
        schema(a={"type": "string", "enum": ["x", "x"]}),
        schema(a={"type": "string", "enum": ["line\nbreak"]}),
        schema(a={"type": "string", "enum": [str(number) for number in range(MAX_CHOICES + 1)]}),
        schema(a={"type": "array", "items": {"type": "string"}}),
        schema(a={"type": "integer", "minimum": "1"}),
        schema(a={"type": "integer", "minimum": 10**400}),
        schema(a={"type": "integer", "minimum": 2, "maximum": 1}),
        schema(allow={"type": "boolean"}, server_allow={"type": "boolean"}),
    ],
)
def test_a_schema_that_is_no_form_is_refused(wrong):
    with pytest.raises(FormError):
        read_form(wrong)


def test_a_pattern_of_a_server_is_neither_offered_nor_evaluated():
    form = read_form(schema(a={"type": "string", "pattern": "(a+)+$"}))
    assert form_schema(form, "s")["properties"] == {"a": {"type": "string", "title": "s: a"}}
    assert check_answer(form, {"a": "a" * 40 + "!"}) == {"a": "a" * 40 + "!"}


def test_a_default_that_does_not_fit_its_field_is_left_out():
    form = read_form(schema(a={"type": "integer", "default": "seven"}))
    assert "default" not in form_schema(form, "s")["properties"]["a"]


def test_the_field_of_our_own_approvals_is_offered_under_another_name_and_comes_back_under_its_own():
    form = read_form(schema(["allow"], allow={"type": "boolean", "title": "Allow"}))
    offered = form_schema(form, "s")
    assert offered["properties"] == {"server_allow": {"type": "boolean", "title": "s: Allow"}}
    assert offered["required"] == ["server_allow"]
    assert check_answer(form, {"server_allow": True}) == {"allow": True}


def test_labels_are_bounded_single_lines_without_hidden_characters():
    text = "Allow it?\n\x1b[2J\u202e" + "x" * 10_000
    form = read_form(schema(a={"type": "string", "title": text, "description": text}))
    field = form_schema(form, "s")["properties"]["a"]
    assert field["title"].startswith("s: Allow it? xxx")
    assert len(field["title"]) < 110
    assert len(field["description"]) < 310
    assert "\n" not in field["title"] + field["description"]
