"""`$ref` inside one schema, for reading types, and the union of schemas that `allOf` asks for.

Enters: a schema document. Leaves: what a reference points at. Only pointers into the same document are followed;
anything else is unknown here. Nothing is fetched and no file is read, whatever the reference says.

Source: JSON Schema 2020-12 core, sections 8.2 and 10.2.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import cast

from codemode.catalog.references import MISSING, follow, pointer_tokens
from codemode.jsonvalue import Json, JsonObject, is_object

MAX_BRANCHES = 32  # branches of one allOf, anyOf or oneOf that are looked at
_MAX_STEPS = 32  # references that point at references
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_]+")
_MAX_NAME_CHARS = 32


class Resolver:
    """References of one document."""

    def __init__(self, document: Json) -> None:
        self._document = document

    def reference(self, schema: JsonObject) -> str | None:
        """The reference that a schema holds, or None."""
        value = schema.get("$ref")
        return value if isinstance(value, str) else None

    def target(self, reference: str) -> Json:
        """What it points at, or None when that is not in this document."""
        tokens = pointer_tokens(reference)
        found = MISSING if tokens is None else follow(self._document, tokens)
        # What a pointer finds inside a JSON document is JSON.
        return None if found is MISSING else cast("Json", found)

    def steps(self, schema: Json) -> list[str]:
        """The references followed, one after the other, from a schema that is a reference."""
        seen: list[str] = []
        while is_object(schema) and len(seen) < _MAX_STEPS:
            reference = self.reference(schema)
            if reference is None or reference in seen:
                break
            seen.append(reference)
            schema = self.target(reference)
        return seen

    def follow(self, schema: Json) -> Json:
        """The schema itself, or what its chain of references ends at; None for a circle or a dead end."""
        steps = self.steps(schema)
        if not steps:
            return schema
        end = self.target(steps[-1])
        return None if is_object(end) and self.reference(end) is not None else end

    def name(self, reference: str) -> str:
        """A short name for what it points at, made of ASCII letters, digits and `_`."""
        tokens = pointer_tokens(reference) or ("Self",)
        text = _NOT_IN_NAMES.sub("_", tokens[-1][:80]).strip("_")[:_MAX_NAME_CHARS]
        return text if text.isidentifier() else "Type"


def without(schema: JsonObject, *keys: str) -> JsonObject:
    """A copy without some keywords."""
    return {key: value for key, value in schema.items() if key not in keys}


def merged(schemas: Iterable[Json]) -> JsonObject:
    """One schema that says what all of them say, as far as names and types go: properties and required names are
    joined, the first word on anything else counts."""
    out: dict[str, Json] = {}
    for schema in schemas:
        if not is_object(schema):
            continue
        for key, value in schema.items():
            mine = out.get(key)
            if key == "properties" and is_object(value) and is_object(mine):
                both = {**mine, **value}
                for name in mine.keys() & value.keys():
                    if mine[name] != value[name]:
                        both[name] = {"allOf": [mine[name], value[name]]}
                out[key] = both
            elif key == "required" and isinstance(value, list) and isinstance(mine, list):
                had = {name for name in mine if isinstance(name, str)}
                out[key] = [*mine, *(name for name in value if isinstance(name, str) and name not in had)]
            elif key == "allOf" and isinstance(value, list) and isinstance(mine, list):
                out[key] = [*mine, *value][:MAX_BRANCHES]
            else:
                out.setdefault(key, value)
    return out
