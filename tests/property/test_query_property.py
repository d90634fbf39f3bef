"""Parsing and searching never fail, whatever is asked."""

from hypothesis import given, settings
from hypothesis import strategies as st

from codemode.catalog.build import build_listing
from codemode.catalog.snapshot import build_catalog
from codemode.search.index import build_index
from codemode.search.query import MAX_NEEDS, MAX_QUERY_CHARS, MAX_SELECTED, parse_query

TOOLS = [
    {"name": "list_issues", "description": "List issues", "inputSchema": {"properties": {"repo": {}}}},
    {"name": "创建文件", "description": "新建一个文件 naïve Ünïcode", "inputSchema": {}},
    {"name": "send-mail", "description": "Send a mail", "inputSchema": {}},
]
INDEX = build_index(build_catalog([build_listing("git-hub", TOOLS, state="ready")]))
PIECES = st.sampled_from(
    [
        "select:",
        "list",
        "issues",
        ";",
        "+",
        "/",
        ",",
        ".",
        "*",
        "(",
        ")",
        "git_hub.",
        "创建",
        "mcp__",
        " ",
        "\n",
        "?",
        "\\",
    ]
)
TEXTS = st.text(max_size=200) | st.lists(PIECES, max_size=30).map("".join)


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_every_text_is_a_query_and_every_query_has_an_answer(text: str) -> None:
    query = parse_query(text)
    assert len(query.needs) <= MAX_NEEDS
    assert len(query.selected) <= MAX_SELECTED
    assert len(query.text) <= MAX_QUERY_CHARS
    found = INDEX.search(query)
    shown = [hit.tool.short for hit in found.hits]
    assert len(set(shown)) == len(shown)
    assert len(found.per_need) == len(query.needs)
    assert all(hit.score > 0 for hit in found.hits)
    assert len(found.unknown) <= len(query.selected)


@settings(max_examples=100, deadline=None)
@given(TEXTS, st.integers(0, 5), st.sampled_from(["", "git_hub", "git-hub", "nope"]))
def test_answers_do_not_vary(text: str, limit: int, server: str) -> None:
    query = parse_query(text)
    assert INDEX.search(query, limit=limit, server=server) == INDEX.search(query, limit=limit, server=server)


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=40))
def test_exact_look_ups_of_any_name_end(name: str) -> None:
    catalog = INDEX.catalog
    assert len(catalog.find(name)) <= len(catalog.tools)
    assert len(catalog.nearest(name)) <= 5
