"""What one walk over a program finds: its nodes by kind, who binds which name in which scope, every use of a name.

The walk is in `walk.py`; the checks, the awaiting rewrite and the analysis ask `Facts` and do not walk again.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeVar

N = TypeVar("N", bound=ast.AST)

Kind = Literal["import", "value", "other"]

DOTTED = (ast.Name, ast.Attribute)
"""What a dotted name is made of."""


class Binding(NamedTuple):
    """One place that binds a name: an import (`path`), an assignment (`value`), or anything else."""

    kind: Kind
    path: str = ""
    value: ast.expr | None = None
    site: str = ""  # "with" for `async with EXPR as name`, "iter" for a loop target


@dataclass(slots=True, eq=False)
class Scope:
    """A module, function, class or comprehension, with the names bound in it.

    Attributes:
        class_name: of a class, else "".
        function: of a function, else None.
        fixed_self: of a method whose `self` nothing inside binds again: the name of it, else "".
    """

    parent: Scope | None
    class_name: str = ""
    function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | None = None
    names: dict[str, list[Binding]] = field(default_factory=dict)
    elsewhere: dict[str, Scope | None] = field(default_factory=dict)  # `global` and `nonlocal`
    fixed_self: str = ""

    def find(self, name: str) -> tuple[Scope, list[Binding]] | None:
        """The scope that a read of `name` in this scope reaches, or None when nothing in the program binds it."""
        scope: Scope | None = self
        is_first = True
        while scope is not None:
            if name in scope.elsewhere:
                target = scope.elsewhere[name]
                scope = target if target is not None else scope.parent
                is_first = False
                continue
            if name in scope.names and (is_first or not scope.class_name):
                return scope, scope.names[name]
            scope = scope.parent
            is_first = False
        return None

    def class_around(self) -> str:
        """The name of the innermost class around, or ""."""
        scope: Scope | None = self
        while scope is not None and not scope.class_name:
            scope = scope.parent
        return scope.class_name if scope is not None else ""


@dataclass(slots=True)
class Facts:
    """What one walk found. `bound` ignores scopes: every binding of a name anywhere in the program."""

    module: Scope
    roots: frozenset[str] = frozenset()  # names that are modules when nothing binds them
    nodes: defaultdict[type[ast.AST], list[Any]] = field(default_factory=lambda: defaultdict(list))
    bound: dict[str, list[Binding]] = field(default_factory=dict)
    owners: dict[ast.Name | ast.Attribute, Scope] = field(default_factory=dict)  # the scope that a node stands in
    wholes: dict[ast.Name, ast.Attribute] = field(default_factory=dict)  # `a` → `a.b.c`, where attributes follow
    called: dict[ast.expr, ast.Call] = field(default_factory=dict)  # `a` or `a.b.c` → its call
    private: set[str] = field(default_factory=set)
    imports: list[tuple[str, int, int]] = field(default_factory=list)  # path, line, column
    optional: set[ast.stmt] = field(default_factory=set)  # imports that may fail, or never run
    has_star: bool = False
    _always: dict[str, str] = field(default_factory=dict)  # answers of `always`, asked for after the walk

    def of(self, kind: type[N]) -> list[N]:
        """The nodes of one kind, in the order of the program."""
        return self.nodes.get(kind, [])

    def reads(self) -> list[ast.Name]:
        """The names that are read, in the order of the program."""
        return [name for name in self.of(ast.Name) if type(name.ctx) is ast.Load]

    def always(self, name: str) -> str:
        """The import path that `name` means in every scope, or "" when it may mean something else."""
        if name not in self.bound:
            return name if name in self.roots else ""
        if name not in self._always:
            found = {binding.path if binding.kind == "import" else "" for binding in self.bound[name]}
            self._always[name] = found.pop() if len(found) == 1 else ""
        return self._always[name]

    def path_of(self, node: ast.expr) -> str:
        """The dotted path of `node` when its root is certainly an import, else ""."""
        if isinstance(node, ast.Name):
            return self.always(node.id)
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        root = self.always(node.id) if isinstance(node, ast.Name) else ""
        return ".".join([root, *reversed(parts)]) if root else ""

    def variable(self, node: ast.expr) -> tuple[Scope, str] | None:
        """The variable that a name reads or binds, by the scope that owns it; None for other expressions."""
        if not isinstance(node, ast.Name):
            return None
        scope = self.owners.get(node)
        found = scope.find(node.id) if scope is not None else None
        return None if found is None else (found[0], node.id)

    def is_builtin(self, name: str) -> bool:
        """Whether nothing in the program binds `name`, so that it can only be a builtin (or undefined)."""
        return name not in self.bound and not self.has_star
