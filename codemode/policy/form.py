"""A server's form: read into fields of five kinds, offered to a client in our own writing, answers checked against it.

Enters: a `requestedSchema` as a server sent it, later an answer as a client sent it. Leaves: a `Form`, a schema that
holds nothing but known keywords, and checked content, or a `FormError` with the reason in one line.

Safety: the schema is a server's. Every count and length is bounded; names are plain; what people read is free of
hidden characters, on one line, and begins with the server's name. No pattern of a server is ever evaluated.
Source: MCP specification 2025-11-25 and 2026-07-28, elicitation, restricted schema.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal
from urllib.parse import urlsplit

from codemode.catalog.text import clean_line, has_hidden, has_surrogate
from codemode.jsonvalue import Json, JsonObject, as_object, as_text

MAX_FIELDS: Final = 20  # chosen: a form that a person fills in
MAX_CHOICES: Final = 100  # chosen: a list that a person reads
MAX_TEXT_CHARS: Final = 10_000  # chosen: of one answer; several pages
_LABEL_CHARS: Final = 100
_HELP_CHARS: Final = 300
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
_OURS: Final = "allow"  # the one field of an approval of ours; no form of a server offers it under this name
_FORMATS: Final = ("email", "uri", "date", "date-time")  # given: the specification has no others
_MAX_NUMBER: Final = 1e15  # chosen: whole numbers stay exact in every client

Kind = Literal["text", "number", "integer", "boolean", "one", "several"]


class FormError(ValueError):
    """A form that cannot be offered, or an answer that does not fit; the text is one line and quotes no answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One thing to choose: the value that the server gets, and what people read."""

    value: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a form.

    Attributes:
        name: the server's name for it; `shown` is the key that the client sees.
        kind: "one" and "several" have `choices`.
        label, help: what people read; a server's words, cleaned.
        least, most: bounds of a number, of the length of a text, or of how many are chosen; None = none.
        default: what stands there from the start; None = nothing.
    """

    name: str
    shown: str
    kind: Kind
    label: str
    help: str = ""
    is_required: bool = False
    format: str = ""
    choices: tuple[Choice, ...] = ()
    least: float | None = None
    most: float | None = None
    default: Json = None


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of one form; none of them is a form that is only sent off."""

    fields: tuple[Field, ...] = ()


def read_form(schema: JsonObject) -> Form:
    """The form of a server's schema.

    Raises:
        FormError: it is no flat object of texts, numbers, booleans and choices, or it is over a bound.
    """
    properties = schema.get("properties")
    if schema.get("type") != "object" or not isinstance(properties, Mapping):
        raise FormError("it is no object with `properties`")
    if len(properties) > MAX_FIELDS:
        raise FormError(f"it has {len(properties)} fields; {MAX_FIELDS} are allowed")
    required = schema.get("required") or ()
    names = required if isinstance(required, (list, tuple)) else [None]
    if any(not isinstance(name, str) or name not in properties for name in names):
        raise FormError("`required` names something that is no field")
    fields = tuple(_read_field(name, value, is_required=name in names) for name, value in properties.items())
    if len({field.shown for field in fields}) < len(fields):
        raise FormError("two fields have the same name")
    return Form(fields)


def _read_field(name: str, value: Json, *, is_required: bool) -> Field:
    if not _NAME.fullmatch(name):
        raise FormError("a field has a name that is not plain")
    spec = as_object(value)
    kind, choices = _kind_of(name, spec)
    least, most = _bounds(name, spec, kind)
    form = as_text(spec.get("format"))
    if kind == "text" and form and form not in _FORMATS:
        raise FormError(f"`{name}` wants the format `{clean_line(form, 40)}`; a form takes {', '.join(_FORMATS)}")
    field = Field(
        name=name,
        shown=f"server_{name}" if name == _OURS else name,
        kind=kind,
        label=clean_line(as_text(spec.get("title")), _LABEL_CHARS) or name,
        help=clean_line(as_text(spec.get("description")), _HELP_CHARS),
        is_required=is_required,
        format=form if kind == "text" else "",
        choices=choices,
        least=least,
        most=most,
    )
    default = spec.get("default")
    try:
        return field if default is None else replace(field, default=_checked(field, default))
    except FormError:
        return field  # a default that does not fit its own field is left out


def _kind_of(name: str, spec: JsonObject) -> tuple[Kind, tuple[Choice, ...]]:
    match spec.get("type"):
        case "string" if "enum" in spec or "oneOf" in spec:
            return "one", _choices(name, spec)
        case "string":
            return "text", ()
        case "number":
            return "number", ()
        case "integer":
            return "integer", ()
        case "boolean":
            return "boolean", ()
        case "array":
            return "several", _choices(name, as_object(spec.get("items")))
        case _:
            raise FormError(f"`{name}` is no text, number, boolean or choice")


def _choices(name: str, spec: JsonObject) -> tuple[Choice, ...]:
    """The choices of `enum` (with `enumNames`), `oneOf` or `anyOf`."""
    titled = spec.get("oneOf") or spec.get("anyOf")
    if isinstance(titled, (list, tuple)):
        pairs = [(as_object(item).get("const"), as_object(item).get("title")) for item in titled[: MAX_CHOICES + 1]]
    else:
        values = spec.get("enum")
        values = list(values[: MAX_CHOICES + 1]) if isinstance(values, (list, tuple)) else []
        labels = spec.get("enumNames")
        labels = (
            list(labels) if isinstance(labels, (list, tuple)) and len(labels) == len(values) else [""] * len(values)
        )
        pairs = list(zip(values, labels, strict=True))
    if not 0 < len(pairs) <= MAX_CHOICES:
        raise FormError(f"`{name}` offers no choices, or more than {MAX_CHOICES}")
    found = []
    for value, label in pairs:
        if not isinstance(value, str) or len(value) > _LABEL_CHARS or has_hidden(value):
            raise FormError(f"`{name}` offers a choice that is no short text")
        found.append(Choice(value=value, label=clean_line(as_text(label), _LABEL_CHARS) or value))
    if len({choice.value for choice in found}) < len(found):
        raise FormError(f"`{name}` offers a choice twice")
    return tuple(found)


_BOUNDS: Final[Mapping[Kind, tuple[str, str]]] = {
    "text": ("minLength", "maxLength"),
    "number": ("minimum", "maximum"),
    "integer": ("minimum", "maximum"),
    "several": ("minItems", "maxItems"),
}


def _bounds(name: str, spec: JsonObject, kind: Kind) -> tuple[float | None, float | None]:
    keys = _BOUNDS.get(kind)
    if keys is None:
        return None, None
    least, most = (_number(spec.get(key)) for key in keys)
    if any(spec.get(key) is not None and bound is None for key, bound in zip(keys, (least, most), strict=True)):
        raise FormError(f"a bound of `{name}` is no number")
    if least is not None and most is not None and least > most:
        raise FormError(f"no answer can fit the bounds of `{name}`")
    return least, most


def _number(value: Json) -> float | None:
    """The value when it is a number that every client keeps exactly; a boolean is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= _MAX_NUMBER:
        return None
    return float(value)


