"""Tools made of one schema, and their checks, for tests of arguments."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from codemode.broker.arguments import ArgumentChecker, Checked
from codemode.catalog.spec import Tool
from tests.support.catalogs import catalog_of

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}


def tool_of(schema: Any, output: Any = None, name: str = "f") -> Tool:
    """A tool with these schemas."""
    entry = {"name": name, "inputSchema": schema, **({"outputSchema": output} if output is not None else {})}
    return catalog_of({"mail": [entry]}).tools[0]


def unrepaired(schema: Any) -> Tool:
    """A tool whose schema did not go through the catalog's repairs."""
    found = tool_of({"type": "object"})
    return replace(found, spec=replace(found.spec, input_schema=schema, cosmetic_digest=f"{id(schema)}"))


def check(schema: Any, arguments: Any) -> Checked:
    """The check of arguments against a schema."""
    return ArgumentChecker().check_now(tool_of(schema), arguments)


def texts(schema: Any, arguments: Any) -> list[str]:
    """The texts of its problems."""
    return [one.text for one in check(schema, arguments).problems]


def closed(properties: Any, *required: str) -> Any:
    """An object's schema that refuses other names."""
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def opened(properties: Any, *required: str) -> Any:
    """An object's schema that says nothing of other names."""
    return {"type": "object", "properties": properties, "required": list(required)}
