"""Makes tool calls concurrent where a program treats them as awaitables, and `await` harmless everywhere.

Enters: a checked tree and the facts about it. Leaves: the tree with `await X` as `await _cm_await(X)`, and with
`f(a)` as `_cm_start(f, a)` in positions whose value is certainly consumed as an awaitable. Anywhere else a call
keeps its meaning: a name counts as collected only when every read of it is such a position.
Calls are changed in place, after all positions are known: a call may be consumed and consume itself.
"""

from __future__ import annotations

import ast

from sandbox.dialect.scopes import Facts, Scope

# How the arguments of a consumer are awaited: every positional one, the first, or each item of the first.
_EACH, _FIRST, _ITEMS = "each", "first", "items"
_CONSUMERS = {
    "asyncio.gather": _EACH,
    "asyncio.create_task": _FIRST,
    "asyncio.ensure_future": _FIRST,
    "asyncio.wait_for": _FIRST,
    "asyncio.shield": _FIRST,
    "asyncio.run": _FIRST,
    "asyncio.wait": _ITEMS,
    "asyncio.as_completed": _ITEMS,
}
_LOOP_MAKERS = frozenset(f"asyncio.{name}" for name in ("get_event_loop", "get_running_loop", "new_event_loop"))
_METHODS = {
    "create_task": frozenset(("asyncio.TaskGroup",)) | _LOOP_MAKERS,
    "run_until_complete": _LOOP_MAKERS,
    "run": frozenset(("asyncio.Runner",)),
}
_CONTAINERS = frozenset(("list", "tuple", "set"))
_NEUTRAL_METHODS = frozenset(("append", "extend", "add", "keys", "clear"))
_MAX_BINDINGS = 50  # of one name; beyond it nothing is certain
_READERS = frozenset(("len", "zip", "enumerate", "list", "sorted"))
_Display = (ast.List, ast.Tuple, ast.Set)
_Comprehension = (ast.ListComp, ast.SetComp, ast.GeneratorExp)

Variable = tuple[Scope, str]


def rewrite_awaiting(facts: Facts) -> None:
    """Rewrites the tree in place; a program without `await` and asyncio is left as it is."""
    awaits = facts.of(ast.Await)
    if not awaits and not any(path.partition(".")[0] == "asyncio" for path, _, _ in facts.imports):
        return
    consumers = [(call, how) for call in facts.of(ast.Call) if (how := _consumes(facts, call))]
    plan = _Plan(facts)
    for call, how in consumers:
        for index, argument in enumerate(call.args):
            if how == _EACH or index == 0:
                plan.argument(argument, how)
    for node in awaits:
        plan.item(node.value)
    collected = _Collected(facts, consumers)
    for variable in collected.variables():
        plan.variable(variable, collected)
    plan.apply()
    for node in awaits:
        node.value = _call("_cm_await", [node.value], node.value)


def _consumes(facts: Facts, call: ast.Call) -> str:
    """How a call awaits its arguments, or "" when that is not certain."""
    path = facts.path_of(call.func)
    if path in _CONSUMERS:
        return _CONSUMERS[path]
    if isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS:
        return _FIRST if _made_by(facts, call.func.value, _METHODS[call.func.attr]) else ""
    return ""


def _made_by(facts: Facts, node: ast.expr, makers: frozenset[str]) -> bool:
    if isinstance(node, ast.Call):
        return facts.path_of(node.func) in makers
    if not isinstance(node, ast.Name):
        return False
    bindings = facts.bound.get(node.id, [])
    return 0 < len(bindings) <= _MAX_BINDINGS and all(
        binding.site in ("", "with")
        and isinstance(binding.value, ast.Call)
        and facts.path_of(binding.value.func) in makers
        for binding in bindings
    )


