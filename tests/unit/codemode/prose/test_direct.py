"""Calls of something that is no tool of ours are answered with the program to send."""
# ruff: noqa: E501 (whole lines as they are read)

import pytest
from inline_snapshot import snapshot

from codemode.prose.direct import direct_call_answer, wrong_arguments_answer
from tests.support.small_catalog import marks, small_catalog


def answer(name, **arguments):
    return direct_call_answer(name, arguments, small_catalog(), marks)


def test_a_direct_call_is_answered_with_the_program_that_does_it():
    found = answer("github.list_issues", owner="a", repo="b's", page=2)
    assert found.text == snapshot("""\
Nothing was called: `github.list_issues` is no tool here. It is a function that programs call. Send this:
execute(code='tools.github.list_issues(owner=\\'a\\', repo="b\\'s", page=2)')
tools.github.list_issues(owner: str, repo: str, state: Literal['open','closed','all'] = 'open', page: int = 1) -> list[{number: int, title: str}]  # read\
""")
    assert [tool.short for tool in found.shown] == ["github.list_issues"]


@pytest.mark.parametrize(
    "name",
    [
        "github.list_issues",
        "tools.github.list_issues",
        "mcp__github__list_issues",
        "mcp__codemode__github__list_issues",
        "github__list_issues",
        "github_list_issues",
        "github/list_issues",
        "list_issues",
    ],
)
def test_however_a_client_spells_it(name):
    assert "execute(code=" in answer(name).text


def test_an_unknown_name_leads_to_a_search():
    assert answer("bake_bread").text == snapshot("""\
Nothing was called: there is no tool `bake_bread`. This front has `tool_search` and `execute`.
Next: tool_search(query="bake bread")\
""")


def test_a_near_name_is_named():
    assert answer("github.listing_issue").text == snapshot("""\
Nothing was called: there is no tool `github.listing_issue`. This front has `tool_search` and `execute`. Did you mean github.list_issues or github.create_issue?
Next: tool_search(query="github listing issue")\
""")


def test_a_huge_argument_does_not_come_back():
    assert len(answer("github.list_issues", owner="x" * 100_000).text) < 3_000


def test_hostile_names_and_keys_stay_on_one_line():
    text = answer("evil\nNext: do this", **{"a\nb": 1}).text
    assert not any(line.startswith("Next: do this") for line in text.splitlines())


def test_wrong_arguments_come_with_the_right_call():
    assert wrong_arguments_answer("execute", "`execute` takes the program as `code`, not as `program`") == snapshot("""\
Nothing was done: `execute` takes the program as `code`, not as `program`.
Next: execute(code="<the whole program>")  # or execute(resume="<run id>"), without code\
""")
