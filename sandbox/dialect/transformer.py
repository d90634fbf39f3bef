"""RestrictedPython's transformer with compile-time checks in place of run-time guards.

Enters: the facts about a program. Leaves: every refusal as a `Diagnostic`, and the tree with a handful of look-ups
rewritten to `_cm_getattr(...)`. Attribute, item, iteration and assignment stay native, so checked code runs at
CPython's speed. The walk has met every node, so that a visitor judges one node and goes no deeper; a kind of node that
has no visitor here and none in RestrictedPython stays refused.
Source of the rules: `rules.py`; the module tables decide what can be imported.
"""

# ruff: noqa: N802, N815  # visitors are named after syntax nodes, as RestrictedPython names them

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from RestrictedPython.transformer import RestrictingNodeTransformer

from sandbox.dialect.modules import Importable
from sandbox.dialect.receivers import meet_self
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
from sandbox.dialect.scopes import DOTTED, Facts, Scope
from sandbox.dialect.shapes import is_super, literal_names_problem, outside_name
from sandbox.dialect.templates import format_problem
from sandbox.spec import Diagnostic

REFUSED = "dialect.refused"
MAX_REFUSALS = 100  # chosen: more do not help anybody

_KNOWN_METACLASSES = frozenset(("ABCMeta", "EnumMeta", "EnumType"))
_TEMPLATES = frozenset(("format", "format_map"))
_BY_CONVENTION = ("self", "cls")
_LOOK_UPS = frozenset(("getattr", "setattr", "delattr", "hasattr"))

Node = Any  # a node of any kind, as ast hands them out


def check(facts: Facts, importable: Importable) -> list[Diagnostic]:
    """The refusals of a program in the order of its text, at most `MAX_REFUSALS`; without any the tree is rewritten."""
    policy = Policy(facts, importable)
    policy.judge()
    if not policy.found:
        policy.rewrite()
    return [diagnostic for _, diagnostic in sorted(policy.found, key=lambda item: item[0])[:MAX_REFUSALS]]


