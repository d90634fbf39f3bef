"""What passes between a transport's filter and whoever made a request: tickets, kept results, faults, noise.

Enters: nothing. Leaves: plain values. A `Ticket` belongs to one request of ours; a server never sees it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from codemode.jsonvalue import Json

_SAMPLES = 5
_SAMPLE_LENGTH = 160
_KEPT_LENGTH = 4_096  # chosen: longer than what is shown, so that a secret is masked whole before the line is cut

RequestId: TypeAlias = int | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """What a call or a resource gave, undecoded. `content` is the JSON array of blocks, `structured` any JSON value."""

    is_error: bool = False
    content: bytes = b"[]"
    structured: bytes | None = None
    meta: bytes = b"{}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of a listing: the definitions as they came, decoded but unchecked.

    `ttl_s`: how long the server says it holds, 0 when it does not say.
    """

    tools: tuple[Json, ...] = ()
    next_cursor: str = ""
    size_bytes: int = 0
    ttl_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What went wrong below JSON-RPC, in our own words. `may_have_happened`: the server may have acted."""

    code: str
    message: str
    may_have_happened: bool = True


@dataclass(slots=True, eq=False)
class Ticket:
    """One request of ours: whether it went out, and what came back for it.

    `modes`: what the server may ask the person for meanwhile ("form", "url").
    """

    number: int
    modes: frozenset[str] = frozenset()
    is_sent: bool = False
    is_abandoned: bool = False
    kept: Payload | Page | None = None
    fault: Fault | None = None


@dataclass(slots=True)
class Noise:
    """Lines of a server that are no message: how many, and the first few."""

    lines: int = 0
    _kept: list[str] = field(default_factory=list)

    def samples(self, clean: Callable[[str], str] = str) -> tuple[str, ...]:
        """The first few lines that are not blank, printable, cleaned and then cut."""
        return tuple(clean(text)[:_SAMPLE_LENGTH] for text in self._kept)

    def add(self, line: bytes) -> None:
        """Count one line and keep the beginning of the first few that are not blank."""
        self.lines += 1
        if len(self._kept) < _SAMPLES and line.strip():
            text = line[:_KEPT_LENGTH].decode("utf-8", "replace")
            self._kept.append("".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text))
