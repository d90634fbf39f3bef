"""A program's syntax tree, for questions that come up after it ran: what stands here, what gives a name its value.

Enters: the program's lines. Leaves: nodes. Parsed anew, so that positions and nodes are those that were written.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeGuard

from sandbox.guest.results.remembered import Position

How = Literal["value", "item", "key", "member", "added"]
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class Binding(NamedTuple):
    """What gives a name its value: `source`, or an item, a key or a member of it; or what is added to its list."""

    source: ast.expr
    how: How
    scope: ast.AST
    line: int


class Program:
    """The tree with what is needed to find one's way in it.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError, SystemError: the text cannot be parsed again.
    """

    def __init__(self, lines: tuple[str, ...]) -> None:
        self.text = "\n".join(lines)
        self.tree = ast.parse(self.text)
        self.parents: dict[ast.AST, ast.AST] = {}
        self.functions: dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]] = {}
        self.calls: list[ast.Call] = []
        self.tested: set[object] = set()  # literals on the left of `in`
        self._at: dict[Position, list[ast.AST]] = {}
        self._bindings: dict[str, list[Binding]] = {}
        for node in ast.walk(self.tree):
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
        for node in ast.walk(self.tree):
            self._note(node)

    def _note(self, node: ast.AST) -> None:
        if isinstance(node, ast.expr | ast.stmt):
            self._at.setdefault(position_of(node), []).append(node)
        if isinstance(node, ast.Call):
            self.calls.append(node)
            self._bind_filled(node)
        elif isinstance(node, ast.Compare):
            if isinstance(node.left, ast.Constant) and isinstance(node.ops[0], ast.In | ast.NotIn):
                self.tested.add(node.left.value)
        elif isinstance(node, ast.AugAssign):
            self._bind(node.target, node.value)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self.functions.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self._bind(target, node.value)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            self._bind(node.target, node.value)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            self._bind_loop(node.target, node.iter)

    def _bind(self, target: ast.expr, source: ast.expr, how: How = "value") -> None:
        if isinstance(target, ast.Name):
            binding = Binding(source, how, self.scope(target), target.lineno)
            self._bindings.setdefault(target.id, []).append(binding)
        elif isinstance(target, ast.Tuple) and isinstance(source, ast.Tuple) and how == "value":
            for one, value in zip(target.elts, source.elts, strict=False):
                self._bind(one, value)

    def _bind_loop(self, target: ast.expr, source: ast.expr) -> None:
        if not isinstance(target, ast.Tuple):
            self._bind(target, source, "item")
            return
        if not isinstance(source, ast.Call):
            return
        func = source.func
        if isinstance(func, ast.Attribute) and func.attr == "items" and len(target.elts) == 2:
            self._bind(target.elts[0], func.value, "key")
            self._bind(target.elts[1], func.value, "member")
        elif isinstance(func, ast.Name) and func.id == "enumerate" and len(target.elts) == 2 and source.args:
            self._bind(target.elts[1], source.args[0], "item")
        elif isinstance(func, ast.Name) and func.id == "zip":
            for one, value in zip(target.elts, source.args, strict=False):
                self._bind(one, value, "item")

    def _bind_filled(self, call: ast.Call) -> None:
        """`xs.append(x)` and `xs.extend(ys)` bind `xs` too."""
        func = call.func
        if isinstance(func, ast.Attribute) and func.attr in ("append", "extend") and len(call.args) == 1:
            self._bind(func.value, call.args[0], "added" if func.attr == "append" else "value")

    def scope(self, node: ast.AST) -> ast.AST:
        """The function, comprehension or module that a node is in."""
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, _SCOPES):
                return node
        return self.tree

    def bindings(self, name: ast.Name) -> list[Binding]:
        """What may have given a name its value, the likeliest first: in its own scope else the next one outward."""
        found = self._bindings.get(name.id, [])
        scope: ast.AST = name
        while found:
            scope = self.scope(scope)
            here = [binding for binding in found if binding.scope is scope]
            if here or scope is self.tree or name.id in parameters(scope):
                before = [binding for binding in here if binding.line <= name.lineno]
                after = [binding for binding in here if binding.line > name.lineno]
                return [*reversed(before), *reversed(after)]
        return []

    def at(self, position: Position) -> list[ast.AST]:
        """The nodes that an instruction stands for; of a method on a line of its own, by where it ends."""
        exact = self._at.get(position)
        if exact is not None:
            return exact
        _, last_line, _, last_column = position
        return [
            node
            for (_, end, _, column), nodes in self._at.items()
            if (end, column) == (last_line, last_column)
            for node in nodes
            if isinstance(node, ast.Attribute)
        ]

    def source(self, node: ast.AST, limit: int = 60) -> str:
        """A node as written, or "" when it is long or spans lines."""
        text = ast.get_source_segment(self.text, node) or ""
        return text if len(text) <= limit and text.isprintable() and "`" not in text else ""

    def returns(self, function: ast.AST) -> list[ast.expr]:
        """What a function gives back."""
        if isinstance(function, ast.Lambda):
            return [function.body]
        return [
            node.value
            for node in ast.walk(function)
            if isinstance(node, ast.Return) and node.value is not None and self.scope(node) is function
        ]

    def is_in_loop(self, node: ast.AST) -> bool:
        """Whether a node can run more than once in one run of its scope."""
        while node in self.parents and not isinstance(node, _SCOPES):
            node = self.parents[node]
            if isinstance(node, ast.For | ast.AsyncFor | ast.While):
                return True
        return False

    def gets(self) -> Iterator[tuple[ast.Call, ast.expr, object]]:
        """Every `x.get(key)` and `x.get(key, default)` whose key is a literal: call, `x`, key."""
        for call in self.calls:
            if is_get(call):
                key = call.args[0]
                if isinstance(key, ast.Constant) and type(key.value) in (str, int):
                    yield call, call.func.value, key.value  # type: ignore[attr-defined]  # `is_get` looked


def is_get(node: ast.AST | None) -> TypeGuard[ast.Call]:
    """Whether a node is `x.get(key)` or `x.get(key, default)`."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "get":
        return False
    return 1 <= len(node.args) <= 2 and not node.keywords


def parameters(scope: ast.AST) -> list[str]:
    """The names of a function's positional parameters; none for any other scope."""
    if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return []
    return [one.arg for one in (*scope.args.posonlyargs, *scope.args.args)]


def position_of(node: ast.expr | ast.stmt) -> Position:
    """Where a node stands, as instructions say it."""
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset
