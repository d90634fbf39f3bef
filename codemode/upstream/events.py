"""Rewrites a stream of server-sent events while it arrives: each `message` event passes through the filter.

Enters: chunks of `text/event-stream`. Leaves: chunks of the same; large results are replaced by what the session needs.
Linear in what arrives; one event holds at most `max_bytes` of data.
Source: WHATWG HTML, server-sent events; MCP specification, streamable HTTP.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from mcp_types import JSONRPCMessage

from codemode.upstream.lines import LineSplitter, TooLong

Translate: TypeAlias = Callable[[bytes | TooLong], list[JSONRPCMessage]]

_BOM = b"\xef\xbb\xbf"


@dataclass(slots=True)
class EventRewriter:
    """State of one stream. `translate` turns the data of one event into messages."""

    translate: Translate
    max_bytes: int
    _splitter: LineSplitter = field(init=False)
    _kept: list[bytes] = field(default_factory=list)
    _data: list[bytes] = field(default_factory=list)
    _too_long: TooLong | None = None
    _size: int = 0
    _kind: bytes = b""
    _ends_in_cr: bool = False
    _is_first: bool = True

    def __post_init__(self) -> None:
        self._splitter = LineSplitter(self.max_bytes + 64)

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """What this chunk completes, as text of the same stream."""
        if self._is_first and chunk:
            chunk = chunk.removeprefix(_BOM)
            self._is_first = False
        if self._ends_in_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        self._ends_in_cr = chunk.endswith(b"\r")
        if b"\r" in chunk:
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        for line in self._splitter.feed(chunk):
            if line:
                self._field(line)
            else:
                yield from self._dispatch()

    def _field(self, line: bytes | TooLong) -> None:
        if isinstance(line, TooLong):
            self._too_long = TooLong(line.head.removeprefix(b"data:").lstrip(b" "), line.tail, line.length)
            return
        colon = line.find(b":")
        name = line[:colon] if colon >= 0 else line
        # One copy of a large value, not two: `partition` and `removeprefix` each make one.
        value = line[colon + (2 if line[colon + 1 : colon + 2] == b" " else 1) :] if colon >= 0 else b""
        if name == b"data":
            self._size += len(value)
            if self._size > self.max_bytes:
                self._too_long = TooLong(
                    self._data[0][:1024] if self._data else value[:1024], value[-1024:], self._size
                )
            else:
                self._data.append(value)
        elif name == b"event":
            self._kind = value
        elif name in (b"id", b"retry"):
            self._kept.append(line)

    def _dispatch(self) -> Iterator[bytes]:
        data: bytes | TooLong = self._too_long or b"\n".join(self._data)
        is_message = self._kind in (b"", b"message") and bool(data)
        messages = self.translate(data) if is_message else []
        lines = [*self._kept, *([] if is_message else [b"data:"] if self._data else [])]
        self._kept, self._data, self._too_long, self._size, self._kind = [], [], None, 0, b""
        for message in messages:
            text = message.model_dump_json(by_alias=True, exclude_unset=True).encode()
            yield b"".join(b"%b\n" % line for line in (*lines, b"data: " + text, b""))
            lines = []
        if lines:
            yield b"".join(b"%b\n" % line for line in (*lines, b""))
