"""What the exception that ended a program was about, when it was about the value of a call.

Enters: the exception, the program's lines, the remembered values. Leaves: a few lines for the model, or "": the call,
the place inside its value, the real shape with samples, what to write instead. At most `MAX_CHARS` characters; all
foreign text in it is quoted (`outline`). An exception that has nothing to do with such a value gets no note.

How: the last frame of the program's and its instruction give the failing node; `reading` says what its parts are.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import nullcontext
from types import FrameType
from typing import Any

from sandbox.guest.results import advice
from sandbox.guest.results.outline import key_text, outline, samples
from sandbox.guest.results.program import Comprehension, Program
from sandbox.guest.results.reading import Found, Reader
from sandbox.guest.results.remembered import Finder, Position, Results, positions, where_from

MAX_CHARS = 1_200
_TRIED_ITEMS = 1_000  # chosen: reading an item takes some microseconds
_LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)
_OURS = "sandbox/dialect/guards.py"  # where look-ups fail that the dialect checks, in place of the program's line
_JSON = "json/__init__.py"
_ARITY = re.compile(r"positional argument|keyword argument|missing \d+ required|takes (?:no|at most|exactly)")
_UNPACK = "values to unpack"
_METHOD = "'builtin_function_or_method' object"


def explain(error: BaseException, filename: str, lines: tuple[str, ...], results: Results) -> str:
    """The note for an exception, or "". Never raises: the exception itself matters more."""
    try:
        return _explain(error, filename, lines, results)[:MAX_CHARS]
    except BaseException:  # noqa: BLE001 - foreign objects, too little memory, too deep a tree
        return ""


def _explain(error: BaseException, filename: str, lines: tuple[str, ...], results: Results) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if type(error) not in (KeyError, IndexError, TypeError, AttributeError, ValueError):
        return ""
    frames, position, inner = _where(error, filename)
    if position is None or (inner and not inner.endswith((_OURS, _JSON))):
        return ""
    program = Program(lines)
    spaces = [space for frame in reversed(frames) for space in (frame.f_locals, frame.f_globals)]
    finder = Finder(results, [value for space in spaces for value in space.values()])
    if not finder.origins:
        return ""
    case = _Case(error, Reader(program, finder, spaces), is_json=inner.endswith(_JSON))
    for node in map(case.failed, program.at(position)):
        item = case.lost_item(node)
        with case.reader.also(item) if item else nullcontext():
            note = case.note(node)
        if note:
            return note
    return ""


def _where(error: BaseException, filename: str) -> tuple[list[FrameType], Position | None, str]:
    """The program's frames, the position of the last one's instruction, and the file of what that one called."""
    frames: list[FrameType] = []
    position, inner = None, ""
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        inner = code.co_filename
        if code.co_filename == filename:
            frames.append(step.tb_frame)
            position, inner = positions(code, step.tb_lasti), ""
        step = step.tb_next
    return frames[-20:], position, inner


class _Case:
    """One exception and the reader of its frames."""

    def __init__(self, error: BaseException, reader: Reader, *, is_json: bool) -> None:
        self.error = error
        self.reader = reader
        self.is_json = is_json
        self.text = str(error)

    def note(self, node: ast.AST) -> str:
        """The note when this node is what failed, or ""."""
        is_unpacking = isinstance(self.error, ValueError) and _UNPACK in self.text
        if self.is_json:
            return self._data_already(node)
        loop = self.reader.program.parents.get(node)
        if isinstance(loop, _LOOPS) and loop.iter is node and "not iterable" in self.text:  # as CPython 3.13 says it
            return self._iterated(loop.iter)
        match node:
            case ast.Subscript():
                return self._subscript(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Tuple() | ast.List() if is_unpacking:
                return self._iterated(self._source_of(node), is_unpacking=True)
            case ast.For() | ast.AsyncFor():
                return self._iterated(node.iter)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                return self._comprehension(node)
            case _:
                return self._operands(node)

    def lost_item(self, node: ast.AST) -> dict[str, Any]:
        """The variable of a comprehension around the node, which CPython 3.12 puts back when it leaves one.

        Its value is the first item that fails; behind an `if`, which may have left that out, only when all do.
        """
        within: ast.AST | None = node
        while within is not None and not isinstance(within, Comprehension):
            within = self.reader.program.parents.get(within)
        if within is None or len(within.generators) != 1 or not isinstance(within.generators[0].target, ast.Name):
            return {}
        loop, name = within.generators[0], within.generators[0].target.id
        source = self.reader.read(loop.iter) if not self.reader.knows(name) else None
        if source is None or type(source.value) not in (list, tuple, dict):
            return {}
        items = list(source.value)[:_TRIED_ITEMS]
        failing = [item for item in items if self._fails(node, {name: item})]
        return {name: failing[0]} if failing and (not loop.ifs or len(failing) == len(items)) else {}

    def _fails(self, node: ast.AST, variables: dict[str, Any]) -> bool:
        with self.reader.also(variables):
            match node:
                case ast.Subscript():
                    return self.reader.read(node.value) is not None and self.reader.read(node) is None
                case ast.Attribute():
                    base = self.reader.read(node.value)
                    return base is not None and not hasattr(type(base.value), node.attr)
                case ast.SetComp() | ast.DictComp():
                    part = self.reader.read(node.elt if isinstance(node, ast.SetComp) else node.key)
                    return part is not None and type(part.value) in (dict, list)
                case _:
                    return False

    def failed(self, node: ast.AST) -> ast.AST:
        """The node that failed: for an element that cannot be in a set, CPython 3.12 names the element."""
        whole = self.reader.program.parents.get(node)
        is_element = isinstance(whole, ast.SetComp) and whole.elt is node
        is_key = isinstance(whole, ast.DictComp) and whole.key is node
        return whole if whole is not None and (is_element or is_key) and self._is_unhashable else node

    @property
    def _is_unhashable(self) -> bool:
        return self.text.startswith("unhashable")

    # -- what failed --------------------------------------------------------------------------------------------------

    def _subscript(self, node: ast.Subscript) -> str:
        found = self.reader.read(node.value)
        if _METHOD in self.text:
            return self._method(node.value)
        key = self.reader.read(node.slice) if not isinstance(node.slice, ast.Slice) else None
        if isinstance(self.error, TypeError) and self._is_unhashable and key is not None and key.place:
            return _lines(self._named(key, node.slice), advice.UNHASHABLE, key)
        if found is None or found.place is None:
            return ""
        wanted = key.value if key is not None else self.error.args[0] if type(self.error) is KeyError else None
        remedy = advice.for_subscript(found, wanted, self.reader.program.source(node.value, 40), self.reader.finder)
        return _lines(self._named(found, node.value), remedy, found)

    def _attribute(self, node: ast.Attribute) -> str:
        found = self.reader.read(node.value)
        if found is None or found.place is None:
            target = getattr(self.error, "obj", None)
            found = self.reader.place(target)
        if found.place is None:
            return ""
        source = self.reader.program.source(node.value, 40)
        remedy = advice.for_attribute(found, node.attr, source, self.reader.finder)
        return _lines(self._named(found, node.value), remedy, found)

    def _method(self, node: ast.expr | None) -> str:
        """A method taken for a part: `result.items[0]`."""
        return self._attribute(node) if isinstance(node, ast.Attribute) else ""

    def _comprehension(self, node: Comprehension) -> str:
        if self._is_unhashable:
            part = node.key if isinstance(node, ast.DictComp) else node.elt
            found = self.reader.read(part)
            return (
                _lines(self._named(found, part), advice.UNHASHABLE, found) if found is not None and found.place else ""
            )
        return next(filter(None, (self._iterated(loop.iter) for loop in node.generators)), "")

    def _source_of(self, target: ast.AST) -> ast.expr | None:
        """What a tuple of names is unpacked from: a value, or the items of an iterable."""
        holder = self.reader.program.parents.get(target)
        if isinstance(holder, ast.Assign):
            return holder.value
        return holder.iter if isinstance(holder, ast.For | ast.AsyncFor | ast.comprehension) else None

    def _iterated(self, source: ast.expr | None, *, is_unpacking: bool = False) -> str:
        if _METHOD in self.text:
            return self._method(source)
        found = self.reader.read(source) if source is not None else None
        if source is None or found is None or found.place is None:
            return ""
        if not is_unpacking and (not isinstance(self.error, TypeError) or type(found.value) in (dict, list, str)):
            return ""
        remedy = advice.for_loop(found, self.reader.program.source(source, 40), self.reader.finder)
        return _lines(self._named(found, source), remedy, found)

    def _data_already(self, node: ast.AST) -> str:
        if not isinstance(node, ast.Call) or not node.args or not self.text.startswith("the JSON object must be"):
            return ""
        found = self.reader.read(node.args[0])
        if found is None or found.place is None:
            return ""
        remedy = advice.for_none(found) or "It is data already: leave `json.loads` out."
        return _lines(self._named(found, node.args[0]), remedy, found)

    def _operands(self, node: ast.AST) -> str:
        """A call, an operator or an f-string: the operand that the message speaks of."""
        if isinstance(self.error, TypeError) and _ARITY.search(self.text):
            return ""
        for operand in _parts(node):
            is_loop = isinstance(operand, ast.ListComp | ast.GeneratorExp | ast.SetComp)
            part = operand.elt if is_loop else operand  # type: ignore[attr-defined]  # these three have one
            found = self.reader.first_of(operand) if is_loop else self.reader.read(operand)  # type: ignore[arg-type]
            if found is None or found.place is None:
                continue
            if type(self.error) is KeyError:
                found = self._without(found, self.error.args[0] if self.error.args else None)
                if found is not None:
                    remedy = advice.for_key(found, self.error.args[0], self.reader.finder)
                    return _lines(self._named(found, None), remedy, found)
            elif self._is_meant(found.value):
                is_key = self._is_unhashable
                return _lines(self._named(found, part), advice.UNHASHABLE if is_key else advice.for_none(found), found)
        return ""

    def _without(self, found: Found, key: Any) -> Found | None:
        """The dict that lacks the key: the value itself, or the first such item of it."""
        if type(found.value) is dict:
            return found if key not in found.value else None
        if type(found.value) in (list, tuple):
            for item in found.value[:10_000]:
                if type(item) is dict and key not in item:
                    placed = self.reader.place(item)
                    return placed if placed.place is not None else None
        return None

    def _is_meant(self, value: Any) -> bool:
        if isinstance(self.error, TypeError):
            kinds = [type(value), *map(type, value[:3])] if type(value) in (list, tuple) else [type(value)]
            is_other = "must be str" in self.text and type(value) is not str
            return is_other or any(re.search(rf"\b{kind.__name__}\b", self.text) for kind in kinds)
        is_format = isinstance(self.error, ValueError) and "format code" in self.text
        return is_format and f"'{type(value).__name__}'" in self.text

    def _named(self, found: Found, node: ast.expr | None) -> str:
        """The first line: the expression, what it is, the call, the shape."""
        assert found.place is not None
        source = self.reader.program.source(node) if node is not None else ""
        name = f"`{source}`" if source else "the value"
        where = where_from(found.place)
        shape = outline(found.holder if found.role in ("key", "character", "missed") else found.value)
        match found.role:
            case "key":
                return f"{name} is a key: iterating a dict gives its keys. The dict is {where}: {shape}"
            case "character":
                return f"{name} is one character of a text: {where}, {shape}"
            case "missed":
                value = "an empty default" if found.value in ([], {}) else "the default"
                value = "None" if found.value is None else value
                return f"{name} is {value}: `.get` found no {key_text(found.key)} in {where}: {shape}"
            case "items":
                return f"{name} holds items of {where}: {shape}"
            case _:
                return f"{name} is {where}: {shape}"


def _lines(head: str, remedy: str, found: Found) -> str:
    value = found.holder if found.role in ("key", "character", "missed") else found.value
    shown = [f"  {line}" for line in samples(value)]
    return "\n".join([head, *([f"  {remedy}"] if remedy else []), *shown])


def _parts(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.Call():
            if isinstance(node.func, ast.Attribute):
                yield node.func.value
            yield node.func
            yield from node.args
            yield from (keyword.value for keyword in node.keywords)
        case ast.BinOp():
            yield from (node.left, node.right)
        case ast.Compare():
            yield from (node.left, *node.comparators)
        case ast.AugAssign():
            yield from (node.value, node.target)
        case ast.JoinedStr():
            yield from (part.value for part in node.values if isinstance(part, ast.FormattedValue))
        case ast.FormattedValue() | ast.Starred():
            yield node.value
        case ast.UnaryOp():
            yield node.operand
