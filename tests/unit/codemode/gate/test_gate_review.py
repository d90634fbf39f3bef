"""What a program names is matched against the catalog: paths, bare server names, direct-call names, misspelt ones."""

from codemode.gate.gate import Admit, CallProblem, Heal, judge_call, judge_program
from codemode.gate.loaded import Loaded
from codemode.gate.review import CallSite, Use, review
from tests.support.catalogs import catalog_of, issues_catalog


def _review(*uses, calls=()):
    return review(uses, calls, issues_catalog())


def test_tools_are_found_by_path_with_all_their_lines():
    found = _review(
        Use(path="tools.github.create_issue", line=9),
        Use(path="tools.github.list_issues", line=3),
        Use(path="tools.github.list_issues", line=7),
        Use(path="tools.github.list_issues.run", line=8),
    )
    assert [(use.tool.short, use.lines) for use in found.tools] == [
        ("github.list_issues", (3, 7, 8)),
        ("github.create_issue", (9,)),
    ]
    assert found.unknown == ()


def test_a_bare_server_name_means_the_module_below_tools():
    found = _review(Use(path="github.list_issues", line=1, is_free=True))
    assert [use.tool.short for use in found.tools] == ["github.list_issues"]
    assert found.aliases == {"github": "tools.github"}


def test_a_direct_call_name_means_the_tool():
    found = _review(Use(path="mcp__github__list_issues", line=1, is_free=True))
    assert found.aliases == {"mcp__github__list_issues": "tools.github.list_issues"}
    found = _review(Use(path="mcp__git-lab__list-issues", line=1, is_free=True))
    assert [use.tool.short for use in found.tools] == ["git_lab.list_issues"]


def test_free_names_that_mean_nothing_are_left_to_python():
    found = _review(
        Use(path="undefined_thing.x", line=1, is_free=True), Use(path="mcp__no__tool", line=2, is_free=True)
    )
    assert (found.tools, found.unknown, found.aliases) == ((), (), {})


def test_a_misspelt_function_comes_with_the_nearest_names():
    (item,) = _review(Use(path="tools.github.list_isues", line=4)).unknown
    assert (item.path, item.line, item.is_server) == ("github.list_isues", 4, False)
    assert item.nearest[0].short == "github.list_issues"


def test_an_unknown_server_is_said_to_be_one():
    (item,) = _review(Use(path="tools.githup.list_issues", line=4)).unknown
    assert item.is_server
    assert item.nearest[0].short == "github.list_issues"


def test_a_module_alone_names_no_tool_and_is_no_mistake():
    found = _review(
        Use(path="tools", line=1), Use(path="tools.github", line=2), Use(path="tools.github.__doc__", line=2)
    )
    assert (found.tools, found.unknown) == ((), ())


def test_names_of_a_server_without_a_listing_come_with_the_servers_state():
    catalog = catalog_of({"slow": []}, states={"slow": "failed"})
    (item,) = review([Use(path="tools.slow.anything", line=1)], [], catalog).unknown
    assert (item.path, item.reason, item.is_server) == ("slow.anything", "failed", False)


def test_calls_of_known_tools_come_with_the_tool():
    calls = (
        CallSite(path="tools.github.list_issues", line=1, keywords={"repo": "a/b"}),
        CallSite(path="github.list_issues", line=2, is_free=True),
        CallSite(path="tools.github.nope", line=3),
    )
    assert [(tool.short, call.line) for tool, call in _review(calls=calls).calls] == [
        ("github.list_issues", 1),
        ("github.list_issues", 2),
    ]


def test_a_program_with_an_unseen_tool_is_refused_with_all_of_them():
    found = _review(Use(path="tools.github.list_issues", line=1), Use(path="tools.github.create_issue", line=2))
    judged = judge_program(found, (), Loaded(), "heal")
    assert isinstance(judged, Heal)
    assert [use.tool.short for use in judged.new] == ["github.list_issues", "github.create_issue"]
    assert judged.fits_unchanged


def test_a_program_whose_tools_were_shown_is_admitted():
    found = _review(Use(path="tools.github.list_issues", line=1))
    loaded = Loaded()
    loaded.add(use.tool for use in found.tools)
    assert judge_program(found, (), loaded, "heal") == Admit()


def test_a_wrong_call_of_a_shown_tool_is_refused_before_anything_runs():
    found = _review(Use(path="tools.github.list_issues", line=1))
    loaded = Loaded()
    loaded.add(use.tool for use in found.tools)
    problem = CallProblem(tool=found.tools[0].tool, line=1, texts=("no parameter `x`",))
    judged = judge_program(found, (problem,), loaded, "heal")
    assert isinstance(judged, Heal)
    assert not judged.fits_unchanged


def test_an_open_gate_admits_what_was_not_shown_but_not_what_does_not_exist():
    found = _review(Use(path="tools.github.list_issues", line=1))
    assert judge_program(found, (), Loaded(), "open") == Admit()
    found = _review(Use(path="tools.github.list_isues", line=1))
    assert isinstance(judge_program(found, (), Loaded(), "open"), Heal)


def test_a_strict_gate_refuses_without_loading():
    found = _review(Use(path="tools.github.list_issues", line=1))
    judged = judge_program(found, (), Loaded(), "strict")
    assert isinstance(judged, Heal)
    assert not judged.loads
    assert not judged.fits_unchanged


def test_the_same_rule_holds_at_a_call():
    tool = issues_catalog().tools[0]
    loaded = Loaded()
    assert isinstance(judge_call(tool, loaded, "heal"), Heal)
    assert judge_call(tool, loaded, "open") == Admit()
    loaded.add([tool])
    assert judge_call(tool, loaded, "strict") == Admit()


def test_a_tool_whose_definition_changed_counts_as_not_shown():
    from tests.support.catalogs import TEXT, tool

    old = catalog_of({"s": [tool("f", {"a": TEXT})]})
    new = catalog_of({"s": [tool("f", {"b": TEXT})]})
    loaded = Loaded()
    loaded.add(old.tools)
    assert old.tools[0] in loaded
    assert new.tools[0] not in loaded
