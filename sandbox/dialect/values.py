"""The value of a run: the last expression, a `return` at top level, or the name of a last assignment.

Enters: the checked tree of a module. Leaves: the same tree with `_cm_value(...)` calls; positions are the model's own.

`return` at top level becomes delivery plus `break` out of a loop that runs once around the program, because `break`
is the one construct that leaves `with`, `try` and `match` as `return` does: `finally` runs, `__exit__` sees no
exception, and no `except` of the program can catch it.
"""

from __future__ import annotations

import ast
from typing import TypeVar

T = TypeVar("T", bound=ast.AST)

_LEFT = "_cm_left"
_Loop = (ast.For, ast.AsyncFor, ast.While)
_Block = (ast.If, ast.With, ast.AsyncWith, ast.Try, ast.Match)
_TRY_STAR: type[ast.AST] = getattr(ast, "TryStar", ast.Try)


def rewrite_value(tree: ast.Module) -> str:
    """Rewrites the tree in place and gives the name of a last assignment, or "".

    Raises:
        SyntaxError: `break` or `continue` outside of the program's own loops.
    """
    body = tree.body
    assigned = _assigned_name(body[-1]) if body else ""
    if body:
        _deliver_last(body, len(body) - 1)
    rewriter = _Returns()
    new = rewriter.block(body, depth=0)
    if rewriter.found:
        head = _head_length(new)
        anchor = new[head] if head < len(new) else new[-1]
        loop = ast.While(test=_at(ast.Constant(True), anchor), body=[*new[head:], _at(ast.Break(), anchor)], orelse=[])
        start: list[ast.stmt] = []
        if rewriter.needs_flag:
            start.append(_assign(_LEFT, False, anchor))
        new = [*new[:head], *start, _at(loop, anchor)]
    tree.body = new
    return assigned


def _assigned_name(node: ast.stmt) -> str:
    target: ast.expr | None = None
    if isinstance(node, ast.Assign):
        target = node.targets[0]
    elif isinstance(node, ast.AugAssign) or (isinstance(node, ast.AnnAssign) and node.value is not None):
        target = node.target
    return target.id if isinstance(target, ast.Name) else ""


def _deliver_last(body: list[ast.stmt], index: int) -> None:
    """Delivers the last expression of a block, also at the end of an `if`, `with`, `try` or `match`."""
    node = body[index]
    if isinstance(node, ast.Expr):
        body[index] = _at(ast.Expr(_deliver(node.value)), node)
        return
    blocks: list[list[ast.stmt]] = []
    if isinstance(node, ast.If):
        blocks = [node.body, node.orelse]
    elif isinstance(node, ast.With | ast.AsyncWith):
        blocks = [node.body]
    elif isinstance(node, ast.Try):
        blocks = [node.orelse or node.body, *(handler.body for handler in node.handlers)]
    elif isinstance(node, ast.Match):
        blocks = [case.body for case in node.cases]
    for block in blocks:
        if block:
            _deliver_last(block, len(block) - 1)


def _deliver(value: ast.expr) -> ast.Call:
    return _at(ast.Call(func=_at(ast.Name("_cm_value", ast.Load()), value), args=[value], keywords=[]), value)


def _head_length(body: list[ast.stmt]) -> int:
    """How many statements must stay in front of everything: a docstring and `from __future__` imports."""
    count = 0
    for node in body:
        is_doc = count == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not is_doc and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            break
        count += 1
    return count


class _Returns:
    """Replaces `return` at top level; `depth` counts the program's own loops around a block."""

    def __init__(self) -> None:
        self.found = False
        self.needs_flag = False

    def block(self, body: list[ast.stmt], depth: int) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for node in body:
            if isinstance(node, ast.Return):
                out.extend(self._leave(node, depth))
            elif isinstance(node, _Loop):
                out.extend(self._loop(node, depth))
            elif isinstance(node, ast.Break | ast.Continue) and not depth:
                # Inside of our own loop the compiler would take it.
                word = "'break' outside loop" if isinstance(node, ast.Break) else "'continue' not properly in loop"
                raise SyntaxError(word, ("", node.lineno, node.col_offset + 1, ""))
            else:
                self._inside(node, depth)
                out.append(node)
        return out

    def _leave(self, node: ast.Return, depth: int) -> list[ast.stmt]:
        self.found = True
        value = node.value or _at(ast.Constant(None), node)
        out: list[ast.stmt] = [_at(ast.Expr(_deliver(value)), node)]
        if depth:
            self.needs_flag = True
            out.append(_assign(_LEFT, True, node))
        return [*out, _at(ast.Break(), node)]

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, depth: int) -> list[ast.stmt]:
        outer, self.found = self.found, False
        node.body = self.block(node.body, depth + 1)
        has_return, self.found = self.found, self.found or outer
        node.orelse = self.block(node.orelse, depth)
        if not has_return:
            return [node]
        leave = ast.If(test=_at(ast.Name(_LEFT, ast.Load()), node), body=[_at(ast.Break(), node)], orelse=[])
        return [node, _at(leave, node)]

    def _inside(self, node: ast.stmt, depth: int) -> None:
        if isinstance(node, (*_Block, _TRY_STAR)):
            for name in ("body", "orelse", "finalbody"):
                inner = getattr(node, name, None)
                if isinstance(inner, list):
                    setattr(node, name, self.block(inner, depth))
            for part in [*getattr(node, "handlers", ()), *getattr(node, "cases", ())]:
                part.body = self.block(part.body, depth)


def _assign(name: str, value: bool, place: ast.AST) -> ast.Assign:
    return _at(
        ast.Assign(targets=[_at(ast.Name(name, ast.Store()), place)], value=_at(ast.Constant(value), place)), place
    )


def _at(node: T, place: ast.AST) -> T:
    return ast.copy_location(node, place)
