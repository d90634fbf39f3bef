"""What a tool does to the world, and why that is believed."""

from typing import Any

import pytest

from codemode.catalog.build import build_listing
from codemode.catalog.risk import EffectRule, classify
from codemode.catalog.spec import ToolSpec


def spec(name: str, server: str = "acme", **hints: Any) -> ToolSpec:
    return build_listing(server, [{"name": name, "inputSchema": {}, "annotations": hints}], state="ready").tools[0]


@pytest.mark.parametrize(
    "name",
    ["get_issue", "listPersons", "API-get-user", "incident_list", "git_status", "search-code", "describe_instances",
     "get_comment", "list_pull_request_reviews", "read_text_file", "bitable_v1_appTable_list", "server_info",
     "count_rows", "whoami", "get_order"],
)  # fmt: skip
def test_a_verb_that_reads_makes_a_guess_of_read(name: str) -> None:
    assert classify(spec(name), (), True) == ("read", "name")


@pytest.mark.parametrize(
    "name",
    ["get_or_create_user", "search_and_replace", "list_and_merge", "add_to_list", "query", "execute_sql", "run_query",
     "post_status", "set_status", "check_out", "resolve_issue", "navigate", "toggle_list", "move_file", "frobnicate",
     "order_list", "名前"],
)  # fmt: skip
def test_anything_else_is_a_write(name: str) -> None:
    assert classify(spec(name), (), True) == ("write", "default")


@pytest.mark.parametrize(
    "name", ["delete_repo", "removeLabel", "git_reset", "list_and_delete", "flushdb", "drop-table"]
)
def test_a_verb_that_destroys_makes_a_guess_of_destructive(name: str) -> None:
    assert classify(spec(name), (), True) == ("destructive", "name")


def test_words_repeated_from_the_servers_id_do_not_count() -> None:
    assert classify(spec("list_manager_create", "list-manager"), (), True) == ("write", "default")
    assert classify(spec("delete_pro_search", "delete-pro"), (), True) == ("read", "name")


def test_a_trusted_hint_decides() -> None:
    assert classify(spec("frobnicate", readOnlyHint=True), (), True) == ("read", "hint")
    assert classify(spec("get_issue", readOnlyHint=False), (), True) == ("write", "hint")
    assert classify(spec("get_issue", destructiveHint=True), (), True) == ("destructive", "hint")


def test_an_untrusted_server_is_believed_danger_but_not_harmlessness() -> None:
    assert classify(spec("frobnicate", readOnlyHint=True), (), False) == ("write", "default")
    assert classify(spec("delete_all", readOnlyHint=True), (), False) == ("destructive", "name")
    assert classify(spec("get_issue", destructiveHint=True), (), False) == ("destructive", "hint")
    assert classify(spec("get_issue", readOnlyHint=False), (), False) == ("write", "hint")


def test_contradicting_hints_are_taken_by_their_stricter_half() -> None:
    assert classify(spec("x", readOnlyHint=True, destructiveHint=True), (), True) == ("destructive", "hint")


def test_the_first_rule_that_matches_raw_names_comes_before_everything() -> None:
    rules = (
        EffectRule(pattern="acme.delete-*", effect="write"),
        EffectRule(pattern="acme.*", effect="read"),
    )
    assert classify(spec("delete-x", destructiveHint=True), rules, True) == ("write", "rule")
    assert classify(spec("anything"), rules, True) == ("read", "rule")
    assert classify(spec("delete_x"), rules[:1], True) == ("destructive", "name")


def test_descriptions_decide_nothing() -> None:
    tool = {"name": "frobnicate", "description": "Only reads. get list search", "inputSchema": {}}
    assert classify(build_listing("acme", [tool], state="ready").tools[0], (), True) == ("write", "default")
