"""Reads what an expression of a stopped program stands for, without running anything of the program's.

Enters: syntax nodes, and the variables of a program. Leaves: `Found`: the object, and where it is in the
value of a call. Only exact `dict`, `list`, `tuple` and `str` objects are stepped into; attributes are looked up
statically. What cannot be read so is None: the result of a function of the program, a computed comparison.

An object is recognised by identity. `None`, numbers and short texts have none of their own: they are placed by the
expression that gave them, so `user = issue["user"]` explains a `user` that is None.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MemberDescriptorType
from typing import Any, Literal, NamedTuple

from sandbox.guest.results.program import Binding, Program, position_of
from sandbox.guest.results.remembered import Finder, Origin, Place, Position, Site, positions

Role = Literal["part", "items", "key", "character", "missed"]
_MAX_DEPTH = 24
_MAX_READS = 5_000  # chosen: a note needs some dozens; names that are bound many times could need any number
_COMPARED = 10_000
_SAME_ITEMS = frozenset(("sorted", "list", "tuple", "reversed", "filter", "iter", "set"))
_ONE_ITEM = frozenset(("max", "min", "next", "choice"))
_UNKNOWN = object()


class Found(NamedTuple):
    """What an expression stands for.

    `part`: `value` is at `place`. `items`: `value` is a collection of what is at `place` or in it. `key`, `character`:
    `value` is a key of the dict, a character of the text at `place`, and `holder` is that. `missed`: `value` is the
    default of a `.get(key)` on `holder`, which is at `place`. Without a place it is a value of the program's own.
    """

    value: Any
    place: Place | None = None
    role: Role = "part"
    holder: Any = None
    key: Any = None


class Reader:
    """Reads expressions; `spaces` are the variables that there are, the innermost scope first."""

    def __init__(self, program: Program, finder: Finder, spaces: Sequence[Mapping[str, Any]]) -> None:
        self.program = program
        self.finder = finder
        self._spaces = tuple(spaces)
        self._depth = 0
        self._reads = 0
        self._by_position: dict[Position, Origin] | None = None

    def read(self, node: ast.expr) -> Found | None:
        """What a node stands for, or None when that cannot be told."""
        self._reads += 1
        if self._depth > _MAX_DEPTH or self._reads > _MAX_READS:
            return None
        self._depth += 1
        try:
            return self._read(node)
        finally:
            self._depth -= 1

    def _read(self, node: ast.expr) -> Found | None:
        match node:
            case ast.Constant():
                return Found(node.value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
                return Found(-number)
            case ast.Name():
                return self._name(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript():
                return self._subscript(node)
            case ast.Call():
                return self._call(node)
            case ast.Await() | ast.NamedExpr() | ast.Starred() | ast.FormattedValue():
                return self.read(node.value)
            case ast.BoolOp(op=ast.Or()):
                return self._first_true(node)
            case _:
                return None

    def first_of(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Found | None:
        """What a comprehension gives for the first item that it goes through."""
        loop = node.generators[0]
        source = self.read(loop.iter) if len(node.generators) == 1 and isinstance(loop.target, ast.Name) else None
        if source is None or type(source.value) not in (list, tuple) or not source.value:
            return None
        with self.also({loop.target.id: source.value[0]}):  # type: ignore[attr-defined]  # it is a name
            return self.read(node.elt)

    @contextmanager
    def also(self, variables: Mapping[str, Any]) -> Iterator[None]:
        """Read with these variables before all others."""
        before = self._spaces
        self._spaces = (variables, *before)
        try:
            yield
        finally:
            self._spaces = before

    def knows(self, name: str) -> bool:
        """Whether there is a variable of that name."""
        return self._variable(name) is not _UNKNOWN

    def place(self, value: Any) -> Found:
        """A value with its place: its own, or that of the first thing in it."""
        place = self.finder.find(value)
        if place is None and type(value) in (list, tuple) and value and type(value[0]) is dict:
            first = self.finder.find(value[0])
            if first is not None:
                return Found(value, Place(first.origin, first.steps[:-1]), "items")
        return Found(value, place)

    # -- names and attributes -------------------------------------------------------------------------------------

    def _name(self, node: ast.Name) -> Found | None:
        value = self._variable(node.id)
        if value is _UNKNOWN:
            return None
        found = self.place(value)
        if found.place is None:
            for binding in self.program.bindings(node):
                bound = self._bound(binding, value)
                if bound is not None and bound.place is not None:
                    return bound
        return found

    def _variable(self, name: str) -> Any:
        for space in self._spaces:
            if name in space:
                return space[name]
        return _UNKNOWN

    def _bound(self, binding: Binding, value: Any) -> Found | None:
        source = self.read(binding.source)
        if source is None or source.place is None:
            return None
        if binding.how == "value":
            return source if _is_same(source.value, value) else None
        holder = source.value
        if source.role not in ("part", "items") or binding.how == "added":
            return None
        if type(holder) is dict and binding.how == "member":
            return _part_that_is(value, holder.items(), source.place)
        if type(holder) is dict and type(value) is str and value in holder:
            return Found(value, source.place, "key", holder)
        if type(holder) in (list, tuple) and binding.how == "item":
            return _part_that_is(value, enumerate(holder), source.place)
        if type(holder) is str and type(value) is str and len(value) == 1:
            return Found(value, source.place, "character", holder)
        return None

    def _attribute(self, node: ast.Attribute) -> Found | None:
        base = self.read(node.value)
        if base is None:
            return None
        value = inspect.getattr_static(base.value, node.attr, _UNKNOWN)
        if type(value) is MemberDescriptorType:
            value = value.__get__(base.value)
        return None if value is _UNKNOWN else self.place(value)

    def _first_true(self, node: ast.BoolOp) -> Found | None:
        found = None
        for part in node.values:
            found = self.read(part)
            if found is None or type(found.value) not in (dict, list, str, type(None)) or found.value:
                return found
        return found

    # -- subscripts and calls -------------------------------------------------------------------------------------

    def _subscript(self, node: ast.Subscript) -> Found | None:
        base = self.read(node.value)
        if base is None:
            return None
        if isinstance(node.slice, ast.Slice):
            return self._slice(base, node.slice)
        key = self.read(node.slice)
        return None if key is None else self._step(base, key.value)

    def _step(self, base: Found, key: Any) -> Found | None:
        holder = base.value
        is_index = type(key) is int and type(holder) in (list, tuple, str) and -len(holder) <= key < len(holder)
        if not is_index and not (type(holder) is dict and type(key) in (str, int, float, bool) and key in holder):
            return None
        value = holder[key]
        if base.place is None:
            return self.place(value)
        if type(holder) is str:
            return Found(value, base.place, "character", holder)
        if base.role == "items":
            return Found(value, self.finder.find(value) or base.place)
        return Found(value, base.place.below(key % len(holder) if is_index else key))

    def _slice(self, base: Found, node: ast.Slice) -> Found | None:
        if type(base.value) not in (list, tuple, str):
            return None
        bounds = []
        for part in (node.lower, node.upper, node.step):
            bound = Found(None) if part is None else self.read(part)
            if bound is None or type(bound.value) not in (int, type(None)) or (part is node.step and bound.value == 0):
                return None
            bounds.append(bound.value)
        value = base.value[slice(*bounds)]
        return Found(value, base.place, "part" if type(value) is str else "items", base.holder)

    def _call(self, node: ast.Call) -> Found | None:
        origin = self._origin_of(node)
        if origin is not None:
            return Found(origin.value, Place(origin)) if origin.is_held else None
        func = node.func
        if isinstance(func, ast.Attribute):
            return self._method(node, func)
        if not isinstance(func, ast.Name) or not node.args:
            return None
        source = self._collection(node.args[-1] if func.id == "filter" else node.args[0])
        if source is None or type(source.value) not in (list, tuple) or func.id not in _SAME_ITEMS | _ONE_ITEM:
            return None
        if func.id in _SAME_ITEMS:
            return Found(list(source.value), source.place, "items")
        return self._step(source, 0)

    def _collection(self, node: ast.expr) -> Found | None:
        """What a call takes its items from; of `x for x in xs if ...` that is `xs`."""
        if isinstance(node, ast.GeneratorExp | ast.ListComp) and len(node.generators) == 1:
            loop = node.generators[0]
            same = isinstance(node.elt, ast.Name) and isinstance(loop.target, ast.Name)
            return self.read(loop.iter) if same and node.elt.id == loop.target.id else None  # type: ignore[attr-defined]  # both are names
        return self.read(node)

    def _method(self, node: ast.Call, func: ast.Attribute) -> Found | None:
        if func.attr not in ("get", "copy", "values", "choice"):
            return None
        if func.attr == "choice":
            source = self._collection(node.args[0]) if node.args else None
            return self._step(source, 0) if source is not None else None
        base = self.read(func.value)
        if base is None or type(base.value) not in (dict, list):
            return None
        if func.attr == "copy":
            return Found(base.value, base.place, "part" if base.place is None else base.role)
        if func.attr == "values":
            return Found(list(base.value.values()), base.place, "items") if type(base.value) is dict else None
        return self._get(base, node)

    def _get(self, base: Found, node: ast.Call) -> Found | None:
        key = self.read(node.args[0]) if node.args else None
        if key is None or type(base.value) is not dict or type(key.value) not in (str, int):
            return None
        if key.value in base.value:
            return self._step(base, key.value)
        default = self.read(node.args[1]) if len(node.args) > 1 else Found(None)
        value = default.value if default is not None else _empty(node.args[1])
        return Found(value, base.place, "missed", base.value, key.value)

    def _origin_of(self, node: ast.Call) -> Origin | None:
        """The newest call that was made by this node."""
        if self._by_position is None:
            self._by_position = {}
            sites: dict[Site, Position] = {}
            for origin in self.finder.origins:
                if origin.site is not None:
                    if origin.site not in sites:
                        sites[origin.site] = positions(*origin.site)
                    self._by_position.setdefault(sites[origin.site], origin)
        origin_here = self._by_position.get(position_of(node))
        return origin_here if origin_here is not None and self.calls(node, origin_here.function) else None

    def calls(self, node: ast.Call, function: object) -> bool:
        """Whether a node calls a function itself; `list(map(f, xs))` stands where `f` was called, and does not."""
        found = self.read(node.func)
        return found is not None and found.value is function


def _empty(node: ast.expr) -> Any:
    """The value of `[]`, `{}` and the like."""
    if isinstance(node, ast.List) and not node.elts:
        return []
    return {} if isinstance(node, ast.Dict) and not node.keys else _UNKNOWN


def _is_same(one: Any, other: Any) -> bool:
    """Whether a value that was read again is the one that a name holds."""
    if one is other:
        return True
    is_scalar = type(one) is type(other) and type(one) in (str, int, float)
    return one == other if is_scalar else type(one) in (list, dict) and type(other) is type(one) and not (one or other)


def _part_that_is(value: Any, parts: Any, place: Place) -> Found | None:
    for index, (step, part) in enumerate(parts):
        if part is value:
            return Found(value, place.below(step))
        if index > _COMPARED:
            break
    return None
