"""Runs in the guest as `tools._media`: content blocks that are not text, as objects.

Enters: content blocks of a tool result. Leaves: `Image`, `Audio`, `Resource`, `Link`; anything unknown as it came.
Base64 is decoded when the bytes are asked for, and never printed. Shipped as text through `load` when a result first
holds such a block; standard library only.

Source: MCP specification, content types of a tool result.
"""

from __future__ import annotations

import base64 as _base64
import json as _json
from collections.abc import Callable, Mapping
from typing import Any

from sandbox.guest.remote import Remote

_READ_TARGET = "@read_resource"
_Failure = Callable[[bytes, str], BaseException]


class _Part:
    """What all parts share.

    Attributes:
        type: the block's type: "image", "audio", "resource" or "resource_link".
        mime_type: media type, "" when it is not said.
        uri: where a resource is known as; "" for images and audio.
        name: what a link is called, or "".
        text: the text of a textual resource, else None.
        annotations: the server's, as they came.
    """

    def __init__(self, type_: str, facts: Mapping[str, Any], encoded: str | None, text: str | None) -> None:
        self.type = type_
        self.mime_type = _string(facts, "mimeType")
        self.uri = _string(facts, "uri")
        self.name = _string(facts, "name")
        self.text = text
        self.annotations = facts.get("annotations") or {}
        self._cm_encoded = encoded
        self._cm_data: bytes | None = None

    @property
    def data(self) -> bytes:
        """The bytes; of a text its UTF-8."""
        if self._cm_data is None:
            if self._cm_encoded is not None:
                self._cm_data = _base64.b64decode(self._cm_encoded)
            else:
                self._cm_data = (self.text or "").encode("utf-8", "surrogatepass")
        return self._cm_data

    @property
    def size(self) -> int:
        """Bytes, without decoding them."""
        if self._cm_encoded is not None:
            body = self._cm_encoded.rstrip("=\n ")
            return len(body) * 3 // 4
        return len(self.data)

    def __len__(self) -> int:
        return self.size

    def __bool__(self) -> bool:
        return True

    def __bytes__(self) -> bytes:
        return self.data

    def __str__(self) -> str:
        return self.text if self.text is not None else repr(self)

    def __repr__(self) -> str:
        words = [self.type, self.mime_type, self.uri or self.name]
        return f"<{' '.join(word for word in words if word)}, {self.size} bytes>"

    def __describe__(self) -> dict[str, Any]:
        """What stands for the object inside a result that is shown."""
        facts: dict[str, Any] = {"type": self.type, "mime_type": self.mime_type, "size": self.size}
        if self.uri:
            facts["uri"] = self.uri
        if self.text is not None:
            facts["text"] = self.text
        return facts

    def __payload__(self) -> str:
        """What is sent when the object is an argument: its text, else base64."""
        return self.text if self.text is not None else _base64.b64encode(self.data).decode("ascii")

    def __image__(self) -> tuple[str, bytes]:
        """How a run shows it as its value."""
        if not self.mime_type.startswith("image/") or self.text is not None:
            raise TypeError("no image")
        return self.mime_type, self.data

    def read(self) -> Any:
        """The text, else the bytes."""
        return self.text if self.text is not None else self.data


class Image(_Part):
    """A picture that a tool returned."""


class Audio(_Part):
    """A sound that a tool returned."""


class Resource(_Part):
    """A resource that came along inside a result: text or bytes."""


class Link(_Part):
    """A resource that a result only points to; `read()` asks its server for it."""

    def __init__(self, facts: Mapping[str, Any], tool: str, failure: _Failure) -> None:
        super().__init__("resource_link", facts, None, None)
        self.title = _string(facts, "title")
        self.description = _string(facts, "description")
        size = facts.get("size")
        self._cm_size = size if type(size) is int else None
        self._cm_read = _Read(tool, failure)

    @property
    def size(self) -> int:
        """Bytes as the server says, 0 when it does not."""
        return self._cm_size or 0

    @property
    def data(self) -> bytes:
        """The bytes, fetched once."""
        if self._cm_data is None:
            value = self.read()
            self._cm_data = value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
        return self._cm_data

    def read(self) -> Any:
        """The resource's text or bytes; a list when it has several parts."""
        return self._cm_read(self.uri)

    def __describe__(self) -> dict[str, Any]:
        facts = super().__describe__()
        return {**facts, "name": self.name} if self.name else facts

    def __payload__(self) -> str:
        return self.uri


class _Read(Remote):
    """Reads a resource of the server whose tool named it; the reply holds the `contents` of `resources/read`."""

    def __init__(self, tool: str, failure: _Failure) -> None:
        self._cm_tool = tool
        self._cm_failure = failure

    def label(self) -> str:
        return "link.read"

    def encode(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, bytes]:
        (uri,) = args
        return _READ_TARGET, _json.dumps({"tool": self._cm_tool, "uri": uri}).encode("ascii")

    def decode(self, form: str, payload: bytes) -> Any:
        contents = _json.loads(payload)
        if type(contents) is dict:
            contents = contents.get("contents")
        values = [_resource(item).read() for item in contents or () if type(item) is dict]
        return values if len(values) > 1 else values[0] if values else None

    def fail(self, payload: bytes) -> BaseException:
        return self._cm_failure(payload, self._cm_tool)


def block_value(block: Any, tool: str, failure: _Failure) -> Any:
    """The object for one content block; a block of no known form comes back as it is."""
    if type(block) is not dict:
        return block
    kind = block.get("type")
    if kind in ("image", "audio") and type(block.get("data")) is str:
        return (Image if kind == "image" else Audio)(kind, block, block["data"], None)
    if kind == "resource" and type(block.get("resource")) is dict:
        return _resource({"annotations": block.get("annotations"), **block["resource"]})
    if kind == "resource_link" and type(block.get("uri")) is str:
        return Link(block, tool, failure)
    return block


def _resource(facts: Mapping[str, Any]) -> Resource:
    text = facts.get("text")
    blob = facts.get("blob")
    is_text = type(text) is str
    return Resource("resource", facts, blob if type(blob) is str and not is_text else None, text if is_text else None)


def _string(facts: Mapping[str, Any], key: str) -> str:
    value = facts.get(key)
    return value if type(value) is str else ""
