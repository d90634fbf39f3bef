"""Every tool of every sample listing gets a binding that parses, imports, calls its own tool and checks arguments."""

from __future__ import annotations

import ast
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from codemode.bindings.signature import MAX_CHARS, signature
from codemode.bindings.tree import BindingTree
from codemode.broker.arguments import ArgumentChecker
from codemode.broker.validators import compile_schema
from codemode.catalog.build import build_listing
from codemode.catalog.snapshot import Catalog, build_catalog
from codemode.ids import ToolId
from tests.support.binding_guest import guest_for


@pytest.fixture(scope="module")
def catalog(shared: Path) -> Catalog:
    """All sample listings as one catalog."""
    listings = []
    for file in sorted((shared / "data" / "catalogs").glob("*.json")):
        dump = json.loads(file.read_text("utf-8"))
        listings.append(build_listing(dump["server"], dump["tools"], state="listing_only"))
    return build_catalog(listings)


def test_every_tool_has_a_binding_and_a_bounded_signature(
    catalog: Catalog, record_property: Callable[[str, object], None]
) -> None:
    started = time.perf_counter()
    tree = BindingTree(catalog)

    bindings = tree.bindings

    record_property("us_per_tool", round((time.perf_counter() - started) / len(bindings) * 1e6))
    assert tree.quarantined == ()
    assert [bound.tool for bound in bindings] == sorted(catalog.tools, key=lambda tool: (tool.module, tool.function))
    assert len(bindings) > 1_800
    for bound in bindings:
        assert bound.signature.text.startswith(f"{bound.tool.path}(")
        assert len(bound.signature.text) <= MAX_CHARS
        assert "\n" not in bound.signature.text
        assert all(one.python in bound.signature.text for one in bound.signature.parameters)


def test_every_file_parses(catalog: Catalog) -> None:
    files = BindingTree(catalog).files()

    for path, text in files.items():
        if path.endswith((".py", ".pyi")):
            ast.parse(text)
    assert sum(path.endswith(".py") for path in files) > 1_900


def test_every_binding_imports_and_calls_its_own_tool(catalog: Catalog) -> None:
    tree = BindingTree(catalog)
    with guest_for(tree) as guest:
        tools = guest.run("")["tools"]
        for tool in catalog.tools:
            given = {one.wire: "x" for one in signature(tool).parameters if one.required}
            getattr(getattr(tools, tool.module), tool.function)(**given)
            target, arguments = guest.calls[-1]
            assert ToolId.parse(target) == tool.spec.id
            assert arguments == given

    assert len(guest.calls) == len(catalog.tools)


def test_every_schema_is_checked_as_it_is(catalog: Catalog) -> None:
    checker = ArgumentChecker()

    for tool in catalog.tools:
        checked = checker.check_now(tool, {})
        required = [one for one in signature(tool).parameters if one.required]
        assert all(one.kind != "schema" for one in checked.problems), tool.short
        if required:
            assert not checked.is_ok
        assert not compile_schema(tool.spec.input_schema).is_loosened, tool.short
