"""Arguments of the two tools: what is meant is taken, everything else is refused in words."""

import pytest

from codemode.server.arguments import ExecuteRequest, SearchRequest, WrongArgumentsError, parse_request


def test_defaults_are_filled_in():
    assert parse_request("tool_search", {}) == SearchRequest(query="", limit=8, server="")
    assert parse_request("execute", {}) == ExecuteRequest(code="", resume="")


@pytest.mark.parametrize("limit", [5, "5", 5.0, " 5 "])
def test_a_limit_is_taken_however_it_is_written(limit):
    assert parse_request("tool_search", {"query": "x", "limit": limit}) == SearchRequest(query="x", limit=5)


def test_a_list_of_queries_is_several_needs():
    assert parse_request("tool_search", {"query": ["a b", "c"]}) == SearchRequest(query="a b; c")


def test_null_counts_as_left_out():
    assert parse_request("execute", {"code": "1", "resume": None}) == ExecuteRequest(code="1")
    assert parse_request("tool_search", {"query": None, "limit": None}) == SearchRequest(query="")


def test_other_tools_are_none_of_ours():
    assert parse_request("github.list_issues", {"anything": 1}) is None


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("execute", {"code": ["a"]}),
        ("execute", {"code": True}),
        ("execute", {"script": "1"}),
        ("tool_search", {"query": {"text": "x"}}),
        ("tool_search", {"query": ["a", 1]}),
        ("tool_search", {"limit": True}),
        ("tool_search", {"limit": 2.5}),
        ("tool_search", {"limit": "²"}),
        ("tool_search", {"limit": "9" * 400}),
    ],
)
def test_what_cannot_be_meant_is_refused(tool, arguments):
    with pytest.raises(WrongArgumentsError):
        parse_request(tool, arguments)
