"""The `self` of methods: where it can only be the object that the method was called with, and how that is checked.

Enters: methods. Leaves: the name of `self`, or the same method with a check at its start.
Safety: `A.method(library_object)` is ordinary Python, so that private names of `self` are native only behind the check,
and only where nothing in the method binds the name again (`Scope.fixed_self`).
"""

from __future__ import annotations

import ast

from sandbox.dialect.rules import GUARD_PREFIX
from sandbox.dialect.scopes import Scope


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
    """Puts the check after the docstring of a method that has a fixed `self`."""
    method, name = scope.function, scope.fixed_self
    assert isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef)
    first = method.body[0]
    has_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    call = ast.Expr(ast.Call(ast.Name(f"{GUARD_PREFIX}meet", ast.Load()), [ast.Name(name, ast.Load())], []))
    for node in ast.walk(call):
        ast.copy_location(node, method)
    method.body.insert(int(has_text), call)
