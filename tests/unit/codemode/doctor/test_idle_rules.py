"""Patterns that decide nothing: dead, hidden, or not to be judged while a server is down."""

from codemode.config.model import Config, EffectSettings, PolicySettings, RuleSettings, ServerConfig
from codemode.doctor.rules import find_idle_rules
from tests.support.catalogs import issues_catalog

TOOLS = issues_catalog().tools
NAMES = {"github": ("list_issues", "create_issue", "delete_repo")}


def rules_of(*rules, effects=(), servers=(), unknown=()):
    """What is found, as (state, kind, pattern, why)."""
    policy = PolicySettings(
        rules=tuple(RuleSettings(tool=tool, decision=decision, source="m.json, line 4") for tool, decision in rules),
        effects=tuple(EffectSettings(tool=tool, effect=effect) for tool, effect in effects),
    )
    found = find_idle_rules(Config(policy=policy, servers=servers), TOOLS, NAMES, unknown)
    return [(item.state, item.kind, item.pattern, item.why) for item in found]


def test_rules_that_decide_are_not_mentioned():
    assert rules_of(("github.create_issue", "allow"), ("github.delete_*", "deny"), ("git-lab.*", "ask")) == []


def test_a_misspelt_rule_is_dead_and_the_nearest_name_is_proposed():
    [found] = rules_of(("github.delete_repos", "deny"))
    assert found == (
        "dead",
        "deny",
        "github.delete_repos",
        "matches none of the 4 tools of all servers; did you mean `github.delete_repo`?",
    )


def test_a_rule_that_a_stricter_one_hides_names_it_with_its_place():
    [(state, kind, _, why)] = rules_of(("github.create_issue", "allow"), ("github.*", "deny"))
    assert (state, kind) == ("hidden", "allow")
    assert why.startswith("all that it matches is decided by `github.*` (deny, m.json, line 4)")


def test_nothing_is_called_dead_or_hidden_while_a_server_it_may_speak_about_is_down():
    found = rules_of(("jira.get", "allow"), ("nobody.x", "deny"), effects=[("jira.*", "read")], unknown=["jira"])
    assert [(state, pattern) for state, _, pattern, _ in found] == [
        ("unjudged", "jira.get"),
        ("dead", "nobody.x"),
        ("unjudged", "jira.*"),
    ]
    assert found[0][3] == "the tools of `jira` are not known now"


def test_of_effects_the_first_that_matches_counts():
    effects = [("github.*", "write"), ("github.list_issues", "read"), ("hub.*", "read")]
    assert [(state, kind, pattern) for state, kind, pattern, _ in rules_of(effects=effects)] == [
        ("hidden", "effect read", "github.list_issues"),
        ("dead", "effect read", "hub.*"),
    ]


def test_tool_lists_of_an_entry_are_checked_against_what_its_server_lists():
    server = ServerConfig(name="github", allowed_tools=("list_*", "create_*"), disabled_tools=("delete_repos", "l*"))
    assert [found[:3] for found in rules_of(servers=[server])] == [("dead", "disabledTools", "delete_repos")]


def test_tool_lists_of_a_server_that_lists_nothing_are_left_alone():
    server = ServerConfig(name="jira", disabled_tools=("x",))
    assert rules_of(servers=[server]) == []
