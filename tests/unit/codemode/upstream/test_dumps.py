"""Listings from files."""

import json
from pathlib import Path

import pytest

from codemode.errors import ConfigError
from codemode.upstream.dumps import load_dumps

TOOL = {"name": "t", "inputSchema": {"type": "object"}}


def test_a_file_is_one_listing(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(
        json.dumps({"server": "git", "protocolVersion": "2025-11-25", "instructions": "i", "tools": [TOOL]})
    )
    (listing,) = load_dumps(path)
    assert (listing.server, listing.state, listing.protocol) == ("git", "listing_only", "2025-11-25")
    assert [tool.name for tool in listing.tools] == ["t"]


def test_a_folder_is_read_in_the_order_of_its_file_names(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        (tmp_path / f"{name}.json").write_text(json.dumps({"tools": []}))
    (tmp_path / "notes.txt").write_text("not a dump")
    assert [listing.server for listing in load_dumps(tmp_path)] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("{", "x.json, line 1, column 2: not JSON"),
        ("[]", "x.json: must be a JSON object with `server` and `tools`"),
        ('{"server": "a"}', "x.json: `tools` must be a list of tool definitions"),
        ("[" * 100_000, "x.json: not JSON that can be read"),
    ],
)
def test_a_bad_file_is_named(tmp_path: Path, content: str, expected: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(ConfigError) as caught:
        load_dumps(tmp_path)
    assert expected in caught.value.message


def test_one_server_in_two_files_is_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_text(json.dumps({"server": "s", "tools": []}))
    with pytest.raises(ConfigError) as caught:
        load_dumps(tmp_path)
    assert "b.json: the server `s` is already in" in caught.value.message


def test_a_path_that_is_not_there_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "nope.json", tmp_path):
        with pytest.raises(ConfigError) as caught:
            load_dumps(path)
        assert caught.value.code == "config.missing"


def test_the_sample_catalogs_are_all_read(shared: Path) -> None:
    listings = load_dumps(shared / "data" / "catalogs")
    assert len(listings) == 70
    assert sum(len(listing.tools) for listing in listings) > 1_800
