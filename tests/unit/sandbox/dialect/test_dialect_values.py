"""The value of a run: last expression, `return` at top level, last assignment."""

# ruff: noqa: E501  # programs stand on one line

from __future__ import annotations

import traceback

import pytest

from sandbox.dialect.program import compile_program
from tests.support.dialect_driver import run


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("1 + 1", 2),
        ("x = [3]\nx", [3]),
        ("'text alone'", "text alone"),
        ("return 5", 5),
        ("return", None),
        ("x = 1\nif x:\n    return 'a'\n'b'", "a"),
        ("for i in range(3):\n    for j in range(3):\n        if j == 1:\n            return i, j", (0, 1)),
        ("while True:\n    for x in [1, 2]:\n        if x == 2:\n            return 'found'", "found"),
        ("for i in []:\n    pass\nelse:\n    return 'else'", "else"),
        ("for k in [1]:\n    for i in []:\n        pass\n    else:\n        return 'inner'\n'no'", "inner"),
        ("match 3:\n    case 3:\n        return 'three'\n'no'", "three"),
        ("try:\n    return 1\nfinally:\n    return 2", 2),
        ("if True:\n    5\nelse:\n    6", 5),
        ("try:\n    1 / 0\nexcept ZeroDivisionError:\n    'handled'", "handled"),
        ("match 2:\n    case 1:\n        'a'\n    case _:\n        'b'", "b"),
        ("from __future__ import annotations\nreturn 1", 1),
        ("'''Doc.'''\nfrom __future__ import annotations\nfor i in [1]:\n    return i", 1),
        ("async def f():\n    return 3\nreturn await f()", 3),
        ("with open('a', 'w') as f:\n    return f.write('abc')", 3),
    ],
)
def test_the_value_of_a_program(source: str, value: object) -> None:
    for dialect in ("restricted", "native"):
        if "open(" in source and dialect == "native":
            continue
        ran = run(source, dialect=dialect)
        assert (ran.refusals, ran.error) == ([], None)
        assert ran.value == value


@pytest.mark.parametrize("handler", ["except:", "except BaseException:", "except Exception:"])
def test_no_handler_of_the_program_swallows_a_return(handler: str) -> None:
    ran = run(f"try:\n    return 1\n{handler}\n    print('swallowed')\nfinally:\n    print('finally')\nprint('after')")
    assert (ran.value, ran.printed) == (1, "finally\n")


def test_a_context_manager_sees_a_return_as_a_normal_exit() -> None:
    source = """
class Tx:
    def __enter__(self):
        return self
    def __exit__(self, *error):
        print(error)
        return True
for i in range(2):
    with Tx():
        return i
"""
    ran = run(source)
    assert (ran.value, ran.printed) == (0, "(None, None, None)\n")


def test_a_return_leaves_every_loop_and_runs_no_else() -> None:
    ran = run(
        "for i in [1]:\n    while True:\n        return i\n    else:\n        print('x')\nelse:\n    print('y')\nprint('z')"
    )
    assert (ran.value, ran.printed) == (1, "")


def test_a_return_in_a_function_stays_the_functions() -> None:
    assert run("def f():\n    for i in [1]:\n        return i\nf() + 1").value == 2


@pytest.mark.parametrize("source", ["class A:\n    return 1", "lambda: (yield)\nyield 1"])
def test_return_or_yield_where_python_has_none_is_a_syntax_error(source: str) -> None:
    assert run(source).compiled.diagnostics[0].code == "guest.syntax"


@pytest.mark.parametrize(
    "source", ["if 1:\n    break\nreturn 1", "continue\nreturn 1", "try:\n    break\nfinally:\n    return"]
)
def test_break_or_continue_without_a_loop_stays_a_syntax_error(source: str) -> None:
    (error,) = run(source).compiled.diagnostics
    assert (error.code, error.message.split("'")[2]) in (
        ("guest.syntax", " outside loop"),
        ("guest.syntax", " not properly in loop"),
    )
    assert error.line > 0


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("x = 1", "x"),
        ("x: int = 1", "x"),
        ("x = 1\nx += 1", "x"),
        ("x = y = 2", "x"),
        ("a, b = 1, 2", ""),
        ("d = {}\nd['k'] = 1", ""),
        ("x = 1\nx", ""),
        ("x: int", ""),
        ("import json", ""),
        ("x = await 1", "x"),
    ],
)
def test_a_last_assignment_is_named(source: str, name: str) -> None:
    made = compile_program(source.encode(), dialect="restricted", filename="<p>", roots=())
    assert made.assigned_last == name


def test_a_program_that_only_assigns_delivers_nothing() -> None:
    assert not run("x = 1").delivered


def test_a_global_statement_still_means_the_programs_globals() -> None:
    assert run("n = 0\ndef f():\n    global n\n    n += 2\nf()\nif n:\n    return n").value == 2


def test_lines_and_carets_of_a_traceback_are_the_models_own() -> None:
    source = "import json\nrows = [1]\nfor row in rows:\n    if row:\n        return row + json.loads('[0]')[7]\n"
    ran = run(source)
    assert ran.error is not None
    frame = traceback.extract_tb(ran.error.__traceback__)[-1]
    assert (frame.lineno, frame.colno, frame.end_colno) == (5, 21, 41)


def test_an_awaited_call_keeps_its_place_in_the_source() -> None:
    ran = run("async def f(x):\n    return 1 / x\nx = 0\ny = 1 + await f(x)\n")
    assert ran.error is not None
    frames = [frame for frame in traceback.extract_tb(ran.error.__traceback__) if frame.filename == "<program>"]
    assert [(frame.lineno, frame.colno, frame.end_colno) for frame in frames] == [(4, 8, 18), (2, 11, 16)]


def test_top_level_await_makes_a_coroutine_and_its_absence_does_not() -> None:
    def made(source: bytes) -> bool:
        return compile_program(source, dialect="restricted", filename="<p>", roots=()).is_coroutine

    assert made(b"await x")
    assert made(b"async for x in y: pass")
    assert made(b"[x async for x in y]")
    assert not made(b"async def f():\n    await x\nf")
