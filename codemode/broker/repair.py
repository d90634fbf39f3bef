"""Arguments that mean the right thing in the wrong JSON type, repaired where that loses nothing.

Enters: a value and the problems found in it. Leaves: the repaired value and one line for each repair. The table is
the whole rule; it applies only where the schema does not take the type that came and takes exactly one of the right
side, and only when the whole value fits afterwards:

    text that is a whole number ("5", "-12")   → integer, number
    text that is a JSON number ("5.5", "1e3")  → number, when no digit is lost
    text "true", "True", "false", "False"      → boolean
    text that is a JSON array or object        → array, object
    a whole number (7)                         → string ("7")
    a whole number with a point (5.0)          → integer, for parameters of a whole-number type

Nothing else is repaired: one value is never wrapped into a list, no case is changed, null is never invented.
Source: what models send in practice; every repair that guesses was reported as a wrong call somewhere.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final

from codemode.broker.problems import Path, Problem, path_text, shown, type_name
from codemode.jsonvalue import Json, JsonError, JsonObject, is_object, parse_strict

_WHOLE: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,17})\Z")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,16})(?:\.[0-9]{1,16})?(?:[eE][+-]?[0-9]{1,3})?\Z")
_BOOLEANS: Final[Mapping[str, bool]] = {"true": True, "True": True, "false": False, "False": False}
_MAX_JSON_TEXT: Final = 1 << 20


def repaired(value: JsonObject, problems: Sequence[Problem]) -> tuple[JsonObject, tuple[str, ...]]:
    """A copy with every repair that the table allows, and what was done; no lines when nothing can be."""
    out: Json = value
    notes = []
    for problem in problems:
        if not problem.wanted or not problem.parts:
            continue
        before = _at(value, problem.parts)
        meant = _meant(before, problem.wanted)
        if len(meant) == 1:
            out = _replaced(out, problem.parts, meant[0])
            notes.append(f"`{path_text(problem.parts)}`: {shown(before)} was sent as {shown(meant[0])}")
    assert is_object(out)
    return out, tuple(notes)


def whole_numbers(value: JsonObject, integers: frozenset[str]) -> tuple[JsonObject, tuple[str, ...]]:
    """Numbers like 5.0 become 5 where a parameter takes whole numbers only: strict servers refuse the point."""
    found = {
        name: int(item)
        for name, item in value.items()
        if isinstance(item, float) and name in integers and item.is_integer() and abs(item) < 2**53
    }
    if not found:
        return value, ()
    return {**value, **found}, tuple(f"`{path_text((name,))}`: sent as {number}" for name, number in found.items())


def _meant(value: Json, wanted: frozenset[str]) -> list[Json]:
    """What the value may stand for; it is clear only when there is one."""
    if isinstance(value, bool) or value is None:
        return []
    if isinstance(value, int):
        return [str(value)] if "string" in wanted and not wanted & {"integer", "number"} else []
    if not isinstance(value, str) or "string" in wanted:
        return []
    return [*_number(value, wanted), *_boolean(value, wanted), *_nested(value, wanted)]


def _number(text: str, wanted: frozenset[str]) -> list[Json]:
    if wanted & {"integer", "number"} and _WHOLE.match(text):
        return [int(text)]
    if "number" in wanted and _NUMBER.match(text):
        number = float(text)
        # A number with more digits than a double holds stays refused.
        return [number] if math.isfinite(number) and Decimal(repr(number)) == Decimal(text) else []
    return []


def _boolean(text: str, wanted: frozenset[str]) -> list[Json]:
    return [_BOOLEANS[text]] if "boolean" in wanted and text in _BOOLEANS else []


def _nested(text: str, wanted: frozenset[str]) -> list[Json]:
    if not wanted & {"array", "object"} or len(text) > _MAX_JSON_TEXT or text.lstrip()[:1] not in ("[", "{"):
        return []
    try:
        value = parse_strict(text)
    except JsonError:
        return []
    return [value] if type_name(value) in wanted else []


def _at(value: Json, parts: Path) -> Json:
    """The value at a path that `explain` gave for it."""
    for part in parts:
        if isinstance(part, str):
            value = value[part] if is_object(value) else None
        else:
            value = value[part] if isinstance(value, list) else None
    return value


def _replaced(value: Json, parts: Path, new: Json) -> Json:
    if not parts:
        return new
    first, rest = parts[0], parts[1:]
    if isinstance(first, str):
        assert is_object(value)
        return {**value, first: _replaced(value[first], rest, new)}
    assert isinstance(value, list)
    return [_replaced(item, rest, new) if at == first else item for at, item in enumerate(value)]
