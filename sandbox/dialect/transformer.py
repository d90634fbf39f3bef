"""RestrictedPython's transformer with compile-time checks in place of run-time guards.

Enters: a parsed module and the facts about it. Leaves: the same tree, with a handful of look-ups rewritten to
`_cm_getattr(...)`, and every refusal as a `Diagnostic`. Attribute, item, iteration and assignment stay native, so
checked code runs at CPython's speed. A syntax node that RestrictedPython does not know stays refused.
Source of the rules: `rules.py`; the module tables decide what can be imported.
"""

# ruff: noqa: N802, N815  # visitors are named after syntax nodes, as `ast.NodeTransformer` finds them

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from RestrictedPython.transformer import RestrictingNodeTransformer

from sandbox.dialect.modules import Importable
from sandbox.dialect.receivers import fixed_self, meet_self
from sandbox.dialect.rules import (
    CHECKED_ATTRIBUTES,
    CLASS_VARIABLES,
    DOCUMENTED_PRIVATE,
    GUARD_PREFIX,
    LIBRARY_PRIVATE,
    REFUSED_BUILTINS,
    Verdict,
    judge_attribute,
    judge_name,
    judge_store,
    own_private,
)
from sandbox.dialect.scopes import Facts
from sandbox.dialect.shapes import catches_import_error, is_super, literal_names_problem
from sandbox.dialect.templates import format_problem
from sandbox.spec import Diagnostic

REFUSED = "dialect.refused"
MAX_REFUSALS = 100  # chosen: more do not help anybody

_KNOWN_METACLASSES = frozenset(("ABCMeta", "EnumMeta", "EnumType"))
_TEMPLATES = frozenset(("format", "format_map"))
_LOOK_UPS = frozenset(("getattr", "setattr", "delattr", "hasattr", "type"))
_LEAVES = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)

Node = Any  # the visitors take and return whatever ast hands them, as ast.NodeTransformer does


