"""The page of the dialect is what its tables say, and every refusal has a reason and a way out."""

import pytest

from sandbox.dialect.page import build_page
from sandbox.dialect.rules import REFUSED_ATTRIBUTES, REFUSED_BUILTINS
from tests.architecture.source import ROOT


def test_the_page_is_made_from_the_tables():
    written = (ROOT / "sandbox/dialect/ALLOWED.md").read_text(encoding="utf-8")
    assert written == build_page(), "run `python -m sandbox.dialect.page > sandbox/dialect/ALLOWED.md`"


@pytest.mark.parametrize("table", [REFUSED_ATTRIBUTES, REFUSED_BUILTINS], ids=["attributes", "builtins"])
def test_every_refused_name_has_one_line_of_reason_and_one_of_remedy(table):
    for name, (reason, hint) in table.items():
        assert reason, name
        assert hint, name
        assert "\n" not in reason + hint


def test_every_refused_module_has_a_remedy():
    rows = [
        line for line in build_page().partition("## Modules that are refused")[2].splitlines() if line.startswith("| `")
    ]
    assert all(row.split("|")[2].strip() for row in rows)
