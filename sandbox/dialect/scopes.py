"""One walk over a program: who binds which name in which scope, and every dotted use of a name.

Enters: a parsed module. Leaves: `Facts`, on which the checks, the awaiting rewrite and the analysis rest.
Only reads the tree. Unknown nodes are walked like any other, so that newer Pythons lose nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

from sandbox.dialect.rules import own_private

Kind = Literal["import", "value", "other"]


@dataclass(frozen=True, slots=True)
class Binding:
    """One place that binds a name: an import (`path`), an assignment (`value`), or anything else."""

    kind: Kind
    path: str = ""
    value: ast.expr | None = None
    site: str = ""  # "with" for `async with EXPR as name`, "iter" for a loop target


@dataclass(slots=True, eq=False)
class Scope:
    """A module, function, class or comprehension, with the names bound in it."""

    is_class: bool
    parent: Scope | None
    names: dict[str, list[Binding]] = field(default_factory=dict)
    elsewhere: dict[str, Scope | None] = field(default_factory=dict)  # `global` and `nonlocal`

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
            if name in scope.names and (is_first or not scope.is_class):
                return scope, scope.names[name]
            scope = scope.parent
            is_first = False
        return None


@dataclass(frozen=True, slots=True)
class Use:
    """A read of a name with the attributes behind it: `a.b.c`; `call` is set where the whole is called."""

    scope: Scope
    root: ast.Name
    attributes: tuple[str, ...]
    node: ast.expr
    call: ast.Call | None = None


@dataclass(slots=True)
class Facts:
    """What one walk found. `bound` ignores scopes: every binding of a name anywhere in the program."""

    module: Scope
    roots: frozenset[str] = frozenset()  # names that are modules when nothing binds them
    bound: dict[str, list[Binding]] = field(default_factory=dict)
    uses: list[Use] = field(default_factory=list)
    owners: dict[ast.Name, Scope] = field(default_factory=dict)
    private: set[str] = field(default_factory=set)
    calls: list[ast.Call] = field(default_factory=list)
    awaits: list[ast.Await] = field(default_factory=list)
    loops: list[tuple[ast.expr, ast.expr]] = field(default_factory=list)  # target, iterable
    tests: list[ast.expr] = field(default_factory=list)
    item_stores: list[tuple[ast.expr, ast.expr]] = field(default_factory=list)  # container, value: `c[k] = v`
    imports: list[tuple[str, int, int]] = field(default_factory=list)  # path, line, column
    has_star: bool = False
    _always: dict[str, str] = field(default_factory=dict)  # answers of `always`, asked for after the walk

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


def scan(tree: ast.Module, roots: Iterable[str] = ()) -> Facts:
    """Walks the module once; `roots` are predefined modules."""
    facts = Facts(module=Scope(is_class=False, parent=None), roots=frozenset(roots))
    _Walk(facts).block(tree.body)
    return facts


class _Walk:
    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.scope = facts.module
        self.handlers: dict[type[ast.AST], Callable[..., None]] = {
            ast.Name: self.name,
            ast.Attribute: self.attribute,
            ast.Call: self.call,
            ast.Constant: self.nothing,
            ast.FunctionDef: self.function,
            ast.AsyncFunctionDef: self.function,
            ast.Lambda: self.function_like,
            ast.ClassDef: self.class_def,
            ast.ListComp: self.comprehension,
            ast.SetComp: self.comprehension,
            ast.GeneratorExp: self.comprehension,
            ast.DictComp: self.comprehension,
            ast.Import: self.import_,
            ast.ImportFrom: self.import_from,
            ast.Assign: self.assign,
            ast.AnnAssign: self.ann_assign,
            ast.NamedExpr: self.named,
            ast.AugAssign: self.aug_assign,
            ast.For: self.loop,
            ast.AsyncFor: self.loop,
            ast.With: self.with_,
            ast.AsyncWith: self.with_,
            ast.ExceptHandler: self.named_block,
            ast.MatchAs: self.named_block,
            ast.MatchStar: self.named_block,
            ast.MatchMapping: self.match_mapping,
            ast.Global: self.global_,
            ast.Nonlocal: self.nonlocal_,
            ast.Await: self.await_,
            ast.If: self.test,
            ast.While: self.test,
            ast.IfExp: self.test,
        }
        for name in ("TypeVar", "ParamSpec", "TypeVarTuple"):
            if hasattr(ast, name):
                self.handlers[getattr(ast, name)] = self.named_block

    def visit(self, node: ast.AST) -> None:
        handler = self.handlers.get(type(node))
        if handler is None:
            self.children(node)
        else:
            handler(node)

    def children(self, node: ast.AST) -> None:
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                self.block(value)
            elif isinstance(value, ast.AST):
                self.visit(value)

    def block(self, nodes: Iterable[object]) -> None:
        for node in nodes:
            if isinstance(node, ast.AST):
                self.visit(node)

    def nothing(self, node: ast.AST) -> None:
        """Constants hold nothing to walk."""

    def bind(self, name: str, binding: Binding) -> None:
        self.facts.bound.setdefault(name, []).append(binding)
        scope = self.scope
        if name in scope.elsewhere:
            scope = scope.elsewhere[name] or scope
        scope.names.setdefault(name, []).append(binding)

    def name(self, node: ast.Name) -> None:
        self.facts.owners[node] = self.scope
        if isinstance(node.ctx, ast.Load):
            self.facts.uses.append(Use(self.scope, node, (), node))
        else:
            self.bind(node.id, Binding("other"))
            self._class_member(node.id)

    def attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Store) and own_private(node.attr):
            self.facts.private.add(node.attr)
        self._chain(node, None)

    def call(self, node: ast.Call) -> None:
        self.facts.calls.append(node)
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name in ("setattr", "__setattr__"):
            self._private_names(node.args[:2])
        self._chain(node.func, node)
        self.block(node.args)
        for keyword in node.keywords:
            self.visit(keyword.value)

    def _chain(self, node: ast.expr, call: ast.Call | None) -> None:
        attributes: list[str] = []
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            attributes.append(root.attr)
            root = root.value
        if isinstance(root, ast.Name):
            self.facts.owners[root] = self.scope
            self.facts.uses.append(Use(self.scope, root, tuple(reversed(attributes)), node, call))
        else:
            self.visit(root)

    # Scopes

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.bind(node.name, Binding("other"))
        self._class_member(node.name)
        self.block(node.decorator_list)
        if node.returns is not None:
            self.visit(node.returns)
        self.function_like(node)

    def function_like(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        arguments = node.args
        self.block([*arguments.defaults, *arguments.kw_defaults])
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        for argument in every:
            if argument is not None and argument.annotation is not None:
                self.visit(argument.annotation)
        outer, self.scope = self.scope, Scope(is_class=False, parent=self.scope)
        for argument in every:
            if argument is not None:
                self.bind(argument.arg, Binding("other", site="parameter"))
        self.block(getattr(node, "type_params", ()))
        if isinstance(node, ast.Lambda):
            self.visit(node.body)
        else:
            self._declare(node.body)
            self.block(node.body)
        self.scope = outer

    def class_def(self, node: ast.ClassDef) -> None:
        self.bind(node.name, Binding("other"))
        self._class_member(node.name)
        self.block(node.decorator_list)
        self.block(node.bases)
        for keyword in node.keywords:
            self.visit(keyword.value)
        outer, self.scope = self.scope, Scope(is_class=True, parent=self.scope)
        self.block(getattr(node, "type_params", ()))
        self.block(node.body)
        self.scope = outer

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        self.visit(node.generators[0].iter)
        outer, self.scope = self.scope, Scope(is_class=False, parent=self.scope)
        for index, generator in enumerate(node.generators):
            self.facts.loops.append((generator.target, generator.iter))
            self._target(generator.target, generator.iter, "iter")
            if index:
                self.visit(generator.iter)
            self.block(generator.ifs)
        if isinstance(node, ast.DictComp):
            self.block([node.key, node.value])
        else:
            self.visit(node.elt)
        self.scope = outer

    def _declare(self, body: list[ast.stmt]) -> None:
        """Takes `global` and `nonlocal` ahead of the walk: they hold for the whole function."""
        for node in body:
            if isinstance(node, ast.Global):
                self.global_(node)
            elif isinstance(node, ast.Nonlocal):
                self.nonlocal_(node)

    def global_(self, node: ast.Global) -> None:
        for name in node.names:
            self.scope.elsewhere[name] = self.facts.module
        if self.scope is self.facts.module:
            self.scope.elsewhere.clear()

    def nonlocal_(self, node: ast.Nonlocal) -> None:
        for name in node.names:
            found = self.scope.parent.find(name) if self.scope.parent is not None else None
            self.scope.elsewhere[name] = found[0] if found is not None else None

    # Binding statements

    def import_(self, node: ast.Import) -> None:
        for alias in node.names:
            self.facts.imports.append((alias.name, node.lineno, node.col_offset))
            top = alias.name.partition(".")[0]
            self.bind(alias.asname or top, Binding("import", alias.name if alias.asname else top))

    def import_from(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        for alias in node.names:
            self.facts.imports.append((f"{module}.{alias.name}", node.lineno, node.col_offset))
            if alias.name == "*":
                self.facts.has_star = True
            else:
                self.bind(alias.asname or alias.name, Binding("import", f"{module}.{alias.name}"))

    def assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            if isinstance(target, ast.Name) and target.id == "__slots__":
                self._private_names(
                    getattr(node.value, "elts", None) or getattr(node.value, "keys", None) or [node.value]
                )
            self._target(target, node.value, "")
            if isinstance(target, ast.Subscript):
                self.facts.item_stores.append((target.value, node.value))

    def ann_assign(self, node: ast.AnnAssign) -> None:
        self.visit(node.annotation)
        if node.value is not None:
            self.visit(node.value)
        self._target(node.target, node.value, "")

    def named(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self._target(node.target, node.value, "")

    def aug_assign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        self._target(node.target, node.value, "augmented")

    def loop(self, node: ast.For | ast.AsyncFor) -> None:
        self.facts.loops.append((node.target, node.iter))
        self.visit(node.iter)
        self._target(node.target, node.iter, "iter")
        self.block(node.body)
        self.block(node.orelse)

    def with_(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            self.visit(item.context_expr)
            if item.optional_vars is not None:
                self._target(item.optional_vars, item.context_expr, "with")
        self.block(node.body)

    def _target(self, target: ast.expr, value: ast.expr | None, site: str) -> None:
        """Binds a simple name with its value; other targets bind what they hold as `other`."""
        if isinstance(target, ast.Name):
            self.facts.owners[target] = self.scope
            kind: Kind = "value" if value is not None and not site else "other"
            self.bind(target.id, Binding(kind, value=value, site=site))
            self._class_member(target.id)
        else:
            self.visit(target)

    def named_block(self, node: ast.AST) -> None:
        name = getattr(node, "name", None)
        if name:
            self.bind(name, Binding("other"))
        self.children(node)

    def match_mapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self.bind(node.rest, Binding("other"))
        self.children(node)

    def await_(self, node: ast.Await) -> None:
        self.facts.awaits.append(node)
        self.visit(node.value)

    def test(self, node: ast.If | ast.While | ast.IfExp) -> None:
        self.facts.tests.append(node.test)
        self.children(node)

    def _private_names(self, nodes: Iterable[ast.expr | None]) -> None:
        """Literal names in `setattr(x, "_n", v)` and `__slots__`: attributes that the program itself defines."""
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and own_private(node.value):
                self.facts.private.add(node.value)

    def _class_member(self, name: str) -> None:
        if self.scope.is_class and own_private(name):
            self.facts.private.add(name)
