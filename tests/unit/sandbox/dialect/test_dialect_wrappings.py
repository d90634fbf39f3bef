"""What is wrapped around a program is taken off and noted; a text that is Python as it stands is left alone."""

from __future__ import annotations

import pytest

from sandbox.dialect.lexing import bare, code_of, lines_inside_literals
from sandbox.dialect.program import Compiled, compile_program
from tests.support.dialect_driver import run

FENCE = "a Markdown fence around the program was taken off"
AROUND = "the text around the fence was left out"
PROMPTS = "the prompts of an interactive session were taken off"
OUTPUT = "lines without a prompt were taken for output and left out"
HTML = "HTML escapes such as `&lt;` were read as the characters that they stand for"
LINE_ENDS = "`\\n` between the statements was read as the end of a line"
PLAIN = "typographic quotes, spaces or signs in the code were read as the plain ones"


def compiled(source: str) -> Compiled:
    return compile_program(source.encode(), dialect="restricted", filename="<program>", roots=("tools",))


# Text → the value of the program in it, and what is noted.
REPAIRED: dict[str, tuple[str, object, list[str]]] = {
    "fence": ("```python\nx = 20\nx + 1\n```", 21, [FENCE]),
    "fence of waves": ("~~~py\n5 + 1\n~~~", 6, [FENCE]),
    "fence of four": ("````python\n5 + 1\n````", 6, [FENCE]),
    "fence with attributes": ('```python title="a.py"\n5 + 1\n```', 6, [FENCE]),
    "fence closed behind the code": ("```python\n5 + 1```", 6, [FENCE]),
    "fence never closed": ("```python\n5 + 1", 6, [FENCE]),
    "fence never opened": ("5 + 1\n```\n", 6, [FENCE]),
    "fence in one line": ("```5 + 1```", 6, [FENCE]),
    "backticks": ("`5 + 1`", 6, [FENCE]),
    "fence after prose": ("Here is the program:\n\n```python\n5 + 1\n```", 6, [FENCE, AROUND]),
    "fence before prose": ("```python\n5 + 1\n```\nIt adds (two) numbers.", 6, [FENCE, AROUND]),
    "fence with windows line ends": ("```python\r\n5 + 1\r\n```\r\n", 6, [FENCE]),
    "fence around a fence in a string": ("```python\nx = '''\n```sql\n1\n```\n'''\nlen(x)\n```", 14, [FENCE]),
    "indented fence": ("  ```python\n  5 + 1\n  ```", 6, [FENCE, "uniform indentation was taken off"]),
    "word of a fence": ("python\nx = 5\nx + 1", 6, ["the first line, `python`, was taken off"]),
    "prompts": (">>> x = 5\n>>> x + 1", 6, [PROMPTS]),
    "prompts with output": (">>> x = 5\n>>> x\n5\n>>> x + 1\n6", 6, [PROMPTS, OUTPUT]),
    "prompts of a block": (">>> n = 0\n>>> for i in [1, 2]:\n...     n += i\n...\n>>> n * 2", 6, [PROMPTS]),
    "prompts of IPython": ("In [1]: x = 5\nIn [2]: x + 1\nOut[2]: 6", 6, [PROMPTS, OUTPUT]),
    "html": ("x = 1 if 3 &lt; 4 &lt;= 5 else 0\nx + 5", 6, [HTML]),
    "html in code and in strings": ("x = &quot;a &amp; b&quot;\nx", "a & b", [HTML]),
    "html apostrophes": ("x = &#39;it&#39; + '!'\nx", "it!", [HTML]),
    "line ends as text": ("x = 5\\nfor i in [1]:\\n    x += i\\nx", 6, [LINE_ENDS]),
    "line ends and quotes as text": ('x = \\"a\\\\n\\"\\nx + \\"b\\"', "a\nb", [LINE_ENDS]),
    "line ends outside and inside of strings": ("x = 'a\\nb'\\nx", "a\nb", [LINE_ENDS]),
    "indentation": ("    x = 5\n    if x:\n        x += 1\n\n    x", 6, ["uniform indentation was taken off"]),
    "indentation by tabs": ("\tx = 5\n\tif x:\n\t\tx += 1\n\tx", 6, ["uniform indentation was taken off"]),
    "indentation around a string": ("    x = '''\na\n  b'''\n    x", "\na\n  b", ["uniform indentation was taken off"]),
    "indentation after the first line": (
        "x = 5\n    if x:\n        x += 1\n    x",
        6,
        ["uniform indentation was taken off all lines but the first"],
    ),
    "curly quotes": ("x = “it’s”\nx", "it’s", [PLAIN]),
    "curly single quotes": ("{‘a’: 6}[‘a’]", 6, [PLAIN]),
    "curly quotes around straight ones": ("x = “say 'a' or \\n”\nx", "say 'a' or \n", [PLAIN]),
    "spaces that do not break": ("x\u00a0=\u00a05\nif x:\n\u00a0\u00a0\u00a0\u00a0x += 1\nx", 6, [PLAIN]),
    "characters without width": ("x\u200b = 5\n\ufeffx + 1", 6, [PLAIN]),
    "wide signs": ("x＝[1，2，3]\nsum（x）", 6, [PLAIN]),
    "dashes": ("9 – 2 − 1", 6, [PLAIN]),
}


