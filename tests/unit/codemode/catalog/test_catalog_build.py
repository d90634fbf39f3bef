"""Listings built tool by tool: a bad one never costs a good one."""

import json
from typing import Any

import pytest

from codemode.catalog.build import build_listing, is_allowed
from codemode.catalog.spec import Annotations, Listing, Quarantined

GOOD: dict[str, Any] = {"name": "good", "description": "Does good.", "inputSchema": {"type": "object"}}


def listed(*tools: object, **more: Any) -> Listing:
    return build_listing("acme", tools, state="ready", **more)


def nested(levels: int, keyword: str) -> Any:
    node: Any = {"type": "string"}
    for _ in range(levels):
        node = {keyword: [node]} if keyword == "anyOf" else {"type": "object", keyword: {"a": node}}
    return node


BAD: list[object] = [
    None,
    "text",
    [],
    5,
    {},
    {"name": None, "inputSchema": {}},
    {"name": 5},
    {"name": ["a"]},
    {"name": ""},
    {"name": "  "},
    {"name": "n" * 257},
    {"name": "con\x00trol"},
    {"name": "line\nbreak"},
    {"name": "bidi\u202e"},
    {"name": "zero\u200bwidth"},
    {"name": "half\ud83d"},
    {"name": "a", "inputSchema": "object"},
    {"name": "a", "inputSchema": False},
    {"name": "a", "inputSchema": {"type": "string"}},
    {"name": "a", "inputSchema": {"type": "object", "properties": {"x": {"$ref": "http://127.0.0.1:9/x"}}}},
    {"name": "a", "inputSchema": {"type": "object"}, "outputSchema": {"$ref": "file:///etc/passwd"}},
    {"name": "a", "inputSchema": {"type": "object", "properties": {"x": nested(400, "anyOf")}}},
    {"name": "a", "inputSchema": nested(500, "properties")},
    {"name": "a", "inputSchema": {"type": "object", "properties": {"x": {"enum": ["v"] * 20_001}}}},
    {"name": "a", "inputSchema": {"type": "object", "description": "d" * 600_000}},
    {"name": "a", "inputSchema": {"type": "object", 5: {}}},
    {"name": "a", "inputSchema": {"type": "object", "default": object()}},
]


@pytest.mark.parametrize("bad", BAD)
def test_a_tool_that_cannot_be_used_is_held_back_alone_and_with_a_reason(bad: object) -> None:
    listing = listed(bad, GOOD)
    assert [spec.name for spec in listing.tools] == ["good"]
    (held,) = listing.quarantined
    assert held.reason
    assert len(held.reason) <= 300
    assert "\n" not in held.reason


def test_everything_bad_at_once_leaves_the_good_one() -> None:
    listing = listed(*BAD, GOOD)
    assert [spec.name for spec in listing.tools] == ["good"]
    assert len(listing.quarantined) == len(BAD)


@pytest.mark.parametrize(
    "odd",
    [
        {"name": "no_schema"},
        {"name": "null_schema", "inputSchema": None},
        {"name": "typeless", "inputSchema": {"anyOf": [{"type": "object"}]}},
        {"name": "bad_type", "inputSchema": {"type": "object", "properties": {"n": {"type": "int"}}}},
        {"name": "bad_regex", "inputSchema": {"type": "object", "properties": {"n": {"pattern": "("}}}},
        {"name": "php", "inputSchema": {"type": "object", "properties": [], "required": []}},
        {"name": "text_out", "inputSchema": {}, "outputSchema": "string"},
        {"name": "lost_out", "inputSchema": {}, "outputSchema": {"$ref": "#/$defs/nope"}},
        {"name": "deep_out", "inputSchema": {}, "outputSchema": nested(400, "properties")},
        {"name": "hints", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": "yes"}},
        {"name": "hints_list", "inputSchema": {"type": "object"}, "annotations": ["readOnlyHint"]},
        {"name": "title", "inputSchema": {"type": "object"}, "title": 5},
        {"name": "described", "inputSchema": {"type": "object"}, "description": ["a"]},
    ],
)
def test_an_odd_tool_is_repaired_and_says_so(odd: dict[str, Any]) -> None:
    (spec,) = listed(odd).tools
    assert spec.name == odd["name"]
    assert spec.input_schema["type"] == "object"
    assert spec.repairs


def test_output_schemas_of_any_root_type_are_kept() -> None:
    array = {"type": "array", "items": {"type": "string"}}
    assert listed({**GOOD, "outputSchema": array}).tools[0].output_schema == array
    assert listed({**GOOD, "outputSchema": {"description": "any"}}).tools[0].output_schema == {"description": "any"}


def test_texts_are_made_safe_and_names_are_kept_raw() -> None:
    tool = {
        "name": "x')\"\\",
        "title": "\x1b[31mT",
        "description": 'a\u202e"""b\r\nc',
        "inputSchema": {"type": "object"},
    }
    (spec,) = listed(tool).tools
    assert (spec.name, spec.title, spec.description) == ("x')\"\\", "T", 'a"""b\nc')


def test_the_title_of_the_annotations_stands_in() -> None:
    (spec,) = listed({**GOOD, "annotations": {"title": "Good", "readOnlyHint": True, "openWorldHint": False}}).tools
    assert spec.title == "Good"
    assert spec.annotations == Annotations(read_only=True, open_world=False)


def test_a_second_definition_of_a_name_is_held_back_and_the_first_stays() -> None:
    listing = listed(GOOD, {**GOOD, "description": "Other."})
    assert listing.tools[0].description == "Does good."
    assert listing.quarantined == (
        Quarantined(server="acme", tool="good", reason="a tool of this name was listed before it"),
    )


def test_the_same_definition_twice_is_one_tool_with_a_note() -> None:
    listing = listed(GOOD, json.loads(json.dumps(GOOD)), GOOD)
    assert [spec.repairs for spec in listing.tools] == [("$: listed more than once, each time the same",)]
    assert listing.quarantined == ()


def test_what_the_users_lists_leave_out_is_neither_listed_nor_held_back() -> None:
    tools = [{**GOOD, "name": f"tool_{n:03}"} for n in range(101)]
    assert [spec.name for spec in listed(*tools, allowed=["tool_100"]).tools] == ["tool_100"]
    assert len(listed(*tools, allowed=["tool_0*"], disabled=["tool_00?"]).tools) == 90
    assert listed({"name": "bad", "inputSchema": 5}, disabled=["bad"]).quarantined == ()


def test_patterns_are_about_raw_names_and_case() -> None:
    assert is_allowed("List-Issues", ["List-*"], [])
    assert not is_allowed("list-issues", ["List-*"], [])
    assert not is_allowed("a", ["*"], ["a"])


def test_tools_beyond_the_limit_are_counted() -> None:
    tools = [{"name": f"t{n}", "inputSchema": {"type": "object"}} for n in range(25_002)]
    listing = listed(*tools)
    assert len(listing.tools) == 25_000
    assert listing.quarantined == (
        Quarantined(server="acme", tool="", reason="2 tools after the first 25000 were left out"),
    )


def test_what_is_known_of_the_server_is_kept_and_made_safe() -> None:
    listing = build_listing(
        "acme",
        [],
        state="failed",
        reason="no\x00 such\nthing",
        protocol="2025-06-18",
        instructions="Use\u200b it.",
        description="d",
    )
    assert listing == Listing(
        server="acme",
        state="failed",
        reason="no such thing",
        protocol="2025-06-18",
        instructions="Use it.",
        description="d",
    )
