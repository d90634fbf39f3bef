"""Values of numpy and pandas as JSON: numbers stay numbers, tables are records, nothing is lost without a word."""

import collections
import json
from typing import Any

import pytest

from sandbox.guest.values import preview, render

np: Any = pytest.importorskip("numpy", reason="did not run: numpy is not installed")
pd: Any = pytest.importorskip("pandas", reason="did not run: pandas is not installed")


def _json(value):
    rendered = render(value)
    assert rendered.form == "json"
    return json.loads(rendered.data)


def _table(**columns):
    return pd.DataFrame(columns or {"name": ["a", "b"], "n": [1, 2]})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.int64(7), 7),
        (np.uint8(7), 7),
        (np.float64(1.5), 1.5),
        (np.float32(1.5), 1.5),
        (np.longdouble(1.5), 1.5),
        (np.bool_(True), True),
        (np.float64("nan"), "NaN"),
        (np.float32("-inf"), "-Infinity"),
        (np.complex128(1 + 2j), "(1+2j)"),
        (np.datetime64("2024-05-01"), "2024-05-01"),
        (np.datetime64("2024-05-01T10:00:00.500000000"), "2024-05-01T10:00:00.5"),
        (np.datetime64("NaT"), "NaT"),
        (np.timedelta64(1500, "ms"), 1.5),
        (np.timedelta64("NaT", "s"), "NaT"),
        (np.timedelta64(2, "M"), "2 months"),
        (np.dtype("int64"), "int64"),
    ],
)
def test_a_numpy_scalar_is_its_python_value(value, expected):
    assert _json(value) == expected


def test_numpy_text_is_text():
    assert (render(np.str_("é")).form, _json([np.str_("é"), np.bytes_(b"x")])) == ("json", ["é", "x"])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.arange(6).reshape(2, 3), [[0, 1, 2], [3, 4, 5]]),
        (np.array([True, False]), [True, False]),
        (np.array([1.5, np.nan, np.inf]), [1.5, "NaN", "Infinity"]),
        (np.array(["a", None, 3], dtype=object), ["a", None, 3]),
        (np.array(5), 5),
        (np.array([]), []),
        (np.array(["2024-01-01T00:00:00", "NaT"], dtype="datetime64[ns]"), ["2024-01-01T00:00:00", "NaT"]),
        (np.array([[1000], [2000]], dtype="timedelta64[ms]"), [[1.0], [2.0]]),
        (np.array([(1, "a")], dtype=[("n", "i4"), ("s", "U1")]), [{"n": 1, "s": "a"}]),
        (np.ma.array([1, 2], mask=[False, True]), [1, None]),
        (np.array([1.5, 2.5], dtype="longdouble"), [1.5, 2.5]),
    ],
)
def test_an_array_is_nested_lists(value, expected):
    assert _json(value) == expected


def test_what_numpy_finds_is_fine_inside_of_python_values():
    value = {np.int64(1): np.float64(2.5), "rows": [np.arange(2)], ("a", np.int64(3)): {np.int64(4)}}
    assert _json(value) == {"1": 2.5, "rows": [[0, 1]], "('a', 3)": [4]}
    assert _json(collections.Counter(np.array([3, 3, 1]))) == {"3": 2, "1": 1}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (pd.Timestamp("2024-05-01 10:00"), "2024-05-01T10:00:00"),
        (pd.Timestamp("2024-05-01", tz="Europe/Berlin"), "2024-05-01T00:00:00+02:00"),
        (pd.Timedelta("1min 30s"), 90.0),
        (pd.NaT, "NaT"),
        (pd.NA, None),
        (pd.Period("2024-05", "M"), "2024-05"),
        (pd.Interval(0, 1), "(0, 1]"),
        (pd.Categorical(["x", "y", "x"]), ["x", "y", "x"]),
        (pd.Index(["a", "b"]), ["a", "b"]),
        (pd.date_range("2024-01-01", periods=2), ["2024-01-01T00:00:00", "2024-01-02T00:00:00"]),
        (pd.MultiIndex.from_tuples([("a", 1), ("b", 2)]), [["a", 1], ["b", 2]]),
        (pd.array([1, None], dtype="Int64"), [1, None]),
    ],
)
def test_pandas_scalars_and_indexes_have_a_form(value, expected):
    assert _json(value) == expected


def test_a_table_is_a_list_of_records():
    tags = pd.Series(["a", None], dtype=object)
    table = _table(day=pd.to_datetime(["2024-01-01", None]), n=[1, 2], x=[0.5, np.nan], tag=tags)
    assert _json(table) == [
        {"day": "2024-01-01T00:00:00", "n": 1, "x": 0.5, "tag": "a"},
        {"day": "NaT", "n": 2, "x": "NaN", "tag": None},
    ]


