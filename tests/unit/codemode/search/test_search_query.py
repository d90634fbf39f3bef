"""Queries, parsed."""

import pytest

from codemode.search.query import MAX_NEEDS, MAX_QUERY_CHARS, Need, Query, parse_query


@pytest.mark.parametrize("text", ["", "   ", "\n\t", ";;", "???", "\u200b\u202e"])
def test_a_query_without_a_word_is_empty(text: str) -> None:
    assert parse_query(text).is_empty


def test_words_are_one_need() -> None:
    assert parse_query("  open\nissues ") == Query(text="open issues", needs=(Need(text="open issues"),))


@pytest.mark.parametrize("mark", [";", "\uff1b"])
def test_semicolons_part_needs(mark: str) -> None:
    query = parse_query(f"list issues{mark} send message {mark}{mark}list issues")
    assert query.needs == (Need(text="list issues"), Need(text="send message"))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("select:github.list_issues,slack.post", ("github.list_issues", "slack.post")),
        ("select: a.b , a.b,, c.d ", ("a.b", "c.d")),
        ("SELECT\uff1aa.b\uff0cc.d", ("a.b", "c.d")),
        ("select:a.b c.d", ("a.b", "c.d")),
        ("select:`a.b`", ("a.b",)),
        ("select:Get a Game", ("Get a Game",)),
        ("select:", ()),
        ("select:a.b; select:c.d", ("a.b", "c.d")),
    ],
)
def test_exact_names_follow_select(text: str, names: tuple[str, ...]) -> None:
    assert parse_query(text).selected == names


def test_names_and_needs_mix() -> None:
    query = parse_query("select:a.b; send message")
    assert (query.selected, query.needs) == (("a.b",), (Need(text="send message"),))


def test_a_plus_marks_a_word_of_the_name() -> None:
    assert parse_query("+edge delete").needs == (Need(text="edge delete", required=("edge",)),)
    assert parse_query("learn c++ 1+1").needs == (Need(text="learn c++ 1+1"),)


def test_slashes_hold_a_pattern_also_with_semicolons_inside() -> None:
    assert parse_query("/list_(issues|pulls)/").needs == (
        Need(text="/list_(issues|pulls)/", pattern="list_(issues|pulls)"),
    )
    assert parse_query("/a;b/i").needs == (Need(text="/a;b/i", pattern="a;b"),)
    assert parse_query("tools/list").needs == (Need(text="tools/list"),)


def test_what_is_left_out_is_said() -> None:
    long = parse_query("word " * 1_000)
    assert len(long.text) <= MAX_QUERY_CHARS
    assert long.notes == ("only the first 2000 characters of the query were read",)
    many = parse_query(";".join(f"need {n}" for n in range(40)))
    assert len(many.needs) == MAX_NEEDS
    assert many.notes == ("only the first 12 needs were searched",)
    names = parse_query("select:" + ",".join(f"a.b{n}" for n in range(60)))
    assert names.notes == ("only the first 40 names were looked up",)
