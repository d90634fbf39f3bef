"""The `self` of methods: where it can only be the object that the method was called with, and how that is checked.

Enters: statements of a class body. Leaves: the name of `self`, or the same method with a check at its start.
Safety: `A.method(library_object)` is ordinary Python, so that private names of `self` are native only behind the check.
"""

from __future__ import annotations

import ast

from sandbox.dialect.rules import DOCUMENTED_PRIVATE, GUARD_PREFIX, own_private

_BIND_NOTHING = frozenset(
    (ast.Attribute, ast.Call, ast.Constant, ast.Load, ast.Store, ast.Expr, ast.Assign, ast.Return)
)
"""The most frequent nodes, none of which holds a name as text that it binds: they are passed over, for speed."""


def fixed_self(item: ast.stmt) -> str:
    """The first parameter of a method that reads private names of it and binds it nowhere else, or ""."""
    if not isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) or any(map(_is_static, item.decorator_list)):
        return ""
    parameters = [*item.args.posonlyargs, *item.args.args]
    if not parameters:
        return ""
    first, name = parameters[0], parameters[0].arg
    if name.startswith("_"):
        return ""  # in a class `__x` and `_A__x` are one variable: what binds it cannot be told by its name
    nodes = list(ast.walk(item))
    if not any(_reads_private(node, name) for node in nodes):
        return ""
    outside = [*item.decorator_list, *item.args.defaults, *item.args.kw_defaults, item.returns]
    outside += [each.annotation for each in ast.walk(item.args) if isinstance(each, ast.arg)]
    if any(isinstance(node, ast.Name) and node.id == name for part in outside if part for node in ast.walk(part)):
        return ""  # there the name is another variable
    is_bound = any(node is not first and type(node) not in _BIND_NOTHING and _binds(node, name) for node in nodes)
    return "" if is_bound else name


def _reads_private(node: ast.AST, name: str) -> bool:
    """Whether a node is `self._x`, where the name is neither public nor documented."""
    if type(node) is not ast.Attribute or type(node.value) is not ast.Name or node.value.id != name:
        return False
    return own_private(node.attr) and node.attr not in DOCUMENTED_PRIVATE


def _is_static(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Name) and decorator.id == "staticmethod"


def _binds(node: ast.AST, name: str) -> bool:
    """Whether a node gives the name another meaning, in the method or in a scope inside of it."""
    match node:
        case ast.Name(id=found, ctx=context):
            return found == name and not isinstance(context, ast.Load)
        case ast.arg(arg=found):
            return found == name
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return name in names
        case ast.alias(name=path, asname=alias):
            return (alias or path.partition(".")[0]) in (name, "*")
        case ast.MatchMapping(rest=found):
            return found == name
        case (
            ast.FunctionDef(name=found)
            | ast.AsyncFunctionDef(name=found)
            | ast.ClassDef(name=found)
            | ast.ExceptHandler(name=found)
            | ast.MatchAs(name=found)
            | ast.MatchStar(name=found)
        ):
            return found == name
    return type(node).__name__ in ("TypeVar", "ParamSpec", "TypeVarTuple") and getattr(node, "name", "") == name


def meet_self(item: ast.stmt, name: str) -> None:
    """Puts the check after the docstring of a method."""
    assert isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)
    first = item.body[0]
    has_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    call = ast.Expr(ast.Call(ast.Name(f"{GUARD_PREFIX}meet", ast.Load()), [ast.Name(name, ast.Load())], []))
    for node in ast.walk(call):
        ast.copy_location(node, item)
    item.body.insert(int(has_text), call)
