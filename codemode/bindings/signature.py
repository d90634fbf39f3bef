"""A tool's signature as the model reads it, and the parameters behind it.

Enters: a `Tool` of the catalog. Leaves: a `Signature`: one line of text in Python's notation, its parameters in call
order (required first, then optional, each in the schema's order), and notes that do not fit in the line. Decides
nothing about policy or search; what stands behind `#` is handed in.

Defaults in the text are what the server says it does when a parameter is left out; they are never sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from codemode.bindings.references import MAX_BRANCHES, Resolver, merged, without
from codemode.bindings.results import unwraps_result, value_schema
from codemode.bindings.schema_types import (
    ANY,
    ListOf,
    MapOf,
    Type,
    fits,
    read_type,
    takes_null,
    takes_object,
)
from codemode.bindings.type_text import display, literal_text
from codemode.catalog.names import parameter_names
from codemode.catalog.spec import Tool
from codemode.catalog.text import clean_line
from codemode.jsonvalue import Json, JsonObject, as_text, is_object

MAX_CHARS: Final = 2_400  # chosen: about 600 tokens, a third of what one search answer may take
MAX_PARAMETER_DESCRIPTION_CHARS: Final = 300
MAX_RESULT_NOTES: Final = 40
_MAX_DEFAULT_CHARS: Final = 24
_ENCODINGS: Final = frozenset({"base64", "byte", "binary"})
# Room for one parameter's type and for the result's, tried in this order until the line is short enough.
_ROOM: Final = ((300, 400), (160, 300), (80, 160), (40, 80), (14, 40))


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter of a tool.

    Attributes:
        python: the keyword a program writes.
        wire: the property's name in the tool's schema; this is sent.
        type: the type as text, whole (a signature may show it shorter).
        default: the server's default as Python text, "..." when there is none worth showing, "" when required.
        nullable: whether the schema allows null.
        kind: the type as a value, for annotations.
        is_base64: the schema says that the text is base64.
    """

    python: str
    wire: str
    type: str
    required: bool
    default: str = ""
    description: str = ""
    nullable: bool = False
    kind: Type = ANY
    is_base64: bool = False

    @property
    def takes_object(self) -> bool:
        """Whether a JSON object may be its value."""
        return takes_object(self.kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """What can be said about calling one tool.

    Attributes:
        text: `tools.github.list_issues(owner: str, page: int = 1) -> list[{number: int, ...}]`
        comment: `# read; shape seen in 12 calls`, or "" without marks.
        result: the type behind the arrow; `?` when it is not known.
        result_kind: the declared type as a value, for annotations.
        parameters: in call order.
        is_open: arguments of any further name are allowed and meant.
        unwraps: `{"result": x}` from this tool counts as `x` (`results.py`).
        notes: lines for help: keywords that differ from their wire names, choices between parameters.
        result_notes: (key, description) of the result's own properties (of its items, when it is a list).
    """

    text: str
    comment: str = ""
    result: str = "?"
    result_kind: Type = ANY
    parameters: tuple[Parameter, ...] = ()
    is_open: bool = False
    unwraps: bool = True
    notes: tuple[str, ...] = ()
    result_notes: tuple[tuple[str, str], ...] = ()

    @property
    def line(self) -> str:
        """Text and comment together."""
        return f"{self.text}  {self.comment}" if self.comment else self.text

    @property
    def required(self) -> tuple[Parameter, ...]:
        """The parameters a call must have."""
        return tuple(one for one in self.parameters if one.required)


def signature(tool: Tool, *, observed: str = "", marks: Iterable[str] = (), max_chars: int = MAX_CHARS) -> Signature:
    """The signature of a tool.

    `observed` is a result type learned from calls, as text; it is shown only where the tool declares nothing useful.
    `marks` become the comment (`("write", "asks")` → `# write, asks`; a mark with a space in it goes behind `;`).
    `max_chars` bounds the text: types get shorter first, then optional parameters lose theirs; names all stay up to
    the point where required ones alone are too long.
    """
    shape = _root_shape(tool.spec.input_schema)
    parameters = _parameters(shape)
    declared = read_type(value_schema(tool.spec.output_schema), Resolver(tool.spec.output_schema))
    return Signature(
        text=_text(tool.path, parameters, _Result(declared, observed), is_open=shape.is_open, max_chars=max_chars),
        comment=_comment(marks),
        result=_Result(declared, observed).text(_ROOM[0][1]),
        result_kind=declared,
        parameters=parameters,
        is_open=shape.is_open,
        unwraps=unwraps_result(tool.spec.output_schema),
        notes=_notes(shape, parameters),
        result_notes=_result_notes(tool.spec.output_schema),
    )


@dataclass(frozen=True, slots=True)
class _Shape:
    """The root of an input schema with its references, `allOf` and choices written out."""

    properties: Mapping[str, Json]
    required: frozenset[str]
    choices: tuple[tuple[str, ...], ...]
    is_open: bool
    resolver: Resolver


def _root_shape(schema: JsonObject) -> _Shape:
    resolver = Resolver(schema)
    root = _flat(schema, resolver)
    found: dict[str, Json] = dict(_properties(root))
    choices: list[tuple[str, ...]] = []
    for key in ("anyOf", "oneOf"):
        branches = root.get(key)
        for branch in branches[:MAX_BRANCHES] if isinstance(branches, list) else ():
            flat = _flat(branch, resolver)
            for name, value in _properties(flat).items():
                # Two branches that mean different things by one name: either is right.
                found[name] = {"anyOf": [found[name], value]} if found.get(name, value) != value else value
            choices.append(tuple(sorted(_required(flat))) or tuple(_properties(flat)))
    required = _required(root)
    for name in sorted(required):
        found.setdefault(name, {})
    others = root.get("additionalProperties")
    is_open = not found and (others is True or (is_object(others) and bool(others)))
    named = tuple(one for one in dict.fromkeys(choices) if one)
    return _Shape(found, frozenset(required), named if len(named) > 1 else (), is_open, resolver)


def _flat(schema: Json, resolver: Resolver) -> JsonObject:
    """References and `allOf` of one schema written out, one level at a time."""
    here = resolver.follow(schema)
    if not is_object(here):
        return {}
    if is_object(schema) and here is not schema:
        here = merged((here, without(schema, "$ref")))
    parts = here.get("allOf")
    if isinstance(parts, list):
        here = merged((without(here, "allOf"), *(resolver.follow(part) for part in parts[:MAX_BRANCHES])))
    return here


def _properties(schema: JsonObject) -> JsonObject:
    found = schema.get("properties")
    return found if is_object(found) else {}


def _required(schema: JsonObject) -> set[str]:
    listed = schema.get("required")
    return {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()


def _parameters(shape: _Shape) -> tuple[Parameter, ...]:
    names = parameter_names(shape.properties)
    made = [
        _parameter(wire, schema, shape.resolver, python=names[wire], required=wire in shape.required)
        for wire, schema in shape.properties.items()
    ]
    return tuple(sorted(made, key=lambda one: not one.required))


def _parameter(wire: str, schema: Json, resolver: Resolver, *, python: str, required: bool) -> Parameter:
    kind = read_type(schema, resolver)
    facts = resolver.follow(schema)
    own: JsonObject = {**facts, **schema} if is_object(facts) and is_object(schema) else {}
    encodings = {as_text(own.get("contentEncoding")).lower(), as_text(own.get("format")).lower()}
    return Parameter(
        python=python,
        wire=wire,
        type=display(kind, _ROOM[0][0]),
        required=required,
        default="" if required else _default(own, kind),
        description=clean_line(as_text(own.get("description")), MAX_PARAMETER_DESCRIPTION_CHARS),
        nullable=takes_null(kind),
        kind=kind,
        is_base64=bool(encodings & _ENCODINGS),
    )


def _default(schema: JsonObject, kind: Type) -> str:
    value = schema.get("default")
    if value is None:
        return "None" if "default" in schema else "..."
    if not isinstance(value, (str, int, float)) or not fits(kind, value):
        return "..."
    return literal_text(value, _MAX_DEFAULT_CHARS)


@dataclass(frozen=True, slots=True)
class _Result:
    """What is known of the result: declared, else seen in calls, else `?`."""

    declared: Type
    observed: str

    def text(self, room: int) -> str:
        says_shape = self.declared not in (ANY, MapOf(), ListOf())
        if not says_shape and self.observed and len(self.observed) <= max(room, _ROOM[0][1]):
            return self.observed
        return "?" if self.declared == ANY else display(self.declared, room)


def _text(path: str, parameters: tuple[Parameter, ...], result: _Result, *, is_open: bool, max_chars: int) -> str:
    text = ""
    for parameter_room, result_room in _ROOM:
        parts = [_part(one, display(one.kind, parameter_room)) for one in parameters]
        parts += ["**arguments"] if is_open else []
        text = f"{path}({', '.join(parts)}) -> {result.text(result_room)}"
        if len(text) <= max_chars:
            return text
    parts = [_part(one, display(one.kind, _ROOM[-1][0])) if one.required else f"{one.python}=..." for one in parameters]
    room = max_chars - len(path) - 40
    while parts and sum(map(len, parts)) + 2 * len(parts) > room:
        parts.pop()
    if len(parts) < len(parameters):
        parts.append(f"... {len(parameters) - len(parts)} more")
    return f"{path}({', '.join(parts)}) -> {result.text(_ROOM[-1][1])}"


def _part(one: Parameter, kind: str) -> str:
    return f"{one.python}: {kind}" if one.required else f"{one.python}: {kind} = {one.default}"


def _comment(marks: Iterable[str]) -> str:
    given = tuple(marks)
    words = [mark for mark in given if " " not in mark]
    phrases = [mark for mark in given if " " in mark]
    text = "; ".join([", ".join(words), *phrases] if words else phrases)
    return f"# {text}" if text else ""


def _notes(shape: _Shape, parameters: tuple[Parameter, ...]) -> tuple[str, ...]:
    python = {one.wire: one.python for one in parameters}
    notes = []
    if shape.choices:
        sets = [" and ".join(python[name] for name in names if name in python) for names in shape.choices]
        notes.append(f"One of: {' | '.join(sets[:12])}")
    for one in parameters:
        if one.python != one.wire:
            notes.append(f"`{one.python}` stands for the key {clean_line(ascii(one.wire), 120)}")
    return tuple(notes[:64])


def _result_notes(output_schema: JsonObject | None) -> tuple[tuple[str, str], ...]:
    resolver = Resolver(output_schema)
    schema = resolver.follow(value_schema(output_schema))
    if is_object(schema) and "items" in schema:
        schema = resolver.follow(schema["items"])
    properties = _properties(schema) if is_object(schema) else {}
    described = []
    for name in list(properties)[:MAX_RESULT_NOTES]:
        own = properties[name]
        text = clean_line(as_text(own.get("description")), MAX_PARAMETER_DESCRIPTION_CHARS) if is_object(own) else ""
        if text:
            described.append((clean_line(name, 60), text))
    return tuple(described)
