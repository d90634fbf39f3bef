"""Shows what would otherwise act or hide: control characters, direction marks and tags become escapes.

Enters: text of a program, a tool or a server. Leaves: the same text, in which nothing moves a cursor, colours a
terminal, turns the reading direction or stays unseen. Line breaks and tabs stay, and so do joiners that scripts need.
Source: ECMA-48 (C0, C1), UAX #9 (direction), CVE-2021-42574.
"""

from __future__ import annotations

import re
from typing import Final

_HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2064\u2066-\u2069"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff]"
)


def visible(text: str) -> str:
    """The text with every such character as `\\x1b`, `\\u202e` or `\\U000e0041`; a lone carriage return is one too."""
    text = text.replace("\r\n", "\n")
    return _HIDDEN.sub(_escaped, text) if not text.isprintable() else text


def _escaped(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
