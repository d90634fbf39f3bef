"""The address that a server wants a person to open: taken only when everybody reads it the same way.

Enters: a URL as a server sent it. Leaves: the URL unchanged, with its host, or a `LinkError` with the reason in one
line. Nothing here, nor anywhere else in this program, fetches it.

Safety: the URL is a server's. What browsers and people read differently is refused: names before an `@`, backslashes,
characters beyond ASCII, addresses in brackets.
Source: MCP specification 2025-11-25, elicitation, URL mode; WHATWG URL standard.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

MAX_URL_CHARS: Final = 2_048  # chosen: what every browser takes
_URL: Final = re.compile(
    r"https://(?P<host>[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)(?P<port>:\d{1,5})?(?P<rest>[/?#].*)?", re.I
)


class LinkError(ValueError):
    """An address that is not passed on; the text is one line and quotes nothing of it."""


@dataclass(frozen=True, slots=True)
class Link:
    """An https address, and its host with the port when there is one."""

    url: str
    host: str


def read_link(url: str) -> Link:
    """The address of a server's question.

    Raises:
        LinkError: it is no plain https address.
    """
    if len(url) > MAX_URL_CHARS:
        raise LinkError(f"its address has {len(url)} characters; {MAX_URL_CHARS} are allowed")
    if not url.isascii() or not url.isprintable() or any(char in url for char in ' \\"<>`'):
        raise LinkError("its address has characters that no address has")
    found = _URL.fullmatch(url)
    if found is None:
        raise LinkError("its address is no plain `https://` address")
    return Link(url, f"{found['host'].lower()}{found['port'] or ''}")
