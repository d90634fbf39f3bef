"""What models wrap around Python is taken off, and what is not Python is named."""

from __future__ import annotations

import sys

import pytest

from sandbox.dialect.program import Compiled, compile_program


def compiled(source: bytes) -> Compiled:
    return compile_program(source, dialect="restricted", filename="<program>", roots=("tools",))


def only_error(source: bytes) -> tuple[str, str, int]:
    made = compiled(source)
    errors = [item for item in made.diagnostics if item.severity == "error"]
    assert made.code is None
    assert len(errors) == 1
    return errors[0].code, errors[0].message, errors[0].line


def notes(source: bytes) -> list[str]:
    made = compiled(source)
    assert made.code is not None
    return [item.message for item in made.diagnostics]


@pytest.mark.parametrize("source", [b"", b"  \n\t\n", b"# only a remark\n", b"\xef\xbb\xbf"])
def test_an_empty_program_says_that_there_is_no_program(source: bytes) -> None:
    assert only_error(source) == ("guest.syntax", "there is no program", 0)


def test_a_byte_order_mark_and_any_line_ends_are_taken() -> None:
    assert compiled(b"\xef\xbb\xbfx = 1\r\ny = 2\rx + y").lines == ("x = 1", "y = 2", "x + y")


def test_a_byte_that_is_not_utf8_is_named_with_its_place() -> None:
    code, message, line = only_error(b"a = 1\nb = '\xff'")
    assert (code, line) == ("guest.syntax", 2)
    assert message == "the source is not UTF-8: byte 0xff at offset 11 (line 2, column 5)"


def test_half_of_a_surrogate_pair_is_named() -> None:
    assert "half of a surrogate pair" in only_error("x = 'a\ud83d'".encode("utf-8", "surrogatepass"))[1]


def test_a_null_byte_is_a_clean_error_with_its_line() -> None:
    assert only_error(b"a = 1\nb\x00 = 2") == ("guest.syntax", "the source contains a null byte", 2)


@pytest.mark.parametrize("fence", ["```python\n{}\n```", "```\n{}\n```", "\n\n```py\n{}```\n\n", "~~~\n{}\n~~~"])
def test_one_markdown_fence_around_everything_is_taken_off_and_noted(fence: str) -> None:
    assert notes(fence.format("x = 1\nx").encode()) == ["a Markdown fence around the program was taken off"]


def test_line_numbers_stay_those_of_the_text_that_was_sent_with_a_fence() -> None:
    made = compiled(b"```python\nx = 1\ny = = 2\n```")
    assert made.diagnostics[-1].line == 3
    assert made.diagnostics[-1].source_line == "y = = 2"


def test_a_fence_inside_of_a_program_is_named() -> None:
    assert only_error(b"x = 1\n```\ny = 2")[1] == "a Markdown fence stands inside of the program"


def test_uniform_indentation_is_taken_off_and_noted() -> None:
    assert notes(b"    x = 1\n    if x:\n        x = 2\n\n    x") == ["uniform indentation was taken off"]


def test_indentation_that_is_not_uniform_is_pythons_own_error() -> None:
    assert only_error(b"    x = 1\ny = 2\n")[1] == "unexpected indent"


def test_mixed_tabs_are_pythons_own_error() -> None:
    assert "inconsistent use of tabs" in only_error(b"if 1:\n\tx = 1\n        y = 2\n")[1]


@pytest.mark.parametrize(
    ("source", "looks_like"),
    [
        (b"print 'hello'", "`print` without parentheses is Python 2"),
        (b"exec 'x = 1'", "`exec` without parentheses is Python 2"),
        (b"try:\n    f()\nexcept OSError, e:\n    pass", "`except Error, name` is Python 2"),
        (b"raise ValueError, 'x'", "`raise Error, text` is Python 2"),
        (b"if 1 <> 2: pass", "`<>` is Python 2"),
        (b"x = ur'a'", "`ur''` is Python 2"),
        (b"x = 10L", "an `L` behind a number is Python 2"),
        (b"x = `1`", "backticks around a value are Python 2"),
        (b"x = 1\nprint x", "`print` without parentheses is Python 2"),
        (b"pip install requests", "this looks like a shell command, not Python"),
        (b"$ ls -la", "this looks like a shell command, not Python"),
        (b"curl https://example.invalid/x", "this looks like a shell command, not Python"),
        (b"!pip install x", "this looks like a shell command, not Python"),
        (b"const rows = await tools.github.list();", "this looks like JavaScript, not Python"),
        (b"let x = 1;", "this looks like JavaScript, not Python"),
        (b"function main() {\n  return 1;\n}", "this looks like JavaScript, not Python"),
        (b"import { x } from 'y';", "this looks like JavaScript, not Python"),
        (b"x = 1\n%timeit f(x)", "this looks like an IPython command, not Python"),
        (b"%%time\nx = 1", "this looks like an IPython command, not Python"),
        (b"files = !ls", "this looks like a shell command, not Python"),
        (b"tools.github?", "this looks like an IPython question, not Python"),
        (b"cat rows.csv | grep x", "this looks like a shell command, not Python"),
        (b"async () => {\n  return await tools.a.b();\n}", "this looks like JavaScript, not Python"),
        (b"if (x === 1) { f(); }", "this looks like JavaScript, not Python"),
        (b"x = a && b", "this looks like JavaScript, not Python"),
        (b"rows.map(r => r.id)", "this looks like JavaScript, not Python"),
        (b"x = `${name}`", "this looks like JavaScript, not Python"),
        (b"x = new Map()", "this looks like JavaScript, not Python"),
        (b"i++", "this looks like JavaScript, not Python"),
        (b"// all rows\nx = 1", "this looks like JavaScript, not Python"),
        (b"interface Row {\n  id: number;\n}", "this looks like TypeScript, not Python"),
        (b"type Row = { id: number; name: string };", "this looks like TypeScript, not Python"),
        (b"SELECT id FROM rows WHERE x = 1;", "this looks like SQL, not Python"),
        (b"public class A { }", "this looks like Java or C#, not Python"),
        (b"fn main() { }", "this looks like Rust, not Python"),
        (b"package main\n", "this looks like Go, not Python"),
        (b"rows.each do |r|\n  r\nend", "this looks like Ruby, not Python"),
        (b"Here is the program you asked for:", "this looks like prose, not Python"),
        (b"<tool_call>{}</tool_call>", "this looks like a tool call or markup, not Python"),
    ],
)
def test_what_is_not_python_is_named(source: bytes, looks_like: str) -> None:
    assert only_error(source)[1] == looks_like


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        (b"if 1:\n\tx = 1\n        y = 2\n", "indent with spaces alone"),
        (b"x = date(2024, 01, 05)", "write `5` for `05`, and `0o17` for an octal number"),
        (b"if a:\n    b\nelse if c:\n    d", "write `elif`"),
        (b"f(from='a')", "`from` is a keyword of Python: write `from_`, as functions of `tools` do"),
        (b"x := 1", "write `=`; `:=` stands inside of an expression, in parentheses"),
        (b"x = 1\n  y = 2\nz = 3", "start every line of the top level at the left edge"),
        ("x = 1\u2028y = 2".encode(), "remove the character; in a string write it as an escape"),
        (b"pip install requests", "nothing can be installed; import what there is"),
        (b"x = a || b", "write `or`"),
        (b"x = a ? b : c", "write `a if condition else b`"),
        (b"name: build\nsteps:\n  - run: y", "if this is YAML: send Python source; text goes into a string"),
    ],
)
def test_a_syntax_error_says_what_to_write(source: bytes, hint: str) -> None:
    assert compiled(source).diagnostics[0].hint == hint


