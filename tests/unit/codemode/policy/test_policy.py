"""What a call may do: rules, effects, budgets; the strictest wins."""

import json

import pytest

from codemode.policy.budget import Budget
from codemode.policy.decide import Allow, Ask, Deny, allow_line, decide
from codemode.policy.rules import HiddenRule, Rule, dead_rules, hidden_rules
from tests.support.catalogs import catalog_of, issues_catalog, tool

CATALOG = issues_catalog()
READ, WRITE = CATALOG.by_short("github.list_issues"), CATALOG.by_short("github.create_issue")
DESTROY = CATALOG.by_short("github.delete_repo")


def _decide(which, *rules, approve="ask", can_ask=True):
    return decide(which, rules, approve, can_ask=can_ask)


def test_without_rules_reads_run_and_everything_else_asks():
    assert isinstance(_decide(READ), Allow)
    assert isinstance(_decide(WRITE), Ask)
    assert isinstance(_decide(DESTROY), Ask)


def test_what_asks_is_denied_where_nobody_can_be_asked():
    for decided in (_decide(WRITE, can_ask=False), _decide(WRITE, approve="never")):
        assert isinstance(decided, Deny)
        assert decided.rule is None
        assert "nobody can be asked" in decided.reason


def test_approvals_given_to_all_allow_what_asks_but_not_what_a_rule_denies():
    assert isinstance(_decide(WRITE, approve="all", can_ask=False), Allow)
    assert isinstance(_decide(WRITE, Rule(tool="github.*", decision="deny"), approve="all"), Deny)


def test_the_strictest_of_all_matching_rules_wins_whatever_their_order():
    allow, ask, deny = (Rule(tool="github.*", decision=d) for d in ("allow", "ask", "deny"))
    for rules in ((allow, ask), (ask, allow)):
        assert isinstance(_decide(READ, *rules), Ask)
    for more in ((allow, deny, ask), (deny, ask, allow)):
        assert isinstance(_decide(READ, *more), Deny)


def test_a_rule_allows_a_write():
    assert isinstance(_decide(WRITE, Rule(tool="github.create_issue", decision="allow"), can_ask=False), Allow)


def test_a_denial_names_its_reason():
    decided = _decide(WRITE, Rule(tool="github.*", decision="deny", reason="this repository is read only"))
    assert decided.reason == "this repository is read only"


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("github.list_issues", True),
        ("github.*", True),
        ("*.list_issues", True),
        ("*", True),
        ("github.list_issue?", True),
        ("github", False),
        ("GitHub.*", False),
        ("github.list", False),
        ("git*.create_*", False),
        ("github.list_issues[s]", False),
    ],
)
def test_patterns_match_whole_raw_names(pattern, matches):
    assert Rule(tool=pattern, decision="deny").matches(READ) is matches


def test_rules_look_at_raw_names_and_not_at_python_names():
    dashed = CATALOG.by_short("git_lab.list_issues")
    assert Rule(tool="git-lab.list-issues", decision="deny").matches(dashed)
    assert not Rule(tool="git_lab.list_issues", decision="deny").matches(dashed)


def test_a_pattern_of_many_stars_is_matched_in_linear_time():
    long = catalog_of({"s": [tool("a" * 200)]}).tools[0]
    assert not Rule(tool="*" * 500 + "b", decision="deny").matches(long)


def test_the_line_to_add_is_valid_json_that_allows_the_tool():
    quoted = catalog_of({'odd "server"': [tool("f")]}).tools[0]
    line = json.loads(allow_line(quoted))
    assert Rule(**line).matches(quoted)


def test_rules_that_match_nothing_are_found():
    rules = (Rule(tool="github.*", decision="allow"), Rule(tool="githup.*", decision="deny"))
    assert dead_rules(rules, CATALOG.tools) == (rules[1],)


def test_a_rule_is_hidden_when_others_decide_about_all_that_it_matches():
    allow = Rule(tool="github.create_issue", decision="allow")
    deny = Rule(tool="github.*", decision="deny")
    elsewhere = Rule(tool="git-lab.*", decision="ask")
    assert hidden_rules([allow, deny, elsewhere], CATALOG.tools) == (HiddenRule(rule=allow, by=(deny,)),)


def test_of_two_equal_rules_the_second_is_hidden():
    rules = [Rule(tool="github.*", decision="ask", source=place) for place in ("first", "second")]
    assert hidden_rules(rules, CATALOG.tools) == (HiddenRule(rule=rules[1], by=(rules[0],)),)


def test_a_rule_that_decides_about_one_tool_or_matches_none_is_not_hidden():
    rules = [Rule(tool="github.*", decision="ask"), Rule(tool="github.delete_repo", decision="deny")]
    assert hidden_rules([*rules, Rule(tool="nobody.*", decision="allow")], CATALOG.tools) == ()


@pytest.mark.parametrize(
    ("pattern", "may"),
    [("jira.get", True), ("jira.*", True), ("*", True), ("ji*", True), ("?ira.x", True), ("jira", False),
     ("jirafe.*", False), ("github.*", False)],
)  # fmt: skip
def test_a_rule_may_concern_a_server_whose_tools_are_not_known(pattern, may):
    assert Rule(tool=pattern, decision="deny").may_concern("jira") is may


def test_a_budget_counts_writes_apart_and_says_which_limit_is_used_up():
    budget = Budget(calls_allowed=4, writes_allowed=1)
    assert budget.spend(READ) == ""
    assert budget.spend(WRITE) == ""
    assert "`writes` allows 1" in budget.spend(DESTROY)
    assert budget.spend(READ) == ""
    assert "`calls` allows 4" in budget.spend(READ)
