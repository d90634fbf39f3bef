"""The JSON type and what is done to JSON values everywhere: strict parsing, canonical bytes, digests.

Source: RFC 8259; canonical form after RFC 8785 in spirit (sorted keys, no space), enough for our own digests.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypeGuard

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
JsonObject: TypeAlias = Mapping[str, Json]

_canonical = json.JSONEncoder(ensure_ascii=True, sort_keys=True, separators=(",", ":"), allow_nan=False).encode


class JsonError(ValueError):
    """Text that is not JSON as we accept it; the message says what is wrong in one line."""


def is_object(value: object) -> TypeGuard[JsonObject]:
    """Whether the value is a JSON object (keys are trusted to be strings: it came from a parser)."""
    return isinstance(value, Mapping)


def as_object(value: object) -> JsonObject:
    """The value when it is an object, else an empty one: for foreign JSON that may hold anything."""
    return value if is_object(value) else {}


def as_text(value: object) -> str:
    """The value when it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


MAX_VALUES = 500_000  # chosen: about 50 MB of objects; more is bulk data, which goes as text


def parse_strict(raw: bytes | str, *, max_depth: int = 64, max_values: int = MAX_VALUES) -> Json:
    """Parse JSON that must mean one thing only.

    Raises:
        JsonError: not JSON, a duplicate key, NaN, Infinity or a number beyond a double, nested deeper than
            `max_depth`, or of more than `max_values` values.

    Safety: the bytes may come from a hostile guest. Duplicate keys are refused because two parsers may read
    different values (RFC 8259 section 4); depth is checked before the parser recurses.
    """
    try:
        text = raw.decode("utf-8", "surrogatepass") if isinstance(raw, bytes) else raw
    except UnicodeDecodeError as error:
        raise JsonError(f"not UTF-8 at byte {error.start}") from error
    if _has_more_values(text, max_values):
        raise JsonError(f"more than {max_values} values")
    if _depth_exceeds(text, max_depth):
        raise JsonError(f"nested deeper than {max_depth} levels")
    try:
        value: Json = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_float=_finite)
    except RecursionError as error:
        raise JsonError("nested too deep") from error
    except JsonError:
        raise
    except ValueError as error:
        raise JsonError(f"not JSON: {error}") from error
    return value


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    out = dict(pairs)
    if len(out) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise JsonError(f"the key `{key[:80]}` occurs twice in one object")
            seen.add(key)
    return out


def _refuse_constant(name: str) -> None:
    raise JsonError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise JsonError(f"the number {text[:40]} is beyond a double")
    return number


_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)


def _has_more_values(text: str, limit: int) -> bool:
    """Whether commas and opening brackets outside strings are more than `limit`; the count in all is tried first."""
    if text.count(",") + text.count("[") + text.count("{") <= limit:
        return False
    bare = _STRING.sub("", text)
    return bare.count(",") + bare.count("[") + bare.count("{") > limit


def _depth_exceeds(text: str, limit: int) -> bool:
    """Whether brackets outside strings nest deeper than `limit`; one pass, cheap when there are few brackets."""
    if text.count("[") + text.count("{") <= limit:
        return False
    depth = 0
    in_string = False
    escaped = False
    for char in text:
        if in_string:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                in_string = False
        elif char == '"':
            in_string = True
        elif char in "[{":
            depth += 1
            if depth > limit:
                return True
        elif char in "]}":
            depth -= 1
    return False


def canonical_bytes(value: Json) -> bytes:
    """Equal values give equal bytes: keys sorted, ASCII, no space."""
    return _canonical(value).encode("ascii")


def digest(value: Json) -> str:
    """SHA-256 of the canonical bytes, as 64 hexadecimal digits."""
    return hashlib.sha256(canonical_bytes(value)).hexdigest()


def compact(value: Json) -> str:
    """JSON for people and models: no space, non-ASCII characters kept."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