@pytest.mark.parametrize("name", REPAIRED)
def test_what_is_wrapped_around_a_program_is_taken_off_and_noted(name: str) -> None:
    source, value, notes = REPAIRED[name]
    ran = run(source)
    assert [item.message for item in ran.compiled.diagnostics] == notes
    assert ran.error is None, ran.error
    assert ran.value == value


LEFT_ALONE: dict[str, tuple[str, object]] = {
    "fence in a string": ("x = '''\n```\n'''\nx", "\n```\n"),
    "prompt in a string": ("x = '''\n>>> a\n'''\nx", "\n>>> a\n"),
    "html in a string": ("'a &lt; b'", "a &lt; b"),
    "html in a remark": ("5 + 1  # a &lt; b", 6),
    "escape in a string": ("'a\\nb'", "a\nb"),
    "curly quotes in a string": ("'“a”'", "“a”"),
    "space in a string": ("'a\u00a0b'", "a\u00a0b"),
    "wide signs in a string": ("x = '（）'\nx", "（）"),
    "wide letters as names": ("ｘ = 6\nx", 6),
    "a dict": ('{"a": 1}', {"a": 1}),
    "data with a code": ('{"code": "US", "name": "x"}', {"code": "US", "name": "x"}),
    "a list": ("[1, 2]", [1, 2]),
    "text of several lines": ('"dear\\nreader"', "dear\nreader"),
    "a block": ("if True:\n    x = 6\nx", 6),
    "a string at the margin": ("def f():\n    return '''\na'''\nf()", "\na"),
}


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_a_text_that_is_python_is_left_as_it_is(name: str) -> None:
    source, value = LEFT_ALONE[name]
    ran = run(source)
    assert ran.compiled.diagnostics == ()
    assert ran.value == value


# Text → message, line, a part of the hint.
REFUSED: dict[str, tuple[str, str, int, str]] = {
    "two fences": (
        "```python\nx = 1\n```\nthen\n```python\ny = 2\n```",
        "there are 2 fenced blocks, and a run takes one program",
        5,
        "one program",
    ),
    "code around a fence": ("x = f(1)\n```\ny = 2\n```", "a Markdown fence stands inside of the program", 2, "without"),
    "fence of a shell": ("```bash\nls\n```", "the fence says `bash`: this is a shell command, not Python", 1, "Python"),
    "fence of JavaScript": (
        "Sure:\n```js\nf()\n```",
        "the fence says `js`: this is JavaScript, not Python",
        2,
        "in Python",
    ),
    "call of a tool": ('{"code": "print(1)"}', "this is JSON, not a program", 1, "what stands in `code`"),
    "calls of tools": ('[{"name": "f", "arguments": {"a": 1}}]', "this is JSON, not a program", 1, "`arguments`"),
    "JSON": ('{"a": [true, null]}', "this is JSON, not Python", 1, "`True`, `False` and `None`"),
    "program in a string": (
        '"x = 1\\nprint(x)"',
        "the whole program stands inside of a string",
        1,
        "without the quotes",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_holds_no_one_program_is_refused_with_what_to_send(name: str) -> None:
    source, message, line, hint = REFUSED[name]
    made = compiled(source)
    assert made.code is None
    (error,) = made.diagnostics
    assert (error.message, error.line) == (message, line)
    assert hint in error.hint


def test_a_first_line_that_opens_a_block_is_not_guessed_at() -> None:
    made = compiled("for x in [1]:\n        y = x\n    z = 1")
    assert made.code is None
    assert made.diagnostics[0].message == "unindent does not match any outer indentation level"


def test_lines_keep_their_numbers_where_something_was_taken_off() -> None:
    for source in ("Sure:\n\n```python\nx = = 1\n```", ">>> a = 1\n>>> a\n1\n>>> x = = 1", "python\n\n\nx = = 1"):
        (*_, error) = compiled(source).diagnostics
        assert (error.line, error.source_line) == (4, "x = = 1"), source


def test_a_repair_is_checked_like_every_program() -> None:
    refused = [item.message for item in compiled("x = “a”\nx.__globals__").diagnostics if item.severity == "error"]
    assert refused == ["`__globals__`: a function's globals lead out of the program"]


def test_a_text_that_no_repair_helps_keeps_pythons_own_message() -> None:
    (error,) = compiled("x = “a\ny = = 1").diagnostics
    assert error.message == "invalid character '“' (U+201C)"
    assert error.hint == "write plain quotes, commas, brackets and signs"


def test_literals_and_remarks_are_told_from_code_as_python_tells_them() -> None:
    text = "a = r'\\'' # 'b\nc = \"\"\"d'''\n# \"\"\" + f'e'\n'f\ng = '\\\nh'"
    pieces = list(code_of(text))
    assert "".join(piece for piece, _ in pieces) == text
    assert [piece for piece, is_code in pieces if not is_code] == [
        "'\\''",
        "# 'b",
        '"""d\'\'\'\n# """',
        "'e'",
        "'f",
        "'\\\nh'",
    ]
    assert bare("x = 'a' # b") == 'x = "" '
    assert lines_inside_literals("x = '''\na\n'''\ny") == {1, 2}


@pytest.mark.parametrize(
    "piece", ["'", '"', "'''", '"""', "\\", "'''\\", "“", "‘", "&lt;", "```\n", ">>> ", "\\n", "#", "(", "{"]
)
def test_hostile_texts_are_read_once(piece: str) -> None:
    made = compile_program((piece * 60_000).encode(), dialect="restricted", filename="<program>", roots=())
    assert (made.code is None) == any(item.severity == "error" for item in made.diagnostics)
