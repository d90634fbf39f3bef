"""News about servers: each kind of change once, nothing for what was known."""
# ruff: noqa: E501 (whole lines as they are read)

from dataclasses import replace

from inline_snapshot import snapshot

from codemode.catalog.build import build_listing
from codemode.catalog.snapshot import build_catalog
from codemode.catalog.spec import Listing
from codemode.prose.news import server_news
from tests.support.small_catalog import CREATE_ISSUE, LIST_ISSUES, POST_MESSAGE

GITHUB = build_listing("github", [LIST_ISSUES], state="ready")
CACHED = replace(GITHUB, state="cached")
DOWN = Listing(server="github", state="failed", reason="it exited with status 1")


def news(before, after):
    return server_news(build_catalog(before), build_catalog(after))


def test_a_late_server_is_told():
    assert news([Listing(server="github", state="starting")], [GITHUB]) == snapshot(
        ("News: github is there now, with 1 function; search for them",)
    )


def test_a_lost_server_is_told_once():
    assert news([GITHUB], [DOWN]) == snapshot(("News: github is not available now (it exited with status 1)",))
    assert news([DOWN], [replace(DOWN, reason="another reason")]) == ()


def test_a_server_that_comes_back_is_told():
    known_but_down = replace(GITHUB, state="failed", reason="died")
    assert news([known_but_down], [GITHUB]) == snapshot(("News: github is available again",))


def test_a_sign_in_is_told():
    assert news([GITHUB], [Listing(server="github", state="sign_in")]) == snapshot(("News: github needs a sign-in",))


def test_changed_functions_are_named():
    other = {**LIST_ISSUES, "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}}}}
    before = build_listing("github", [LIST_ISSUES, POST_MESSAGE], state="ready")
    assert news([before], [build_listing("github", [other, CREATE_ISSUE], state="ready")]) == snapshot(
        (
            "News: github: 1 function new (create_issue), 1 function changed (list_issues), 1 function gone (post_message)",
        )
    )


def test_a_cached_server_that_comes_up_unchanged_is_no_news():
    assert news([CACHED], [GITHUB]) == ()
    assert news([GITHUB], [GITHUB]) == ()


def test_very_many_changes_are_counted():
    late = [build_listing(f"s{number}", [LIST_ISSUES], state="ready") for number in range(9)]
    assert news([], late)[-1] == "News: 3 more servers changed; an empty search lists all"
