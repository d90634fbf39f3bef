"""Forms of servers: whatever comes is read or refused, and what is offered stays plain and bounded."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from codemode.policy.form import FormError, check_answer, form_schema, read_form

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = (
    "type", "title", "description", "enum", "enumNames", "oneOf", "anyOf", "items", "format", "default",
    "minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "pattern", "$ref",
)  # fmt: skip
VALUES = JSON | st.sampled_from(["string", "number", "integer", "boolean", "array", "email", "date"])
FIELDS = JSON | st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=5)
SCHEMAS = st.fixed_dictionaries(
    {"type": st.just("object") | JSON, "properties": JSON | st.dictionaries(st.sampled_from("abc"), FIELDS)},
    optional={"required": JSON | st.lists(st.sampled_from("abcd"))},
)


@settings(max_examples=300)
@given(schema=SCHEMAS, content=st.dictionaries(st.sampled_from("abcd"), JSON))
def test_every_schema_is_a_form_or_refused_and_so_is_every_answer(schema, content):
    try:
        form = read_form(schema)
    except FormError:
        return
    offered = form_schema(form, "shop")
    json.dumps(offered, allow_nan=False).encode()
    assert all(field["title"].startswith("shop: ") for field in offered["properties"].values())
    try:
        checked = check_answer(form, content)
    except FormError:
        return
    assert set(checked) <= set(content)
    json.dumps(checked, allow_nan=False, ensure_ascii=False).encode()
