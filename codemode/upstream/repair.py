"""Repairs single lines of servers so that one bad character costs nothing, and finds the id of a hopeless one.

Enters and leaves: bytes of one JSON-RPC message. Linear in the length of the line. It never changes the meaning of a
line that is valid JSON in valid UTF-8.
"""

from __future__ import annotations

import re

# A run of backslashes of even length is text; `\uD8..` after it is live. The look-behind makes each run be tried once,
# so the search stays linear. A pair (high, low) is one character and stays.
_SURROGATE = re.compile(
    rb"(?<!\\)((?:\\\\)*)(?:(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
_BOM = b"\xef\xbb\xbf"
_EDGE = 512  # bytes looked at on each end of a line for its id
_ID = rb'"id"\s*:\s*(-?\d{1,18}|"(?:[^"\\]|\\.){0,128}")'
_ID_FIRST = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _ID + rb"\s*[,}]")
_ID_LAST = re.compile(  # after the object of the result, or after the version
    rb'(?:\}\s*,\s*|"jsonrpc"\s*:\s*"2\.0"\s*,\s*)' + _ID + rb'(?:\s*,\s*"jsonrpc"\s*:\s*"2\.0")?\s*\}\s*\Z'
)


def as_utf8(line: bytes) -> bytes:
    """The line without a byte order mark, and in valid UTF-8: what cannot be decoded becomes U+FFFD."""
    if line.startswith(_BOM):
        line = line[len(_BOM) :]
    if not line.isascii():
        try:
            line.decode()
        except UnicodeDecodeError:
            return line.decode("utf-8", "replace").encode()
    return line


def without_lone_surrogates(line: bytes) -> bytes:
    """The JSON text with each escape of half a character replaced by the escape of U+FFFD."""
    if b"\\ud" in line or b"\\uD" in line:
        return _SURROGATE.sub(_keep_pairs, line)
    return line


def _keep_pairs(match: re.Match[bytes]) -> bytes:
    return match.group() if match.group(2) else match.group(1) + b"\\ufffd"


def find_id(head: bytes, tail: bytes) -> int | str | None:
    """The JSON-RPC id of a message that cannot be parsed: first key, or last key, of the outer object.

    Only these two places are unambiguous without parsing; servers write the id in one of them.
    """
    found = _ID_FIRST.match(head[:_EDGE]) or _ID_LAST.search(tail[-_EDGE:])
    if found is None:
        return None
    text = found.group(1)
    if text.startswith(b'"'):
        return text[1:-1].decode("utf-8", "replace")
    return int(text)