# -- what a client is offered ------------------------------------------------------------------------------------------


def form_schema(form: Form, server: str) -> dict[str, Json]:
    """The form as the client gets it: our own writing, every label behind the name of the server that asks."""
    properties = {field.shown: _field_schema(field, server) for field in form.fields}
    schema: dict[str, Json] = {"type": "object", "properties": properties}
    required = [field.shown for field in form.fields if field.is_required]
    return {**schema, "required": required} if required else schema


def _field_schema(field: Field, server: str) -> dict[str, Json]:
    out: dict[str, Json] = {"type": "array" if field.kind == "several" else _json_type(field.kind)}
    out["title"] = f"{server}: {field.label}"
    if field.help:
        out["description"] = f"{server}: {field.help}"
    if field.kind == "one":
        out["oneOf"] = [{"const": choice.value, "title": choice.label} for choice in field.choices]
    if field.kind == "several":
        out["items"] = {"anyOf": [{"const": choice.value, "title": choice.label} for choice in field.choices]}
    if field.format:
        out["format"] = field.format
    for key, bound in zip(_BOUNDS.get(field.kind, ()), (field.least, field.most), strict=False):
        if bound is not None:
            out[key] = int(bound) if bound.is_integer() else bound
    if field.default is not None:
        out["default"] = field.default
    return out


def _json_type(kind: Kind) -> str:
    return {"text": "string", "one": "string"}.get(kind, kind)


# -- answers -----------------------------------------------------------------------------------------------------------


def check_answer(form: Form, content: Mapping[str, Json]) -> dict[str, Json]:
    """The answer under the server's own names; what was left empty is left out.

    Raises:
        FormError: a field is missing, unknown or does not fit.
    """
    known = {field.shown for field in form.fields}
    if any(key not in known for key in content):
        raise FormError("it has a field that was not asked for")
    out: dict[str, Json] = {}
    for field in form.fields:
        value = content.get(field.shown)
        if value is None:
            if field.is_required:
                raise FormError(f"`{field.name}` is missing")
            continue
        out[field.name] = _checked(field, value)
    return out


def _checked(field: Field, value: Json) -> Json:
    """The value when it fits its field.

    Raises:
        FormError: it does not.
    """
    number = _number(value)
    match field.kind:
        case "boolean":
            fits = isinstance(value, bool)
        case "integer" if number is not None and number.is_integer():
            value = int(number)
            fits = _within(field, number)
        case "number" if number is not None:
            fits = _within(field, number)
        case "one":
            fits = any(value == choice.value for choice in field.choices)
        case "several":
            fits = _are_choices(field, value)
        case "text":
            fits = isinstance(value, str) and _is_text(field, value)
        case _:
            fits = False
    if not fits:
        raise FormError(f"`{field.name}` does not fit its field")
    return value


def _are_choices(field: Field, value: Json) -> bool:
    if not isinstance(value, (list, tuple)) or len(value) > len(field.choices) or not _within(field, len(value)):
        return False
    offered = {choice.value for choice in field.choices}
    return all(isinstance(item, str) and item in offered for item in value)


def _within(field: Field, number: float) -> bool:
    return (field.least is None or number >= field.least) and (field.most is None or number <= field.most)


def _is_text(field: Field, value: str) -> bool:
    if len(value) > MAX_TEXT_CHARS or has_surrogate(value) or not _within(field, len(value)):
        return False
    try:
        match field.format:
            case "date":
                datetime.date.fromisoformat(value)
            case "date-time":
                datetime.datetime.fromisoformat(value)
            case "uri":
                return bool(urlsplit(value).scheme)
            case "email":
                name, _, host = value.rpartition("@")
                return bool(name and host)
    except ValueError:
        return False
    return True
