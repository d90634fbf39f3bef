"""The `self` of methods: where it can only be the object that the method was called with, and how that is checked.

Enters: methods. Leaves: the name of `self`, or the same method with a check at its start.
Safety: `A.method(library_object)` is ordinary Python, so that private names of `self`, and writes to it, are native
only behind the check, and only where nothing in the method binds the name again (`Scope.fixed_self`).
"""

from __future__ import annotations

import ast

from sandbox.dialect.rules import GUARD_PREFIX
from sandbox.dialect.scopes import Scope

_LOAD, _NOT_IN = ast.Load(), ast.NotIn()


def self_of(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> str:
    """The name of the first parameter of a function in a class body, or "" where it may be any object."""
    parameters = node.args.posonlyargs or node.args.args
    if not parameters or isinstance(node, ast.Lambda) or any(_is_static(item) for item in node.decorator_list):
        return ""
    name = parameters[0].arg
    # In a class `__x` and `_A__x` are one variable: what binds it cannot be told by its name.
    return "" if name.startswith("_") else name


def _is_static(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Name) and decorator.id == "staticmethod"


def meet_self(scope: Scope) -> None:
    """Puts the check after the docstring of a method that has a fixed `self`: `if type(self) not in _cm_met: ...`.

    The look into the table spares a call. It reads the variable twice, which is sound because nothing rebinds it; other
    variables are handed to `writable` once, since a thread might change them in between.
    """
    method, name = scope.function, scope.fixed_self
    assert isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef)
    first = method.body[0]
    has_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    place = {"lineno": method.lineno, "col_offset": method.col_offset}
    place |= {"end_lineno": method.end_lineno or method.lineno, "end_col_offset": method.end_col_offset or 0}
    this, kind, met, meet = (
        ast.Name(id, _LOAD, **place)
        for id in (name, f"{GUARD_PREFIX}type", f"{GUARD_PREFIX}met", f"{GUARD_PREFIX}meet")
    )
    test = ast.Compare(ast.Call(kind, [this], [], **place), [_NOT_IN], [met], **place)
    check = ast.If(test, [ast.Expr(ast.Call(meet, [this], [], **place), **place)], [], **place)
    method.body.insert(int(has_text), check)
