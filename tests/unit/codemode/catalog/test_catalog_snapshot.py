"""The catalog in force and its look-ups."""

from dataclasses import replace
from typing import Any

import pytest

from codemode.catalog.build import build_listing
from codemode.catalog.risk import EffectRule
from codemode.catalog.snapshot import Catalog, build_catalog
from codemode.catalog.spec import Listing, Tool
from codemode.ids import ToolId


def listing(server: str, *names: str, **more: Any) -> Listing:
    return build_listing(server, [{"name": name, "inputSchema": {}} for name in names], state="ready", **more)


def catalog(*more: Listing) -> Catalog:
    return build_catalog(
        [
            listing("git-hub", "list_issues", "create_issue", "get-me", "search.code"),
            listing("linear", "list_issues", "list_projects"),
            listing("redis", "set", "get"),
            Listing(server="jira", state="starting", reason="4 s"),
            *more,
        ]
    )


def shorts(tools: tuple[Tool, ...]) -> list[str]:
    return [tool.short for tool in tools]


def test_servers_and_tools_are_sorted_and_an_empty_server_is_listed() -> None:
    built = catalog()
    assert [(entry.id, entry.module) for entry in built.servers] == [
        ("git-hub", "git_hub"), ("jira", "jira"), ("linear", "linear"), ("redis", "redis"),
    ]  # fmt: skip
    assert shorts(built.tools) == sorted(shorts(built.tools))
    assert len(built.tools) == 8


def test_the_same_tool_name_on_two_servers_does_not_clash() -> None:
    built = catalog()
    here, there = built.by_short("git_hub.list_issues"), built.by_short("linear.list_issues")
    assert here is not None
    assert there is not None
    assert (here.spec.server, there.spec.server) == ("git-hub", "linear")


def test_a_tool_is_found_by_path_id_and_raw_name() -> None:
    built = catalog()
    tool = built.by_path("tools.git_hub.get_me")
    assert tool is not None
    assert built.by_id(tool.spec.id) is tool
    assert built.by_raw("git-hub", "get-me") is tool
    assert built.by_path("git_hub.get_me") is None


def test_an_id_with_an_old_digest_finds_nothing() -> None:
    assert catalog().by_id(ToolId("git-hub", "get-me", "000000000000")) is None


@pytest.mark.parametrize(
    "written",
    ["git_hub.get_me", "tools.git_hub.get_me", "git-hub.get-me", "git-hub:get-me", "git_hub:get_me", "git-hub/get-me",
     "mcp__git-hub__get-me", "mcp__git_hub__get_me", "get-me", "get_me", " git_hub.get_me() "],
)  # fmt: skip
def test_a_name_is_found_however_it_is_written(written: str) -> None:
    assert shorts(catalog().find(written)) == ["git_hub.get_me"]


def test_raw_names_that_hold_separators_are_found() -> None:
    assert shorts(catalog().find("git-hub.search.code")) == ["git_hub.search_code"]


def test_a_bare_name_of_two_servers_stands_for_both() -> None:
    assert shorts(catalog().find("list_issues")) == ["git_hub.list_issues", "linear.list_issues"]


@pytest.mark.parametrize("written", ["", ".", "mcp__", "nope", "git_hub.nope", "jira.list"])
def test_a_name_that_stands_for_nothing_finds_nothing(written: str) -> None:
    assert catalog().find(written) == ()


def test_the_nearest_names_come_from_the_server_that_was_named() -> None:
    assert shorts(catalog().nearest("linear.list_isues"))[:1] == ["linear.list_issues"]
    assert shorts(catalog().nearest("github.list_issues"))[:1] == ["git_hub.list_issues"]
    assert shorts(catalog().nearest("tools.git_hub.createIssue"))[:1] == ["git_hub.create_issue"]
    assert catalog().nearest("zzzz.qqqq") == ()
    assert catalog().nearest("") == ()


def test_a_server_is_found_by_module_and_by_raw_id() -> None:
    built = catalog()
    assert built.server("git_hub") is built.server("git-hub") is built.servers[0]
    assert built.server("nope") is None


def test_equal_listings_give_equal_catalogs_in_any_order() -> None:
    one, two = listing("a", "x", "y"), listing("b", "z")
    assert build_catalog([one, two]) == build_catalog([two, replace(one, tools=one.tools[::-1])])


def test_the_digest_follows_tools_effects_and_states() -> None:
    base = listing("a", "get_x")
    digests = {
        build_catalog([base]).digest,
        build_catalog([listing("a", "get_x", "get_y")]).digest,
        build_catalog([base], [EffectRule(pattern="a.*", effect="write")]).digest,
        build_catalog([replace(base, state="cached")]).digest,
        build_catalog([base, Listing(server="b", state="failed")]).digest,
    }
    assert len(digests) == 5


def test_hints_of_an_untrusted_server_do_not_make_a_tool_read() -> None:
    tool = {"name": "frobnicate", "inputSchema": {}, "annotations": {"readOnlyHint": True}}
    listings = [build_listing("a", [tool], state="ready")]
    assert build_catalog(listings).tools[0].effect == "read"
    assert build_catalog(listings, (), frozenset({"a"})).tools[0].effect == "write"


def test_two_listings_of_one_server_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="same server id"):
        build_catalog([listing("a"), listing("a")])
