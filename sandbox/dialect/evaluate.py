"""`eval` and `exec` of text: compiled by the same dialect, so that the text gains nothing over the program.

Enters: source text and an optional dict of globals. Leaves: the value of an expression, or nothing.
Safety: code objects and other mappings are refused; the builtins are always the program's own.
"""

from __future__ import annotations

from typing import Any

from sandbox.dialect.own import program_frame
from sandbox.dialect.program import compile_text
from sandbox.dialect.rules import GUARD_PREFIX

MAX_SOURCE = 64 * 1024  # chosen: text built at run time is short


def _run(source: Any, given: Any, local: Any, mode: str) -> Any:
    frame = program_frame(2)
    if frame is None:
        raise TypeError(f"`{mode}` is called by the program itself, not as a callback of a library")
    code = _compile(source, mode)
    if given is None:
        # The real variables, as Python has it: `exec("x = 1")` at top level makes `x`.
        return eval(code, frame.f_globals, local if local is not None else frame.f_locals)  # noqa: S307
    for scope in (given, local):
        if scope is not None and not _is_plain(scope):
            raise TypeError(f"`{mode}` takes plain dicts, without names that start with `{GUARD_PREFIX}`")
    given["__builtins__"] = frame.f_builtins
    try:
        return eval(code, given, local)  # noqa: S307  # compiled by the dialect
    finally:
        given.pop("__builtins__", None)


def guarded_eval(source: Any, globals: Any = None, locals: Any = None, /) -> Any:
    """`eval` of text."""
    return _run(source, globals, locals, "eval")


def guarded_exec(source: Any, globals: Any = None, locals: Any = None, /) -> None:
    """`exec` of text."""
    _run(source, globals, locals, "exec")


EVALUATORS: dict[str, object] = {"eval": guarded_eval, "exec": guarded_exec}


def _is_plain(scope: Any) -> bool:
    return type(scope) is dict and not any(type(key) is not str or key.startswith(GUARD_PREFIX) for key in scope)


def _compile(source: Any, mode: str) -> Any:
    if type(source) is not str:
        raise TypeError(f"`{mode}` takes text, got {type(source).__name__}")
    if len(source) > MAX_SOURCE:
        raise ValueError(f"`{mode}` takes up to {MAX_SOURCE} characters, got {len(source)}")
    return compile_text(source.lstrip(" \t") if mode == "eval" else source, mode)
