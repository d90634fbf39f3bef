"""Content that is not text: objects with type, size, bytes and a way to read on."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest

from codemode.bindings.tree import BindingTree
from sandbox.guest.values import render, to_json
from tests.support.binding_guest import Guest, content, failure, guest_for
from tests.support.catalogs import catalog_of, tool

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(64))
IMAGE = {"type": "image", "mimeType": "image/png", "data": base64.b64encode(PNG).decode()}
TEXT_RESOURCE = {"type": "resource", "resource": {"uri": "file:///a.md", "mimeType": "text/markdown", "text": "# A"}}
BLOB_RESOURCE = {"type": "resource", "resource": {"uri": "file:///a.bin", "blob": base64.b64encode(b"ab").decode()}}
LINK = {"type": "resource_link", "uri": "file:///big.csv", "name": "big.csv", "mimeType": "text/csv", "size": 12}


@pytest.fixture
def guest() -> Iterator[Guest]:
    tools = [tool("get"), tool("put", {"data": {}, "name": {"type": "string"}})]
    with guest_for(BindingTree(catalog_of({"web": tools}))) as made:
        yield made


def got(guest: Guest, *blocks: Any) -> Any:
    guest.answer = lambda target, arguments: content(*blocks)
    return guest.value("tools.web.get()")


def test_image_has_type_size_and_bytes(guest: Guest) -> None:
    image = got(guest, IMAGE)

    assert (image.type, image.mime_type, image.size, len(image)) == ("image", "image/png", len(PNG), len(PNG))
    assert image.data == image.read() == bytes(image) == PNG
    assert repr(image) == str(image) == f"<image image/png, {len(PNG)} bytes>"


def test_image_as_the_value_of_a_run_is_shown(guest: Guest) -> None:
    shown = render(got(guest, IMAGE))

    assert (shown.form, shown.type, shown.data) == ("image", "image/png", PNG)


def test_image_inside_a_value_is_described_without_base64(guest: Guest) -> None:
    assert json.loads(to_json([got(guest, IMAGE)])) == [{"type": "image", "mime_type": "image/png", "size": len(PNG)}]


@pytest.mark.parametrize("size", range(8))
def test_size_is_exact_without_decoding(guest: Guest, size: int) -> None:
    data = base64.b64encode(b"x" * size).decode()

    assert got(guest, {"type": "audio", "mimeType": "audio/wav", "data": data}).size == size


def test_embedded_text_resource_reads_as_text(guest: Guest) -> None:
    resource = got(guest, TEXT_RESOURCE)

    assert (resource.type, resource.uri, resource.text, str(resource)) == ("resource", "file:///a.md", "# A", "# A")
    assert (resource.read(), resource.data, resource.size) == ("# A", b"# A", 3)


def test_embedded_binary_resource_reads_as_bytes(guest: Guest) -> None:
    resource = got(guest, BLOB_RESOURCE)

    assert (resource.text, resource.read(), resource.size) == (None, b"ab", 2)


def test_link_is_read_through_the_host(guest: Guest) -> None:
    link = got(guest, LINK)
    assert (link.type, link.uri, link.name, link.mime_type, link.size) == (
        "resource_link",
        "file:///big.csv",
        "big.csv",
        "text/csv",
        12,
    )
    contents = [{"uri": "file:///big.csv", "text": "a,b"}]
    guest.answer = lambda target, arguments: (True, "resource", json.dumps(contents).encode())

    assert link.read() == "a,b"
    assert link.data == b"a,b"
    target, arguments = guest.calls[1]
    assert target == "@read_resource"
    assert arguments == {"tool": guest.calls[0][0], "uri": "file:///big.csv"}


def test_link_that_cannot_be_read_raises_a_tool_error(guest: Guest) -> None:
    link = got(guest, LINK)
    guest.answer = lambda target, arguments: failure(code="upstream.rpc_error", message="gone")

    with pytest.raises(Exception, match="gone") as caught:
        link.read()

    assert type(caught.value).__name__ == "ToolError"


def test_link_with_several_parts_reads_as_a_list(guest: Guest) -> None:
    link = got(guest, LINK)
    contents = {"contents": [{"uri": "a", "text": "x"}, {"uri": "b", "blob": "eQ=="}]}
    guest.answer = lambda target, arguments: (True, "resource", json.dumps(contents).encode())

    assert link.read() == ["x", b"y"]


def test_mixed_content_is_a_list_in_order(guest: Guest) -> None:
    words, image, data = got(guest, {"type": "text", "text": "saved"}, IMAGE, {"type": "text", "text": '{"page": 1}'})

    assert (words, image.data, data) == ("saved", PNG, {"page": 1})


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image"},
        {"type": "image", "data": 5},
        {"type": "resource", "resource": "x"},
        {"type": "resource_link"},
        {"type": None},
        "text",
        None,
        5,
        [],
    ],
)
def test_block_of_no_known_form_comes_as_it_is(guest: Guest, block: Any) -> None:
    assert got(guest, block) == block


def test_damaged_base64_fails_when_the_bytes_are_asked_for(guest: Guest) -> None:
    image = got(guest, {"type": "image", "mimeType": "image/png", "data": "a"})

    repr(image)
    with pytest.raises(ValueError):
        image.data  # noqa: B018 - the property is what is tested


@pytest.mark.parametrize(("block", "sent"), [(IMAGE, IMAGE["data"]), (TEXT_RESOURCE, "# A"), (LINK, "file:///big.csv")])
def test_part_given_as_an_argument_is_sent_as_text(guest: Guest, block: Any, sent: str) -> None:
    part = got(guest, block)
    guest.run("")["tools"].web.put(data=part)

    assert guest.calls[-1][1] == {"data": sent}


def test_image_parts_are_loaded_only_when_they_occur(guest: Guest) -> None:
    got(guest, {"type": "text", "text": "a"})
    assert "tools._media" not in guest.loads

    got(guest, IMAGE)
    assert guest.loads.count("tools._media") == 1
