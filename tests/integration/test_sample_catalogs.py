"""Listings of real public servers, when the sample data is there: every tool is usable or held back with a reason."""

import json
import keyword
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from codemode.catalog.build import build_listing
from codemode.catalog.snapshot import Catalog, build_catalog
from codemode.search.index import build_index
from codemode.search.query import parse_query


def load(folder: Path) -> tuple[list[dict[str, Any]], Catalog]:
    """The dumps of a folder, and the catalog of them all."""
    dumps = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    assert dumps, folder
    listings = [
        build_listing(
            dump["server"],
            dump["tools"],
            state="listing_only",
            protocol=dump.get("protocolVersion") or "",
            instructions=dump.get("instructions") or "",
        )
        for dump in dumps
    ]
    return dumps, build_catalog(listings)


@pytest.mark.parametrize("folder", ["catalogs", "catalogs_old"])
def test_every_listed_tool_is_usable_or_held_back_with_a_reason(shared: Path, folder: str) -> None:
    dumps, catalog = load(shared / "data" / folder)
    assert len(catalog.servers) == len(dumps)
    for dump in dumps:
        entry = catalog.server(dump["server"])
        assert entry is not None
        assert len(entry.tools) + len(entry.quarantined) == len(dump["tools"]), dump["server"]
        assert all(held.tool and held.reason for held in entry.quarantined)
        assert not entry.quarantined, "real servers list nothing that cannot be used"


@pytest.mark.parametrize("folder", ["catalogs", "catalogs_old"])
def test_names_are_importable_and_schemas_compile_offline(shared: Path, folder: str) -> None:
    _, catalog = load(shared / "data" / folder)
    for tool in catalog.tools:
        for name in (tool.module, tool.function):
            assert name.isidentifier()
            assert not keyword.iskeyword(name)
        assert catalog.by_short(tool.short) is tool
        assert catalog.by_id(tool.spec.id) is tool
        for schema in (tool.spec.input_schema, tool.spec.output_schema):
            if schema is not None:
                jsonschema_rs.validator_for(dict(schema))


def test_a_second_listing_of_the_same_dumps_is_no_drift(shared: Path) -> None:
    assert load(shared / "data" / "catalogs")[1] == load(shared / "data" / "catalogs")[1]


def test_the_old_listings_differ_from_the_new_ones_where_they_should(shared: Path) -> None:
    _, old = load(shared / "data" / "catalogs_old")
    _, new = load(shared / "data" / "catalogs")
    same = changed = removed = 0
    for tool in old.tools:
        now = new.by_raw(tool.spec.server, tool.spec.name)
        if now is None:
            removed += 1
        elif now.spec.semantic_digest == tool.spec.semantic_digest:
            same += 1
        else:
            changed += 1
    assert same + changed + removed == len(old.tools)
    assert min(same, changed, removed) > 0


@pytest.mark.parametrize(
    ("query", "server"),
    [
        ("take a screenshot", "playwright"),
        ("post a slack message", "slack-ref"),
        ("发送邮件", "gmail"),
        ("git commit", "git"),
    ],
)
def test_an_ordinary_search_over_all_servers_finds_the_server_meant(shared: Path, query: str, server: str) -> None:
    _, catalog = load(shared / "data" / "catalogs")
    hits = build_index(catalog).search(parse_query(query), limit=5).hits
    assert server in [hit.tool.spec.server for hit in hits]
