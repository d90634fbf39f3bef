"""Any JSON a server can list becomes usable or held back: nothing raises, nothing good is lost, digests are stable."""

from typing import Any

import jsonschema_rs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codemode.catalog.build import build_listing
from codemode.catalog.snapshot import build_catalog
from codemode.catalog.text import clean_line, clean_text, has_hidden

KEYWORDS = st.sampled_from(
    ["type", "properties", "$ref", "$defs", "items", "anyOf", "enum", "required", "default", "pattern", "minimum",
     "minLength", "description", "title", "additionalProperties", "not", "const", "x", "a", "prefixItems", "$schema"]
)  # fmt: skip
WORDS = st.sampled_from(["object", "string", "int", "#/$defs/a", "#/properties/x", "#", "http://far.test/", "^a", "("])
LEAVES = st.none() | st.booleans() | st.floats() | st.integers(-5, 5) | WORDS | st.text(max_size=4)
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYWORDS, inner, max_size=4), max_leaves=25
)
SCHEMAS = st.dictionaries(KEYWORDS, JSON, max_size=5)
TOOLS = st.fixed_dictionaries(
    {"name": st.sampled_from(["a", "b", "c-d", ""]) | st.text(max_size=5), "inputSchema": SCHEMAS | JSON},
    optional={"description": st.text(max_size=20) | JSON, "outputSchema": SCHEMAS, "annotations": JSON, "title": JSON},
)
GOOD = {"name": "good-one", "inputSchema": {"type": "object"}}


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(TOOLS | JSON, max_size=5))
def test_no_listing_raises_or_costs_the_good_tool(tools: list[Any]) -> None:
    listing = build_listing("s", [*tools, GOOD], state="ready")
    assert "good-one" in {spec.name for spec in listing.tools}
    assert all(held.reason for held in listing.quarantined)
    assert build_catalog([listing]).by_raw("s", "good-one") is not None


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(SCHEMAS)
def test_every_schema_that_is_let_through_compiles_offline(schema: dict[str, Any]) -> None:
    listing = build_listing("s", [{"name": "a", "inputSchema": schema}], state="ready")
    for spec in listing.tools:
        options = jsonschema_rs.RegexOptions()
        validator = jsonschema_rs.validator_for(dict(spec.input_schema), pattern_options=options)
        validator.is_valid({"a": {"x": [1, "y"]}, "x": None})


def reordered(value: Any) -> Any:
    """The same JSON with the keys of every object the other way round."""
    if isinstance(value, dict):
        return {key: reordered(item) for key, item in reversed(value.items())}
    return [reordered(item) for item in value] if isinstance(value, list) else value


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(SCHEMAS)
def test_the_order_of_keys_never_changes_a_digest(schema: dict[str, Any]) -> None:
    one = build_listing("s", [{"name": "a", "inputSchema": schema}], state="ready")
    two = build_listing("s", [{"name": "a", "inputSchema": reordered(schema)}], state="ready")
    assert [(s.semantic_digest, s.cosmetic_digest) for s in one.tools] == [
        (s.semantic_digest, s.cosmetic_digest) for s in two.tools
    ]


@settings(max_examples=200, deadline=None)
@given(
    st.text(alphabet=st.characters() | st.sampled_from("\x1b[]\u202e\ud800\U000e0041\r\n…"), max_size=60),
    st.integers(0, 40),
)
def test_cleaned_text_is_bounded_and_holds_nothing_hidden(text: str, max_chars: int) -> None:
    line = clean_line(text, max_chars)
    assert len(line) <= max_chars
    assert not has_hidden(line)
    assert clean_line(line, max_chars) == line
    assert len(clean_text(text, max_chars)) <= max_chars
    assert not has_hidden(clean_text(text, max_chars).replace("\n", "").replace("\t", ""))
