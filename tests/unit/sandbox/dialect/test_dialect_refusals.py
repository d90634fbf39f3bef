"""Everything that is refused has one line of reason on the page, and a message with what to write instead."""

from __future__ import annotations

import importlib
import warnings
from pathlib import Path

import pytest

from sandbox.dialect.modules import ENTRIES, Importable
from sandbox.dialect.nearest import GROUPS
from sandbox.dialect.page import SYNTAX, build_page
from sandbox.dialect.program import compile_program
from sandbox.dialect.rules import CHECKED_ATTRIBUTES, REFUSED_ATTRIBUTES, REFUSED_BUILTINS
from sandbox.spec import Diagnostic

PAGE = build_page()
MODULES = sorted({name for names, _ in GROUPS for name in names.split()})


def refused(source: str) -> Diagnostic:
    made = compile_program(source.encode(), dialect="restricted", filename="<program>", roots=("tools",))
    assert made.code is None, source
    assert made.diagnostics[0].code == "dialect.refused"
    return made.diagnostics[0]


def is_one_line(text: str) -> bool:
    return bool(text) and "\n" not in text and text == text.strip() and not text.endswith(".") and len(text) < 300


@pytest.mark.parametrize("table", [REFUSED_ATTRIBUTES, REFUSED_BUILTINS], ids=["attributes", "builtins"])
def test_every_refused_name_has_a_reason_and_a_remedy_on_the_page(table: dict[str, tuple[str, str]]) -> None:
    bad = [name for name, (reason, hint) in table.items() if not (is_one_line(reason) and is_one_line(hint))]
    assert bad == []
    assert [name for name, (reason, hint) in table.items() if not (f"`{name}`" in PAGE and reason in PAGE)] == []


@pytest.mark.parametrize("name", sorted(REFUSED_ATTRIBUTES))
def test_a_refused_attribute_says_its_reason_and_remedy(name: str) -> None:
    # Reading the checked ones depends on the object; nobody may assign them.
    found = refused(f"x = 1\nx.{name}{' = 1' if name in CHECKED_ATTRIBUTES else ''}")
    reason, hint = REFUSED_ATTRIBUTES[name]
    assert (found.message, found.hint, found.line) == (f"`{name}`: {reason}", hint, 2)


@pytest.mark.parametrize("name", sorted(REFUSED_BUILTINS))
def test_a_refused_builtin_says_its_reason_and_remedy(name: str) -> None:
    found = refused(f"{name}")
    reason, hint = REFUSED_BUILTINS[name]
    assert (found.message, found.hint) == (f"`{name}`: {reason}", hint)


@pytest.mark.parametrize("source", SYNTAX)
def test_refused_syntax_says_its_reason_and_remedy(source: str) -> None:
    found = refused(f"import json\n{source}")
    assert is_one_line(found.message)
    assert is_one_line(found.hint)
    assert found.line >= 2


@pytest.mark.parametrize("name", MODULES)
def test_a_refused_module_says_what_to_use(name: str) -> None:
    found = refused(f"import {name}")
    assert found.message == f"`{name}` cannot be imported"
    assert is_one_line(found.hint)
    assert f"`{name}`" in PAGE


@pytest.mark.parametrize("module", sorted(ENTRIES))
def test_every_public_name_that_a_module_leaves_out_is_refused_with_what_there_is(module: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        real = importlib.import_module(ENTRIES[module].real or module)
        names = [name for name in dir(real) if not name.startswith("_")]
    left_out = [name for name in names if name not in ENTRIES[module].all_names() and f"{module}.{name}" not in ENTRIES]
    importable = Importable(("tools",))
    for name in left_out:
        by_import, by_attribute = importable.problem(module, name), importable.missing(module, name)
        assert by_import is not None, name
        assert by_import[:2] == by_attribute
        assert is_one_line(by_import[1]), (name, by_import)


def test_the_readme_names_every_kind_of_refusal_that_the_page_shows() -> None:
    text = Path(__file__).parents[4].joinpath("sandbox/dialect/README.md").read_text(encoding="utf-8")
    for word in (
        "`except*`",
        "metaclass",
        "`__slots__`",
        "`_cm_`",
        "`compile`",
        "`type(name, bases, dict)`",
        "str.format",
    ):
        assert word in text, word
