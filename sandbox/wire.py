"""Frames that host and guest speak over one byte stream; the one file that both halves share.

Frame: 4-byte big-endian length of the body; the body is a JSON object (ASCII, no raw newline) and, when there is a
payload, one newline and the payload's raw bytes. A body never contains a newline before its payload, so the split
is one search for a single byte. Nothing here pickles, marshals or evaluates.

Header fields by kind (payload in brackets; `id` is a positive integer below 2**31, used once):

    host → guest
      prepare  dialect, roots, limits, seed, filename               [source bytes]
      go       —                                                    [JSON {"modules": {…}, "aliases": {…}}]
      reply    id, ok, form                                         [raw bytes]
      module   id, found                                            [module source]
      cancel   —                                                    stop: KeyboardInterrupt in the main thread
    guest → host
      prepared —                                                    [JSON {"names": …, "calls": …, "diagnostics": …}]
      call     id, target                                           [JSON arguments]
      load     id, name
      file     id, operation, name, to, at                          [content, for `write` and `append`]
      cancel   id                                                   the program gave this call up
      print    stream (`out` or `err`)                              [UTF-8 text]
      end      status, form, type, error, notes, usage              [value]

Source of the shape: ARCHITECTURE 4.5.
"""

from __future__ import annotations

import json
import struct
from typing import Any

PREFIX = struct.Struct(">I")
MAX_HEADER_BYTES = 256 * 1024  # chosen: the largest header is an `end` with a bounded traceback
MAX_ID = 2**31 - 1

# Measured: asking a socket for 256 KiB costs 20 us a time, a fresh mapping of that size from the allocator, whatever
# comes; 64 KiB stay below the allocator's bound of 128 KiB (mallopt(3), M_MMAP_THRESHOLD).
_BITE_BYTES = 64 * 1024
_FEAST_BYTES = 1024 * 1024

TO_GUEST = frozenset({"prepare", "go", "reply", "module", "cancel"})
TO_HOST = frozenset({"prepared", "call", "load", "file", "cancel", "print", "end"})
FILE_OPERATIONS = frozenset(
    {"read", "write", "create", "append", "stat", "list", "make_folder", "remove", "remove_folder", "rename"}
)
FILE_CONTENT = frozenset({"write", "append"})  # the operations that bring content along
MAX_NAME_CHARS = 1_024  # of any text field of a frame


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_decode = json.JSONDecoder(parse_constant=_refuse_constant).decode
_encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode


class WireError(ValueError):
    """Bytes that are no frame. The reader of a stream that raises this must stop using the stream."""


def encode(header: dict[str, Any], payload: bytes | bytearray | memoryview = b"") -> bytes:
    """One frame as bytes. `header` must hold `kind` and plain JSON values."""
    head = _encode(header).encode("ascii")
    if not payload:
        return PREFIX.pack(len(head)) + head
    return b"".join((PREFIX.pack(len(head) + 1 + len(payload)), head, b"\n", payload))


def decode(body: bytes | bytearray) -> tuple[dict[str, Any], bytes]:
    """A body without its length prefix → (header, payload).

    Raises:
        WireError: the header is too long, no JSON object, or has no `kind` string.

    Safety: bounded work on hostile bytes. The header is at most `MAX_HEADER_BYTES`; deeper nesting than the
    parser's own bound is a WireError, not a crash; NaN and Infinity are refused.
    """
    cut = body.find(b"\n", 0, MAX_HEADER_BYTES + 1)
    if cut < 0:
        if len(body) > MAX_HEADER_BYTES:
            raise WireError(f"no header within {MAX_HEADER_BYTES} bytes")
        head, payload = bytes(body), b""
    else:
        head, payload = bytes(body[:cut]), bytes(memoryview(body)[cut + 1 :])
    try:
        header = _decode(head.decode("ascii"))
    except (ValueError, RecursionError) as error:
        raise WireError("the header is not JSON") from error
    if type(header) is not dict or type(header.get("kind")) is not str:
        raise WireError("the header is no object with a `kind`")
    return header, payload


class Splitter:
    """Cuts a byte stream into bodies, in linear time and with a cap that holds before a byte is stored beyond it.

    `feed` returns the bodies that became complete. A length above `max_bytes` raises at once. `appetite_bytes` is how
    much to ask the stream for next.
    """

    __slots__ = ("_buffer", "_need", "max_bytes")

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._buffer = bytearray()
        self._need = -1

    @property
    def appetite_bytes(self) -> int:
        """A little while frames are short, much while a long one is on its way."""
        return _FEAST_BYTES if self._need > _BITE_BYTES else _BITE_BYTES

    @property
    def held_bytes(self) -> int:
        """Bytes held of a frame that is not complete yet."""
        return len(self._buffer)

    def feed(self, data: bytes) -> list[bytes]:
        """Take what was received; return complete bodies in order.

        Raises:
            WireError: a frame says that it is longer than `max_bytes` (code `limit.frame` for the host).
        """
        buffer = self._buffer
        buffer += data
        out: list[bytes] = []
        start = 0
        while True:
            have = len(buffer) - start
            if self._need < 0:
                if have < 4:
                    break
                self._need = int.from_bytes(buffer[start : start + 4], "big")
                start += 4
                have -= 4
                if self._need > self.max_bytes:
                    raise WireError(f"a frame of {self._need} bytes, {self.max_bytes} are allowed")
            if have < self._need:
                break
            out.append(bytes(memoryview(buffer)[start : start + self._need]))
            start += self._need
            self._need = -1
        if start:
            del buffer[:start]
        return out
