"""What the structured result of a tool means: the one rule for `{"result": x}`, for signatures, guest and host.

The rule. A structured result that is an object with the single key `result` counts as `x`, unless the tool's
outputSchema names other properties beside `result` or does not name it at all. So it depends on the tool and on
nothing a call returns: a tool without an outputSchema is unwrapped, one that declares `{"result": X}` is (its
signature says `-> X`), one that declares `{"result": X, "next": Y}` or `{"total": X}` never is.

Source: servers that must answer with an object wrap every other value like this and some mark the schema with
`x-fastmcp-wrap-result` (412 of 1,858 public tools wrap).
"""

from __future__ import annotations

from codemode.bindings.references import Resolver
from codemode.jsonvalue import Json, JsonObject, is_object

WRAP_KEY = "result"
_WRAP_MARK = "x-fastmcp-wrap-result"


def unwraps_result(output_schema: JsonObject | None) -> bool:
    """Whether `{"result": x}` from a tool with this outputSchema counts as `x`."""
    if output_schema is None:
        return True
    if output_schema.get(_WRAP_MARK) is True:
        return True
    schema = Resolver(output_schema).follow(output_schema)
    properties = schema.get("properties") if is_object(schema) else None
    if not is_object(properties):
        return not any(key in output_schema for key in ("$ref", "allOf", "anyOf", "oneOf"))
    return properties.keys() == {WRAP_KEY}


def value_schema(output_schema: JsonObject | None) -> Json:
    """The schema of the value that a program gets, or None when none is declared."""
    if output_schema is None:
        return None
    schema = Resolver(output_schema).follow(output_schema)
    properties = schema.get("properties") if is_object(schema) else None
    if unwraps_result(output_schema) and is_object(properties) and WRAP_KEY in properties:
        return properties[WRAP_KEY]
    return output_schema
