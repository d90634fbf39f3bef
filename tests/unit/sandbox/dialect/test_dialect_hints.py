"""An error that ends a run says what to write instead: a forgotten import, another language's name, another way."""

from __future__ import annotations

import pytest

from sandbox.dialect.hints import _INSTEAD, _USUAL, explain_error
from sandbox.dialect.modules import ENTRIES
from tests.support.dialect_driver import run


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("json.dumps(1)", "`json` is not imported: write `import json`"),
        ("Counter('a')", "`Counter` is not imported: write `from collections import Counter`"),
        ("timedelta(1)", "`timedelta` is not imported: write `from datetime import timedelta`"),
        ("datetime.now()", "`datetime` is not imported: write `import datetime`"),
        (
            "def f():\n    return reduce(max, [1])\nf()",
            "`reduce` is not imported: write `from functools import reduce`",
        ),
        ("x = true", "write `True`"),
        ("x = null", "write `None`"),
        ("console.log(1)", "write `print(...)`"),
        ("ls -la", "there is no shell here: call a tool, or write Python"),
        ("for i in xrange(3): pass", "this is Python 2: write `range`"),
        ("call_tool('a.b', {})", "tools are functions here: `tools.SERVER.FUNCTION(name=value)`"),
    ],
)
def test_an_unbound_name_that_is_known_is_explained(source: str, line: str) -> None:
    ran = run(source)
    assert isinstance(ran.error, NameError)
    assert explain_error(ran.error) == (line,)


def test_short_names_of_packages_are_explained_by_what_is_allowed() -> None:
    error = run("np.array([1])").error
    assert error is not None
    assert explain_error(error, ("numpy",)) == ("`np` is not imported: write `import numpy as np`",)
    assert explain_error(error)[0].startswith("`np` is not imported: `numpy`: not allowed here")


@pytest.mark.parametrize(
    ("source", "start"),
    [
        ("class A: pass\nvars(A)['x'] = 1", "the table of a class, and `locals()` in its body, are read-only here"),
        ("async def f():\n    async for x in [1]: pass\nawait f()", "write `for`: results of tools are plain values"),
    ],
)
def test_what_works_another_way_here_is_explained(source: str, start: str) -> None:
    error = run(source).error
    assert error is not None
    (line,) = explain_error(error)
    assert line.startswith(start)


def test_an_argument_of_a_command_line_is_explained() -> None:
    error = run("import sys\nsys.argv[7]").error
    assert isinstance(error, IndexError)
    assert explain_error(error, (), "sys.argv[7]") == ("there is no command line: write the value into the program",)


def test_a_key_without_quotes_is_explained() -> None:
    error = run("f = dict\nf({repo: 'a/b'})").error
    assert error is not None
    assert explain_error(error, (), "f({repo: 'a/b'})") == (
        "a key that is text needs quotes: `{'repo': ...}`; a function takes `repo=...`",
    )
    assert explain_error(error, (), "x[repo:]") == ()


@pytest.mark.parametrize("source", ["nobody_knows_this", "def f():\n    print(json)\n    json = 1\nf()", "1 / 0"])
def test_other_errors_are_left_alone(source: str) -> None:
    error = run(source).error
    assert error is not None
    assert explain_error(error) == ()


def test_a_name_of_a_hostile_error_is_not_looked_into() -> None:
    class Name(str):
        def __hash__(self) -> int:
            raise AssertionError

    assert explain_error(NameError("x", name=Name("json"))) == ()


def test_the_tables_name_what_there_is() -> None:
    assert [module for module in _USUAL if module not in ENTRIES] == []
    assert [name for name in _INSTEAD if name in ENTRIES] == []
