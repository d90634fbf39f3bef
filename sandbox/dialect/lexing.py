"""Which parts of a text are code: everything outside of string literals and comments, also where it does not parse.

Enters: program text, whole or broken. Leaves: pieces of it. Every pattern reads a text once, however hostile it is.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator

LITERAL = re.compile(
    r"(?<!&)#[^\n]*+"  # `&#39;` is no comment
    r'|"""(?:[^"\\]|\\.|"(?!""))*+(?:"""|\Z)'
    r"|'''(?:[^'\\]|\\.|'(?!''))*+(?:'''|\Z)"
    r'|"(?:[^"\\\n]|\\.)*+"?'
    r"|'(?:[^'\\\n]|\\.)*+'?",
    re.DOTALL,
)
"""A string literal, closed or not, or a comment; looked for from the left."""


def code_of(text: str) -> Iterator[tuple[str, bool]]:
    """The text in pieces, in order: each with whether it is code."""
    at = 0
    for found in LITERAL.finditer(text):
        if found.start() > at:
            yield text[at : found.start()], True
        yield found.group(), False
        at = found.end()
    if at < len(text):
        yield text[at:], True


def in_code(pattern: re.Pattern[str], text: str) -> bool:
    """Whether the pattern is found outside of literals and comments."""
    return any(is_code and pattern.search(piece) is not None for piece, is_code in code_of(text))


def bare(text: str) -> str:
    """The text with every literal empty and without comments."""
    return "".join(piece if is_code else "" if piece[0] == "#" else '""' for piece, is_code in code_of(text))


def change_code(text: str, change: Callable[[str], str]) -> str:
    """The text with its code changed, and literals and comments as they are."""
    return "".join(change(piece) if is_code else piece for piece, is_code in code_of(text))


def lines_inside_literals(text: str) -> set[int]:
    """The lines, counted from 0, that begin inside of a string literal."""
    inside: set[int] = set()
    line = 0
    for piece, is_code in code_of(text):
        count = piece.count("\n")
        if not is_code:
            inside.update(range(line + 1, line + count + 1))
        line += count
    return inside


def is_broken(text: str) -> bool:
    """Whether the text is not Python; False also for what is too deep or too odd to say."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text)
        except SyntaxError as error:
            return "too many" not in (error.msg or "")
        except (RecursionError, MemoryError, ValueError, OverflowError, SystemError):
            return False
    return False
