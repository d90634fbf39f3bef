"""What a program says about tools before anything runs."""

# ruff: noqa: E501  # programs stand on one line

from __future__ import annotations

import pytest

from sandbox.dialect.analysis import MAX_CALLS, MAX_NAMES
from sandbox.dialect.program import Compiled, compile_program
from sandbox.spec import UNKNOWN, CallUse, NameUse


def analysed(source: str, roots: tuple[str, ...] = ("tools",)) -> Compiled:
    return compile_program(source.encode(), dialect="restricted", filename="<p>", roots=roots)


def paths(source: str) -> set[str]:
    return {use.path for use in analysed(source).names if not use.is_free}


def calls(source: str) -> list[CallUse]:
    return list(analysed(source).calls)


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ("tools.github.create()", "tools.github.create"),
        ("import tools.github\ntools.github.create()", "tools.github.create"),
        ("import tools.github as gh\ngh.create()", "tools.github.create"),
        ("from tools import github\ngithub.create()", "tools.github.create"),
        ("from tools import github as g\ng.create()", "tools.github.create"),
        ("from tools.github import create\ncreate()", "tools.github.create"),
        ("from tools.github import create as c\nc()", "tools.github.create"),
        ("gh = tools.github\ngh.create()", "tools.github.create"),
        ("gh = tools.github\nf = gh.create\nf()", "tools.github.create"),
        ("import tools as t\nx = t\ny = x.github\ny.create()", "tools.github.create"),
        ("def main():\n    from tools.github import create\n    return create()", "tools.github.create"),
        ("from tools.github import create\ndef f():\n    return create()", "tools.github.create"),
        ("(gh := tools.github).create\ngh.create()", "tools.github.create"),
    ],
)
def test_a_call_is_resolved_through_imports_and_aliases(source: str, path: str) -> None:
    assert path in paths(source)
    assert [call.path for call in calls(source)] == [path]


def test_any_use_of_a_name_counts_whether_it_is_called_or_not() -> None:
    source = "todo = [tools.a.f, tools.b.g]\nfor f in todo:\n    f(1)\nhelp(tools.c)\npick = tools.d.x if todo else tools.d.y"
    assert paths(source) >= {"tools.a.f", "tools.b.g", "tools.c", "tools.d.x", "tools.d.y"}
    assert calls("for f in [tools.a.f]:\n    f(1)") == []


def test_an_import_counts_as_a_use() -> None:
    assert paths("from tools.github import create") == {"tools.github.create"}
    assert paths("from tools.github import *") == {"tools.github.*"}


def test_getattr_with_a_literal_name_counts_as_a_use() -> None:
    assert "tools.github.create" in paths("getattr(tools.github, 'create')(title='x')")


def test_a_parameter_or_local_of_the_same_name_is_not_the_tool() -> None:
    assert calls("from tools.github import create\ndef f(create):\n    return create(1)") == []
    assert (
        calls("import tools.github as gh\nclass A:\n    def f(self):\n        gh = dict()\n        return gh.create()")
        == []
    )
    assert "tools.github.create" in paths(
        "from tools.github import create\nclass A:\n    create = 1\n    def f(self):\n        return create()"
    )


def test_a_name_with_two_meanings_is_reported_and_its_call_is_not() -> None:
    source = "if x:\n    from tools.a import f\nelse:\n    f = print\nf(1)"
    assert "tools.a.f" in paths(source)
    assert calls(source) == []


def test_literal_arguments_are_carried_and_others_are_unknown() -> None:
    (call,) = calls("tools.a.f(1, -2.5, 'x', [1, {'k': (None, True)}], n, key={'a': [1]}, made=f'{n}', b=b'z')")
    assert call.positional == (1, -2.5, "x", [1, {"k": (None, True)}], UNKNOWN)
    assert call.keywords == {"key": {"a": [1]}, "made": UNKNOWN, "b": b"z"}
    assert (call.line, call.is_open, call.is_free) == (1, False, False)


@pytest.mark.parametrize("source", ["tools.a.f(*args)", "tools.a.f(**kw)", "tools.a.f(1, **{'x': 1})"])
def test_stars_leave_a_call_open(source: str) -> None:
    (call,) = calls(source)
    assert call.is_open


def test_positions_after_a_star_are_not_claimed() -> None:
    (call,) = calls("tools.a.f(1, *more, 2)")
    assert (call.positional, call.is_open) == ((1,), True)


def test_free_names_are_reported_with_their_path_and_calls() -> None:
    made = analysed("github.create_issue(title='x')\nmcp__github__create_issue(title='y')\nprint(len([]))")
    assert [(use.path, use.is_free) for use in made.names] == [
        ("github.create_issue", True),
        ("mcp__github__create_issue", True),
    ]
    assert [(call.path, call.keywords, call.is_free) for call in made.calls] == [
        ("github.create_issue", {"title": "x"}, True),
        ("mcp__github__create_issue", {"title": "y"}, True),
    ]


def test_the_builtins_that_evaluate_text_are_reported_unless_the_program_binds_them() -> None:
    names = [(use.path, use.line, use.is_free) for use in analysed("x = 1\neval('x')\nlist(map(exec, [])) ").names]
    assert names == [("eval", 2, True), ("exec", 3, True)]
    assert analysed("def eval(x): pass\neval('x')").names == ()


def test_names_that_the_program_binds_or_that_are_builtins_are_not_free() -> None:
    source = """
import json
from math import pi
def f(a, *b, c=1, **d):
    global g
    g = a
    return [x for x in b if (y := x)] + [c, d, y]
class K(Exception): pass
try:
    f(1)
except K as err:
    print(err)
with open("x") as handle, K() as (one, two):
    handle, one, two
for i, (j, *k) in []: i, j, k
match 1:
    case {"a": q, **rest}: q, rest
    case [z, *tail] | z as w: z, tail, w
lambda p: p
print(g, json, pi, __name__, __doc__, len, f, K)
"""
    assert [use.path for use in analysed(source).names] == []


def test_positions_are_those_of_the_source() -> None:
    assert analysed("x = 1\ny = tools.a.f(x)").names == (NameUse(path="tools.a.f", line=2, column=4),)


def test_other_roots_are_possible_and_other_modules_are_not_reported() -> None:
    made = analysed("import json, data.x\njson.loads('1')\ndata.x.get()\ntools.a.f()", roots=("data",))
    assert [(use.path, use.is_free) for use in made.names] == [
        ("data.x.get", False),
        ("tools.a.f", True),
        ("data.x", False),
    ]


def test_names_and_calls_are_bounded() -> None:
    made = analysed("\n".join(f"tools.a.f{i}({i})" for i in range(7_000)))
    assert made.diagnostics == ()
    assert (len(made.names), len(made.calls)) == (MAX_NAMES, MAX_CALLS)


def test_literals_are_bounded_together() -> None:
    made = analysed("\n".join(f"tools.a.f('{'x' * 30_000}')" for _ in range(3)))
    assert [call.positional[0] is UNKNOWN for call in made.calls] == [False, False, True]


def test_an_alias_of_itself_ends() -> None:
    assert calls("a = b\nb = a\na.f()\ng = g.h\ng()") == []


def test_a_refused_program_is_analysed_all_the_same() -> None:
    made = analysed("import os\nos.system('x')\ntools.a.f(1)")
    assert made.code is None
    assert [use.path for use in made.names] == ["tools.a.f"]


def test_native_programs_are_analysed_too() -> None:
    made = compile_program(b"import os\ntools.a.f(1)", dialect="native", filename="<p>", roots=("tools",))
    assert made.code is not None
    assert [use.path for use in made.names] == ["tools.a.f"]
