"""The one walk over a program, which finds its `Facts`.

Enters: a parsed module or expression. Leaves: `Facts`; the tree is only read. Must never leave out a node: what the
walk does not meet is not judged. A kind without a handler of its own, and a field that a newer Python adds to one that
has a handler, are walked by their fields.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from sandbox.dialect.receivers import self_of
from sandbox.dialect.rules import own_private, words
from sandbox.dialect.scopes import Binding, Facts, Kind, Scope
from sandbox.dialect.shapes import catches_import_error

_OTHER = Binding("other")
_PARAMETER = Binding("other", site="parameter")
_SINGLETONS = frozenset(("ctx", "op", "ops"))  # fields that hold `Load()`, `Add()` and the like: nothing to meet
_LEAVES = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.Constant)  # hold no nodes


def scan(tree: ast.Module | ast.Expression, roots: Iterable[str] = ()) -> Facts:
    """Walks the program once; `roots` are predefined modules."""
    facts = Facts(module=Scope(None), roots=frozenset(roots))
    _Walk(facts).visit(tree)
    return facts


Handler = Callable[["_Walk", Any], None]


def _handles(kinds: str, fields: str) -> Callable[[Handler], Handler]:
    """Makes a method of the walk the handler of some kinds. `fields` are those that it sees to."""

    def register(handler: Handler) -> Handler:
        for kind in filter(None, (getattr(ast, name, None) for name in kinds.split())):
            _HANDLERS[kind] = handler
            _FIELDS[kind] = tuple(name for name in kind._fields if name not in words(fields))
            if _FIELDS[kind]:
                _HANDLERS[kind] = _with_fields(handler)
        return handler

    return register


def _with_fields(handler: Handler) -> Handler:
    def handle(walk: _Walk, node: ast.AST) -> None:
        handler(walk, node)
        walk.fields(node)

    return handle


class _Handlers(dict[Any, "Handler | None"]):
    """The handler of each kind; None for what is no node, as the text of a name, and for nodes that hold nothing."""

    def __missing__(self, kind: Any) -> Handler | None:
        is_met = issubclass(kind, ast.AST) and not issubclass(kind, _LEAVES)
        self[kind] = _Walk.fields if is_met else None
        if is_met:
            _FIELDS[kind] = tuple(name for name in kind._fields if name not in _SINGLETONS)
        return self[kind]


_HANDLERS = _Handlers()
_FIELDS: dict[type, tuple[str, ...]] = {}
"""Kind → the fields that `_Walk.fields` walks."""


class _Walk:
    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.nodes = facts.nodes
        self.owners = facts.owners
        self.scope = facts.module
        self.optional = 0  # how many blocks around may lack what they import

    def visit(self, node: object) -> None:
        kind: Any = type(node)
        handler = _HANDLERS[kind]
        if handler is not None:
            self.nodes[kind].append(node)
            handler(self, node)

    def block(self, nodes: Iterable[object]) -> None:
        for node in nodes:
            self.visit(node)

    def fields(self, node: ast.AST) -> None:
        for name in _FIELDS[type(node)]:
            value = getattr(node, name, None)
            if type(value) is list:
                for item in value:
                    self.visit(item)
            elif value is not None:
                self.visit(value)

    def bind(self, name: str, binding: Binding) -> None:
        self.facts.bound.setdefault(name, []).append(binding)
        scope = self.scope
        if name in scope.elsewhere:
            scope = scope.elsewhere[name] or scope
        scope.names.setdefault(name, []).append(binding)

    def define(self, name: str, binding: Binding) -> None:
        """Binds a name that becomes an attribute where the scope is a class."""
        self.bind(name, binding)
        if self.scope.class_name and own_private(name):
            self.facts.private.add(name)

    @_handles("Name", "id ctx")
    def name(self, node: ast.Name) -> None:
        self.owners[node] = self.scope
        if type(node.ctx) is not ast.Load:
            self.define(node.id, _OTHER)

    @_handles("Attribute", "value attr ctx")
    def attribute(self, node: ast.Attribute) -> None:
        """`a.b.c` is one use of `a`."""
        if type(node.ctx) is ast.Store and own_private(node.attr):
            self.facts.private.add(node.attr)
        self.owners[node] = self.scope
        root = node.value
        while type(root) is ast.Attribute:
            self.nodes[ast.Attribute].append(root)
            self.owners[root] = self.scope
            root = root.value
        if type(root) is ast.Name:
            self.facts.wholes[root] = node
        self.visit(root)

    @_handles("Call", "func args keywords")
    def call(self, node: ast.Call) -> None:
        func = node.func
        self.facts.called[func] = node
        name = func.id if type(func) is ast.Name else getattr(func, "attr", "")
        if name in ("setattr", "__setattr__"):
            self._private_names(node.args[:2])
        self.visit(func)
        self.block(node.args)
        self.block(node.keywords)

    # Scopes

    @_handles("FunctionDef AsyncFunctionDef", "name args body decorator_list returns type_comment type_params")
    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.define(node.name, _OTHER)
        self.block(node.decorator_list)
        self.visit(node.returns)
        self._inside(node, node.body)

    @_handles("Lambda", "args body")
    def function_like(self, node: ast.Lambda) -> None:
        self._inside(node, [node.body])

    def _inside(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, body: list[Any]) -> None:
        """Defaults and annotations belong to the scope around; then the scope of the function."""
        arguments = node.args
        self.visit(arguments)
        name = self_of(node) if self.scope.class_name else ""
        outer, self.scope = self.scope, Scope(self.scope, function=node)
        parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        for parameter in parameters:
            if parameter is not None:
                self.bind(parameter.arg, _PARAMETER)
        bindings = len(self.facts.bound[name]) if name else 0
        self.block(getattr(node, "type_params", ()))
        self._declare(body)
        self.block(body)
        if name and len(self.facts.bound[name]) == bindings:
            self.scope.fixed_self = name
        self.scope = outer

    @_handles("arguments", "posonlyargs args vararg kwonlyargs kw_defaults kwarg defaults")
    def arguments(self, node: ast.arguments) -> None:
        for part in (node.posonlyargs, node.args, node.kwonlyargs, node.kw_defaults, node.defaults):
            if part:
                self.block(part)
        self.visit(node.vararg)
        self.visit(node.kwarg)

    @_handles("arg", "arg annotation type_comment")
    def argument(self, node: ast.arg) -> None:
        if node.annotation is not None:
            self.visit(node.annotation)

    def _declare(self, body: list[Any]) -> None:
        """Takes `global` and `nonlocal` ahead of the walk: they hold for the whole function."""
        for node in body:
            if type(node) is ast.Global:
                self.global_(node)
            elif type(node) is ast.Nonlocal:
                self.nonlocal_(node)

    @_handles("Global", "names")
    def global_(self, node: ast.Global) -> None:
        for name in node.names:
            self.scope.elsewhere[name] = self.facts.module
        if self.scope is self.facts.module:
            self.scope.elsewhere.clear()

    @_handles("Nonlocal", "names")
    def nonlocal_(self, node: ast.Nonlocal) -> None:
        for name in node.names:
            found = self.scope.parent.find(name) if self.scope.parent is not None else None
            self.scope.elsewhere[name] = found[0] if found is not None else None

    @_handles("ClassDef", "name bases keywords body decorator_list type_params")
    def class_def(self, node: ast.ClassDef) -> None:
        self.define(node.name, _OTHER)
        self.block(node.decorator_list)
        self.block(node.bases)
        self.block(node.keywords)
        outer, self.scope = self.scope, Scope(self.scope, node.name)
        self.block(getattr(node, "type_params", ()))
        self.block(node.body)
        self.scope = outer

    @_handles("ListComp SetComp GeneratorExp DictComp", "elt key value generators")
    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        """The first iterable belongs to the scope around."""
        self.visit(node.generators[0].iter)
        outer, self.scope = self.scope, Scope(self.scope)
        for index, generator in enumerate(node.generators):
            if index:
                self.visit(generator.iter)
            self.visit(generator)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            self.visit(part)
        self.scope = outer

    @_handles("comprehension", "target iter ifs is_async")
    def generator(self, node: ast.comprehension) -> None:
        self._target(node.target, node.iter, "iter")
        self.block(node.ifs)

    # Statements that bind

    @_handles("Import", "names is_lazy")
    def import_(self, node: ast.Import) -> None:
        for alias in node.names:
            self.facts.imports.append((alias.name, node.lineno, node.col_offset))
            top = alias.name.partition(".")[0]
            self.bind(alias.asname or top, Binding("import", alias.name if alias.asname else top))
        self._imported(node)

    @_handles("ImportFrom", "module names level is_lazy")
    def import_from(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        for alias in node.names:
            self.facts.imports.append((f"{module}.{alias.name}", node.lineno, node.col_offset))
            if alias.name == "*":
                self.facts.has_star = True
            else:
                self.bind(alias.asname or alias.name, Binding("import", f"{module}.{alias.name}"))
        self._imported(node)

    def _imported(self, node: ast.Import | ast.ImportFrom) -> None:
        self.block(node.names)
        if self.optional:
            self.facts.optional.add(node)

    @_handles("Assign", "targets value type_comment")
    def assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            if type(target) is ast.Name and target.id == "__slots__":
                self._private_names(
                    getattr(node.value, "elts", None) or getattr(node.value, "keys", None) or [node.value]
                )
            self._target(target, node.value, "")

    @_handles("AnnAssign", "target annotation value simple")
    def ann_assign(self, node: ast.AnnAssign) -> None:
        self.visit(node.annotation)
        self.visit(node.value)
        self._target(node.target, node.value, "")

    @_handles("NamedExpr", "target value")
    def named(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self._target(node.target, node.value, "")

    @_handles("AugAssign", "target op value")
    def aug_assign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        self._target(node.target, node.value, "augmented")

    @_handles("For AsyncFor", "target iter body orelse type_comment")
    def loop(self, node: ast.For | ast.AsyncFor) -> None:
        self.visit(node.iter)
        self._target(node.target, node.iter, "iter")
        self.block(node.body)
        self.block(node.orelse)

    @_handles("withitem", "context_expr optional_vars")
    def with_item(self, node: ast.withitem) -> None:
        self.visit(node.context_expr)
        if node.optional_vars is not None:
            self._target(node.optional_vars, node.context_expr, "with")

    def _target(self, target: ast.expr, value: ast.expr | None, site: str) -> None:
        """Binds a simple name with its value; other targets bind what they hold as `other`."""
        if type(target) is ast.Name:
            self.nodes[ast.Name].append(target)
            self.owners[target] = self.scope
            kind: Kind = "value" if value is not None and not site else "other"
            self.define(target.id, Binding(kind, value=value, site=site))
        else:
            self.visit(target)

    @_handles("ExceptHandler MatchAs MatchStar TypeVar ParamSpec TypeVarTuple", "name")
    def named_block(self, node: Any) -> None:
        if node.name:
            self.bind(node.name, _OTHER)

    @_handles("MatchMapping", "rest")
    def match_mapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self.bind(node.rest, _OTHER)

    # Blocks whose imports need not work

    @_handles("Try", "body handlers orelse finalbody")
    def try_(self, node: ast.Try) -> None:
        is_optional = any(catches_import_error(handler.type) for handler in node.handlers)
        self.optional += is_optional
        self.block(node.body)
        self.optional -= is_optional
        self.block(node.handlers)
        self.block(node.orelse)
        self.block(node.finalbody)

    @_handles("If", "test body orelse")
    def if_(self, node: ast.If) -> None:
        """What stands under `if TYPE_CHECKING:` never runs."""
        name = node.test.id if isinstance(node.test, ast.Name) else getattr(node.test, "attr", "")
        self.visit(node.test)
        self.optional += name == "TYPE_CHECKING"
        self.block(node.body)
        self.optional -= name == "TYPE_CHECKING"
        self.block(node.orelse)

    def _private_names(self, nodes: Iterable[ast.expr | None]) -> None:
        """Literal names in `setattr(x, "_n", v)` and `__slots__`: attributes that the program itself defines."""
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and own_private(node.value):
                self.facts.private.add(node.value)
