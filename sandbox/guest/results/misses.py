"""`.get` calls that found nothing in any value they can have met: a wrong key that would pass unseen.

Enters: the lines of a program that ran to its end, its names, the remembered values. Leaves: one note for each call
site and key, five at most and then a count. `.get` itself is not touched, so that checked code stays as fast as plain
Python: which values a call met is worked out afterwards, from the syntax tree and from what the calls really gave.

A note says: every dict that this expression can have stood for, of every remembered value, lacks the key. So a key
that is there in one item of a list, or in one of many answers, gives none; nor does a call site of which not all
values are held, or whose expression cannot be followed. Followed are names, loops, subscripts, `or`, calls of tools,
functions of the program with what they are called with, and lambdas of `map`, `filter`, `sorted`, `max` and `min`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from sandbox.guest.results.outline import below, key_text, nearest_key, outline, path_text
from sandbox.guest.results.program import Binding, Program, is_get, parameters, position_of
from sandbox.guest.results.reading import Reader
from sandbox.guest.results.remembered import (
    MAX_KNOWN,
    Finder,
    Origin,
    Place,
    Position,
    Results,
    Site,
    positions,
    where_from,
)

MAX_NOTES = 5
_MAX_DEPTH = 16
_MAX_VALUES = 20_000  # of one expression; more and it is not judged
_MAX_STEPS = 200_000  # measured: below 0.3 s; expressions and values that are followed for one program
_OUTLINE_CHARS = 240
_ASKED = 20  # of the values met: their like share a path, and most values met do too
_OVER_ITEMS = frozenset(("map", "filter", "sorted", "max", "min"))
_SAME_ITEMS = frozenset(("sorted", "list", "tuple", "reversed", "set", "iter"))


class _UnclearError(Exception):
    """An expression that cannot be followed, or that has too many values."""


class _Value(NamedTuple):
    value: Any
    place: Place
    is_wrapped: bool = False  # a list of one, made here: its item is what is at the place

    def wrapped(self) -> _Value:
        """The value as the item of a list that the program made."""
        return _Value([self.value], self.place, True)


def missed(lines: tuple[str, ...], namespace: Mapping[str, Any], results: Results) -> list[str]:
    """The notes for a program that has ended well. Never raises."""
    try:
        if len(results.not_held) >= MAX_KNOWN or not results.held() or not any(".get(" in line for line in lines):
            return []
        return _missed(lines, namespace, results)
    except BaseException:  # noqa: BLE001 - foreign objects, too little memory, too deep a tree
        return []


def _missed(lines: tuple[str, ...], namespace: Mapping[str, Any], results: Results) -> list[str]:
    follower = _Follower(Program(lines), namespace, results)
    notes: dict[tuple[int, object], str] = {}
    for call, receiver, key in follower.program.gets():
        if (call.lineno, key) not in notes:
            note = follower.note(call, receiver, key)
            if note:
                notes[call.lineno, key] = note
    found = [notes[at] for at in sorted(notes, key=lambda at: at[0])]
    more = [f"{len(found) - MAX_NOTES} further `.get` calls found nothing"] if len(found) > MAX_NOTES else []
    return [*found[:MAX_NOTES], *more]


class _Follower:
    """Follows expressions to all values that they can have had."""

    def __init__(self, program: Program, namespace: Mapping[str, Any], results: Results) -> None:
        self.program = program
        self._finder = Finder(results)
        self._reader = Reader(program, self._finder, (namespace,))
        self._origins: dict[Position, list[Origin]] = {}
        sites: dict[Site | None, list[Origin]] = {}
        for origin in self._finder.origins:
            sites.setdefault(origin.site, []).append(origin)
        for site, origins in sites.items():
            if site is not None:
                self._origins.setdefault(positions(*site), []).extend(origins)
        self._path: list[ast.AST] = []
        self._left = _MAX_STEPS

    def note(self, call: ast.Call, receiver: ast.expr, key: object) -> str:
        """The note for one `.get` call, or ""."""
        try:
            met = [item for item in self.follow(receiver) if type(item.value) is dict]
        except _UnclearError:
            return ""
        if not met or any(key in item.value for item in met) or self._has_other_way(call, key):
            return ""
        if any(
            type(other) is dict and key in other for item in met[:_ASKED] for other in self._finder.alike(item.place)
        ):
            return ""
        first = max(met, key=lambda item: len(item.value))
        source = self.program.source(call) or f".get({key_text(key)})"
        count = f" and {len(met) - 1} more like it" if len(met) > 1 else ""
        steps = below(first.value, key)
        near = nearest_key(key, first.value)
        meant = f"; nearest: {key_text(near)}" if near is not None else ""
        if steps is not None:
            meant = f"; there is one at {path_text((*first.place.steps, *steps))}"
        shape = outline(first.value, _OUTLINE_CHARS)
        found = f"line {call.lineno}: `{source}` found no key {key_text(key)}{meant}"
        return f"{found}. It is {where_from(first.place)}{count}: {shape}"

    def _has_other_way(self, call: ast.Call, key: object) -> bool:
        """Whether the program asks if the key is there, or the miss is one of several tries and another one hit."""
        if key in self.program.tested:
            return True
        whole: ast.AST = call
        parent = self.program.parents.get(whole)
        while isinstance(parent, ast.BoolOp) or (is_get(parent) and whole in parent.args):
            whole, parent = parent, self.program.parents.get(parent)
        return any(
            isinstance(one.value, dict | list | str) and one.value
            for other in _tries(whole)
            if other is not call
            for one in self.follow(other)
        )

    def follow(self, node: ast.expr) -> list[_Value]:
        """All values of an expression that are parts of what calls gave.

        Raises:
            _UnclearError: not all of them can be told.
        """
        if node in self._path and not self.program.is_in_loop(node):
            return []  # `data = data["items"]`: what it was before is followed already
        if len(self._path) > _MAX_DEPTH or node in self._path or self._left < 0:
            raise _UnclearError
        self._path.append(node)
        try:
            found = self._follow(node)
        finally:
            self._path.pop()
        self._left -= 1 + len(found)
        if len(found) > _MAX_VALUES:
            raise _UnclearError
        return found

    def _follow(self, node: ast.expr) -> list[_Value]:
        match node:
            case ast.Name():
                return self._name(node)
            case ast.Subscript():
                return self._subscript(node)
            case ast.Call():
                return self._call(node)
            case ast.Await() | ast.NamedExpr() | ast.Starred():
                return self.follow(node.value)
            case ast.BoolOp(op=ast.Or()):
                return [value for part in node.values for value in self.follow(part)]
            case ast.IfExp():
                return [*self.follow(node.body), *self.follow(node.orelse)]
            case ast.Constant() | ast.Dict(keys=[]) | ast.List(elts=[]):
                return []
            case ast.ListComp() | ast.GeneratorExp() if len(node.generators) == 1:
                return [one.wrapped() for one in self.follow(node.elt)]
            case ast.List() | ast.Tuple():
                return [one.wrapped() for part in node.elts for one in self.follow(part)]
            case _:
                raise _UnclearError

    def _name(self, node: ast.Name) -> list[_Value]:
        bindings = self.program.bindings(node)
        if bindings:
            return [value for binding in bindings for value in self._bound(binding)]
        scope: ast.AST = node
        while scope is not self.program.tree:
            scope = self.program.scope(scope)
            if node.id in parameters(scope):
                return self._parameter(scope, parameters(scope).index(node.id), node.id)
        raise _UnclearError

    def _bound(self, binding: Binding) -> list[_Value]:
        sources = self.follow(binding.source)
        if binding.how == "value":
            return sources
        if binding.how == "key":
            return []
        if binding.how == "added":
            return [one.wrapped() for one in sources]
        return list(_members(sources) if binding.how == "member" else _items(sources))

    def _parameter(self, function: ast.AST, index: int, name: str) -> list[_Value]:
        """What a function of the program is called with: by its name, or for each item by `map` and the like."""
        found: list[_Value] = []
        for call in self.program.calls:
            if self._is(call.func, function):
                given = [keyword.value for keyword in call.keywords if keyword.arg == name]
                if not given and (len(call.args) <= index or any(isinstance(one, ast.Starred) for one in call.args)):
                    raise _UnclearError
                found += self.follow(given[0] if given else call.args[index])
            elif any(self._is(part, function) for part in (*call.args, *(one.value for one in call.keywords))):
                found += self._for_each(call, function)
        return found

    def _is(self, node: ast.expr, function: ast.AST) -> bool:
        if node is function:
            return True
        return isinstance(node, ast.Name) and function in self.program.functions.get(node.id, ())

    def _for_each(self, call: ast.Call, function: ast.AST) -> list[_Value]:
        name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
        if name == "sort" and isinstance(call.func, ast.Attribute):
            return list(_items(self.follow(call.func.value)))
        sources = [part for part in call.args if not self._is(part, function)]
        if name not in _OVER_ITEMS or len(sources) != 1:
            raise _UnclearError
        return list(_items(self.follow(sources[0])))

    def _subscript(self, node: ast.Subscript) -> list[_Value]:
        sources = self.follow(node.value)
        if isinstance(node.slice, ast.Slice):
            return sources
        if not isinstance(node.slice, ast.Constant | ast.UnaryOp):
            return [*_items(sources), *_members(sources)]
        key = ast.literal_eval(node.slice)
        found = []
        for source in sources:
            if type(source.value) is dict and key in source.value:
                found.append(_Value(source.value[key], source.place.below(key)))
            elif type(source.value) is list and type(key) is int and -len(source.value) <= key < len(source.value):
                place = source.place if source.is_wrapped else source.place.below(key % len(source.value))
                found.append(_Value(source.value[key], place))
        return found

    def _call(self, node: ast.Call) -> list[_Value]:
        origins = self._origins.get(position_of(node))
        if origins is not None and self._reader.calls(node, origins[0].function):
            if not all(origin.is_held for origin in origins):
                raise _UnclearError
            return [_Value(origin.value, Place(origin)) for origin in origins]
        func = node.func
        name = func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""
        if name == "map" and node.args:
            return self._mapped(node.args[0])
        if name == "gather":
            return [
                one if isinstance(part, ast.Starred) else one.wrapped()
                for part in node.args
                for one in self.follow(part)
            ]
        if isinstance(func, ast.Attribute) and func.attr in ("get", "copy", "values"):
            return self._method(node, func)
        if isinstance(func, ast.Name) and func.id in self.program.functions:
            return self._returned(self.program.functions[func.id])
        if isinstance(func, ast.Name) and func.id in _SAME_ITEMS and node.args:
            return self.follow(node.args[0])
        if isinstance(func, ast.Name) and func.id in ("max", "min", "next") and len(node.args) <= 2 and node.args:
            rest = [value for part in node.args[1:] for value in self.follow(part)]
            return [*_items(self.follow(node.args[0])), *rest]
        raise _UnclearError

    def _returned(self, functions: Iterable[ast.AST]) -> list[_Value]:
        return [one for function in functions for part in self.program.returns(function) for one in self.follow(part)]

    def _mapped(self, node: ast.expr) -> list[_Value]:
        """What a function gives for each item; of one that calls by itself, whatever its calls gave."""
        if isinstance(node, ast.Lambda):
            return [one.wrapped() for one in self._returned([node])]
        if isinstance(node, ast.Name) and node.id in self.program.functions:
            return [one.wrapped() for one in self._returned(self.program.functions[node.id])]
        function = self._reader.read(node)
        origins = [one for one in self._finder.origins if function is not None and one.function is function.value]
        if not origins or not all(origin.is_held for origin in origins):
            raise _UnclearError
        return [_Value(origin.value, Place(origin)).wrapped() for origin in origins]

    def _method(self, node: ast.Call, func: ast.Attribute) -> list[_Value]:
        sources = self.follow(func.value)
        if func.attr == "copy":
            return sources
        if func.attr == "values":
            return [one.wrapped() for one in _members(sources)]
        key = node.args[0] if node.args else None
        if not isinstance(key, ast.Constant) or type(key.value) not in (str, int):
            raise _UnclearError
        step: Any = key.value
        found = [
            _Value(one.value[step], one.place.below(step))
            for one in sources
            if type(one.value) is dict and step in one.value
        ]
        return [*found, *(value for part in node.args[1:] for value in self.follow(part))]


def _tries(node: ast.AST) -> Iterator[ast.expr]:
    """The `.get` calls of `a.get(x) or a.get(y)` and of `a.get(x, a.get(y))`."""
    if isinstance(node, ast.BoolOp):
        for part in node.values:
            yield from _tries(part)
    elif is_get(node):
        yield node
        for part in node.args[1:]:
            yield from _tries(part)


def _items(sources: list[_Value]) -> Iterator[_Value]:
    for source in sources:
        if type(source.value) is list:
            for index, item in enumerate(source.value):
                yield _Value(item, source.place if source.is_wrapped else source.place.below(index))


def _members(sources: list[_Value]) -> Iterator[_Value]:
    for source in sources:
        if type(source.value) is dict:
            for key, item in source.value.items():
                yield _Value(item, source.place.below(key))
