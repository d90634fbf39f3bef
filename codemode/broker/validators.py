"""JSON Schemas compiled for checking: offline, with a regular-expression engine that cannot be made to backtrack.

Enters: a schema of a tool. Leaves: a `Compiled` that says whether a value fits, as a whole or at one place of the
schema. Never fetches a reference, never opens a file, never uses Python's `re` on a server's pattern.

A schema that does not compile is loosened: patterns and types that no engine here can use are dropped, so that the
rest is still checked (the server checks its own arguments anyway). One whose references lead nowhere is refused.

Safety: schemas are a server's, values a guest's. `is_valid` remembers what it has tried and stays fast on schemas
whose choices multiply; the library's own error listing does not (20 s for one value was measured), so it is only ever
used on schemas without subschemas (`Compiled.assertion_errors`).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

import jsonschema_rs
from jsonschema_rs import ValidationError, ValidationErrorKind, Validator, ValidatorMap

from codemode.catalog.references import LISTS, MAPS, SINGLES, pointer_tokens
from codemode.jsonvalue import Json, JsonObject, is_object

MAX_CACHED: Final = 512  # chosen: a run uses tens of tools; one compiled schema is about 20 kB
_REGEX: Final = jsonschema_rs.RegexOptions(size_limit=1 << 20, dfa_size_limit=1 << 20)
_TYPES: Final = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})

# Keywords that judge a value by itself, without a schema inside them, and have one thing to say about it.
ASSERTIONS: Final = frozenset(
    {
        "type", "enum", "const", "pattern", "minLength", "maxLength", "minimum", "maximum",
        "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "uniqueItems",
        "minProperties", "maxProperties",
    }
)  # fmt: skip


class SchemaError(ValueError):
    """A schema that cannot be used for checking at all; the text says why in one line."""


@dataclass(slots=True)
class Compiled:
    """One compiled schema.

    Attributes:
        schema: what was compiled: the given schema, or the loosened one.
        is_loosened: something had to be dropped.
    """

    schema: JsonObject
    root: Validator
    is_loosened: bool = False
    _places: ValidatorMap | None = None
    _leaves: dict[str, Validator | None] = field(default_factory=dict)

    def fits(self, value: Json) -> bool | None:
        """Whether the value is valid; None when the library cannot read it (half a surrogate pair, 255 levels)."""
        return _is_valid(self.root, value)

    def fits_at(self, place: str, value: Json) -> bool | None:
        """As `fits`, against the subschema at a place (`#/properties/a`); None also when there is no such place."""
        if self._places is None:
            try:
                self._places = _build(jsonschema_rs.validator_map_for, self.schema)
            except (ValueError, RecursionError):
                return None
        found = self._places.get(place)
        return None if found is None else _is_valid(found, value)

    def assertion_errors(self, place: str, schema: JsonObject, value: Json) -> list[ValidationErrorKind]:
        """What the keywords without subschemas have against a value, in the order of the schema's keys."""
        own = {key: item for key, item in schema.items() if key in ASSERTIONS}
        if not own:
            return []
        if place not in self._leaves:
            self._leaves[place] = _try_build({**_dialect(self.schema), **own})
        leaf = self._leaves[place]
        try:
            return [error.kind for error in leaf.iter_errors(value)] if leaf is not None else []
        except (ValueError, RecursionError):
            return []


def compile_schema(schema: JsonObject) -> Compiled:
    """Compile a schema, loosened where it has to be.

    Raises:
        SchemaError: a reference leads nowhere, or nothing of it can be used.
    """
    try:
        return Compiled(schema, _build(jsonschema_rs.validator_for, schema))
    except (ValueError, RecursionError):
        written = _rewritten(schema)
    try:
        return Compiled(written, _build(jsonschema_rs.validator_for, written))
    except ValidationError as error:
        if isinstance(error.kind, ValidationErrorKind.Referencing):
            raise SchemaError("a reference of its schema leads nowhere") from error
    except (ValueError, RecursionError):  # nested deeper than the library reads
        pass
    for attempt in (_loosened, _only_names):
        try:
            looser = attempt(written)
            return Compiled(looser, _build(jsonschema_rs.validator_for, looser), is_loosened=True)
        except (ValueError, RecursionError):
            continue
    raise SchemaError("its schema cannot be compiled")


