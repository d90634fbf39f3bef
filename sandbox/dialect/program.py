"""From the bytes of a program to a code object, its diagnostics and what it uses.

Enters: any bytes, a dialect, the importable roots. Leaves: `Compiled`. Never raises.
Order: read and unwrap, parse, scan, check (restricted only), rewrite awaiting and value, compile.
"""

from __future__ import annotations

import ast
import gc
import inspect
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import CodeType
from typing import Any, Literal

from sandbox.dialect.analysis import analyse
from sandbox.dialect.awaiting import rewrite_awaiting
from sandbox.dialect.foreign import explain_syntax
from sandbox.dialect.modules import Importable
from sandbox.dialect.source import SYNTAX, read_source
from sandbox.dialect.transformer import check
from sandbox.dialect.values import rewrite_value
from sandbox.dialect.walk import scan
from sandbox.spec import CallUse, Diagnostic, NameUse

TOO_LARGE = "limit.compile"
_PARSE_TRIES = 4
_FRAMES = 20_000  # chosen: four frames a level, and CPython compiles about 3,000 levels
_EVALUATED_ROOTS = ("tools",)  # what text given to `exec` may import beside the library
_TOO_DEEP = ("too many nested", "too many levels", "too many statically nested", "too complex")
MAX_LINE_SHOWN = 300  # chosen: longer source lines are cut in diagnostics


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A program ready to run, or the reasons why it is not.

    Attributes:
        code: None exactly when there is an error among the diagnostics.
        is_coroutine: running the code gives a coroutine, because the program awaits at top level.
        lines: the program's lines as compiled, for tracebacks; counted as Python counts them.
        names, calls: what the program uses below the roots, and free names.
        assigned_last: the name that the last statement assigns, or "".
    """

    code: CodeType | None = None
    is_coroutine: bool = False
    lines: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    names: tuple[NameUse, ...] = ()
    calls: tuple[CallUse, ...] = ()
    assigned_last: str = ""


def compile_program(
    source: bytes,
    *,
    dialect: str,
    filename: str,
    roots: tuple[str, ...],
    packages: tuple[str, ...] = (),
) -> Compiled:
    """Compiles one program; `packages` are importable beside the roots and passed through natively."""
    text = read_source(source)
    lines = tuple(text.text.split("\n"))
    if text.error is not None:
        return Compiled(lines=lines, diagnostics=(*text.notes, _with_line(text.error, lines)))
    try:
        with _undisturbed():
            return _compile(text.text, lines, text.notes, dialect, filename, Importable(roots, packages), roots)
    except SyntaxError as error:
        problem = _syntax(error, text.text)
    except (RecursionError, MemoryError) as error:
        problem = _too_large(type(error).__name__)
    except (ValueError, OverflowError, TypeError, SystemError) as error:
        # CPython's own compiler raises these for odd but valid input, such as an integer of too many digits.
        problem = Diagnostic(code=SYNTAX, message=f"the program cannot be compiled: {error}")
    return Compiled(lines=lines, diagnostics=(*text.notes, _with_line(problem, lines)))


def _compile(
    text: str,
    lines: tuple[str, ...],
    notes: list[Diagnostic],
    dialect: str,
    filename: str,
    importable: Importable,
    roots: tuple[str, ...],
) -> Compiled:
    tree = _parse(text, filename, "exec")
    with _deep_recursion():
        facts = scan(tree, roots)
        names, calls = analyse(facts, roots)
        diagnostics = list(notes)
        if dialect != "native":
            refused = check(facts, importable)
            diagnostics += [_with_line(item, lines) for item in refused]
            if refused:
                return Compiled(lines=lines, diagnostics=tuple(diagnostics), names=names, calls=calls)
        rewrite_awaiting(facts)
        assigned = rewrite_value(tree)
    code = compile(tree, filename, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    return Compiled(
        code=code,
        is_coroutine=bool(code.co_flags & inspect.CO_COROUTINE),
        lines=lines,
        diagnostics=tuple(diagnostics),
        names=names,
        calls=calls,
        assigned_last=assigned,
    )


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Without collections, which find nothing because nodes make no cycles, and without SyntaxWarnings, which would be
    printed with a line of the file."""
    is_collecting = gc.isenabled()
    gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        if is_collecting:
            gc.enable()


def _parse(text: str, filename: str, mode: Literal["exec", "eval"]) -> Any:
    """`ast.parse`. CPython 3.11 counts depth per interpreter: a collection or another thread that parses in the middle
    makes it report a mismatch (SystemError) about a text that is fine."""
    for _ in range(_PARSE_TRIES - 1):
        try:
            return ast.parse(text, filename, mode)
        except SystemError:
            continue
    return ast.parse(text, filename, mode)


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Lets our own walks go as deep as CPython's parser and compiler do; they need several frames for a level.

    Python frames live on the heap; the compiler itself runs outside of this, under the limit that protects its stack.
    """
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def compile_text(text: str, mode: str, packages: tuple[str, ...] = ()) -> CodeType:
    """Compiles text for `eval` and `exec`.

    Raises:
        SyntaxError: the text is not Python or is refused; the message holds the reason and the remedy.
    """
    tree = _parse(text, "<string>", "exec" if mode == "exec" else "eval")
    refused = check(scan(tree), Importable(_EVALUATED_ROOTS, packages))
    if refused:
        first = refused[0]
        raise SyntaxError(first.message + (f"; {first.hint}" if first.hint else ""))
    return compile(tree, "<string>", mode, dont_inherit=True)


def _with_line(item: Diagnostic, lines: tuple[str, ...]) -> Diagnostic:
    if item.source_line or not 0 < item.line <= len(lines):
        return item
    return replace(item, source_line=lines[item.line - 1][:MAX_LINE_SHOWN])


def _syntax(error: SyntaxError, text: str) -> Diagnostic:
    message = error.msg or "invalid syntax"
    if any(text in message for text in _TOO_DEEP):
        return replace(_too_large(message), line=error.lineno or 0)
    line = error.lineno or 0
    message, hint = explain_syntax(text, line, message)
    return Diagnostic(code=SYNTAX, message=message, line=line, column=max((error.offset or 1) - 1, 0), hint=hint)


def _too_large(reason: str) -> Diagnostic:
    return Diagnostic(
        code=TOO_LARGE,
        message=f"the program is too deep or too large to compile ({reason})",
        hint="split it into statements; read long data from a tool",
    )
