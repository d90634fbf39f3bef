"""numpy and pandas as arguments: what a server gets is what the numbers, columns and tables mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support import binding_guest
from tests.support.binding_guest import Guest, web_guest

np: Any = pytest.importorskip("numpy", reason="did not run: numpy is not installed")
pd: Any = pytest.importorskip("pandas", reason="did not run: pandas is not installed")


@pytest.fixture
def guest() -> Iterator[Guest]:
    with web_guest() as made:
        yield made


def sent(guest: Guest, value: Any) -> Any:
    return binding_guest.sent(guest, "search(query='q', data=value)", value=value)["data"]


def _table() -> Any:
    days = pd.to_datetime(["2024-05-01", None])
    return pd.DataFrame({"name": ["a", "b"], "n": [1, 2], "x": [0.5, np.nan], "day": days})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.int64(3), 3),
        (np.float32(1.5), 1.5),
        (np.bool_(False), False),
        (np.str_("é"), "é"),
        (np.datetime64("2024-05-01T10:00:00"), "2024-05-01T10:00:00"),
        (np.timedelta64(90, "s"), 90.0),
        (np.arange(4).reshape(2, 2), [[0, 1], [2, 3]]),
        (np.array(["2024-05-01"], dtype="datetime64[ns]"), ["2024-05-01T00:00:00"]),
        ([np.int64(1), {"x": np.float64(2.5)}], [1, {"x": 2.5}]),
        (pd.Timestamp("2024-05-01 10:00", tz="UTC"), "2024-05-01T10:00:00+00:00"),
        (pd.Timedelta("2min"), 120.0),
        (pd.Period("2024-05", "M"), "2024-05"),
        (pd.Categorical(["a", "b"]), ["a", "b"]),
        (pd.Index([1, 2]), [1, 2]),
    ],
)
def test_scalars_and_arrays_have_their_json_form(guest: Guest, value: Any, expected: Any) -> None:
    assert sent(guest, value) == expected


def test_a_column_is_a_list_whatever_its_index(guest: Guest) -> None:
    assert sent(guest, _table()["n"]) == [1, 2]
    assert sent(guest, _table().set_index("name")["x"]) == [0.5, None]
    assert sent(guest, _table()["day"]) == ["2024-05-01T00:00:00", None]


def test_a_table_is_records_with_null_where_something_is_missing(guest: Guest) -> None:
    first = {"name": "a", "n": 1, "x": 0.5, "day": "2024-05-01T00:00:00"}
    assert sent(guest, _table()) == [first, {"name": "b", "n": 2, "x": None, "day": None}]
    assert sent(guest, _table().iloc[:0]) == []
    assert sent(guest, _table().groupby("name")[["n"]].sum()) == [{"name": "a", "n": 1}, {"name": "b", "n": 2}]


def test_keys_that_json_has_no_form_for_become_text(guest: Guest) -> None:
    value = {np.int64(7): 1, np.str_("s"): {pd.Timestamp("2024-05-01"): np.int8(2)}}
    assert sent(guest, value) == {"7": 1, "s": {"2024-05-01T00:00:00": 2}}


@pytest.mark.parametrize(
    ("value", "part"),
    [
        (np.float64("nan"), "holds NaN or Infinity"),
        (np.array([1.0, np.inf]), "holds NaN or Infinity"),
        (pd.NaT, "NaT is no JSON value; send None"),
        (pd.NA, "<NA> is no JSON value; send None"),
        (np.datetime64("NaT"), "NaT is no JSON value"),
        (_table().groupby("name"), "a DataFrameGroupBy cannot be sent as JSON"),
    ],
)
def test_what_is_missing_on_its_own_or_no_data_is_refused_with_the_parameter(
    guest: Guest, value: Any, part: str
) -> None:
    text = binding_guest.refused(guest, "search(query='q', data=value)", value=value)
    assert text.startswith("argument `data`: ")
    assert part in text
