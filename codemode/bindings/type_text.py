"""A `Type` written down: for the model's eyes (`display`) and as a valid Python annotation (`annotation`).

`display` is short and says what matters: `list[{number: int, title?: str, ...}]`. `?` behind a key: it may be
absent; `...`: there is more; a name before a brace is what the type calls itself further inside.

`annotation` uses only the names in `ANNOTATION_NAMES`, so that generated code can be checked for anything else.

Both are bounded and never raise. Foreign text occurs in them only as quoted string literals and, in `display`, as
keys that are plain ASCII identifiers.
"""

from __future__ import annotations

import keyword
from typing import Final, NamedTuple

from codemode.bindings.schema_types import (
    ANY,
    NEVER,
    Again,
    ListOf,
    Literals,
    MapOf,
    Record,
    Scalar,
    Type,
    Union,
)

MAX_LITERALS_SHOWN: Final = 8
_MAX_LITERAL_CHARS: Final = 60  # a longer string is left out: half of a literal would be a wrong value
_MAX_KEY_CHARS: Final = 40
_MAX_DIGITS: Final = 18
_ANNOTATION_DEPTH: Final = 3

ANNOTATION_NAMES: Final = frozenset({"str", "int", "float", "bool", "Any", "list", "dict", "Literal"})


class _Level(NamedTuple):
    """How much is shown: nesting, keys of one object, members of one choice."""

    depth: int
    fields: int
    choices: int


# From everything to almost nothing; the first that fits the budget is taken.
_LEVELS: Final = (
    _Level(6, 24, MAX_LITERALS_SHOWN),
    _Level(4, 16, MAX_LITERALS_SHOWN),
    _Level(3, 12, MAX_LITERALS_SHOWN),
    _Level(2, 10, MAX_LITERALS_SHOWN),
    _Level(2, 6, MAX_LITERALS_SHOWN),
    _Level(1, 8, MAX_LITERALS_SHOWN),
    _Level(1, 4, 6),
    _Level(0, 0, 4),
    _Level(0, 0, 2),
)


def display(kind: Type, max_chars: int = 400) -> str:
    """The type as the model reads it, at most `max_chars` long (a bare type name is always allowed)."""
    for level in _LEVELS:
        text = _shown(kind, level, level.depth)
        if len(text) <= max_chars:
            return text
    return _bare(kind)


def annotation(kind: Type) -> str:
    """The type as a Python annotation made of `ANNOTATION_NAMES`, `None`, constants, `[]`, `,` and `|` only."""
    return _annotated(kind, _ANNOTATION_DEPTH)


def literal_text(value: str | int | float | bool, max_chars: int = _MAX_LITERAL_CHARS) -> str:
    """A JSON scalar as Python writes it, or `...` when it is too long to show."""
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 3 * max_chars:
        return "..."  # printing it could be refused or slow
    if isinstance(value, str) and len(value) > max_chars:
        return "..."
    text = repr(value)  # escapes whatever is not printable: controls, bidi marks, lone surrogates
    return text if len(text) <= max_chars + 2 else "..."


def _shown(kind: Type, level: _Level, depth: int) -> str:
    match kind:
        case Scalar(name):
            return name
        case Literals():
            return _choice(kind, level.choices)
        case Again(name):
            return name
        case ListOf():
            return _list(kind, level, depth)
        case MapOf(value):
            if value is None or value == ANY or depth <= 0:
                return "dict"
            return f"dict[str, {_shown(value, level, depth - 1)}]"
        case Record():
            return _record(kind, level, depth)
        case Union(members, name):
            text = " | ".join(dict.fromkeys(_shown(one, level, depth) for one in members[: level.choices + 1]))
            text += " | ..." if len(members) > level.choices + 1 else ""
            return f"{name}({text})" if name and depth > 0 else text


