"""The values of a session: kept by key, bounded by bytes and number, alone and together."""

import pytest

from codemode.errors import StoreError
from codemode.state import store as module
from codemode.state.store import Store, StoreTotal


def test_what_is_set_is_found_and_counts():
    store = Store(quota_bytes=100)
    store.set("a", "1")
    store.set("ü", '"é"')
    store.set("a", "22")
    assert (store.get("a"), store.get("none"), store.keys(), store.used_bytes) == ("22", None, ["a", "ü"], 9)


def test_what_is_dropped_frees_its_room():
    store = Store(quota_bytes=10)
    store.set("a", "x" * 9)
    assert (store.drop("a"), store.drop("a"), store.used_bytes) == (True, False, 0)
    store.set("b", "x" * 9)
    store.clear()
    assert (store.keys(), store.used_bytes) == ([], 0)


def test_a_full_store_keeps_what_it_has():
    store = Store(quota_bytes=10)
    store.set("a", "x" * 5)
    with pytest.raises(StoreError, match="6 of 10 bytes are used, this needs 5 more") as caught:
        store.set("b", "x" * 4)
    assert caught.value.code == "store.full"
    with pytest.raises(StoreError):
        store.set("a", "x" * 10)
    assert (store.get("a"), store.keys()) == ("x" * 5, ["a"])


def test_keys_are_bounded_in_length_and_number(monkeypatch):
    monkeypatch.setattr(module, "MAX_KEYS", 2)
    store = Store(quota_bytes=10_000)
    with pytest.raises(StoreError, match="1,024 characters"):
        store.set("x" * 1_025, "1")
    store.set("a", "1")
    store.set("b", "1")
    store.set("b", "2")
    with pytest.raises(StoreError, match="2 of 2 keys"):
        store.set("c", "1")


def test_all_stores_of_a_process_share_a_bound():
    total = StoreTotal(20)
    one, two = Store(quota_bytes=15, total=total), Store(quota_bytes=15, total=total)
    one.set("a", "x" * 14)
    with pytest.raises(StoreError, match="all sessions together"):
        two.set("a", "x" * 5)
    one.clear()
    two.set("a", "x" * 14)
    assert total.used_bytes == 15


def test_one_store_does_not_see_another():
    total = StoreTotal()
    one, two = Store(quota_bytes=15, total=total), Store(quota_bytes=15, total=total)
    one.set("a", "1")
    assert (two.get("a"), two.keys()) == (None, [])


def test_half_a_surrogate_pair_is_kept():
    store = Store(quota_bytes=15)
    store.set("\ud800", '"\udfff"')
    assert store.get("\ud800") == '"\udfff"'
