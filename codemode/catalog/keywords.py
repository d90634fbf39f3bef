"""Keywords of a schema that hold no schema: each value in the shape the specification gives it, or dropped.

Enters: a keyword's value as a server sent it, where it stands, a way to note a repair. Leaves: the value to keep, or
`DROP`. Dropping a keyword allows more and never less.

Source: JSON Schema 2020-12 validation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from codemode.catalog import bounds
from codemode.catalog.bounds import kind_of
from codemode.catalog.patterns import pattern_fault
from codemode.catalog.text import clean_line, clean_text, has_surrogate
from codemode.jsonvalue import Json

MAX_DESCRIPTION_CHARS = 2_000  # chosen: of one property; the longest in 1,858 public tools has 3,900
_MAX_TITLE_CHARS = 200
TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
# What generators of other languages write; "any" says nothing.
_TYPE_NAMES = {
    "int": "integer", "int32": "integer", "int64": "integer", "long": "integer", "float": "number", "double": "number",
    "decimal": "number", "str": "string", "text": "string", "bool": "boolean", "dict": "object", "map": "object",
    "list": "array", "tuple": "array", "none": "null", "nil": "null", "undefined": "null",
}  # fmt: skip

DROP: object = object()
Note = Callable[[str, str], None]
"""Keeps one line: where, and what was repaired."""
Handler = Callable[[Note, object, str], object]


def _type(note: Note, value: object, where: str) -> object:
    names = value if isinstance(value, (list, tuple)) else [value]
    known: list[Json] = []
    for name in names:
        lower = name.lower() if isinstance(name, str) else ""
        standard = name if isinstance(name, str) and name in TYPES else _TYPE_NAMES.get(lower, lower)
        if standard not in TYPES:
            note(where, "an unknown type was dropped; any value is passed on")
            return DROP
        if standard != name:
            note(where, f"`{standard}` was read for `{clean_line(str(name), 40)}`")
        if standard not in known:
            known.append(standard)
    if not known:
        return DROP
    return known if isinstance(value, (list, tuple)) and len(known) > 1 else known[0]


def _required(note: Note, value: object, where: str) -> object:
    if not isinstance(value, (list, tuple)):
        note(where, f"a list of names was expected, {kind_of(value)} came; it was dropped")
        return DROP
    names = [name for name in dict.fromkeys(n for n in value if isinstance(n, str)) if not bounds.property_fault(name)]
    if len(names) != len(value):
        note(where, "what is no name or came twice was dropped")
    return names


def _number(note: Note, value: object, where: str) -> object:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        note(where, f"a number was expected, {kind_of(value)} came; it was dropped")
        return DROP
    if where.endswith(".multipleOf") and value <= 0:
        note(where, "a positive number was expected; it was dropped")
        return DROP
    return value


def _count(note: Note, value: object, where: str) -> object:
    whole = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if not whole or not isinstance(value, (int, float)) or value < 0 or value != int(value):
        note(where, "a whole number from 0 was expected; it was dropped")
        return DROP
    return int(value)


def _flag(note: Note, value: object, where: str) -> object:
    if isinstance(value, bool):
        return value
    note(where, f"true or false was expected, {kind_of(value)} came; it was dropped")
    return DROP


def _pattern(note: Note, value: object, where: str) -> object:
    reason = pattern_fault(value) if isinstance(value, str) else f"it is {kind_of(value)}"
    if reason or not isinstance(value, str):
        note(where, f"a pattern was dropped: {reason}")
        return DROP
    return value


def _enum(note: Note, value: object, where: str) -> object:
    plain = [item for item in value if is_plain(item)] if isinstance(value, (list, tuple)) else []
    if not plain:
        note(where, "a list of values was expected; it was dropped")
        return DROP
    if isinstance(value, (list, tuple)) and len(plain) != len(value):
        note(where, "values that JSON cannot carry were dropped")
    return plain


def _data(note: Note, value: object, where: str) -> object:
    if is_plain(value):
        return value
    note(where, "a value that JSON cannot carry was dropped")
    return DROP


def is_plain(value: object) -> bool:
    """Whether JSON and UTF-8 can carry the value: no NaN, no infinity, no half surrogate pair."""
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, float) and not math.isfinite(item):
            return False
        if isinstance(item, str) and has_surrogate(item):
            return False
        if isinstance(item, dict):
            todo.extend(item)
            todo.extend(item.values())
        elif isinstance(item, (list, tuple)):
            todo.extend(item)
    return True


def _examples(note: Note, value: object, where: str) -> object:
    return list(value) if isinstance(value, (list, tuple)) and is_plain(value) else DROP


def _word(note: Note, value: object, where: str) -> object:
    return clean_line(value, _MAX_TITLE_CHARS) if isinstance(value, str) else DROP


def _description(note: Note, value: object, where: str) -> object:
    return clean_text(value, MAX_DESCRIPTION_CHARS) if isinstance(value, str) else DROP


HANDLERS: Mapping[str, Handler] = {
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), _number),
    **{f"{end}{what}": _count for end in ("min", "max") for what in ("Length", "Items", "Properties", "Contains")},
    **dict.fromkeys(("uniqueItems", "deprecated", "readOnly", "writeOnly", "nullable"), _flag),
    **dict.fromkeys(("title", "format", "contentEncoding", "contentMediaType"), _word),
    **dict.fromkeys(("default", "const"), _data),
    "type": _type,
    "required": _required,
    "pattern": _pattern,
    "enum": _enum,
    "examples": _examples,
    "description": _description,
}