def _list(kind: ListOf, level: _Level, depth: int) -> str:
    if depth <= 0 or (not kind.prefix and (kind.item is None or kind.item == ANY)):
        return "list"
    if kind.prefix:
        parts = [_shown(one, level, depth - 1) for one in kind.prefix[: level.fields]]
        is_cut = len(kind.prefix) > level.fields or (kind.item is not None and kind.item != NEVER)
        return f"[{', '.join([*parts, '...'] if is_cut else parts)}]"
    assert kind.item is not None
    return f"list[{_shown(kind.item, level, depth - 1)}]"


def _record(kind: Record, level: _Level, depth: int) -> str:
    if depth <= 0:
        return "dict"
    # When not all fit, required keys go first: they are what a call must have and a result always has.
    kept = kind.fields
    if len(kept) > level.fields:
        kept = tuple(sorted(kept, key=lambda field: not field.is_required))[: level.fields]
    parts = []
    for field in kept:
        mark = "?" if kind.says_required and not field.is_required else ""
        parts.append(f"{_key(field.name)}{mark}: {_shown(field.type, level, depth - 1)}")
    if kind.is_cut or len(kept) < len(kind.fields):
        parts.append("...")
    return f"{kind.name}{{{', '.join(parts)}}}"


def _key(name: str) -> str:
    if name.isascii() and name.isidentifier() and len(name) <= _MAX_KEY_CHARS:
        return name
    if len(name) > _MAX_KEY_CHARS:
        return repr(name[: _MAX_KEY_CHARS - 1] + "…")
    return repr(name)


def _choice(kind: Literals, shown: int) -> str:
    texts = [literal_text(value) for value in kind.values[:shown]]
    is_cut = kind.is_cut or len(kind.values) > shown or "..." in texts
    kept = [text for text in texts if text != "..."]
    if not kept:
        return _base(kind)
    return f"Literal[{','.join([*kept, '...'] if is_cut else kept)}]"


def _base(kind: Literals) -> str:
    names = dict.fromkeys(type(value).__name__ for value in kind.values)
    return " | ".join(names) or "Any"


def _bare(kind: Type) -> str:
    match kind:
        case ListOf():
            return "list"
        case MapOf() | Record():
            return "dict"
        case Literals():
            return _base(kind)
        case Scalar(name):
            return name
        case _:
            return "Any"


def _annotated(kind: Type, depth: int) -> str:
    match kind:
        case Scalar(name):
            return "Any" if name == "Never" else name
        case Literals():
            return _annotated_choice(kind)
        case ListOf(item, prefix):
            if prefix or item is None or depth <= 0:
                return "list[Any]"
            return f"list[{_annotated(item, depth - 1)}]"
        case MapOf(value) if value is not None and depth > 0:
            return f"dict[str, {_annotated(value, depth - 1)}]"
        case MapOf() | Record():
            return "dict[str, Any]"
        case Union(members):
            texts = dict.fromkeys(_annotated(one, depth) for one in members[: MAX_LITERALS_SHOWN + 1])
            return "Any" if "Any" in texts or len(members) > MAX_LITERALS_SHOWN + 1 else " | ".join(texts)
        case Again():
            return "Any"


def _annotated_choice(kind: Literals) -> str:
    """`Literal[…]` when the whole choice can be written, else the base types."""
    whole = not kind.is_cut and len(kind.values) <= MAX_LITERALS_SHOWN
    if whole and all(map(_is_literal_constant, kind.values)):
        return f"Literal[{', '.join(ascii(value) for value in kind.values)}]"
    return _base(kind)


def _is_literal_constant(value: str | int | float | bool) -> bool:
    if isinstance(value, str):
        return len(value) <= _MAX_LITERAL_CHARS
    return isinstance(value, bool) or (isinstance(value, int) and 0 <= value < 10**_MAX_DIGITS)


def is_plain_name(name: str) -> bool:
    """Whether a name can be written as a Python identifier as it is."""
    return name.isidentifier() and not keyword.iskeyword(name)
