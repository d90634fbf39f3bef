"""A name of an earlier run is known as such, from the text of its program alone."""

import pytest

from codemode.runs.fresh import starts_fresh

UNKNOWN = "name 'rows' is not defined"


@pytest.mark.parametrize(
    "program",
    [
        "rows = 1",
        "rows: list[int] = []",
        "a, rows = 1, 2",
        "(a, rows) = f()",
        "a = rows = 1",
        "rows += 1",
        "def rows(): pass",
        "async def rows(): pass",
        "class rows: pass",
        "import x as rows",
        "from a import rows, b",
        "for rows in x: pass",
        "with f() as rows:",
        "if True:\n    rows = 2",
    ],
)
def test_a_name_that_an_earlier_run_bound_is_explained(program):
    assert starts_fresh("NameError", UNKNOWN, [("r2", "1"), ("r1", program)]) == (
        "each run starts fresh: `rows` was a name of run r1; send one program that makes it and uses it"
    )


@pytest.mark.parametrize(
    "program",
    [
        "f(rows=1)",
        "rows == 1",
        "x.rows = 1",
        "print(rows)",
        "x['rows'] = 1",
        "rows = " + "1" * 2_000,
        "def f():\n        rows = 2",
    ],
)
def test_a_name_that_no_earlier_run_bound_is_not_explained(program):
    assert starts_fresh("NameError", UNKNOWN, [("r1", program)]) == ""


def test_other_errors_are_not_explained():
    assert starts_fresh("KeyError", UNKNOWN, [("r1", "rows = 1")]) == ""
    assert starts_fresh("NameError", "rows", [("r1", "rows = 1")]) == ""


def test_a_name_and_a_program_of_an_attacker_cost_little():
    program = "\n".join(["rows " * 190] * 250)
    assert starts_fresh("NameError", UNKNOWN, [("r1", program)] * 5) == ""
