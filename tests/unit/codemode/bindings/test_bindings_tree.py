"""The module tree: what a name gives, what a guest sees of it, what is written for review."""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from typing import Any

import pytest

from codemode.bindings import tree as tree_module
from codemode.bindings.function import Binding, Bound, Refused, bind
from codemode.bindings.tree import BindingTree
from codemode.catalog.spec import Quarantined, Tool
from tests.support.binding_guest import guest_for, structured
from tests.support.catalogs import catalog_of, issues_catalog, tool

TEXT = {"type": "string"}


def test_known_names_give_source_and_others_none() -> None:
    tree = BindingTree(issues_catalog())

    for name in (
        "tools",
        "tools._runtime",
        "tools._media",
        "tools._names",
        "tools._values",
        "tools.github",
        "tools.github.list_issues",
    ):
        source = tree.module(name)
        assert source is not None
        ast.parse(source)
    none = ["", "tool", "tools.", "tools.nope", "tools.github.nope", "tools.github.list_issues.x", "os", "tools..os"]
    for name in none:
        assert tree.module(name) is None


def test_only_what_is_asked_for_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def counted(tool: Tool) -> Bound:
        made.append(tool.short)
        return bind(tool)

    monkeypatch.setattr(tree_module, "bind", counted)
    tree = BindingTree(issues_catalog())

    tree.module("tools.github")
    tree.module("tools.github.list_issues")
    tree.module("tools.github.list_issues")

    assert made == ["github.list_issues"]


def test_unchanged_tools_are_taken_over_from_the_tree_before(monkeypatch: pytest.MonkeyPatch) -> None:
    before = BindingTree(catalog_of({"a": [tool("f")], "b": [tool("g")]}))
    assert len(before.bindings) == 2
    made: list[str] = []

    def counted(tool: Tool) -> Bound:
        made.append(tool.short)
        return bind(tool)

    monkeypatch.setattr(tree_module, "bind", counted)
    after = BindingTree(catalog_of({"a": [tool("f")], "b": [tool("g", {"x": TEXT})]}), previous=before)

    assert [bound.tool.short for bound in after.bindings] == ["a.f", "b.g"]
    assert made == ["b.g"]


def test_refused_tool_is_quarantined_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def picky(tool: Tool) -> Bound:
        return Refused(tool=tool, reason="not this one") if tool.function == "create_issue" else bind(tool)

    monkeypatch.setattr(tree_module, "bind", picky)
    tree = BindingTree(issues_catalog())

    assert tree.quarantined == (Quarantined(server="github", tool="create_issue", reason="not this one"),)
    assert tree.module("tools.github.create_issue") is None
    assert "tools/github/create_issue.py" not in tree.files()
    assert [bound.tool.short for bound in tree.bindings] == [
        "git_lab.list_issues",
        "github.delete_repo",
        "github.list_issues",
    ]


def test_files_are_below_the_folder_and_parse() -> None:
    files = BindingTree(issues_catalog()).files()

    assert sorted(files) == [
        "manifest.json",
        "tools/__init__.py",
        "tools/__init__.pyi",
        "tools/_media.py",
        "tools/_names.py",
        "tools/_runtime.py",
        "tools/_store.py",
        "tools/_values.py",
        "tools/git_lab/__init__.py",
        "tools/git_lab/__init__.pyi",
        "tools/git_lab/list_issues.py",
        "tools/github/__init__.py",
        "tools/github/__init__.pyi",
        "tools/github/create_issue.py",
        "tools/github/delete_repo.py",
        "tools/github/list_issues.py",
    ]
    for path, text in files.items():
        if path.endswith((".py", ".pyi")):
            ast.parse(text)


def test_manifest_names_every_binding_with_its_digest() -> None:
    tree = BindingTree(issues_catalog())

    manifest = json.loads(tree.manifest())

    assert [one["path"] for one in manifest["tools"]] == [bound.tool.path for bound in tree.bindings]
    assert manifest["tools"][0] == {
        "id": str(tree.bindings[0].tool.spec.id),
        "server": "git-lab",
        "tool": "list-issues",
        "path": "tools.git_lab.list_issues",
        "sha256": tree.bindings[0].digest,
    }
    assert manifest["quarantined"] == []


def test_equal_catalogs_give_equal_bytes_in_any_order() -> None:
    servers: dict[str, list[Any]] = {"a": [tool("f"), tool("g")], "b": [tool("h")]}
    turned = {name: tools[::-1] for name, tools in reversed(servers.items())}

    assert BindingTree(catalog_of(servers)).files() == BindingTree(catalog_of(turned)).files()


def test_stub_shows_functions_with_types_and_text() -> None:
    stub = BindingTree(catalog_of({"a": [tool("f", {"x": TEXT, "y": TEXT}, ("x",))]})).files()["tools/a/__init__.pyi"]

    assert stub.startswith("from typing import Any, Literal\n\ndef f(\n    x: str,\n    y: str = ...,\n")


