"""Why a value does not fit its schema: a few problems with place, expectation and what came, all at once.

Enters: a compiled schema and a value that is known not to fit. Leaves: `Problem`s, at most `MAX_PROBLEMS`. Walks
schema and value together and asks the compiled validator at every step, so only what is wrong is looked into.

Safety: the schema is a server's, the value a guest's. The walk is bounded by `_MAX_STEPS` whatever the schema's
choices multiply to; it goes into one branch of a choice, never into all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from jsonschema_rs import ValidationErrorKind

from codemode.bindings.references import MAX_BRANCHES, Resolver
from codemode.bindings.schema_types import read_type
from codemode.bindings.type_text import display, literal_text
from codemode.broker.problems import (
    MAX_PROBLEMS,
    NAME_CHARS,
    Path,
    Problem,
    ProblemKind,
    nearest,
    path_text,
    shown,
    type_name,
    unknown_text,
)
from codemode.broker.validators import Compiled
from codemode.catalog.references import pointer_tokens
from codemode.catalog.text import clean_line
from codemode.jsonvalue import Json, JsonObject, compact, is_object

_MAX_STEPS: Final = 2_000
_MAX_LEVELS: Final = 100  # of the walk itself: a reference and a choice are levels too
_MAX_PLACE_CHARS: Final = 1_024
_MAX_ITEMS: Final = 100_000  # items of one array that are looked at to find the first wrong ones
_TYPE_CHARS: Final = 160


def explain(compiled: Compiled, value: Json, labels: Mapping[str, str] | None = None) -> tuple[Problem, ...]:
    """The problems of a value that does not fit; at least one. `labels`: what a program calls the top-level keys."""
    walk = _Walk(compiled, labels or {})
    walk.look("#", compiled.schema, value, ())
    if not walk.found:
        walk.add((), f"the value does not fit its schema: {shown(value)}")
    return tuple(walk.found[:MAX_PROBLEMS])


class _Walk:
    def __init__(self, compiled: Compiled, labels: Mapping[str, str]) -> None:
        self.compiled = compiled
        self.labels = labels
        self.resolver = Resolver(compiled.schema)
        self.found: list[Problem] = []
        self.steps = 0
        self.level = 0

    def add(self, parts: Path, text: str, *, wanted: frozenset[str] = frozenset(), kind: ProblemKind = "value") -> None:
        """Note a problem, unless the same text stands there already."""
        if all(text != one.text for one in self.found):
            self.found.append(Problem(path=path_text(parts), text=text, parts=parts, wanted=wanted, kind=kind))

    def look(self, place: str, schema: Json, value: Json, parts: Path) -> None:
        """Add what is wrong with a value at a place of the schema; nothing when it fits."""
        self.steps += 1
        if len(self.found) >= MAX_PROBLEMS or self.steps > _MAX_STEPS or self.level >= _MAX_LEVELS:
            return
        if len(place) > _MAX_PLACE_CHARS or self.compiled.fits_at(place, value) is not False:
            return
        self.level += 1
        self._look_inside(place, schema, value, parts)
        self.level -= 1

    def _look_inside(self, place: str, schema: Json, value: Json, parts: Path) -> None:
        before = len(self.found)
        if schema is False:
            self.add(parts, f"`{path_text(parts)}`: nothing is allowed here, got {shown(value)}")
        if not is_object(schema):
            return
        reference = schema.get("$ref")
        if isinstance(reference, str):
            self.look(_place_of(reference), self.resolver.target(reference), value, parts)
        if not self._assertions(place, schema, value, parts):
            self._inside(place, schema, value, parts)
            self._choices(place, schema, value, parts)
        if len(self.found) == before:
            self.add(parts, f"`{path_text(parts)}`: expected {self._type(schema)}, got {shown(value)}")

    def _assertions(self, place: str, schema: JsonObject, value: Json, parts: Path) -> bool:
        """Add what the plain keywords say; whether the type is wrong, so that nothing below matters."""
        for kind in self.compiled.assertion_errors(place, schema, value):
            if isinstance(kind, ValidationErrorKind.Type):
                wanted = frozenset(kind.types)
                text = f"`{path_text(parts)}`: expected {self._type(schema)}, got {shown(value)}"
                self.add(parts, text, wanted=wanted)
                return True
            self._assertion(kind, value, parts)
        if is_object(value):
            for name in self._needed(schema):
                if name not in value and len(self.found) < MAX_PROBLEMS:
                    self._missing(name, schema, parts)
        return False

    def _assertion(self, kind: ValidationErrorKind, value: Json, parts: Path) -> None:
        where = path_text(parts)
        if isinstance(kind, (ValidationErrorKind.Enum, ValidationErrorKind.Constant)):
            options = kind.options if isinstance(kind, ValidationErrorKind.Enum) else [kind.expected_value]
            self._not_among(options, value, parts)
        else:
            self.add(parts, f"`{where}`: expected {_rule(kind)}, got {shown(value)}")

    def _missing(self, name: str, schema: JsonObject, parts: Path) -> None:
        properties = schema.get("properties")
        own = properties.get(name) if is_object(properties) else None
        what = self._type(own) if own is not None else "Any"
        inside = f" in `{path_text(parts)}`" if parts else ""
        label = name if parts else self.labels.get(name, name)
        text = f"required `{clean_line(label, NAME_CHARS)}` ({what}) is missing{inside}"
        self.add((*parts, name), text, kind="missing")

    def _not_among(self, options: Sequence[Any], value: Json, parts: Path) -> None:
        listed = [literal_text(one) if isinstance(one, (str, int, float)) else compact(one)[:40] for one in options[:8]]
        listed += ["..."] if len(options) > 8 else []
        text = f"`{path_text(parts)}`: expected one of {', '.join(listed)}, got {shown(value)}"
        close = nearest(value, [one for one in options if isinstance(one, str)]) if isinstance(value, str) else ""
        if close:
            text += f"; did you mean {literal_text(close)}?"
        types = frozenset(type_name(one) for one in options)
        self.add(parts, text, wanted=types if type_name(value) not in types else frozenset())

    # -- parts of the value -------------------------------------------------------------------------------------------

    def _inside(self, place: str, schema: JsonObject, value: Json, parts: Path) -> None:
        if is_object(value):
            self._members(place, schema, value, parts)
        elif isinstance(value, Sequence) and not isinstance(value, str):
            self._items(place, schema, value, parts)

    def _members(self, place: str, schema: JsonObject, value: JsonObject, parts: Path) -> None:
        properties = schema.get("properties")
        named: Mapping[str, Json] = properties if is_object(properties) else {}
        others = schema.get("additionalProperties")
        for name, item in value.items():
            if name in named:
                self.look(f"{place}/properties/{_escaped(name)}", named[name], item, (*parts, name))
            elif others is False and not schema.get("patternProperties"):
                self._unknown(place, schema, value, (*parts, name))
            elif is_object(others) and not schema.get("patternProperties"):
                self.look(f"{place}/additionalProperties", others, item, (*parts, name))
            if len(self.found) >= MAX_PROBLEMS:
                return

    def _unknown(self, place: str, schema: JsonObject, value: JsonObject, parts: Path) -> None:
        *above, last = parts
        name = str(last)
        properties = schema.get("properties")
        free = [one for one in properties if one not in value] if is_object(properties) else []
        likely = meant_by_value(self.compiled, schema, value, name, place=place)
        if not above:
            free = [self.labels.get(one, one) for one in free]
            likely = self.labels.get(likely, likely)
        self.add(parts, unknown_text(name, free, tuple(above), likely), kind="unknown")

    def _items(self, place: str, schema: JsonObject, value: Sequence[Json], parts: Path) -> None:
        prefix = schema.get("prefixItems")
        key = "prefixItems"
        rest = schema.get("items")
        rest_place = f"{place}/items"
        if isinstance(rest, list):
            prefix, key, rest, rest_place = rest, "items", schema.get("additionalItems"), f"{place}/additionalItems"
        first = prefix if isinstance(prefix, list) else []
        for at, item in enumerate(value[:_MAX_ITEMS]):
            if at < len(first):
                self.look(f"{place}/{key}/{at}", first[at], item, (*parts, at))
            elif rest is None or rest is True:
                return
            elif self.compiled.fits_at(rest_place, item) is False:
                self.look(rest_place, rest, item, (*parts, at))
            if len(self.found) >= MAX_PROBLEMS:
                return

    # -- choices ------------------------------------------------------------------------------------------------------

    def _choices(self, place: str, schema: JsonObject, value: Json, parts: Path) -> None:
        all_of = schema.get("allOf")
        for at, part in enumerate(all_of[:MAX_BRANCHES] if isinstance(all_of, list) else ()):
            self.look(f"{place}/allOf/{at}", part, value, parts)
        if "if" in schema:
            key = "then" if self.compiled.fits_at(f"{place}/if", value) else "else"
            if key in schema:
                self.look(f"{place}/{key}", schema[key], value, parts)
        for key in ("anyOf", "oneOf"):
            branches = schema.get(key)
            if isinstance(branches, list) and branches:
                self._choice(f"{place}/{key}", {**schema, key: branches[:MAX_BRANCHES]}, value, parts)

    def _choice(self, place: str, schema: JsonObject, value: Json, parts: Path) -> None:
        branches = schema[place.rpartition("/")[2]]
        assert isinstance(branches, list)
        fitting = [at for at in range(len(branches)) if self.compiled.fits_at(f"{place}/{at}", value)]
        if fitting:
            if place.endswith("oneOf") and len(fitting) > 1:
                self.add(parts, f"`{path_text(parts)}`: fits {len(fitting)} of the choices, only one may fit")
            return
        likely = [at for at, branch in enumerate(branches) if self._is_likely(branch, value)]
        if is_object(value) and len(likely) > 1:
            # The one alternative whose required keys are all there is the one that is meant.
            whole = [at for at in likely if set(self._needed(branches[at])) <= value.keys()]
            likely = whole if len(whole) == 1 else likely
        if len(likely) == 1:
            self.look(f"{place}/{likely[0]}", branches[likely[0]], value, parts)
            return
        needed = dict.fromkeys(self._needed(branches[at]) for at in likely)
        if is_object(value) and len(needed) > 1 and all(needed):
            sets = [" and ".join(f"`{clean_line(n, 40)}`" for n in names) for names in needed]
            text = " | ".join([*sets[:8], "..."] if len(sets) > 8 else sets)
            self.add(parts, f"`{path_text(parts)}`: give one of these: {clean_line(text, 300)}; got {shown(value)}")
            return
        wanted = frozenset().union(*(self._types(branch) for branch in branches)) if not likely else frozenset()
        text = f"`{path_text(parts)}`: expected {self._type(schema)}, got {shown(value)}"
        self.add(parts, text, wanted=wanted)

    def _is_likely(self, branch: Json, value: Json) -> bool:
        """Whether a branch is meant for values like this: the type fits, and so does every `const` it names."""
        here = self.resolver.follow(branch)
        if not is_object(here):
            return here is True
        types = self._types(here)
        name = type_name(value)
        if types and name not in types and not (name == "integer" and "number" in types):
            return False
        properties = here.get("properties")
        if not is_object(value) or not is_object(properties):
            return True
        return all(
            not (is_object(own) and "const" in own and key in value) or own["const"] == value[key]
            for key, own in properties.items()
        )

    def _types(self, branch: Json) -> frozenset[str]:
        """The JSON types a schema says it takes; none when it does not say."""
        here = self.resolver.follow(branch)
        if not is_object(here):
            return frozenset()
        listed = here.get("type")
        names = listed if isinstance(listed, list) else [listed]
        if listed is None:
            values = here.get("enum")
            known = [here["const"]] if "const" in here else values if isinstance(values, list) else []
            return frozenset(type_name(one) for one in known)
        return frozenset(name for name in names if isinstance(name, str))

    def _needed(self, branch: Json) -> tuple[str, ...]:
        here = self.resolver.follow(branch)
        listed = here.get("required") if is_object(here) else None
        return tuple(name for name in listed if isinstance(name, str)) if isinstance(listed, list) else ()

    def _type(self, schema: Json) -> str:
        return display(read_type(schema, self.resolver), _TYPE_CHARS)


def meant_by_value(compiled: Compiled, schema: JsonObject, given: JsonObject, name: str, *, place: str = "#") -> str:
    """The one required name that is missing and whose schema takes the value given under an unknown name, or ""."""
    properties = schema.get("properties")
    required = schema.get("required")
    if not is_object(properties) or not isinstance(required, list):
        return ""
    missing = [one for one in required if isinstance(one, str) and one in properties and one not in given]
    fitting = [
        one
        for one in missing[:MAX_BRANCHES]
        if compiled.fits_at(f"{place}/properties/{_escaped(one)}", given[name]) is True
    ]
    return fitting[0] if len(fitting) == 1 else ""


def _escaped(name: str) -> str:
    """A key as a step of a JSON pointer; the library does not percent-encode places."""
    return name.replace("~", "~0").replace("/", "~1")


def _place_of(reference: str) -> str:
    """A reference as the library names the place it leads to."""
    tokens = pointer_tokens(reference)
    return "#" + "".join(f"/{_escaped(token)}" for token in tokens) if tokens is not None else reference


def _rule(kind: ValidationErrorKind) -> str:
    """What a plain keyword asks for, in words."""
    value: Any = next(iter(kind.as_dict().values()), None)
    words = {
        "pattern": "text that matches",
        "minLength": "text with at least this many characters:",
        "maxLength": "text with at most this many characters:",
        "minimum": "a number from",
        "maximum": "a number up to",
        "exclusiveMinimum": "a number above",
        "exclusiveMaximum": "a number below",
        "multipleOf": "a multiple of",
        "minItems": "at least this many items:",
        "maxItems": "at most this many items:",
        "uniqueItems": "no item twice",
        "minProperties": "at least this many keys:",
        "maxProperties": "at most this many keys:",
    }
    word = words.get(kind.name, f"what `{kind.name}` asks for:")
    if value is None or kind.name == "uniqueItems":
        return word.rstrip(":")
    return f"{word} {clean_line(value if isinstance(value, str) else str(value), 120)}"
