"""Two digests of a tool: what a call means (semantic) and every byte that was listed (cosmetic).

Enters: a tool's name, its repaired schemas and hints; the listed definition. Leaves: 64 hexadecimal digits each.
A semantic change is drift: a program written for the old signature may now do something else. A cosmetic one (texts,
defaults, examples, order) is recorded only. The order of keys, of `required`, of `enum`, of a list of types and of
alternatives carries no meaning and changes neither the semantic digest nor, for keys, the cosmetic one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from codemode.catalog.references import LISTS, MAPS
from codemode.catalog.spec import Annotations
from codemode.jsonvalue import Json, JsonObject, canonical_bytes, digest

_TEXTS = frozenset(
    {"title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly", "$schema"}
)
_UNORDERED = frozenset({"required", "enum", "type", "anyOf", "oneOf", "allOf"})


def semantic_digest(
    name: str, input_schema: JsonObject, output_schema: JsonObject | None, annotations: Annotations
) -> str:
    """The digest that decides drift.

    The two hints that effects are taken from count as meaning: a tool that turns from destructive to read-only may
    run unasked, so that change must not pass unseen.
    """
    hints: list[Json] = [annotations.read_only, annotations.destructive]
    output = None if output_schema is None else _meaning(output_schema)
    return digest([name, _meaning(input_schema), output, hints])


def cosmetic_digest(listed: Mapping[str, object]) -> str:
    """The digest over everything a server listed for one tool."""
    try:
        # Nearly every definition is plain JSON, which needs no copy.
        return digest(listed)  # type: ignore[arg-type]  # anything else raises below
    except (TypeError, ValueError):
        return digest(_plain(listed))


def _meaning(schema: Json) -> Json:
    if not isinstance(schema, dict):
        return schema
    kept: dict[str, Json] = {}
    for keyword, value in schema.items():
        if keyword in _TEXTS:
            continue
        if keyword in MAPS and isinstance(value, dict):
            kept[keyword] = {name: _meaning(item) for name, item in value.items()}
        elif keyword in LISTS and isinstance(value, list):
            kept[keyword] = _sorted_if(keyword in _UNORDERED, [_meaning(item) for item in value])
        elif keyword in _UNORDERED and isinstance(value, list):
            kept[keyword] = _sorted_if(True, value)
        elif keyword == "items" and isinstance(value, list):
            kept[keyword] = [_meaning(item) for item in value]
        elif keyword not in ("const", "enum"):
            kept[keyword] = _meaning(value)
        else:
            kept[keyword] = value
    return kept


def _sorted_if(unordered: bool, values: list[Json]) -> list[Json]:
    return sorted(values, key=canonical_bytes) if unordered else values


def _plain(value: object) -> Json:
    """The value with what JSON cannot carry written as text, so that any listed definition has a digest."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return f"number:{value}"
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return f"{type(value).__name__}"
