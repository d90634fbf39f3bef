"""Turns the value of a run into bytes for the host, by one documented rule for every type.

A string stays raw text. Everything else becomes compact JSON, non-ASCII characters kept:

    None, bool, int, float, str, list, dict   themselves
    NaN, Infinity                             the strings "NaN", "Infinity", "-Infinity"
    int beyond the printable digits           {"$int": "0x…"}
    tuple, generator-free iterables below     list
    set, frozenset                            list, sorted when its items can be ordered, else by their text
    datetime, date, time                      ISO 8601 text;   timedelta: seconds as a number
    Decimal, Fraction, UUID, Path, URL-likes  their text
    Enum                                      the member's value
    dataclass                                 object of its fields; a namedtuple is a tuple
    bytes                                     the text when it is UTF-8, else {"$base64": "…"}
    dict keys                                 text as it is; None, bool, numbers, dates: their text; others: repr
    numpy's and pandas' types                 see `arrays.py`
    deque, dict views, range, Counter, …      list or object
    lone surrogates                           kept as JSON escapes
    a value inside itself                     "<cycle>"
    anything else                             its `repr` without addresses, at most 500 characters

An object with an `__image__` method is an image when it is the whole value; inside something it is described.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime
import decimal
import enum
import fractions
import json
import math
import re
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Set
from pathlib import PurePath
from typing import Any, NamedTuple

from sandbox.guest.arrays import is_array, plain_array, shape_of

MAX_DEPTH = 200  # chosen: deeper values are data structures gone wrong; the rest is shown as text
REPR_CHARS = 500
_ADDRESS = re.compile(r" at 0x[0-9a-f]{6,16}(?=>)")  # equal programs give equal text

_fast = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=None).encode


class Rendered(NamedTuple):
    """`form` as in `sandbox.spec.ValueForm`, `type` a media type for images, `data` the bytes."""

    form: str
    type: str
    data: bytes


def render(value: Any) -> Rendered:
    """The value of a run as bytes.

    Never raises for a value: whatever a foreign `__repr__` or iterator does ends as text that says so.
    MemoryError and the interpreter's own exits pass through.
    """
    if value is None:
        return Rendered("none", "", b"")
    if type(value) is str:
        return Rendered("text", "", _utf8(value))
    image = _image_of(value)
    if image is not None:
        return Rendered("image", image[0], image[1])
    return Rendered("json", "", _utf8(to_json(value)))


def to_json(value: Any) -> str:
    """JSON text of any value by the rules above."""
    try:
        return _fast(value)
    except (TypeError, ValueError, RecursionError):
        return _fast(_plain(value, (), 0))


def preview(name: str, value: Any) -> Rendered:
    """What a last assignment shows: the name, the value's shape and at most three items."""
    if value is None:
        return Rendered("none", "", b"")
    shape = type(value).__name__
    items: Any = value
    if isinstance(value, (str, bytes)):
        shape += f" of {len(value)}"
        items = value[:300]
    elif isinstance(value, Mapping):
        shape += f" of {len(value)} keys"
        items = dict(list(value.items())[:3])
    elif isinstance(value, (list, tuple, set, frozenset, deque)):
        shape += f" of {len(value)} items"
        items = list(value)[:3]
    else:
        shape, items = shape_of(value) or (shape, items)
    return Rendered("preview", "", _utf8(to_json({"name": name, "shape": shape, "items": items})))


def _utf8(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return "".join(c if not "\ud800" <= c <= "\udfff" else f"\\u{ord(c):04x}" for c in text).encode("utf-8")


def _image_of(value: Any) -> tuple[str, bytes] | None:
    method = getattr(type(value), "__image__", None)
    if method is None:
        return None
    try:
        mime, data = method(value)
    except Exception:  # noqa: BLE001 - a foreign method; the value is then shown by its other rules
        return None
    return (mime, data) if isinstance(mime, str) and isinstance(data, bytes) else None


def _plain(value: Any, above: tuple[int, ...], depth: int) -> Any:
    if value is None or value is True or value is False or type(value) is str:
        return value
    if isinstance(value, (int, float, str, bytes, bytearray)):
        return _plain_scalar(value)
    if id(value) in above:
        return "<cycle>"
    if depth > MAX_DEPTH:
        return _text(value)
    inner = (*above, id(value))
    try:
        return _plain_other(value, inner, depth + 1)
    except (MemoryError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 - foreign code in __iter__ and friends
        return f"<{type(value).__name__}: {type(error).__name__} while it was turned into JSON>"


def _plain_scalar(value: Any) -> Any:
    if isinstance(value, enum.Enum):
        return _plain(value.value, (), 0)
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value)
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, int):
        try:
            return int(str(int(value)))
        except ValueError:
            return {"$int": hex(value)}
    if isinstance(value, str):
        return str(value)
    try:
        return bytes(value).decode("utf-8")
    except UnicodeDecodeError:
        return {"$base64": base64.b64encode(bytes(value)).decode("ascii")}


def _plain_other(value: Any, above: tuple[int, ...], depth: int) -> Any:
    special = _plain_known(value, above, depth)
    if special is not _NOTHING:
        return special
    if isinstance(value, Mapping):
        return {_key(k): _plain(v, above, depth) for k, v in value.items()}
    if isinstance(value, (set, frozenset, Set)):
        return [_plain(item, above, depth) for item in _ordered(value)]
    if isinstance(value, Iterable) and not isinstance(value, type) and hasattr(value, "__len__"):
        return [_plain(item, above, depth) for item in value]
    return _text(value)


_NOTHING = object()


def _plain_known(value: Any, above: tuple[int, ...], depth: int) -> Any:
    """Types with a rule of their own, or `_NOTHING`."""
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, (decimal.Decimal, fractions.Fraction, uuid.UUID, PurePath)):
        return str(value)
    if isinstance(value, enum.Enum):
        return _plain(value.value, above, depth)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name), above, depth) for f in dataclasses.fields(value)}
    if hasattr(type(value), "__describe__"):
        return _plain(value.__describe__(), above, depth)
    if is_array(value):
        return plain_array(value, lambda inner: _plain(inner, above, depth), lambda other: _text(other, str))
    return _NOTHING


def _key(key: Any) -> str:
    if isinstance(key, enum.Enum):
        key = key.value
    if isinstance(key, str):
        return str(key)
    if key is None or isinstance(key, bool):
        return {True: "true", False: "false", None: "null"}[key]
    if isinstance(key, (int, float)):
        return str(key)
    if isinstance(key, (datetime.datetime, datetime.date, datetime.time)):
        return key.isoformat()
    if is_array(key) and key is not (inner := _plain(key, (), 0)):
        return _key(inner)
    if type(key) is tuple and any(map(is_array, key)):
        key = tuple(_plain(item, (), 0) for item in key)
    return _text(key)


def _ordered(items: Iterable[Any]) -> list[Any]:
    try:
        return sorted(items)
    except TypeError:
        return sorted(items, key=_text)


def _text(value: Any, show: Callable[[Any], str] = repr) -> str:
    try:
        text = show(value)
    except (MemoryError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 - a foreign __repr__
        text = f"<{type(value).__name__}, whose repr raised {type(error).__name__}>"
    text = _ADDRESS.sub("", text)
    return text if len(text) <= REPR_CHARS else text[:REPR_CHARS] + "…"
