"""Splits a byte stream into lines in linear time, with a cap on what one line may hold.

Enters: chunks as they come from a pipe. Leaves: whole lines without their newline, split at LF alone (U+2028 and NEL
are ordinary characters of JSON text), and for a line over the cap only its two ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

_EDGE = 1024  # bytes kept of each end of a line that is too long: enough to find its id


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line over the cap: its first and last bytes, and how long it was."""

    head: bytes
    tail: bytes
    length: int


@dataclass(slots=True)
class LineSplitter:
    """Collects chunks until a newline comes. `max_bytes` is inclusive."""

    max_bytes: int
    _parts: list[bytes] = field(default_factory=list)
    _length: int = 0
    _head: bytes = b""
    _tail: bytes = b""

    def feed(self, chunk: bytes) -> Iterator[bytes | TooLong]:
        """The lines that this chunk completes."""
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            self._add(chunk[start:end])
            yield self._take()
            start = end + 1
        if start < len(chunk):
            self._add(chunk[start:])

    def _add(self, part: bytes) -> None:
        self._length += len(part)
        if self._length <= self.max_bytes:
            self._parts.append(part)
            return
        if self._parts:
            whole = b"".join(self._parts)
            self._head, self._tail = whole[:_EDGE], whole[-_EDGE:]
            self._parts.clear()
        if len(self._head) < _EDGE:
            self._head += part[: _EDGE - len(self._head)]
        self._tail = (self._tail + part[-_EDGE:])[-_EDGE:]

    def _take(self) -> bytes | TooLong:
        line: bytes | TooLong
        if self._length <= self.max_bytes:
            line = b"".join(self._parts)
        else:
            line = TooLong(self._head, self._tail, self._length)
        self._parts.clear()
        self._length = 0
        self._head = self._tail = b""
        return line
