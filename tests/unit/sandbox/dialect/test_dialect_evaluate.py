"""Text for `eval` and `exec` has the bounds of a program, and one of its own for length."""

from __future__ import annotations

import pytest

from sandbox.dialect.evaluate import MAX_SOURCE
from tests.support.dialect_driver import run, run_apart


@pytest.mark.parametrize("function", ["eval", "exec"])
def test_text_is_bounded_in_length(function: str) -> None:
    text = "'1' + ' ' * {}"
    at_the_edge = run(f"{function}({text.format(MAX_SOURCE - 1)})\nprint('ran')")
    assert (at_the_edge.error, at_the_edge.printed) == (None, "ran\n")
    beyond = run(f"{function}({text.format(MAX_SOURCE)})").error
    assert isinstance(beyond, ValueError)
    assert str(beyond) == f"`{function}` takes up to {MAX_SOURCE} characters, got {MAX_SOURCE + 1}"


DEEP = {
    "parentheses": "'(' * 10_000 + ')' * 10_000",
    "brackets": "'[' * 500 + ']' * 500",
    "minus": "'-' * 20_000 + '1'",
    "attributes": "'a' + '.a' * 20_000",
    "sums": "'+'.join(['1'] * 20_000)",
    "calls": "'f' + '(f' * 3_000 + ')' * 3_000",
    "lambdas": "'lambda: ' * 3_000 + '1'",
}


@pytest.mark.parametrize("name", DEEP)
def test_text_that_is_too_deep_is_an_error_of_the_program_and_not_a_crash(name: str) -> None:
    source = (
        f"a = f = None\ntry:\n    eval({DEEP[name]})\nexcept Exception as error:\n    print('caught')\nprint('after')"
    )
    (answer,) = run_apart([source])
    assert answer["printed"].splitlines()[-1] == "after", answer


def test_text_that_evaluates_itself_ends_as_a_recursion() -> None:
    (answer,) = run_apart(["text = 'eval(text)'\neval(text)"])
    assert answer["error"].startswith("RecursionError")


@pytest.mark.parametrize("text", ["x = 1", "import os", "", "\\x00", "1 +"])
def test_text_that_is_no_expression_is_a_syntax_error(text: str) -> None:
    assert isinstance(run(f"eval('{text}')").error, SyntaxError | ValueError)


def test_a_code_object_or_bytes_are_no_text() -> None:
    for source in ("eval(b'1')", "exec(bytearray(b'1'))", "class S(str): pass\neval(S('1'))", "eval(None)"):
        assert "takes text, got" in str(run(source).error)
