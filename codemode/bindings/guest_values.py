"""Runs in the guest as `tools._values`: arguments that JSON has no form for, and why one cannot be sent.

Enters: a Python value of a program. Leaves: the next simpler value, or a TypeError that names the parameter. Shipped
as text through `load` when a call first needs it; standard library only.
"""

from __future__ import annotations

import base64 as _base64
import dataclasses as _dataclasses
import datetime as _datetime
import decimal as _decimal
import enum as _enum
import math as _math
import uuid as _uuid
from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any


def plain(value: Any) -> Any:
    """One step from a Python value towards JSON; the encoder calls it for whatever it does not know itself.

    Dates become ISO 8601 text, a timedelta seconds, a Decimal a number when no digit is lost (else text), sets sorted
    lists when they can be sorted, other iterables lists, mappings and dataclasses objects, paths and UUIDs text, an
    Enum its value, arrays and tables lists; bytes text when they are UTF-8.
    """
    if isinstance(value, (_datetime.datetime, _datetime.date, _datetime.time)):
        return value.isoformat()
    if isinstance(value, _enum.Enum):
        return value.value
    if isinstance(value, _datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, _decimal.Decimal):
        return _number(value)
    if isinstance(value, _uuid.UUID):
        return str(value)
    if hasattr(type(value), "__fspath__"):
        return value.__fspath__()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _text(bytes(value))
    if hasattr(type(value), "__payload__"):  # an object of `tools._media`
        return value.__payload__()
    if _dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in _dataclasses.fields(value)}
    return _collection(value)


def _collection(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Set):
        try:
            return sorted(value)
        except TypeError:
            return list(value)
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        return value.to_dict("records")
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Iterable) and not isinstance(value, type):
        return list(value)
    raise TypeError(f"a {type(value).__name__} cannot be sent as JSON")


def _number(value: _decimal.Decimal) -> int | float | str:
    if not value.is_finite():
        raise ValueError(f"{value} is no JSON number; send None or leave it out")
    if value == value.to_integral_value() and abs(value.adjusted()) < 400:
        return int(value)
    short = float(value)
    return short if _math.isfinite(short) and _decimal.Decimal(repr(short)) == value else str(value)


def _text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        raise TypeError("these bytes are no UTF-8 text; send base64.b64encode(data).decode()") from None


def base64_text(value: bytes | bytearray | memoryview) -> str:
    """Bytes for a parameter whose schema says that it takes base64."""
    return _base64.b64encode(value).decode("ascii")


def explain(sent: Mapping[str, Any], encode: Callable[[Any], str], error: Exception, signature: str) -> TypeError:
    """The TypeError that names the parameter which cannot be sent."""
    for name, value in sent.items():
        try:
            encode(value)
        except RecursionError:
            reason = "is nested too deep"
        except (TypeError, ValueError) as fault:
            reason = str(fault)
            if reason.startswith("Out of range float"):
                reason = "holds NaN or Infinity, which is not JSON; send None or leave it out"
            elif reason.startswith("Circular"):
                reason = "holds itself"
        else:
            continue
        return TypeError(f"argument `{name}`: {reason}; {signature}")
    return TypeError(f"the arguments cannot be sent as JSON: {error}; {signature}")
