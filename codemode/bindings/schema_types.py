"""JSON Schema → a small tree of types, read for people: what a parameter takes, what a call gives back.

Enters: any JSON, usually a server's schema (draft-07 or 2020-12, often neither quite). Leaves: a `Type` that
`type_text.py` writes down. It says less than the schema where Python's notation has no words for it (`not`, `if`,
limits); whether a value fits is decided elsewhere, by the full schema.

Never raises, never fetches, never runs a pattern. Work is bounded by `MAX_NODES`, `MAX_DEPTH` and `MAX_BRANCHES`,
whatever the schema's size, depth or fan-out of references.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from codemode.bindings.references import MAX_BRANCHES, Resolver, merged, without
from codemode.jsonvalue import Json, JsonObject, is_object

MAX_NODES = 160  # chosen: more than a signature of 2,000 tokens can show
MAX_DEPTH = 12  # measured: the deepest of 1,858 public tools has 9 levels
MAX_FIELDS = 48
MAX_LITERALS = 64

ScalarName = Literal["str", "int", "float", "bool", "None", "Any", "Never"]


@dataclass(frozen=True, slots=True)
class Scalar:
    """A type without parts."""

    name: ScalarName


@dataclass(frozen=True, slots=True)
class Literals:
    """A closed choice of strings, numbers or booleans; `is_cut` when there are more than are kept."""

    values: tuple[str | int | float | bool, ...]
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class ListOf:
    """An array; `prefix` are the types by position, `item` that of all further ones (None: not said)."""

    item: Type | None = None
    prefix: tuple[Type, ...] = ()


@dataclass(frozen=True, slots=True)
class MapOf:
    """An object with any keys; `value` is the type of each value (None: not said)."""

    value: Type | None = None


@dataclass(frozen=True, slots=True)
class Field:
    """One named property of a record."""

    name: str
    type: Type
    is_required: bool


@dataclass(frozen=True, slots=True)
class Record:
    """An object with named properties.

    Attributes:
        says_required: the schema has a list of required properties, so the others are known to be optional.
        is_cut: there are more properties than are kept, or the schema says that others may come.
        name: what recursive places inside call this type; "" when there are none.
    """

    fields: tuple[Field, ...]
    says_required: bool = False
    is_cut: bool = False
    name: str = ""


@dataclass(frozen=True, slots=True)
class Union:
    """One of several types; never holds a union, and no member twice."""

    members: tuple[Type, ...]
    name: str = ""


@dataclass(frozen=True, slots=True)
class Again:
    """The enclosing type with this name, once more: a schema that refers to itself."""

    name: str


Type: TypeAlias = Scalar | Literals | ListOf | MapOf | Record | Union | Again

ANY = Scalar("Any")
NEVER = Scalar("Never")
NONE = Scalar("None")
_BY_NAME: Mapping[str, Scalar] = {
    "string": Scalar("str"),
    "integer": Scalar("int"),
    "number": Scalar("float"),
    "boolean": Scalar("bool"),
    "null": NONE,
}
_SHAPES_OBJECT = ("properties", "required", "additionalProperties", "patternProperties", "propertyNames")
_SHAPES_ARRAY = ("items", "prefixItems", "contains")
_SAYS_TYPE = frozenset(
    ("type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf", "nullable", *_SHAPES_ARRAY, *_SHAPES_OBJECT)
) - {"required"}


def read_type(schema: Json, resolver: Resolver | None = None) -> Type:
    """The type that a schema describes; `resolver` knows the document that its references point into."""
    if resolver is None:
        resolver = Resolver(schema)
    return _Reader(resolver).read(schema, 0)


def takes_null(kind: Type) -> bool:
    """Whether JSON null is a value of the type."""
    match kind:
        case Scalar(name):
            return name in ("None", "Any")
        case Union(members):
            return any(map(takes_null, members))
        case _:
            return False


def takes_object(kind: Type) -> bool:
    """Whether a JSON object may be a value of the type."""
    match kind:
        case Scalar(name):
            return name == "Any"
        case Union(members):
            return any(map(takes_object, members))
        case _:
            return isinstance(kind, (MapOf, Record, Again))


def fits(kind: Type, value: Json) -> bool:
    """Whether a JSON scalar is of the type: enough to judge a default, not a validation."""
    match kind:
        case Union(members):
            return any(fits(member, value) for member in members)
        case Literals(values, is_cut):
            return is_cut or any(value == one and type(value) is type(one) for one in values)
        case Scalar(name):
            return _is_scalar_of(name, value)
        case _:
            return False


def _is_scalar_of(name: ScalarName, value: Json) -> bool:
    if name == "Any":
        return True
    if isinstance(value, bool) or value is None:
        return name == ("None" if value is None else "bool")
    if isinstance(value, str):
        return name == "str"
    if isinstance(value, int):
        return name in ("int", "float")
    return isinstance(value, float) and (name == "float" or (name == "int" and value.is_integer()))


class _Reader:
    """One reading of one schema; counts what it has done."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver = resolver
        self.left = MAX_NODES
        self.open: dict[str, str] = {}  # references being read → name
        self.recursive: set[str] = set()  # names that were met again inside themselves

    def read(self, schema: Json, depth: int) -> Type:
        self.left -= 1
        if schema is False:
            return NEVER
        if not is_object(schema) or not schema or self.left < 0 or depth > MAX_DEPTH:
            return ANY
        reference = self.resolver.reference(schema)
        if reference is not None:
            return self._referenced(schema, reference, depth)
        kind = self._read_plain(schema, depth)
        return _union((kind, NONE)) if schema.get("nullable") is True else kind

    def _read_plain(self, schema: JsonObject, depth: int) -> Type:
        if "const" in schema:
            return _choice([schema["const"]])
        values = schema.get("enum")
        if isinstance(values, list) and values:
            return _choice(values)
        parts = schema.get("allOf")
        if isinstance(parts, list) and parts:
            return self.read(self._all_of(schema, parts), depth + 1)
        for key in ("anyOf", "oneOf"):
            branches = schema.get(key)
            if isinstance(branches, list) and branches:
                return self._one_of(without(schema, key), branches, depth)
        return self._by_type(schema, depth)

    def _referenced(self, schema: JsonObject, reference: str, depth: int) -> Type:
        if reference in self.open:
            name = self.open[reference]
            self.recursive.add(name)
            return Again(name)
        target = self.resolver.target(reference)
        if target is None:
            return ANY
        name = _free_name(self.resolver.name(reference), self.open.values())
        beside = without(schema, "$ref")
        self.open[reference] = name
        if is_object(target) and _SAYS_TYPE & beside.keys():
            target = merged((target, beside))
        kind = self.read(target, depth + 1)
        del self.open[reference]
        return _named(kind, name) if name in self.recursive else kind

    def _all_of(self, schema: JsonObject, parts: Sequence[Json]) -> JsonObject:
        found: list[JsonObject] = [without(schema, "allOf")]
        for part in parts[:MAX_BRANCHES]:
            self.left -= 1
            here = self.resolver.follow(part)
            if is_object(here) and not (self.open.keys() & self.resolver.steps(part)):
                found.append(here)
        return merged(found)

    def _one_of(self, base: JsonObject, branches: Sequence[Json], depth: int) -> Type:
        """A choice; a branch that only adds conditions (`required`, `pattern`) leaves the base as it is."""
        plain = self._read_plain(base, depth) if base.keys() & _SAYS_TYPE else ANY
        kinds = []
        for branch in branches[:MAX_BRANCHES]:
            if branch is False:
                continue
            if not is_object(branch) or not branch.keys() & _SAYS_TYPE:
                kinds.append(plain)
                continue
            whole = merged((base, self.resolver.follow(branch))) if base.keys() & _SHAPES_BASE else branch
            kinds.append(self.read(_typed_like(whole, base), depth + 1))
        return _union(kinds)

    def _by_type(self, schema: JsonObject, depth: int) -> Type:
        name = schema.get("type")
        if isinstance(name, list):
            return _union([self._of_type(one, schema, depth) for one in name[:MAX_BRANCHES]])
        if name is None:
            if any(key in schema for key in _SHAPES_OBJECT):
                name = "object"
            elif any(key in schema for key in _SHAPES_ARRAY):
                name = "array"
        return self._of_type(name, schema, depth)

    def _of_type(self, name: Json, schema: JsonObject, depth: int) -> Type:
        if name == "object":
            return self._object(schema, depth)
        if name == "array":
            return self._array(schema, depth)
        return _BY_NAME.get(name, ANY) if isinstance(name, str) else ANY

    def _array(self, schema: JsonObject, depth: int) -> Type:
        items = schema.get("items")
        prefix = schema.get("prefixItems")
        rest: Json = items
        if isinstance(items, list):  # draft-07: a list here is what `prefixItems` is now
            prefix, rest = items, schema.get("additionalItems")
        if isinstance(prefix, list) and prefix:
            kinds = tuple(self.read(one, depth + 1) for one in prefix[:MAX_FIELDS])
            return ListOf(self.read(rest, depth + 1) if is_object(rest) else None, kinds)
        return ListOf(self.read(rest, depth + 1) if is_object(rest) and rest else None)

    def _object(self, schema: JsonObject, depth: int) -> Type:
        properties = schema.get("properties")
        others = schema.get("additionalProperties")
        if not is_object(properties) or not properties:
            return MapOf(self._map_value(schema, others, depth))
        listed = schema.get("required")
        required = {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()
        fields = tuple(
            Field(name, self.read(properties[name], depth + 1), name in required)
            for name in list(properties)[:MAX_FIELDS]
        )
        is_cut = len(properties) > MAX_FIELDS or others is True or is_object(others)
        return Record(fields, says_required=bool(required), is_cut=is_cut)

    def _map_value(self, schema: JsonObject, others: Json, depth: int) -> Type | None:
        patterns = schema.get("patternProperties")
        kinds = [self.read(one, depth + 1) for one in list(patterns.values())[:8]] if is_object(patterns) else []
        if is_object(others) and others:
            kinds.append(self.read(others, depth + 1))
        return _union(kinds) if kinds else None


_SHAPES_BASE = frozenset(("properties", "patternProperties", "additionalProperties"))


def _typed_like(branch: Json, base: JsonObject) -> Json:
    """A branch without a `type` takes that of what stands around the choice."""
    if is_object(branch) and "type" in base and not branch.keys() & {"type", "$ref", "enum", "const"}:
        return {"type": base["type"], **branch}
    return branch


def _choice(values: Sequence[Json]) -> Type:
    kept: list[str | int | float | bool] = []
    kinds: list[Type] = []
    for value in values[:MAX_LITERALS]:
        if value is None:
            kinds.append(NONE)
        elif isinstance(value, (str, int, float)):
            kept.append(value)
        else:
            kinds.append(MapOf() if is_object(value) else ListOf())
    if kept:
        once = dict.fromkeys((type(value), value) for value in kept)
        kinds.insert(0, Literals(tuple(value for _, value in once), len(values) > MAX_LITERALS))
    return _union(kinds)


def _union(kinds: Iterable[Type]) -> Type:
    """Flat, without doubles; literals are joined, null goes last, anything swallows the rest."""
    flat: list[Type] = []
    for kind in kinds:
        for one in kind.members if isinstance(kind, Union) and not kind.name else (kind,):
            # Literals are joined below, by type and value: True equals 1 here.
            if one != NEVER and (isinstance(one, Literals) or one not in flat):
                flat.append(one)
    if ANY in flat:
        return ANY
    choices = [one for one in flat if isinstance(one, Literals)]
    if len(choices) > 1:
        values = tuple(dict.fromkeys((type(v), v) for one in choices for v in one.values))
        joined = Literals(tuple(v for _, v in values), any(one.is_cut for one in choices))
        first = flat.index(choices[0])
        others = [one for one in flat if not isinstance(one, Literals)]
        flat = [*others[:first], joined, *others[first:]]
    if NONE in flat:
        flat.remove(NONE)
        flat.append(NONE)
    if not flat:
        return NEVER
    return flat[0] if len(flat) == 1 else Union(tuple(flat))


def _named(kind: Type, name: str) -> Type:
    """Put the name on a type that refers to itself; one that is nothing but itself is anything at all."""
    match kind:
        case Again():
            return ANY
        case Record():
            return replace(kind, name=name)
        case Union(members):
            others = tuple(one for one in members if one != Again(name))
            return replace(kind, members=others, name=name) if len(others) > 1 else (others or (ANY,))[0]
        case _:
            return kind


def _free_name(wanted: str, taken: Iterable[str]) -> str:
    used = set(taken)
    name, turn = wanted, 2
    while name in used:
        name, turn = f"{wanted}{turn}", turn + 1
    return name