class _Collected:
    """Finds variables that only ever hold awaitables on their way to a consumer."""

    def __init__(self, facts: Facts, consumers: list[tuple[ast.Call, str]]) -> None:
        self.facts = facts
        self.good: set[ast.Name] = set()  # reads in a consuming or neutral position
        self.consumed: set[Variable] = set()
        self.containers: set[Variable] = set()  # used in a way that only containers are
        self.key_reads: set[ast.Name] = set()  # reads of keys: neutral for a dict alone
        self.fillers: dict[Variable, list[tuple[ast.expr, bool]]] = {}  # what is put in; whether it is a container
        for call, how in consumers:
            for index, argument in enumerate(call.args):
                if how == _EACH or index == 0:
                    self._consume(argument.value if isinstance(argument, ast.Starred) else argument)
        for node in facts.of(ast.Await):
            self._consume(node.value)
        taken = {call for call, _ in consumers}
        for call in facts.of(ast.Call):
            if call not in taken:
                self._call(call)
        branches: list[ast.If | ast.While | ast.IfExp] = [
            *facts.of(ast.If),
            *facts.of(ast.While),
            *facts.of(ast.IfExp),
        ]
        for branch in branches:
            self._neutral(branch.test.operand if isinstance(branch.test, ast.UnaryOp) else branch.test)
        for assignment in facts.of(ast.Assign):
            for target in assignment.targets:
                if isinstance(target, ast.Subscript):
                    self._item_store(target.value, assignment.value)

    def variables(self) -> set[Variable]:
        """The variables whose every read is consuming or neutral and whose every binding holds calls."""
        reads = self._reads()
        # A loop target that is only awaited makes the loop a consumer of its collection.
        loops: list[ast.For | ast.AsyncFor | ast.comprehension] = [
            *self.facts.of(ast.For),
            *self.facts.of(ast.AsyncFor),
            *self.facts.of(ast.comprehension),
        ]
        for loop in loops:
            for item, collection in self._pairs(loop.target, loop.iter):
                variable = self.facts.variable(item)
                if variable in self.consumed and reads.get(variable, False):
                    self._consume(collection)
        reads = self._reads()
        return {variable for variable in self.consumed if reads.get(variable, False) and self._simple(variable)}

    def _reads(self) -> dict[Variable, bool]:
        reads: dict[Variable, bool] = {}
        for name in self.facts.reads():
            variable = self.facts.variable(name)
            if variable is not None:
                fits = name in self.good or (name in self.key_reads and _is_dict(variable))
                reads[variable] = reads.get(variable, True) and fits
        return reads

    def _simple(self, variable: Variable) -> bool:
        scope, name = variable
        bindings = scope.names.get(name, ())
        return len(bindings) <= _MAX_BINDINGS and all(
            binding.site == "augmented"
            or (binding.kind == "value" and binding.value is not None and self._fits(variable, binding.value))
            for binding in bindings
        )

    def _fits(self, variable: Variable, value: ast.expr) -> bool:
        if _is_container(value):
            return True
        return isinstance(value, ast.Call) and variable not in self.containers

    def _neutral(self, node: ast.expr) -> Variable | None:
        """A read that is fine for a container and would change the meaning of a single call."""
        variable = self.facts.variable(node)
        if variable is not None and isinstance(node, ast.Name):
            self.good.add(node)
            self.containers.add(variable)
        return variable

    def _item_store(self, container: ast.expr, value: ast.expr) -> None:
        """`c[k] = v`."""
        variable = self._neutral(container)
        if variable is not None:
            self.fillers.setdefault(variable, []).append((value, False))

    def _call(self, call: ast.Call) -> None:
        func = call.func
        if isinstance(func, ast.Attribute) and func.attr in _NEUTRAL_METHODS:
            variable = self._neutral(func.value)
            if variable is not None and len(call.args) == 1 and func.attr != "keys":
                self.fillers.setdefault(variable, []).append((call.args[0], func.attr == "extend"))
        elif isinstance(func, ast.Name) and func.id in _READERS and self.facts.is_builtin(func.id):
            for argument in call.args:
                if func.id == "len":
                    self._neutral(argument)
                elif isinstance(argument, ast.Name):
                    self.key_reads.add(argument)

    def _consume(self, node: ast.expr) -> None:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "values":
            node = node.func.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CONTAINERS:
            for argument in node.args:
                self._consume(argument)
            return
        if isinstance(node, ast.Subscript):
            node = node.value
        for item in node.elts if isinstance(node, _Display) else (node,):
            name = item.value if isinstance(item, ast.Starred) else item
            variable = self.facts.variable(name)
            if variable is not None and isinstance(name, ast.Name):
                self.good.add(name)
                self.consumed.add(variable)

    def _pairs(self, target: ast.expr, iterable: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
        """What each loop target takes its values from: `t in ts`, `k, t in ts.items()`, `a, t in zip(xs, ts)`."""
        if not isinstance(iterable, ast.Call):
            return [(target, iterable)]
        targets = target.elts if isinstance(target, ast.Tuple) else []
        func = iterable.func
        if isinstance(func, ast.Attribute) and func.attr == "items" and len(targets) == 2:
            return [(targets[1], func.value)]
        if isinstance(func, ast.Attribute) and func.attr == "values":
            return [(target, func.value)]
        if isinstance(func, ast.Name) and func.id == "zip" and len(targets) == len(iterable.args):
            return list(zip(targets, iterable.args, strict=True))
        if isinstance(func, ast.Name) and func.id == "enumerate" and len(targets) == 2 and iterable.args:
            return [(targets[1], iterable.args[0])]
        return []


def _is_dict(variable: Variable) -> bool:
    scope, name = variable
    bindings = scope.names.get(name, ())
    return len(bindings) <= _MAX_BINDINGS and all(isinstance(item.value, ast.Dict | ast.DictComp) for item in bindings)


def _is_container(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _is_container(node.left) and _is_container(node.right)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in {*_CONTAINERS, "map", "dict"}
    return isinstance(node, (*_Display, *_Comprehension, ast.DictComp, ast.Dict))


class _Plan:
    """The calls that will be started, gathered first and changed at the end."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.starts: dict[ast.Call, None] = {}
        self.maps: dict[ast.Call, None] = {}

    def argument(self, node: ast.expr, how: str) -> None:
        if isinstance(node, ast.Starred):
            self.many(node.value)
        elif how == _ITEMS:
            self.many(node)
        else:
            self.item(node)

    def variable(self, variable: Variable, collected: _Collected) -> None:
        """Everything that a collected variable is bound to or filled with."""
        scope, name = variable
        for binding in scope.names.get(name, ()):
            if binding.value is not None:
                if _is_container(binding.value) or binding.site == "augmented":
                    self.many(binding.value)
                else:
                    self.item(binding.value)
        for value, is_container in collected.fillers.get(variable, ()):
            if is_container:
                self.many(value)
            else:
                self.item(value)

    def item(self, node: ast.expr) -> None:
        """An expression that is one awaitable."""
        if isinstance(node, ast.IfExp):
            self.item(node.body)
            self.item(node.orelse)
        elif isinstance(node, ast.Call) and not self._is_native(node.func):
            self.starts[node] = None

    def many(self, node: ast.expr) -> None:
        """An expression that is an iterable of awaitables, or a dict with awaitable values."""
        if isinstance(node, _Display):
            for item in node.elts:
                self.argument(item, _EACH)
        elif isinstance(node, _Comprehension):
            self.item(node.elt)
        elif isinstance(node, ast.DictComp):
            self.item(node.value)
        elif isinstance(node, ast.Dict):
            for value in node.values:
                self.item(value)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            self.many(node.left)
            self.many(node.right)
        elif isinstance(node, ast.IfExp):
            self.many(node.body)
            self.many(node.orelse)
        elif isinstance(node, ast.Call):
            self._container_call(node)

    def _container_call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) and self.facts.is_builtin(node.func.id) else ""
        if name in _CONTAINERS and len(node.args) == 1:
            self.many(node.args[0])
        elif name == "map" and node.args and not isinstance(node.args[0], ast.Starred):
            self.maps[node] = None

    def _is_native(self, func: ast.expr) -> bool:
        """Whether a call needs no start: asyncio's own functions hand out awaitables already."""
        if isinstance(func, ast.Name) and (func.id.startswith("_cm_") or func.id == "super"):
            return True
        return self.facts.path_of(func).startswith("asyncio.")

    def apply(self) -> None:
        for call in self.maps:
            call.args[0] = _call("_cm_starter", [call.args[0]], call.args[0])
        for call in self.starts:
            call.args.insert(0, call.func)
            call.func = ast.copy_location(ast.Name("_cm_start", ast.Load()), call)


def _call(name: str, args: list[ast.expr], place: ast.expr) -> ast.Call:
    func = ast.copy_location(ast.Name(name, ast.Load()), place)
    return ast.copy_location(ast.Call(func=func, args=args, keywords=[]), place)
