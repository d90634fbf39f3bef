"""`eval` and `exec` of text: compiled by the same dialect, so that the text gains nothing over the program.

Enters: source text and an optional dict of globals. Leaves: the value of an expression, or nothing.
Safety: code objects and other mappings are refused; the builtins are always the program's own. The text runs in
copies of the dicts that it is given: the table of builtins, and the names of the rewriting, are in no dict that the
program can reach while the text runs.
"""

from __future__ import annotations

from types import FrameType
from typing import Any

from sandbox.dialect.own import EVALUATE_NAME, MAIN, program_frame
from sandbox.dialect.program import compile_text
from sandbox.dialect.rules import GUARD_PREFIX
from sandbox.dialect.snapshots import Globals

PACKAGES_NAME = f"{GUARD_PREFIX}packages"
"""Under this name the builtins of a program carry the packages that it may import."""

MAX_SOURCE = 64 * 1024  # chosen: text built at run time is short


def _run(source: Any, given: Any, local: Any, mode: str) -> Any:
    frame = program_frame(2)
    if frame is None:
        raise TypeError(f"`{mode}` is called by the program itself, not as a callback of a library")
    code = _compile(source, mode, frame.f_builtins.get(PACKAGES_NAME, ()))
    if isinstance(given, Globals):
        local = given if local is None else local
        given = None
    outer = _copy(given, mode) if given is not None else None
    is_view = isinstance(local, Globals)
    inner = _copy(local, mode) if local is not None and local is not given and not is_view else None
    if outer is not None:
        outer.update({"__builtins__": frame.f_builtins, "__name__": MAIN})
    # Without a dict the real variables, as Python has it: `exec("x = 1")` at top level makes `x`.
    scope = outer if outer is not None else frame.f_globals
    if is_view:
        names = frame.f_globals
    else:
        names = inner if inner is not None else scope if outer is not None else _locals_of(frame)
    try:
        return eval(code, scope, names)  # noqa: S307  # compiled by the dialect
    finally:
        _give_back(outer, given)
        _give_back(inner, local)


def guarded_eval(source: Any, globals: Any = None, locals: Any = None, /) -> Any:
    """`eval` of text."""
    return _run(source, globals, locals, "eval")


def guarded_exec(source: Any, globals: Any = None, locals: Any = None, /) -> None:
    """`exec` of text."""
    _run(source, globals, locals, "exec")


def evaluate_in(text: str, frame: FrameType, names: dict[str, Any]) -> Any:
    """The value of an expression over a copy of `names`, as `eval` in that frame of the program would give it."""
    code = _compile(text, "eval", frame.f_builtins.get(PACKAGES_NAME, ()))
    scope = {**_copy(names, "eval"), "__builtins__": frame.f_builtins, "__name__": MAIN}
    return eval(code, scope)  # noqa: S307  # compiled by the dialect


EVALUATORS: dict[str, object] = {"eval": guarded_eval, "exec": guarded_exec, EVALUATE_NAME: evaluate_in}


def _locals_of(frame: FrameType) -> Any:
    """Names of the caller; a function's are a copy, as before Python 3.13 made them the variables themselves."""
    found = frame.f_locals
    return found if type(found) is dict else dict(found)


def _copy(scope: Any, mode: str) -> dict[str, Any]:
    copied: dict[Any, Any] = dict(scope) if type(scope) is dict else {0: None}
    if any(type(key) is not str or key.startswith(GUARD_PREFIX) for key in copied):
        raise TypeError(f"`{mode}` takes plain dicts, without names that start with `{GUARD_PREFIX}`")
    return {key: value for key, value in copied.items() if not _is_special(key)}


def _give_back(ran: dict[str, Any] | None, scope: Any) -> None:
    """What the text has set and deleted, in the program's own dict."""
    if ran is None:
        return
    shown = {key: value for key, value in ran.items() if not _is_special(key)}
    for key in [key for key in scope if not _is_special(key) and key not in shown]:
        scope.pop(key, None)
    scope.update(shown)
    scope.pop("__builtins__", None)


def _is_special(name: object) -> bool:
    return type(name) is str and (name.startswith(GUARD_PREFIX) or (name.startswith("__") and name.endswith("__")))


def _compile(source: Any, mode: str, packages: tuple[str, ...]) -> Any:
    if type(source) is not str:
        raise TypeError(f"`{mode}` takes text, got {type(source).__name__}")
    if len(source) > MAX_SOURCE:
        raise ValueError(f"`{mode}` takes up to {MAX_SOURCE} characters, got {len(source)}")
    return compile_text(source.lstrip(" \t") if mode == "eval" else source, mode, packages)
