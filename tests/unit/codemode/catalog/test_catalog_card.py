"""One line about a tool."""

from typing import Any

from codemode.catalog.build import build_listing
from codemode.catalog.card import card
from codemode.catalog.snapshot import build_catalog
from codemode.catalog.spec import Tool


def tool(**changes: Any) -> Tool:
    listed = {
        "name": "list_issues",
        "description": "Lists the issues.\nThirty a page.",
        "inputSchema": {
            "type": "object",
            "properties": {"from": {}, "repo": {}, "state": {}, "page": {}},
            "required": ["repo", "from"],
        },
    }
    return build_catalog([build_listing("git-hub", [{**listed, **changes}], state="ready")]).tools[0]


def test_a_card_names_required_inputs_effect_and_what_the_server_says() -> None:
    assert card(tool()) == "git_hub.list_issues(from_, repo, +2) [read] Lists the issues. Thirty a page."


def test_only_the_servers_words_are_cut() -> None:
    assert card(tool(), 56) == "git_hub.list_issues(from_, repo, +2) [read] Lists the i…"
    assert card(tool(), 10) == "git_hub.list_issues(from_, repo, +2) [read]"


def test_a_tool_without_words_or_inputs_has_a_card() -> None:
    assert card(tool(description=None, inputSchema=None)) == "git_hub.list_issues() [read]"
