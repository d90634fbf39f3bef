"""One listed JSON Schema → one that every later stage can rely on, or a reason why it cannot be used.

Enters: a schema of bounded size (`bounds.py`), as a server sent it. Leaves: a copy in which each keyword has the
shape the specification gives it, every `$ref` is `#…` and leads to a schema, no reference loops in place, texts are
safe to show; and one line for each thing that was repaired. A repair only ever allows more: the server checks its
own arguments, so a check dropped here costs a better message, never safety. Never fetches anything.

Source: JSON Schema 2020-12 validation and core; MCP specification, Tool (`inputSchema` is an object's schema).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from codemode.catalog import bounds, keywords, references
from codemode.catalog.bounds import kind_of
from codemode.catalog.patterns import pattern_fault
from codemode.catalog.text import clean_line
from codemode.jsonvalue import Json, JsonObject, as_text

MAX_NOTES = 20

_DIALECTS = frozenset(
    f"{scheme}://json-schema.org/{version}/schema{end}"
    for scheme in ("http", "https")
    for version in ("draft-04", "draft-06", "draft-07", "draft/2019-09", "draft/2020-12")
    for end in ("", "#")
)
_TUPLES_IN_ITEMS = frozenset(dialect for dialect in _DIALECTS if "2020-12" not in dialect)


class SchemaError(ValueError):
    """A schema that cannot be used; the text is the reason, in one line."""


@dataclass(slots=True)
class _Work:
    root: Mapping[str, object]
    notes: list[str] = field(default_factory=list)
    hoisted: dict[str, tuple[str, ...]] = field(default_factory=dict)
    has_references: bool = False
    tuples_in_items: bool = False

    def note(self, where: str, what: str) -> None:
        """Keep one line about a repair; a server must not fill memory with them."""
        line = f"{clean_line(where, 120)}: {what}"
        if len(self.notes) < MAX_NOTES and line not in self.notes:
            self.notes.append(line)


def repair_input(schema: object) -> tuple[JsonObject, tuple[str, ...]]:
    """The schema of a tool's arguments, and what was repaired.

    Raises:
        SchemaError: it describes something else than an object, or cannot be made safe.
    """
    if schema is None or schema is True or schema == []:
        return {"type": "object"}, ("$: no schema was listed, any arguments are passed on",)
    if not isinstance(schema, dict):
        raise SchemaError(f"its inputSchema is {kind_of(schema)}, not an object")
    listed = schema.get("type")
    if isinstance(listed, str) and listed != "object" and listed in keywords.TYPES:
        raise SchemaError(f"its inputSchema describes {_article(listed)}; arguments are always an object")
    repaired, notes = repair_schema(schema)
    if repaired.get("type") != "object":
        notes = (*notes, "$: the type `object` was added")
    return {**repaired, "type": "object"}, notes


def repair_schema(schema: Mapping[str, object]) -> tuple[dict[str, Json], tuple[str, ...]]:
    """Any schema, and what was repaired.

    Raises:
        SchemaError: it refers to something outside of itself, to nothing, or cannot be made safe.
    """
    dialect = as_text(schema.get("$schema"))
    work = _Work(root=schema, tuples_in_items=dialect in _TUPLES_IN_ITEMS)
    repaired = _schema(work, schema, "$")
    assert isinstance(repaired, dict)
    _hoist(work, repaired)
    if dialect in _DIALECTS:
        repaired["$schema"] = dialect
    elif "$schema" in schema:
        work.note("$.$schema", "an unknown dialect was dropped")
    if work.has_references:
        _check_references(repaired)
        if references.cut_endless(repaired):
            work.note("$", "a reference to itself was dropped; it said nothing about a value")
        if reason := references.growth_fault(repaired):
            raise SchemaError(reason)
    return repaired, tuple(work.notes)


def _schema(work: _Work, schema: object, where: str) -> Json:
    if isinstance(schema, bool):
        return schema
    if not isinstance(schema, dict):
        work.note(where, f"a schema was expected, {kind_of(schema)} came; any value is passed on")
        return {}
    repaired: dict[str, Json] = {}
    for keyword, value in schema.items():
        kept: object = keywords.DROP
        if inner := _SCHEMA_HANDLERS.get(keyword):
            kept = inner(work, value, f"{where}.{keyword}")
        elif leaf := keywords.HANDLERS.get(keyword):
            kept = leaf(work.note, value, f"{where}.{keyword}")
        elif keyword not in _SILENT and isinstance(value, (str, bool, int, float)) and keywords.is_plain(value):
            kept = value
        if kept is not keywords.DROP:
            # The handlers return JSON or the one sentinel that was just excluded.
            repaired[keyword] = kept  # type: ignore[assignment]
    if isinstance(repaired.get("items"), list) and not work.tuples_in_items:
        _modern_tuple(repaired)
    _required_against_properties(work, repaired, where)
    return repaired


def _modern_tuple(schema: dict[str, Json]) -> None:
    """`items: [A, B]` is how tuples were written before 2020-12, the dialect of a schema that names none."""
    schema["prefixItems"] = schema.pop("items")
    if "additionalItems" in schema:
        schema["items"] = schema.pop("additionalItems")


def _schema_map(work: _Work, value: object, where: str) -> object:
    if not isinstance(value, dict):
        work.note(where, f"an object was expected, {kind_of(value)} came; it was dropped")
        return {}
    for name in value:
        if reason := bounds.property_fault(name):
            raise SchemaError(reason)
    return {name: _schema(work, schema, f"{where}.{name}") for name, schema in value.items()}


def _pattern_map(work: _Work, value: object, where: str) -> object:
    kept = _schema_map(work, value, where)
    assert isinstance(kept, dict)
    for pattern in [pattern for pattern in kept if pattern_fault(pattern)]:
        work.note(where, f"a pattern was dropped: {pattern_fault(pattern)}")
        del kept[pattern]
    return kept or keywords.DROP


def _schema_list(work: _Work, value: object, where: str) -> object:
    if not isinstance(value, (list, tuple)) or not value:
        work.note(where, "a list of schemas was expected; it was dropped")
        return keywords.DROP
    return [_schema(work, schema, f"{where}[{index}]") for index, schema in enumerate(value)]


def _items(work: _Work, value: object, where: str) -> object:
    return _schema_list(work, value, where) if isinstance(value, (list, tuple)) else _schema(work, value, where)


def _required_against_properties(work: _Work, schema: Mapping[str, Json], where: str) -> None:
    required = schema.get("required")
    properties = schema.get("properties")
    if isinstance(required, list) and isinstance(properties, dict):
        for name in required:
            if isinstance(name, str) and name not in properties:
                work.note(f"{where}.required", f"`{clean_line(name, 60)}` is no listed property")


def _reference(work: _Work, value: object, where: str) -> object:
    if not isinstance(value, str):
        raise SchemaError(f"a reference that is {kind_of(value)}, not a string")
    work.has_references = True
    own = work.root.get("$id")
    reference = value[len(own) :] if isinstance(own, str) and own and value.startswith(f"{own}#") else value
    if not reference.startswith("#"):
        raise SchemaError(f"it refers to `{clean_line(value, 80)}`; only `#…` is followed")
    tokens = references.pointer_tokens(reference)
    target = references.MISSING if tokens is None else references.follow(work.root, tokens)
    if tokens is None or not isinstance(target, (dict, bool)):
        raise SchemaError(f"its reference `{clean_line(reference, 80)}` leads nowhere")
    if references.is_schema_place(tokens):
        return reference
    # The target stands under a keyword of its own (`#/components/schemas/X`), which no validator walks.
    name = "ref_" + hashlib.sha256(repr(tokens).encode("utf-8", "surrogatepass")).hexdigest()[:12]
    work.hoisted[name] = tokens
    return f"#/$defs/{name}"


def _hoist(work: _Work, repaired: dict[str, Json]) -> None:
    done: dict[str, Json] = {}
    while waiting := [name for name in work.hoisted if name not in done]:
        if len(work.hoisted) > bounds.MAX_REFERENCE_DEPTH * 16:
            raise SchemaError("too many references to places that are no schemas")
        for name in waiting:
            done[name] = _schema(work, references.follow(work.root, work.hoisted[name]), f"$.$defs.{name}")
    if done:
        own = repaired.get("$defs")
        repaired["$defs"] = {**(own if isinstance(own, dict) else {}), **done}


def _check_references(root: Mapping[str, Json]) -> None:
    """Every reference has to lead to a schema in the repaired copy too: parts of it may have been dropped."""
    todo: list[object] = [root]
    while todo:
        node = todo.pop()
        if isinstance(node, dict):
            reference = node.get("$ref")
            if isinstance(reference, str):
                tokens = references.pointer_tokens(reference)
                target = references.MISSING if tokens is None else references.follow(root, tokens)
                if not isinstance(target, (dict, bool)):
                    raise SchemaError(f"its reference `{clean_line(reference, 80)}` leads to no schema")
            todo.extend(child for _, child in references.subschemas(node))


def _dynamic_reference(work: _Work, value: object, where: str) -> object:
    if isinstance(value, str) and not value.startswith("#"):
        raise SchemaError(f"it refers to `{clean_line(value, 80)}`; only `#…` is followed")
    work.note(where, "a dynamic reference was dropped; any value is passed on")
    return keywords.DROP


def _dependencies(work: _Work, value: object, where: str) -> object:
    if not isinstance(value, dict):
        work.note(where, "an object was expected; it was dropped")
        return keywords.DROP
    kept: dict[str, object] = {}
    for name, item in value.items():
        if isinstance(item, (list, tuple)):
            kept[name] = list(dict.fromkeys(part for part in item if isinstance(part, str)))
        elif where.endswith(".dependencies"):
            kept[name] = _schema(work, item, f"{where}.{name}")
    return kept


_SCHEMA_HANDLERS: Mapping[str, Callable[[_Work, object, str], object]] = {
    **dict.fromkeys(references.MAPS, _schema_map),
    **dict.fromkeys(references.LISTS, _schema_list),
    **dict.fromkeys(references.SINGLES, _schema),
    **dict.fromkeys(("$dynamicRef", "$recursiveRef"), _dynamic_reference),
    **dict.fromkeys(("dependencies", "dependentRequired"), _dependencies),
    "patternProperties": _pattern_map,
    "items": _items,
    "$ref": _reference,
}
# `$schema` is judged at the root; identifiers would change what `#` means; comments are for nobody here.
_SILENT = frozenset(
    {"$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "$comment"}
)


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aio" else kind if kind == "null" else f"a {kind}"
