"""The last known listing on disk: private, per entry and principal, never with an expanded secret, never fatal."""

import json
import logging
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from codemode.config.model import ServerConfig
from codemode.upstream.cache import KnownListing, ListingCache, entry_key

SERVER = ServerConfig(name="a", command="x", args=("${TOKEN}",), env={"K": "${TOKEN}"})
LISTING = KnownListing(
    tools=({"name": "t", "x": "\ud83d é"},),
    protocol="2025-11-25",
    instructions="i",
    saved_at=5.0,
    ttl_s=6.0,
    era_since=7.0,
)


def test_a_listing_comes_back_as_it_was(tmp_path: Path) -> None:
    cache = ListingCache(tmp_path / "c")
    cache.save(SERVER, LISTING)
    assert cache.load(SERVER) == LISTING


def test_a_listing_without_the_newer_fields_is_read(tmp_path: Path) -> None:
    cache = ListingCache(tmp_path / "c")
    cache.save(SERVER, LISTING)
    (file,) = (tmp_path / "c").iterdir()
    kept = {key: value for key, value in json.loads(file.read_text()).items() if key not in ("ttl_s", "era_since")}
    file.write_text(json.dumps(kept))
    assert cache.load(SERVER) == replace(LISTING, ttl_s=0.0, era_since=0.0)


@pytest.mark.parametrize(
    ("ttl_s", "age_s", "is_fresh"),
    [
        (0.0, 23 * 3600.0, True),
        (0.0, 25 * 3600.0, False),
        (60.0, 59.0, True),
        (60.0, 61.0, False),
        (1e9, 25 * 3600.0, False),
        (0.0, -1.0, False),  # a clock that was set back
    ],
)
def test_a_listing_is_fresh_for_a_day_or_for_as_long_as_its_server_says(
    ttl_s: float, age_s: float, is_fresh: bool
) -> None:
    assert replace(LISTING, ttl_s=ttl_s).is_fresh(LISTING.saved_at + age_s) == is_fresh


def test_an_era_is_remembered_for_a_week_from_its_negotiation() -> None:
    day = 24 * 3600.0
    assert LISTING.era(LISTING.era_since + 6 * day) == "2025-11-25"
    assert LISTING.era(LISTING.era_since + 8 * day) == ""


def test_file_and_folder_are_for_their_owner_only(tmp_path: Path) -> None:
    ListingCache(tmp_path / "c").save(SERVER, LISTING)
    (file,) = (tmp_path / "c").iterdir()
    assert stat.S_IMODE((tmp_path / "c").stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "changed",
    [
        replace(SERVER, name="b"),
        replace(SERVER, command="y"),
        replace(SERVER, args=("${OTHER}",)),
        replace(SERVER, env={"K": "v"}),
        replace(SERVER, cwd="/x"),
        ServerConfig(name="a", transport="http", url="http://h"),
    ],
)
def test_a_changed_entry_has_no_old_listing(tmp_path: Path, changed: ServerConfig) -> None:
    cache = ListingCache(tmp_path)
    cache.save(SERVER, LISTING)
    assert cache.load(changed) is None


def test_what_does_not_change_the_listing_does_not_change_the_key() -> None:
    changed = replace(SERVER, call_timeout_s=5.0, allowed_tools=("x",), description="d", source="elsewhere")
    assert entry_key(changed, "") == entry_key(SERVER, "")


def test_one_principal_never_sees_the_listing_of_another(tmp_path: Path) -> None:
    ListingCache(tmp_path, "alice").save(SERVER, LISTING)
    assert ListingCache(tmp_path, "bob").load(SERVER) is None
    assert ListingCache(tmp_path, "alice").load(SERVER) == LISTING


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b'{"version":1}',
        b'{"version":9,"tools":[],"saved_at":1}',
        b'{"version":1,"tools":{},"saved_at":1}',
        b'{"version":1,"tools":[],"saved_at":true}',
        b"[" * 100_000,
    ],
)
def test_a_damaged_file_is_ignored_with_a_log_line(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    cache = ListingCache(tmp_path)
    cache.save(SERVER, LISTING)
    (file,) = tmp_path.iterdir()
    file.write_bytes(content)
    with caplog.at_level(logging.WARNING):
        assert cache.load(SERVER) is None
    assert "damaged" in caplog.text


def test_a_folder_that_cannot_be_written_costs_the_cache_only(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = ListingCache(tmp_path / "file")
    cache.save(SERVER, LISTING)
    assert cache.load(SERVER) is None


def test_saving_leaves_no_other_file(tmp_path: Path) -> None:
    cache = ListingCache(tmp_path)
    for _ in range(3):
        cache.save(SERVER, LISTING)
    assert len(list(tmp_path.iterdir())) == 1