@pytest.mark.parametrize("source", [b"x = 'a && b' c", b"print('10L', 5 6)", b"x = f(1, '<>' 2)", b"y = (1 # a => b"])
def test_what_stands_in_strings_and_remarks_is_not_taken_for_another_language(source: bytes) -> None:
    assert " not Python" not in compiled(source).diagnostics[0].message
    assert "Python 2" not in compiled(source).diagnostics[0].message


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="did not run: this Python has the newer syntax")
def test_syntax_of_a_newer_python_is_named() -> None:
    assert "before Python 3.12" in compiled(b"d = {}\nx = f'{d['a']}'").diagnostics[0].hint
    assert "before Python 3.12" in compiled(b"x = f'{a.split(\"\\n\")}'").diagnostics[0].hint
    assert "syntax of Python 3.12" in compiled(b"type Row = dict").diagnostics[0].hint
    assert "syntax of Python 3.12" in compiled(b"def first[T](rows: list[T]) -> T: ...").diagnostics[0].hint


def test_utf16_is_named() -> None:
    assert only_error("x = 1".encode("utf-16")) == ("guest.syntax", "the source is UTF-16", 0)


def test_a_syntax_error_has_line_column_and_source_line() -> None:
    error = compiled(b"x = 1\nif x\n    y = 2\n").diagnostics[0]
    assert (error.code, error.line, error.column, error.source_line) == ("guest.syntax", 2, 4, "if x")
    assert error.message == "expected ':'"


def test_await_in_a_plain_function_says_what_to_write() -> None:
    error = compiled(b"def f():\n    return await g()\n").diagnostics[0]
    assert error.message == "'await' outside async function"
    assert "async def" in error.hint


def test_a_bidirectional_control_is_noted_and_runs() -> None:
    assert notes("x = 'a\u202eb'".encode()) == [
        "line 1 holds a bidirectional control (U+202E): it may show in another order"
    ]


@pytest.mark.parametrize(
    "source",
    [
        b"(" * 10_000 + b")" * 10_000,
        b"[" * 500 + b"]" * 500,
        b"-" * 20_000 + b"1",
        b"not " * 20_000 + b"1",
        b"a" + b".a" * 20_000,
        b"x = " + b"+".join([b"1"] * 20_000),
        b"f" + b"(f" * 3_000 + b")" * 3_000,
        b"x = " + b"lambda: " * 3_000 + b"1",
        b"\n".join(b" " * i + b"if 1:" for i in range(150)) + b" pass",
    ],
    ids=["parens", "brackets", "minus", "not", "chain", "sum", "calls", "lambdas", "indentation"],
)
def test_a_program_that_is_too_deep_is_a_limit_and_not_a_crash(source: bytes) -> None:
    made = compiled(source)
    if made.code is None:
        assert made.diagnostics[-1].code == "limit.compile"
        assert made.diagnostics[-1].message.startswith("the program is too deep or too large to compile")


def test_one_line_of_a_megabyte_compiles() -> None:
    assert compiled(b"x = '" + b"a" * 1_000_000 + b"'").code is not None


def test_a_diagnostic_shows_only_the_start_of_a_very_long_line() -> None:
    assert len(compiled(b"x = = '" + b"a" * 100_000 + b"'").diagnostics[0].source_line) == 300


def test_an_integer_of_too_many_digits_is_a_syntax_error() -> None:
    assert compiled(b"x = " + b"9" * 10_000).diagnostics[0].code == "guest.syntax"


def test_any_bytes_give_an_answer() -> None:
    for number in range(256):
        for source in (bytes([number]), bytes([number]) * 3 + b"\n", b"x = '" + bytes([number]) + b"'"):
            made = compiled(source)
            assert (made.code is None) == any(item.severity == "error" for item in made.diagnostics)
