"""Ids: server, tool, session, run; how they are printed and parsed back.

A tool id is `server:tool@digest`. Server and tool are the raw names (whatever a config file or a server says), with
every character that is not a letter, digit, `_`, `-` or `.` percent-encoded, so that the two separators are
unambiguous and printing is one-to-one. The digest is the first 12 hexadecimal digits of the semantic digest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NewType
from urllib.parse import quote, unquote

SessionId = NewType("SessionId", str)
RunId = NewType("RunId", str)

DIGEST_LENGTH = 12  # chosen: 48 bits; a catalog has thousands of tools, not millions


@dataclass(frozen=True, slots=True, order=True)
class ToolId:
    """The identity of one tool definition. Policy and journal use (server, name); drift uses the digest."""

    server: str
    name: str
    digest: str

    def __str__(self) -> str:
        return f"{_quote(self.server)}:{_quote(self.name)}@{self.digest}"

    @classmethod
    def parse(cls, text: str) -> ToolId:
        """Read back what `str` printed.

        Raises:
            ValueError: the text is no tool id.
        """
        server, colon, rest = text.partition(":")
        name, at, digest = rest.rpartition("@")
        if not (colon and at and server and name and digest):
            raise ValueError(f"no tool id: {text[:120]!r}")
        return cls(unquote(server, errors="surrogatepass"), unquote(name, errors="surrogatepass"), digest)


def _quote(name: str) -> str:
    return quote(name, safe="", errors="surrogatepass")
