"""Values of numpy and pandas as plain values: what `values.py` does for Python's own types.

Enters: an object whose class comes from one of the two. Leaves: lists, dicts, numbers, text and None. Neither package
is imported here; a guest has them only where they are allowed.

    numpy scalar                        its Python value; datetime64: ISO 8601 text; timedelta64: seconds
    ndarray                             nested lists; with named fields: objects; masked items: null
    DataFrame                           list of records {column: value}; index labels come first, as columns of their
                                        own; a column label of several levels is joined by "."
      without rows, or with two         {"columns": [...], "rows": [[...]]}
      columns of one name
    Series                              object {label: value}; records when labels have several levels or occur twice
      whose index has no name and       list; of a DataFrame with such an index only the columns
      holds whole numbers
    Index, Categorical, extension array list
    Timestamp, Timedelta                as datetime and timedelta;   Period, Interval, dtype: their text
    NaT                                 the string "NaT", as NaN is "NaN";   pandas.NA: null
    more than `MAX_CELLS` cells         {"$array": {shape, dtype, first}}, {"$table": {rows, columns, first}}
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

MAX_CELLS = 1_000_000  # chosen: about 20 MB of JSON; a program that needs more of it should sum up
_FIRST = 3  # items shown of what is too large
_PACKAGES = ("numpy", "pandas")

Plain = Callable[[Any], Any]
"""The rule for what is inside: `values._plain` with its depth and its cycles."""


def is_array(value: Any) -> bool:
    """Whether a value's class is, or inherits from, one of numpy or pandas."""
    return any(base.__module__.partition(".")[0] in _PACKAGES for base in type(value).__mro__)


def plain_array(value: Any, plain: Plain, text: Callable[[Any], str], *, limit: int = MAX_CELLS) -> Any:
    """A value of numpy or pandas as plain values; what is none of the types above comes as its `text`."""
    if _is_frame(value):
        return _frame(value, plain, limit)
    if _is_series(value):
        return _series(value, plain, limit)
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        return _array(value, plain, limit) if type(value).__module__.startswith("numpy") else plain(value.tolist())
    if type(value).__name__ == "NAType":
        return None
    return text(value)


def shape_of(value: Any) -> tuple[str, Any] | None:
    """For a preview: the shape in words and the first items, or None for a value that has no shape."""
    kind = type(value).__name__
    if _is_frame(value):
        names = ", ".join(map(_label, value.columns[:20]))
        return f"{kind} of {len(value)} rows and {len(value.columns)} columns ({names})", value.iloc[:_FIRST, :20]
    if _is_series(value):
        return f"{kind} of {len(value)} items, {value.dtype}", value.iloc[:_FIRST]
    if is_array(value) and getattr(value, "ndim", 0) > 0:
        return f"{kind} of shape {' x '.join(map(str, value.shape))}, {value.dtype}", value[:_FIRST]
    return None


def _is_frame(value: Any) -> bool:
    return is_array(value) and hasattr(value, "iloc") and hasattr(value, "columns")


def _is_series(value: Any) -> bool:
    return is_array(value) and hasattr(value, "iloc") and hasattr(value, "index")


# -- numpy ------------------------------------------------------------------------------------------------------------


def _array(value: Any, plain: Plain, limit: int) -> Any:
    """An ndarray or a numpy scalar."""
    if value.size > limit:
        first = value[:_FIRST] if value[:_FIRST].size <= limit else value[:0]
        return {"$array": {"shape": list(value.shape), "dtype": str(value.dtype), "first": _array(first, plain, limit)}}
    if value.dtype.names:
        return _with_fields(value, plain)
    kind = value.dtype.kind
    if kind in "mM":
        return _times(value)
    if kind == "f" and value.dtype.itemsize > 8:  # Python has no long double
        value = value.astype("float64")
    listed = value.tolist()
    is_json = kind in "biu" or (kind == "f" and sys.modules["numpy"].isfinite(value).all())
    if is_json and not hasattr(value, "mask"):
        return listed
    return str(listed) if is_array(listed) else plain(listed)  # complex long doubles give themselves back


def _with_fields(value: Any, plain: Plain) -> Any:
    if value.ndim:
        return [_with_fields(item, plain) for item in value]
    return {name: plain(value[name]) for name in value.dtype.names}


def _times(value: Any) -> Any:
    """datetime64 as ISO 8601 text, without zeros behind the seconds; timedelta64 as seconds."""
    numpy: Any = sys.modules["numpy"]
    if value.dtype.kind == "M":
        return _each(numpy.datetime_as_string(value).tolist(), _trimmed)
    try:
        seconds = value / numpy.timedelta64(1, "s")
    except TypeError:  # months and years have no length
        return value.astype(str).tolist()
    return _each(seconds.tolist(), lambda found: "NaT" if found != found else found)


def _each(nested: Any, function: Callable[[Any], Any]) -> Any:
    return [_each(item, function) for item in nested] if isinstance(nested, list) else function(nested)


def _trimmed(text: str) -> str:
    return text.rstrip("0").removesuffix(".") if "." in text else text


# -- pandas -----------------------------------------------------------------------------------------------------------


def _frame(value: Any, plain: Plain, limit: int) -> Any:
    row_count, column_count = value.shape
    if row_count * column_count > limit:
        types = {_label(name): str(kind) for name, kind in value.dtypes.items()}
        first = value.iloc[: _FIRST if column_count * _FIRST <= limit else 0]
        return {"$table": {"rows": row_count, "columns": types, "first": _frame(first, plain, limit)}}
    if not _is_counted(value.index):
        value = value.reset_index(allow_duplicates=True)
    labels = [_label(name) for name in value.columns]
    rows = list(zip(*(_items(value.iloc[:, place], plain) for place in range(len(labels))), strict=True))
    if not rows or len(set(labels)) < len(labels):
        return {"columns": labels, "rows": [list(row) for row in rows]}
    return [dict(zip(labels, row, strict=True)) for row in rows]


def _series(value: Any, plain: Plain, limit: int) -> Any:
    if len(value) > limit:
        first = _series(value.iloc[:_FIRST], plain, limit)
        return {"$array": {"shape": [len(value)], "dtype": str(value.dtype), "first": first}}
    if _is_counted(value.index):
        return _items(value, plain)
    labels = [_label(name) for name in value.index]
    if value.index.nlevels > 1 or len(set(labels)) < len(labels):
        return _frame(value.rename("value" if value.name is None else value.name).to_frame(), plain, limit)
    return dict(zip(labels, _items(value, plain), strict=True))


def _items(series: Any, plain: Plain) -> list[Any]:
    kind = getattr(series.dtype, "kind", "O")
    is_native = type(series.dtype).__module__.startswith("numpy") and kind in "biuf"
    listed: list[Any] = _array(series.to_numpy(), plain, len(series)) if is_native else plain(series.tolist())
    return listed


def _is_counted(index: Any) -> bool:
    """Whether an index only numbers the rows, or still has the numbers of those that were left out."""
    return index.nlevels == 1 and index.name is None and getattr(index.dtype, "kind", "O") in "iu"


def _label(label: Any) -> str:
    if isinstance(label, tuple):
        return ".".join(part for part in map(_label, label) if part)
    return label.isoformat() if hasattr(label, "isoformat") else str(label)