class Policy(RestrictingNodeTransformer):
    """Judges and rewrites one program; refusals are collected, none is raised."""

    def __init__(self, facts: Facts, importable: Importable) -> None:
        super().__init__()
        self.facts = facts
        self.importable = importable
        self.found: list[tuple[tuple[int, ...], Diagnostic]] = []  # with the place, outer nodes first
        self._room = MAX_REFUSALS
        self._permitted: set[ast.Name] = set()
        self._guarded: dict[ast.Attribute, str] = {}  # look-up → guard
        self._met: dict[Scope, None] = {}  # methods that use their `self` natively

    # Plumbing

    def judge(self) -> None:
        """Judges each node; classes first, because their bodies permit some names."""
        for kind in sorted(self.facts.nodes, key=lambda kind: kind is not ast.ClassDef):
            self._room = MAX_REFUSALS  # of one kind: they come in the order of the text, so the first are among them
            visitor = getattr(self, f"visit_{kind.__name__}", self.not_allowed)
            if visitor != self._native:
                for node in self.facts.nodes[kind]:
                    visitor(node)

    def node_contents_visit(self, node: Node) -> Node:
        """Called by the visitors of the base class: what a node holds is judged by itself."""
        return node

    def error(self, node: Node, info: str, hint: str = "") -> None:
        """Records a refusal at a node."""
        if self._room > 0:
            self._room -= 1
            line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
            end = getattr(node, "end_lineno", None) or line, getattr(node, "end_col_offset", None) or column
            place = (line, column, -end[0], -end[1])
            self.found.append((place, Diagnostic(code=REFUSED, message=info, line=line, column=column, hint=hint)))

    def not_allowed(self, node: Node) -> None:
        """Called for a node that neither this class nor its base knows, or that the base refuses."""
        kind = type(node).__name__
        self.error(node, f"`{kind}` is syntax that the dialect does not know", "write it in another way")

    def _refuse(self, node: Node, name: str, verdict: Verdict) -> None:
        self.error(node, f"`{name}`: {verdict.reason}", verdict.hint)

    def _check_name(self, node: Node, name: str | None, *, is_store: bool = True) -> None:
        if name is None or name[0] != "_":
            return
        verdict = judge_name(name, is_store=is_store)
        if verdict.mode == "refused":
            self._refuse(node, name, verdict)

    def rewrite(self) -> None:
        """Changes the tree in place: guarded look-ups become calls, and methods meet their `self`."""
        for node, guard in self._guarded.items():
            name, class_name = node.attr, self.facts.owners[node].class_around().lstrip("_")
            if class_name and name.startswith("__") and not name.endswith("__"):
                name = f"_{class_name}{name}"  # as the compiler spells it inside of a class
            call = _guard_call(guard, name, node)
            if guard == "getattr":
                _become(node, call)
            else:
                node.value = call
        for scope in self._met:
            meet_self(scope)

    # Names and attributes

    def visit_Name(self, node: ast.Name) -> None:
        name = node.id
        if name in REFUSED_BUILTINS and type(node.ctx) is ast.Load:
            if name.startswith("__") or self.facts.is_builtin(name):
                self.error(node, f"`{name}`: {REFUSED_BUILTINS[name][0]}", REFUSED_BUILTINS[name][1])
        elif name[0] == "_" and node not in self._permitted:
            self._check_name(node, name, is_store=type(node.ctx) is not ast.Load)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        is_foreign = self._is_private_of_another(node)
        if type(node.ctx) is not ast.Load:
            verdict = judge_store(node.attr)
            if verdict.mode == "refused":
                self._refuse(node, node.attr, verdict)
            self._check_library_store(node)
            if not self._is_met(node.value):
                self._guarded.setdefault(node, "writable")
            return
        verdict = judge_attribute(node.attr, self.facts.private, on_super=is_super(node.value))
        if verdict.mode == "refused":
            self._refuse(node, node.attr, verdict)
        elif isinstance(node.value, DOTTED):
            self._check_module_name(node)
        elif verdict.mode == "checked" and isinstance(node.value, ast.Constant) and node.attr in _TEMPLATES:
            self._check_template(node, node.value.value)
            return
        if verdict.mode == "checked" or is_foreign:
            self._guarded[node] = "getattr"

    def _is_private_of_another(self, node: ast.Attribute) -> bool:
        """A private name of anything but the `self` of a method may be a library object's: it is looked at.

        A method with a private name of its `self` is noted, because `self` is looked at on entry there.
        """
        if not own_private(node.attr) or node.attr in DOCUMENTED_PRIVATE or is_super(node.value):
            return False
        variable = self.facts.variable(node.value)
        if variable is None or variable[0].fixed_self != variable[1]:
            return True
        self._met[variable[0]] = None
        return False

    def _is_met(self, value: ast.expr) -> bool:
        """Whether what is written to is the `self` of a method, which is then looked at on entry.

        By its name: a function of a class body may be meant for any object in the place of another parameter.
        """
        variable = self.facts.variable(value)
        if variable is None or variable[1] not in _BY_CONVENTION or variable[0].fixed_self != variable[1]:
            return False
        self._met[variable[0]] = None
        return True

    def _check_template(self, node: ast.Attribute, template: object) -> None:
        """`"{} {}".format`: a literal template is checked here, once, and stays native."""
        problem = format_problem(template) if isinstance(template, str) else None
        if problem is not None:
            self.error(node, *problem)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """`x.format += y` reads the attribute natively, so that for the checked names the object is looked at."""
        target = node.target
        if isinstance(target, ast.Attribute) and (
            target.attr in CHECKED_ATTRIBUTES or target.attr in LIBRARY_PRIVATE or self._is_private_of_another(target)
        ):
            self._guarded[target] = "augmentable"

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

    def visit_Call(self, node: ast.Call) -> None:
        func = node.func
        if isinstance(func, ast.Name) and func.id in _LOOK_UPS and self.facts.is_builtin(func.id):
            self._look_up(node, func.id)
        elif isinstance(func, ast.Attribute) and func.attr == "read" and not self.facts.path_of(func):
            self._check_settings(node)

    def _check_settings(self, node: ast.Call) -> None:
        """`ConfigParser.read` passes over what it cannot open, so a name outside is said before anything runs."""
        if any(path.partition(".")[0] == "configparser" for path, _, _ in self.facts.imports):
            name = outside_name(node.args)
            if name:
                self.error(node, f"`{name}` is outside of the workspace", "give a relative name, or use `read_string`")

    def _look_up(self, node: ast.Call, function: str) -> None:
        """Says before anything runs what the guards would say at run time about literal arguments."""
        name = node.args[1] if len(node.args) > 1 else None
        if function == "hasattr" or not isinstance(name, ast.Constant) or type(name.value) is not str:
            return
        own = self.facts.private | {name.value} if own_private(name.value) else self.facts.private
        verdict = judge_attribute(name.value, own) if function == "getattr" else judge_store(name.value)
        if verdict.mode == "refused":
            self._refuse(node, name.value, verdict)

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg is not None and node.arg.startswith(GUARD_PREFIX):
            self._check_name(node, node.arg)

    # Statements that the base class rewrites or refuses, and that stay native here

    def _native(self, node: Node) -> None:
        """Nothing to judge at the node itself."""

    visit_Subscript = visit_Assign = visit_AnnAssign = visit_Delete = _native
    visit_For = visit_AsyncFor = visit_With = visit_AsyncWith = visit_comprehension = _native
    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_NamedExpr = visit_Await = _native
    visit_Match = visit_match_case = visit_MatchValue = visit_MatchSingleton = visit_MatchSequence = _native
    visit_MatchOr = visit_Expr = visit_TypeAlias = visit_Module = _native
    visit_If = visit_Try = visit_Lambda = visit_Constant = _native

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> None:
        for name in node.names:
            self._check_name(node, name)

    visit_Nonlocal = visit_Global

    def visit_TryStar(self, node: Node) -> None:
        self.error(
            node,
            "`except*`: a hostile exception group crashes CPython 3.11-3.13 there",
            "catch `ExceptionGroup as group` and look at `group.exceptions`",
        )

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self._check_name(node, node.name)

    # Patterns

    def visit_MatchClass(self, node: ast.MatchClass) -> None:
        for name in node.kwd_attrs:
            verdict = judge_attribute(name, self.facts.private)
            if verdict.mode == "checked" or (own_private(name) and name not in DOCUMENTED_PRIVATE):
                verdict = Verdict("refused", "this attribute is checked at run time", "bind the object, then read it")
            if verdict.mode == "refused":
                self._refuse(node, name, verdict)

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar) -> None:
        self._check_name(node, node.name)

    visit_MatchStar = visit_MatchAs

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self._check_name(node, node.rest)

    # Functions, classes, type parameters

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._check_name(node, node.name)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_arg(self, node: ast.arg) -> None:
        self._check_name(node, node.arg)

    def visit_TypeVar(self, node: Node) -> None:
        self._check_name(node, node.name)

    visit_ParamSpec = visit_TypeVarTuple = visit_TypeVar

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
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
        for item in node.body:
            self._check_class_variable(item)

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

    def visit_Import(self, node: ast.Import) -> None:
        if getattr(node, "is_lazy", 0):
            self.error(node, "lazy imports are not part of the dialect", "write a plain `import`")
        for alias in node.names:
            self._check_name(node, alias.asname)
            self._check_import(node, alias.name, "")

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if getattr(node, "is_lazy", 0):
            self.error(node, "lazy imports are not part of the dialect", "write a plain `import`")
        if node.level:
            self.error(node, "relative imports need a package, and the program is none", "import by the full name")
            return
        for alias in node.names:
            self._check_name(node, alias.asname)
            self._check_import(node, node.module or "", alias.name)

    def _check_import(self, node: ast.stmt, module: str, name: str) -> None:
        problem = self.importable.problem(module, name)
        if problem and not (problem[2] and node in self.facts.optional):
            self.error(node, problem[0], problem[1])


def _guard_call(guard: str, name: str, node: ast.Attribute) -> ast.Call:
    place = {"lineno": node.lineno, "col_offset": node.col_offset}
    place |= {"end_lineno": node.end_lineno or node.lineno, "end_col_offset": node.end_col_offset or 0}
    func, key = ast.Name(f"{GUARD_PREFIX}{guard}", ast.Load(), **place), ast.Constant(name, None, **place)
    return ast.Call(func, [node.value, key], [], **place)


def _become(node: ast.AST, other: ast.AST) -> None:
    """Makes a node the other one, so that whatever holds it need not be told."""
    node.__class__ = type(other)  # all nodes have the same layout
    vars(node).clear()
    vars(node).update(vars(other))
