"""What a program says about tools before it runs: dotted names, calls and their literal arguments.

Enters: `Facts` and the importable roots. Leaves: `NameUse` and `CallUse` tuples, bounded in number and size.
These are the guest's claim: they steer help and never grant access.
"""

from __future__ import annotations

import ast
import builtins
from typing import Any

from sandbox.dialect.rules import GUARD_PREFIX
from sandbox.dialect.scopes import DOTTED, Binding, Facts, Scope
from sandbox.spec import UNKNOWN, CallUse, NameUse

MAX_NAMES = 5_000  # chosen: ten times what a large program uses
MAX_CALLS = 5_000
MAX_LITERAL_BYTES = 64 * 1024  # chosen: all literals of a program together, more is reported as UNKNOWN
MAX_MEANINGS = 50  # of one name; a program that needs more is not about tools
MAX_PATH = 1_000

EVALUATORS = frozenset(("eval", "exec"))
"""Builtins that are reported like free names: the text that they are given may use names that nobody can see here."""
_BUILTINS = frozenset(dir(builtins)) | {"__file__", "__class__", "__module__", "__qualname__"}
_SILENT = _BUILTINS - EVALUATORS


def analyse(facts: Facts, roots: tuple[str, ...]) -> tuple[tuple[NameUse, ...], tuple[CallUse, ...]]:
    """Resolves every use through imports and plain aliases; a free name is one that nothing binds."""
    reader = _Reader(facts, frozenset(roots))
    telling = reader.roots | _telling(facts)
    for name in facts.reads():
        if name.id in telling or (name.id not in _SILENT and facts.owners[name].find(name.id) is None):
            reader.read(name)
    for path, line, column in facts.imports:
        if path.partition(".")[0] in reader.roots:
            reader.add_name(path, line, column, is_free=False)
    return tuple(reader.names), tuple(reader.calls)


def _telling(facts: Facts) -> set[str]:
    """The names that may mean a path: bound to an import or to a dotted name, and `getattr`. Most names are not."""
    return {
        "getattr",
        *(
            name
            for name, bindings in facts.bound.items()
            if any(item.kind == "import" or isinstance(item.value, DOTTED) for item in bindings)
        ),
    }


