"""Runs in the guest as `tools._values`: arguments that JSON has no form for, and why one cannot be sent.

Enters: a Python value of a program. Leaves: the next simpler value, or a TypeError that names the parameter. Shipped
as text through `load` when a call first needs it; imports the standard library and the guest's own modules.
"""

from __future__ import annotations

import base64 as _base64
import dataclasses as _dataclasses
import datetime as _datetime
import decimal as _decimal
import enum as _enum
import math as _math
import sys as _sys
import uuid as _uuid
from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any

from sandbox.guest import arrays as _arrays


def plain(value: Any) -> Any:
    """One step from a Python value towards JSON; the encoder calls it for whatever it does not know itself.

    Dates become ISO 8601 text, a timedelta seconds, a Decimal a number when no digit is lost (else text), sets sorted
    lists when they can be sorted, other iterables lists, mappings and dataclasses objects, paths and UUIDs text, an
    Enum its value; bytes text when they are UTF-8. Of numpy and pandas: scalars their Python value, arrays and columns
    lists, tables records as in `sandbox.guest.arrays`; what is missing in a column is null, as in `df.to_json()`.
    """
    if _arrays.is_array(value):
        return _array(value)
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


def _array(value: Any) -> Any:
    if hasattr(value, "iloc"):
        if not hasattr(value, "columns"):
            return _null_for_missing(value.tolist())
        return _arrays.plain_array(value, _null_for_missing, _named, limit=_sys.maxsize) if len(value) else []
    if _is_missing(value):
        raise ValueError(f"{value} is no JSON value; send None or leave it out")
    if hasattr(value, "total_seconds"):
        return value.total_seconds()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return _arrays.plain_array(value, lambda inner: inner, _named, limit=_sys.maxsize)


def _is_missing(value: Any) -> bool:
    """Whether a value is pandas' NaT or NA, or an array of times with a gap."""
    if type(value).__name__ in ("NaTType", "NAType"):
        return True
    if getattr(getattr(value, "dtype", None), "kind", "") not in ("m", "M"):
        return False
    return bool(_sys.modules["numpy"].isnat(value).any()) if hasattr(value, "ndim") else False


def _null_for_missing(value: Any) -> Any:
    if isinstance(value, list):
        return [_null_for_missing(item) for item in value]
    is_nan = isinstance(value, float) and value != value
    return None if is_nan or type(value).__name__ in ("NaTType", "NAType") else value


def _named(value: Any) -> str:
    """The text of a Period, an Interval and their like."""
    if "__str__" not in {name for base in type(value).__mro__[:-1] for name in vars(base)}:
        raise TypeError(f"a {type(value).__name__} cannot be sent as JSON")
    return str(value)


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


def encode_again(sent: Mapping[str, Any], encode: Callable[[Any], str], error: Exception, signature: str) -> bytes:
    """The arguments once more, with keys that are dates or numpy's scalars as text.

    Raises:
        TypeError: they cannot be sent; it names the parameter.
    """
    try:
        return encode(_with_plain_keys(sent)).encode("ascii")
    except (TypeError, ValueError, RecursionError):
        raise explain(sent, encode, error, signature) from None


def _with_plain_keys(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {_key(key): _with_plain_keys(item) for key, item in value.items()}
    return [_with_plain_keys(item) for item in value] if isinstance(value, (list, tuple)) else value


def _key(key: Any) -> Any:
    return plain(key) if _arrays.is_array(key) or isinstance(key, _datetime.date) else key


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