class Policy(RestrictingNodeTransformer):
    """Checks and rewrites one program; refusals are collected, none is raised."""

    def __init__(self, facts: Facts, importable: Importable) -> None:
        super().__init__()
        self.facts = facts
        self.importable = importable
        self.diagnostics: list[Diagnostic] = []
        self._visitors: dict[type[ast.AST], Callable[[Any], Any]] = {}
        self._optional_imports = 0
        self._permitted: set[ast.Name] = set()
        self._classes: list[str] = []  # around the node, innermost last
        self._selves: list[str] = []  # of the methods around the node, innermost last: what is met on entry

    # Plumbing

    def visit(self, node: Node) -> Node:
        kind = type(node)
        visitor = self._visitors.get(kind)
        if visitor is None:
            found: Callable[[Any], Any] = getattr(self, f"visit_{kind.__name__}", self.generic_visit)
            visitor = self._visitors[kind] = found
        return visitor(node)

    def node_contents_visit(self, node: Node) -> Node:
        """The base class's traversal, without a visit of each operator and context."""
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                value[:] = [self.visit(item) if isinstance(item, ast.AST) else item for item in value]
            elif isinstance(value, ast.AST) and not isinstance(value, _LEAVES):
                setattr(node, name, self.visit(value))
        return node

    def error(self, node: Node, info: str, hint: str = "") -> None:
        """Records a refusal at a node."""
        if len(self.diagnostics) < MAX_REFUSALS:
            line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
            self.diagnostics.append(Diagnostic(code=REFUSED, message=info, line=line, column=column, hint=hint))

    def not_allowed(self, node: Node) -> None:
        """Called by the base class for a node that it does not know."""
        kind = type(node).__name__
        self.error(node, f"`{kind}` is syntax that the dialect does not know", "write it in another way")

    def _refuse(self, node: Node, name: str, verdict: Verdict) -> None:
        self.error(node, f"`{name}`: {verdict.reason}", verdict.hint)

    def _check_name(self, node: Node, name: str | None, *, is_store: bool = True) -> None:
        if name is None:
            return
        verdict = judge_name(name, is_store=is_store)
        if verdict.mode == "refused":
            self._refuse(node, name, verdict)

    # Names and attributes

    def visit_Name(self, node: ast.Name) -> Node:
        is_store = not isinstance(node.ctx, ast.Load)
        name = node.id
        if not is_store and name in REFUSED_BUILTINS and (name.startswith("__") or self.facts.is_builtin(name)):
            reason, hint = REFUSED_BUILTINS[name]
            self.error(node, f"`{name}`: {reason}", hint)
        elif name.startswith("_") and node not in self._permitted:
            self._check_name(node, name, is_store=is_store)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> Node:
        if not isinstance(node.ctx, ast.Load):
            verdict = judge_store(node.attr)
            if verdict.mode == "refused":
                self._refuse(node, node.attr, verdict)
            self._check_library_store(node)
            node.value = self.visit(node.value)
            return node
        verdict = judge_attribute(node.attr, self.facts.private, on_super=is_super(node.value))
        if verdict.mode == "refused":
            self._refuse(node, node.attr, verdict)
        elif isinstance(node.value, ast.Name | ast.Attribute):
            self._check_module_name(node)
        elif verdict.mode == "checked" and isinstance(node.value, ast.Constant) and node.attr in _TEMPLATES:
            self._check_template(node, node.value.value)
            return node
        is_checked = verdict.mode == "checked" or self._is_private_of_another(node)
        node.value = self.visit(node.value)
        return self._guard_call("getattr", node.value, node) if is_checked else node

    def _guard_call(self, guard: str, value: ast.expr, node: ast.Attribute) -> ast.Call:
        name = node.attr
        class_name = self._classes[-1].lstrip("_") if self._classes else ""
        if class_name and name.startswith("__") and not name.endswith("__"):
            name = f"_{class_name}{name}"  # as the compiler spells it inside of a class
        return _guard_call(guard, value, name, node)

    def _is_private_of_another(self, node: ast.Attribute) -> bool:
        """A private name of anything but the `self` of a method may be a library object's: it is looked at."""
        if not own_private(node.attr) or node.attr in DOCUMENTED_PRIVATE or is_super(node.value):
            return False
        return not (isinstance(node.value, ast.Name) and node.value.id in self._selves)

    def _check_template(self, node: ast.Attribute, template: object) -> None:
        """`"{} {}".format`: a literal template is checked here, once, and stays native."""
        problem = format_problem(template) if isinstance(template, str) else None
        if problem is not None:
            self.error(node, *problem)

    def visit_AugAssign(self, node: ast.AugAssign) -> Node:
        """`x.format += y` reads the attribute natively, so that for the checked names the object is looked at."""
        target = node.target
        if isinstance(target, ast.Attribute) and (
            target.attr in CHECKED_ATTRIBUTES or target.attr in LIBRARY_PRIVATE or self._is_private_of_another(target)
        ):
            self.node_contents_visit(node)
            target.value = self._guard_call("augmentable", target.value, target)
            return node
        return self.node_contents_visit(node)

    def _check_module_name(self, node: ast.Attribute) -> None:
        """`json.codecs` is refused before anything runs when `json` can only be the module."""
        module = self.facts.path_of(node.value)
        if module:
            problem = self.importable.missing(module, node.attr)
            if problem:
                self.error(node, *problem)

    def _check_library_store(self, node: ast.Attribute) -> None:
        path = self.facts.path_of(node.value)
        if path and self.importable.is_library(path):
            self.error(node, f"`{path}.{node.attr}`: library objects are read-only", "write a function or subclass")

    def visit_Call(self, node: ast.Call) -> Node:
        func = node.func
        if isinstance(func, ast.Name) and func.id in _LOOK_UPS and self.facts.is_builtin(func.id):
            self._look_up(node, func.id)
        return self.node_contents_visit(node)

    def _look_up(self, node: ast.Call, function: str) -> None:
        """Says before anything runs what the guards would say at run time about literal arguments."""
        if function == "type":
            if len(node.args) + len(node.keywords) > 1:
                self.error(node, "`type` with three arguments makes a class unchecked", "write a `class` statement")
            return
        name = node.args[1] if len(node.args) > 1 else None
        if function == "hasattr" or not isinstance(name, ast.Constant) or type(name.value) is not str:
            return
        own = self.facts.private | {name.value} if own_private(name.value) else self.facts.private
        verdict = judge_attribute(name.value, own) if function == "getattr" else judge_store(name.value)
        if verdict.mode == "refused":
            self._refuse(node, name.value, verdict)

    def visit_keyword(self, node: ast.keyword) -> Node:
        if node.arg is not None and node.arg.startswith(GUARD_PREFIX):
            self._check_name(node, node.arg)
        return self.node_contents_visit(node)

    # Statements that the base class rewrites or refuses, and that stay native here

    def _native(self, node: Node) -> Node:
        return self.node_contents_visit(node)

    visit_Subscript = visit_Assign = visit_AnnAssign = visit_Delete = _native
    visit_For = visit_AsyncFor = visit_With = visit_AsyncWith = visit_comprehension = _native
    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_NamedExpr = visit_Await = _native
    visit_Match = visit_match_case = visit_MatchValue = visit_MatchSingleton = visit_MatchSequence = _native
    visit_MatchOr = visit_Expr = visit_TypeAlias = visit_Module = _native

    def visit_Constant(self, node: ast.Constant) -> Node:
        return node

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> Node:
        for name in node.names:
            self._check_name(node, name)
        return node

    visit_Nonlocal = visit_Global

    def visit_Try(self, node: ast.Try) -> Node:
        is_optional = any(catches_import_error(handler.type) for handler in node.handlers)
        self._optional_imports += is_optional
        node.body = [self.visit(item) for item in node.body]
        self._optional_imports -= is_optional
        for part in (node.handlers, node.orelse, node.finalbody):
            part[:] = [self.visit(item) for item in part]
        return node

    def visit_If(self, node: ast.If) -> Node:
        """Imports under `if TYPE_CHECKING:` never run."""
        name = node.test.id if isinstance(node.test, ast.Name) else getattr(node.test, "attr", "")
        is_for_types = name == "TYPE_CHECKING"
        node.test = self.visit(node.test)
        self._optional_imports += is_for_types
        node.body = [self.visit(item) for item in node.body]
        self._optional_imports -= is_for_types
        node.orelse = [self.visit(item) for item in node.orelse]
        return node

    def visit_TryStar(self, node: Node) -> Node:
        self.error(
            node,
            "`except*`: a hostile exception group crashes CPython 3.11-3.13 there",
            "catch `ExceptionGroup as group` and look at `group.exceptions`",
        )
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> Node:
        self._check_name(node, node.name)
        return self.node_contents_visit(node)

    # Patterns

    def visit_MatchClass(self, node: ast.MatchClass) -> Node:
        for name in node.kwd_attrs:
            verdict = judge_attribute(name, self.facts.private)
            if verdict.mode == "checked" or (own_private(name) and name not in DOCUMENTED_PRIVATE):
                verdict = Verdict("refused", "this attribute is checked at run time", "bind the object, then read it")
            if verdict.mode == "refused":
                self._refuse(node, name, verdict)
        return self.node_contents_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar) -> Node:
        self._check_name(node, node.name)
        return self.node_contents_visit(node)

    visit_MatchStar = visit_MatchAs

    def visit_MatchMapping(self, node: ast.MatchMapping) -> Node:
        self._check_name(node, node.rest)
        return self.node_contents_visit(node)

    # Functions, classes, type parameters

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Node:
        self._check_name(node, node.name)
        return self.node_contents_visit(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> Node:
        return self.node_contents_visit(node)

    def visit_arg(self, node: ast.arg) -> Node:
        self._check_name(node, node.arg)
        return self.node_contents_visit(node)

    def visit_TypeVar(self, node: Node) -> Node:
        self._check_name(node, node.name)
        return self.node_contents_visit(node)

    visit_ParamSpec = visit_TypeVarTuple = visit_TypeVar

    def visit_ClassDef(self, node: ast.ClassDef) -> Node:
        self._check_name(node, node.name)
        for keyword in node.keywords:
            self._check_class_keyword(node, keyword)
        for base in node.bases:
            name = base.id if isinstance(base, ast.Name) else getattr(base, "attr", "")
            if name in _KNOWN_METACLASSES or (name == "type" and self.facts.is_builtin("type")):
                self.error(
                    base,
                    f"class `{node.name}` is a metaclass: it would decide isinstance and look-up for other classes",
                    "use a class decorator or `__init_subclass__`",
                )
        for part in (node.decorator_list, node.bases, node.keywords, getattr(node, "type_params", [])):
            part[:] = [self.visit(item) for item in part]
        self._classes.append(node.name)
        for index, item in enumerate(node.body):
            self._check_class_variable(item)
            node.body[index] = self._visit_method(item)
        self._classes.pop()
        return node

    def _visit_method(self, item: ast.stmt) -> Node:
        """A method whose `self` stays what it is reads private names of it natively; the object is met on entry."""
        name = fixed_self(item)
        if not name:
            return self.visit(item)
        self._selves.append(name)
        self.visit(item)
        self._selves.pop()
        meet_self(item, name)
        return item

    def _check_class_keyword(self, node: ast.ClassDef, keyword: ast.keyword) -> None:
        if keyword.arg is None:
            self.error(node, "`**` in a class statement may hold a metaclass", "write the keywords out")
        elif keyword.arg == "metaclass":
            value = keyword.value
            name = value.id if isinstance(value, ast.Name) else getattr(value, "attr", "")
            if name not in _KNOWN_METACLASSES:
                self.error(
                    keyword.value,
                    "a metaclass other than `ABCMeta` decides isinstance and look-up for other classes",
                    "use a class decorator or `__init_subclass__`",
                )

    def _check_class_variable(self, item: ast.stmt) -> None:
        """Permits `__slots__` and the like here; two of them name attributes, so they must be literal."""
        targets: Iterable[ast.expr] = ()
        if isinstance(item, ast.Assign):
            targets = item.targets
        elif isinstance(item, ast.AnnAssign):
            targets = (item.target,)
        value = getattr(item, "value", None)
        for target in targets:
            if not isinstance(target, ast.Name) or target.id not in CLASS_VARIABLES:
                continue
            if target.id in ("__slots__", "__match_args__"):
                problem = literal_names_problem(value, is_slots=target.id == "__slots__")
                if problem:
                    self.error(item, f"`{target.id}`: {problem}", "write a literal tuple of attribute names")
            self._permitted.add(target)

    # Imports

    def visit_Import(self, node: ast.Import) -> Node:
        if getattr(node, "is_lazy", 0):
            self.error(node, "lazy imports are not part of the dialect", "write a plain `import`")
        for alias in node.names:
            self._check_name(node, alias.asname)
            self._check_import(node, alias.name, "")
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Node:
        if getattr(node, "is_lazy", 0):
            self.error(node, "lazy imports are not part of the dialect", "write a plain `import`")
        if node.level:
            self.error(node, "relative imports need a package, and the program is none", "import by the full name")
            return node
        for alias in node.names:
            self._check_name(node, alias.asname)
            self._check_import(node, node.module or "", alias.name)
        return node

    def _check_import(self, node: ast.stmt, module: str, name: str) -> None:
        problem = self.importable.problem(module, name)
        if problem and not (self._optional_imports and problem[2]):
            self.error(node, problem[0], problem[1])


def _guard_call(guard: str, value: ast.expr, name: str, node: ast.Attribute) -> ast.Call:
    call = ast.Call(func=ast.Name(f"{GUARD_PREFIX}{guard}", ast.Load()), args=[value, ast.Constant(name)], keywords=[])
    for part in (call, call.func, call.args[1]):
        ast.copy_location(part, node)
    return call
