"""Words for JSON Schema, so that a tool's parameters read like a form: `integer("Tickets per page.", minimum=1)`.

`keywords` are passed through as they are: minimum, maxLength, pattern, format, default.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Schema = dict[str, Any]


def string(description: str = "", **keywords: Any) -> Schema:
    """A string."""
    return _described({"type": "string"}, description, keywords)


def integer(description: str = "", **keywords: Any) -> Schema:
    """A whole number."""
    return _described({"type": "integer"}, description, keywords)


def number(description: str = "", **keywords: Any) -> Schema:
    """Any number."""
    return _described({"type": "number"}, description, keywords)


def boolean(description: str = "", **keywords: Any) -> Schema:
    """True or false."""
    return _described({"type": "boolean"}, description, keywords)


def choice(values: Iterable[str], description: str = "", **keywords: Any) -> Schema:
    """One of the given strings."""
    return _described({"type": "string", "enum": list(values)}, description, keywords)


def array(items: Schema, description: str = "", **keywords: Any) -> Schema:
    """A list of equal things."""
    return _described({"type": "array", "items": items}, description, keywords)


def record(
    properties: Mapping[str, Schema], description: str = "", *, required: Sequence[str] = (), **keywords: Any
) -> Schema:
    """An object; `required` names what must be there."""
    schema: Schema = {"type": "object", "properties": dict(properties)}
    if required:
        schema["required"] = list(required)
    return _described(schema, description, keywords)


def nullable(schema: Schema, **keywords: Any) -> Schema:
    """The schema or null, written as `anyOf`, which is how most servers write it."""
    inner = {key: value for key, value in schema.items() if key not in ("description", "default")}
    outer = {key: value for key, value in schema.items() if key in ("description", "default")}
    return {"anyOf": [inner, {"type": "null"}], **outer, **keywords}


def or_null(schema: Schema, **keywords: Any) -> Schema:
    """The schema or null, written as a list of types, which is how some servers write it."""
    return {**schema, "type": [schema["type"], "null"], **keywords}


def _described(schema: Schema, description: str, keywords: Mapping[str, Any]) -> Schema:
    if description:
        schema["description"] = description
    return {**schema, **keywords}
