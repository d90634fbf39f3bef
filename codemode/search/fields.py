"""A tool → what is indexed of it: terms for each field, bounded, with the weight of the field.

Enters: a tool. Leaves: term lists. Work for one tool is bounded, whatever its server wrote.

Weights are chosen, not fitted: what a tool is called counts most, what it says of itself next, its inputs after that.
Usual lengths are near the medians over 1,858 tools of 70 public servers. Each field is measured against its own usual
length and not against the average of the catalog, so that no server can change how others rank, and a stuffed field
dilutes itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from codemode.catalog.spec import Tool
from codemode.jsonvalue import JsonObject, as_object, as_text
from codemode.search.tokens import text_terms

_MAX_TEXT_CHARS = 1_500  # of a description; what comes later is detail
_MAX_PARAMETERS = 80
_MAX_PARAMETER_CHARS = 160
_MAX_CHOICES = 12
_MAX_ALTERNATIVES = 8
_MAX_DEPTH = 2  # objects inside of parameters and results are indexed to this depth


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """How one field counts: its weight, its usual number of terms, how much longer ones are held down (0 to 1)."""

    weight: float
    usual: float
    damping: float


NAME = Field(weight=3.0, usual=3, damping=0.4)
SERVER = Field(weight=1.5, usual=2, damping=0.4)
TITLE = Field(weight=1.5, usual=4, damping=0.5)
DESCRIPTION = Field(weight=1.0, usual=20, damping=0.6)
PARAMETER = Field(weight=0.8, usual=6, damping=0.6)
PARAMETER_TEXT = Field(weight=0.4, usual=30, damping=0.7)
OUTPUT = Field(weight=0.3, usual=8, damping=0.7)


def tool_terms(tool: Tool, known: dict[str, tuple[str, ...]]) -> Iterator[tuple[Field, list[str]]]:
    """The terms of each field of one tool. `known` remembers words across tools."""
    spec = tool.spec
    name = text_terms(spec.name, known)
    if len(name) > 1:
        # The name as one word is what people type who remember it: `listissues`, `xmlexport`.
        name.append("".join(char for char in spec.name.casefold() if char.isalnum()))
    yield NAME, name
    yield SERVER, text_terms(spec.server, known)
    yield TITLE, text_terms(spec.title, known)
    yield DESCRIPTION, text_terms(spec.description[:_MAX_TEXT_CHARS], known)
    parameters = list(_properties(spec.input_schema))
    yield PARAMETER, text_terms(" ".join([name for name, _ in parameters]), known)
    yield PARAMETER_TEXT, text_terms(" ".join([text for _, text in parameters]), known)
    if spec.output_schema is not None:
        names = [name for name, _ in _properties(spec.output_schema) if name != "result"]
        yield OUTPUT, text_terms(" ".join(names), known)


def _properties(schema: JsonObject) -> Iterator[tuple[str, str]]:
    """Name and text of the properties, outer ones first, at most `_MAX_PARAMETERS`."""
    definitions = as_object(schema.get("$defs")) or as_object(schema.get("definitions"))
    level = [schema, *_objects(schema, definitions)]
    seen = 0
    for _ in range(_MAX_DEPTH):
        below: list[JsonObject] = []
        for node in level:
            for name, value in as_object(node.get("properties")).items():
                if seen == _MAX_PARAMETERS:
                    return
                seen += 1
                entry = as_object(value)
                yield name[:_MAX_PARAMETER_CHARS], _said(entry)
                if "properties" in entry:
                    below.append(entry)
                below.extend(_objects(entry, definitions))
        level = below[:_MAX_PARAMETERS]


def _said(entry: JsonObject) -> str:
    """What a property says of itself, and the first of the values it may have."""
    text = as_text(entry.get("description")) or as_text(entry.get("title"))
    values = entry.get("enum")
    choices = values[:_MAX_CHOICES] if isinstance(values, list) else []
    return " ".join([text[:_MAX_PARAMETER_CHARS], *(choice[:40] for choice in choices if isinstance(choice, str))])


def _objects(entry: JsonObject, definitions: JsonObject) -> Iterator[JsonObject]:
    """The objects right inside: what it refers to, its items, its alternatives."""
    inside: list[object] = [definitions.get(as_text(entry.get("$ref")).rpartition("/")[2]), entry.get("items")]
    for keyword in ("anyOf", "oneOf", "allOf"):
        alternatives = entry.get(keyword)
        if isinstance(alternatives, list):
            inside.extend(alternatives[:_MAX_ALTERNATIVES])
    for candidate in inside:
        node = as_object(candidate)
        if "$ref" in node:
            node = as_object(definitions.get(as_text(node.get("$ref")).rpartition("/")[2]))
        if "properties" in node:
            yield node