class SchemaCache:
    """Compiled schemas by key, the least recently used ones forgotten. May be used from several threads."""

    def __init__(self, size: int = MAX_CACHED) -> None:
        self._size = size
        self._found: OrderedDict[Hashable, Compiled | SchemaError] = OrderedDict()
        self._lock = threading.Lock()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._found

    def get(self, key: Hashable, schema: JsonObject) -> Compiled:
        """The compiled schema for a key that stands for exactly this schema.

        Raises:
            SchemaError: as `compile_schema`, each time.
        """
        with self._lock:
            found = self._found.get(key)
            if found is not None:
                self._found.move_to_end(key)
        if found is None:
            try:
                found = compile_schema(schema)
            except SchemaError as fault:
                found = fault
            with self._lock:
                self._found[key] = found
                if len(self._found) > self._size:
                    self._found.popitem(last=False)
        if isinstance(found, SchemaError):
            raise SchemaError(str(found))
        return found


def _build(make: Callable[..., Any], schema: JsonObject) -> Any:
    # Formats are not asserted: what counts as one differs between servers, and a legal call must not be refused.
    return make(dict(schema), offline=True, pattern_options=_REGEX, validate_formats=False)


def _try_build(schema: JsonObject) -> Validator | None:
    try:
        built: Validator = _build(jsonschema_rs.validator_for, schema)
    except (ValueError, RecursionError):
        return None
    return built


def _is_valid(validator: Validator, value: Json) -> bool | None:
    try:
        return validator.is_valid(value)
    except (ValueError, RecursionError):
        return None


def _dialect(schema: JsonObject) -> JsonObject:
    return {"$schema": schema["$schema"]} if isinstance(schema.get("$schema"), str) else {}


def _rewritten(schema: JsonObject) -> JsonObject:
    """A copy that means the same: references as URIs want them (`#/$defs/List<int>` is none), no unknown dialect."""

    def copied(node: Json) -> Json:
        if is_object(node):
            return {k: _encoded(v) if k == "$ref" and isinstance(v, str) else copied(v) for k, v in node.items()}
        return [copied(one) for one in node] if isinstance(node, list) else node

    try:
        found = copied(schema)
    except RecursionError:
        return schema
    assert is_object(found)
    if _try_build(_dialect(schema)) is None:
        return {key: value for key, value in found.items() if key != "$schema"}
    return found


def _encoded(reference: str) -> str:
    tokens = pointer_tokens(reference)
    if tokens is None:
        return reference
    return "#" + "".join(f"/{quote(token.replace('~', '~0').replace('/', '~1'), safe='~')}" for token in tokens)


def _loosened(schema: JsonObject) -> JsonObject:
    """A copy without patterns and types that do not compile."""
    patterns: dict[str, bool] = {}

    def works(pattern: object) -> bool:
        if not isinstance(pattern, str):
            return False
        if pattern not in patterns:
            patterns[pattern] = _try_build({"pattern": pattern}) is not None
        return patterns[pattern]

    def copied(node: Json) -> Json:
        if not is_object(node):
            return node if isinstance(node, bool) else True
        out: dict[str, Json] = {}
        for key, value in node.items():
            if key in MAPS and is_object(value):
                out[key] = {k: copied(v) for k, v in value.items() if key != "patternProperties" or works(k)}
            elif (key in LISTS or key == "items") and isinstance(value, list):
                out[key] = [copied(one) for one in value]
            elif key in SINGLES:
                out[key] = copied(value)
            elif not ((key == "pattern" and not works(value)) or (key == "type" and not _is_type(value))):
                out[key] = value
        return out

    looser = copied(schema)
    assert is_object(looser)
    return looser


def _is_type(value: Json) -> bool:
    names = value if isinstance(value, list) else [value]
    return bool(names) and all(isinstance(name, str) and name in _TYPES for name in names)


def _only_names(schema: JsonObject) -> JsonObject:
    """What is left when nothing else helps: the parameter names, the required ones, and if others may come."""
    properties = schema.get("properties")
    required = schema.get("required")
    out: dict[str, Json] = {"type": "object"}
    if is_object(properties):
        out["properties"] = {name: {} for name in properties}
    if isinstance(required, Sequence) and not isinstance(required, str):
        out["required"] = sorted({name for name in required if isinstance(name, str)})
    if schema.get("additionalProperties") is False:
        out["additionalProperties"] = False
    return out