# -- as a guest sees it -----------------------------------------------------------------------------------------------


def test_every_way_to_name_a_function_gives_the_same_one() -> None:
    with guest_for(BindingTree(issues_catalog())) as guest:
        names = guest.run(
            "from tools.github import list_issues as a\n"
            "import tools.github as gh\n"
            "import tools.github.list_issues as b\n"
            "from tools import github\n"
            "same = a is b is gh.list_issues is github.list_issues is tools.github.list_issues\n"
        )

    assert names["same"] is True


def test_run_loads_only_what_it_uses() -> None:
    with guest_for(BindingTree(issues_catalog())) as guest:
        guest.run("tools.github.list_issues(repo='a')\ntools.github.list_issues(repo='b')")

    assert guest.loads == ["tools", "tools._runtime", "tools.github", "tools.github.list_issues"]


def test_dir_lists_servers_and_functions() -> None:
    with guest_for(BindingTree(issues_catalog())) as guest:
        assert guest.value("dir(tools)") == ["git_lab", "github"]
        assert guest.value("dir(tools.github)") == ["create_issue", "delete_repo", "list_issues"]


def test_star_import_gives_every_function_of_a_server() -> None:
    with guest_for(BindingTree(issues_catalog())) as guest:
        names = guest.run("from tools.github import *\nlist_issues(repo='a')")

    assert {"create_issue", "delete_repo", "list_issues"} <= names.keys()
    assert len(guest.calls) == 1


@pytest.mark.parametrize(
    ("program", "error", "message"),
    [
        (
            "tools.github.lst_issues",
            AttributeError,
            "`tools.github` has no function `lst_issues`; nearest: list_issues, create_issue",
        ),
        (
            "from tools.github import lst_issues",
            ImportError,
            "`tools.github` has no function `lst_issues`; nearest: list_issues, create_issue",
        ),
        ("tools.githb", AttributeError, "`tools` has no server `githb`; nearest: github, git_lab"),
        ("from tools import githb", ImportError, "`tools` has no server `githb`; nearest: github, git_lab"),
        (
            "tools.github.zzz",
            AttributeError,
            "`tools.github` has no function `zzz`; it has: create_issue, delete_repo, list_issues",
        ),
    ],
)
def test_misspelt_name_is_answered_with_the_nearest(program: str, error: type[Exception], message: str) -> None:
    with guest_for(BindingTree(issues_catalog())) as guest, pytest.raises(error) as caught:
        guest.run(program)

    assert str(caught.value) == message


def test_hasattr_and_dunder_lookups_are_quiet() -> None:
    with guest_for(BindingTree(issues_catalog())) as guest:
        assert guest.value("hasattr(tools.github, 'nope')") is False
        assert guest.value("hasattr(tools.github, '__wrapped__')") is False
        assert guest.value("getattr(tools, 'nope', None)") is None


def test_server_without_tools_says_so() -> None:
    with guest_for(BindingTree(catalog_of({"empty": []}))) as guest, pytest.raises(AttributeError) as caught:
        guest.value("tools.empty.f")

    assert str(caught.value) == "`tools.empty` has no function `f`; it has: nothing now"


def test_error_class_and_raw_can_be_imported_from_the_root() -> None:
    with guest_for(BindingTree(issues_catalog())) as guest:
        names = guest.run("from tools import ToolError, raw\nok = issubclass(ToolError, Exception) and callable(raw)")

    assert names["ok"] is True


def test_signature_of_a_loaded_function_is_pythons_own() -> None:
    with guest_for(BindingTree(issues_catalog())) as guest:
        names = guest.run("import inspect\nshown = str(inspect.signature(tools.github.create_issue))")

    assert names["shown"] == "(repo: 'str', title: 'str', **_others: 'Any') -> 'Any'"


def test_functions_of_two_servers_with_one_name_reach_their_own_server() -> None:
    tree = BindingTree(catalog_of({"git-hub": [tool("create_issue")], "linear": [tool("create_issue")]}))
    with guest_for(tree) as guest:
        guest.answer = lambda target, arguments: structured({"result": target.partition(":")[0]})

        assert guest.value("[tools.git_hub.create_issue(), tools.linear.create_issue()]") == ["git-hub", "linear"]


def test_binding_looked_up_directly_is_the_one_served() -> None:
    tree = BindingTree(issues_catalog())
    bound = tree.binding("github", "list_issues")

    assert isinstance(bound, Binding)
    assert bound.source == tree.module("tools.github.list_issues")
    assert tree.binding("github", "nope") is None
    assert replace(bound, source=bound.source + "#").digest != bound.digest