def test_a_table_keeps_the_labels_of_its_index():
    assert _json(_table().groupby("name").sum()) == [{"name": "a", "n": 1}, {"name": "b", "n": 2}]
    assert _json(_table().set_index(["name", "n"]).assign(x=1))[0] == {"name": "a", "n": 1, "x": 1}
    assert _json(_table(n=[1, 2]).describe().round(2))[0] == {"index": "count", "n": 2.0}


def test_row_numbers_are_no_labels():
    table = _table()
    assert _json(table[table["n"] > 1]) == [{"name": "b", "n": 2}]
    assert _json(table.loc[table["n"] > 1, "name"]) == ["b"]


def test_column_labels_of_several_levels_are_joined():
    assert _json(_table().groupby("name").agg({"n": ["sum", "max"]}))[0] == {"name": "a", "n.sum": 1, "n.max": 1}


def test_columns_of_one_name_and_tables_without_rows_are_shown_as_columns_and_rows():
    assert _json(pd.DataFrame([[1, 2]], columns=["x", "x"])) == {"columns": ["x", "x"], "rows": [[1, 2]]}
    assert _json(_table().iloc[:0]) == {"columns": ["name", "n"], "rows": []}
    assert _json(pd.DataFrame()) == {"columns": [], "rows": []}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (pd.Series([1, 2]), [1, 2]),
        (pd.Series([1.5, np.nan], index=["a", "b"]), {"a": 1.5, "b": "NaN"}),
        (pd.Series(["x", "y", "x"], name="k").value_counts(), {"x": 2, "y": 1}),
        (pd.Series([3, 3, 1], name="k").value_counts(), {"3": 2, "1": 1}),
        (pd.Series([1, 2], index=["a", "a"]), [{"index": "a", "value": 1}, {"index": "a", "value": 2}]),
        (pd.Series([pd.Timedelta(1, "s")]), [1.0]),
        (_table().dtypes.astype(str).loc[["n"]], {"n": "int64"}),
        (_table()[["n"]].dtypes, {"n": "int64"}),
        (pd.Series([True, False]), [True, False]),
        (pd.Series(["a", "b"], dtype="category"), ["a", "b"]),
    ],
)
def test_a_series_is_an_object_of_its_labels_or_a_list(value, expected):
    assert _json(value) == expected


def test_a_series_with_two_levels_of_labels_is_a_list_of_records():
    sums = _table(a=["x", "x"], b=["y", "z"], n=[1, 2]).groupby(["a", "b"])["n"].sum()
    assert _json(sums) == [{"a": "x", "b": "y", "n": 1}, {"a": "x", "b": "z", "n": 2}]


def test_an_own_subclass_of_a_table_is_a_table():
    orders = type("Orders", (pd.DataFrame,), {})
    assert _json(orders({"n": [1]})) == [{"n": 1}]


def test_what_has_no_form_is_text_without_addresses():
    assert _json(_table().groupby("name")).startswith("<pandas.")
    assert " at 0x" not in _json(_table().groupby("name"))


def test_what_is_too_large_is_shown_by_its_shape_and_its_first_rows():
    cut = _json(np.zeros((600_000, 2), dtype="int8"))
    assert cut == {"$array": {"shape": [600_000, 2], "dtype": "int8", "first": [[0, 0]] * 3}}
    table = _json(pd.DataFrame({"a": np.arange(600_000), "b": True}))
    first = [{"a": 0, "b": True}, {"a": 1, "b": True}, {"a": 2, "b": True}]
    assert table == {"$table": {"rows": 600_000, "columns": {"a": "int64", "b": "bool"}, "first": first}}
    series = _json(pd.Series(np.arange(1_000_001)))
    assert series == {"$array": {"shape": [1_000_001], "dtype": "int64", "first": [0, 1, 2]}}
    assert _json(np.zeros((2, 1_000_000)))["$array"]["first"] == []


def test_a_million_cells_are_still_whole():
    assert len(_json(np.zeros(1_000_000, dtype="int8"))) == 1_000_000


@pytest.mark.parametrize(
    ("value", "shape", "items"),
    [
        (_table(), "DataFrame of 2 rows and 2 columns (name, n)", [{"name": "a", "n": 1}, {"name": "b", "n": 2}]),
        (pd.Series(range(9)), "Series of 9 items, int64", [0, 1, 2]),
        (np.zeros((5, 2), dtype=int), "ndarray of shape 5 x 2, int64", [[0, 0]] * 3),
        (pd.Index([5]), "Index of shape 1, int64", [5]),
        (np.float64(1.5), "float64", 1.5),
    ],
)
def test_a_preview_shows_shape_and_first_rows(value, shape, items):
    assert json.loads(preview("x", value).data) == {"name": "x", "shape": shape, "items": items}