class _Reader:
    def __init__(self, facts: Facts, roots: frozenset[str]) -> None:
        self.facts = facts
        self.roots = roots
        self.names: list[NameUse] = []
        self.calls: list[CallUse] = []
        self._seen: set[tuple[str, int]] = set()
        self._known: dict[tuple[Scope, str], tuple[frozenset[str], bool]] = {}
        self._literals = _Literals()

    def read(self, root: ast.Name) -> None:
        """A name with the attributes behind it, and its call where it is called."""
        name, scope = root.id, self.facts.owners[root]
        whole: ast.expr = self.facts.wholes.get(root, root)
        call = self.facts.called.get(whole)
        if name == "getattr" and whole is root and call is not None:
            self._dynamic(scope, call)
        if name not in self.roots and scope.find(name) is None:
            self._free(name, whole, call)
            return
        paths, is_certain = self._paths(scope, name)
        full = sorted(path + _tail(whole) for path in paths)
        for path in full:
            self.add_name(path, whole.lineno, whole.col_offset, is_free=False)
        if call is not None and len(full) == 1 and is_certain:
            self._call(full[0], call, is_free=False)

    def add_name(self, path: str, line: int, column: int, *, is_free: bool) -> None:
        if (path, line) not in self._seen and len(self.names) < MAX_NAMES:
            self._seen.add((path, line))
            self.names.append(NameUse(path=path, line=line, column=column, is_free=is_free))

    def _free(self, name: str, whole: ast.expr, call: ast.Call | None) -> None:
        if name in EVALUATORS:
            self.add_name(name, whole.lineno, whole.col_offset, is_free=True)
        if name in _BUILTINS or name.startswith(GUARD_PREFIX):
            return
        path = name + _tail(whole)
        self.add_name(path, whole.lineno, whole.col_offset, is_free=True)
        if call is not None:
            self._call(path, call, is_free=True)

    def _dynamic(self, scope: Scope, call: ast.Call) -> None:
        """`getattr(tools.github, "f")` names a tool as plainly as an attribute does."""
        name = call.args[1] if len(call.args) > 1 else None
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            for path in sorted(self._expression(scope, call.args[0])[0]):
                self.add_name(f"{path}.{name.value}", call.lineno, call.col_offset, is_free=False)

    def _paths(self, scope: Scope, name: str) -> tuple[frozenset[str], bool]:
        """The root paths that a name may mean, and whether it means nothing else."""
        found = scope.find(name)
        if found is None:
            return (frozenset((name,)), True) if name in self.roots else (frozenset(), False)
        key = (found[0], name)
        if key not in self._known:
            self._known[key] = (frozenset(), False)  # the answer for an alias of itself
            self._known[key] = self._read_bindings(*found)
        return self._known[key]

    def _read_bindings(self, home: Scope, bindings: list[Binding]) -> tuple[frozenset[str], bool]:
        paths: set[str] = set()
        is_certain = len(bindings) <= MAX_MEANINGS
        for binding in bindings[:MAX_MEANINGS]:
            if binding.kind == "import":
                inside = binding.path.partition(".")[0] in self.roots
                paths |= {binding.path} if inside else set()
                is_certain &= inside
            elif binding.kind == "value" and binding.value is not None:
                more, certain = self._expression(home, binding.value)
                paths |= more
                is_certain &= certain
            else:
                is_certain = False
        return frozenset(sorted(paths)[:MAX_MEANINGS]), is_certain

    def _expression(self, scope: Scope, node: ast.expr) -> tuple[frozenset[str], bool]:
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name):
            return frozenset(), False
        paths, is_certain = self._paths(scope, root.id)
        return frozenset(path + _tail(node) for path in paths if len(path) < MAX_PATH), is_certain

    def _call(self, path: str, call: ast.Call, *, is_free: bool) -> None:
        if len(self.calls) >= MAX_CALLS:
            return
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        is_open = False
        for argument in call.args:
            if isinstance(argument, ast.Starred):
                is_open = True
                break  # what follows has no certain position
            positional.append(self._literals.read(argument))
        for keyword in call.keywords:
            if keyword.arg is None:
                is_open = True
            else:
                keywords[keyword.arg] = self._literals.read(keyword.value)
        self.calls.append(
            CallUse(
                path=path,
                line=call.lineno,
                positional=tuple(positional),
                keywords=keywords,
                is_open=is_open,
                is_free=is_free,
            )
        )


def _tail(node: ast.expr) -> str:
    """`.b.c` of `a.b.c`."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(f".{node.attr}")
        node = node.value
    return "".join(reversed(parts))


class _TooMuchError(Exception):
    pass


class _Literals:
    """Reads literal expressions within one budget for the whole program."""

    def __init__(self) -> None:
        self.left = MAX_LITERAL_BYTES

    def read(self, node: ast.expr) -> Any:
        before = self.left
        try:
            return self._value(node, 0)
        except (ValueError, TypeError, _TooMuchError):
            self.left = before
            return UNKNOWN

    def _value(self, node: ast.expr, depth: int) -> Any:
        if depth > 64:
            raise _TooMuchError
        self.left -= 8
        if isinstance(node, ast.Constant):
            self.left -= len(node.value) if isinstance(node.value, str | bytes) else 0
            if self.left < 0 or (isinstance(node.value, int) and node.value.bit_length() > 4_096):
                raise _TooMuchError
            return node.value
        if self.left < 0:
            raise _TooMuchError
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            items = [self._value(item, depth + 1) for item in node.elts]
            return items if isinstance(node, ast.List) else tuple(items) if isinstance(node, ast.Tuple) else set(items)
        if isinstance(node, ast.Dict):
            keys = [self._value(key, depth + 1) for key in node.keys if key is not None]
            if len(keys) != len(node.values):
                raise ValueError
            return dict(zip(keys, (self._value(value, depth + 1) for value in node.values), strict=True))
        return self._number(node, depth)

    def _number(self, node: ast.expr, depth: int) -> Any:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            value = self._value(node.operand, depth + 1)
            if isinstance(value, int | float | complex) and not isinstance(value, bool):
                return -value if isinstance(node.op, ast.USub) else value
        raise ValueError
