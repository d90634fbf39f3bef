"""What a call gives back to the broker, and the errors a call ends with.

Enters: kept payloads and exceptions of the SDK. Leaves: `RawResult`, or an `UpstreamError` whose `details["outcome"]`
is "not_sent" (nothing happened), "answered" (the server refused or failed it) or "unknown" (it may have happened).
Text of a server is quoted, bounded and free of control characters; known secrets are masked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from codemode.errors import UpstreamError
from codemode.jsonvalue import JsonObject, as_object
from codemode.upstream.credentials import Redactor
from codemode.upstream.exchange import Payload

Outcome = Literal["not_sent", "answered", "unknown"]

_TEXT_LIMIT = 20_000  # chosen: characters of an error's text; a traceback fits
_DECODED_BYTES = 1 << 20  # chosen: a larger error is shown by its beginning only
_QUOTE_LIMIT = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class RawResult:
    """The answer of a tool, undecoded.

    Attributes:
        is_error: the tool reported a failure of its own; `text` says what.
        structured: JSON bytes of `structuredContent`, None when there is none. Numbers keep every digit.
        content: JSON bytes of the array of content blocks (of `contents` for a resource).
        text: for an error the joined text blocks, bounded; else "".
        meta: the result's `_meta`, decoded when it is small.
    """

    is_error: bool = False
    structured: bytes | None = None
    content: bytes = b"[]"
    text: str = ""
    meta: JsonObject = field(default_factory=dict)


class _Block(msgspec.Struct):
    type: str = ""
    text: str = ""


def to_result(payload: Payload, redactor: Redactor) -> RawResult:
    """A kept payload as the broker gets it."""
    return RawResult(
        is_error=payload.is_error,
        structured=payload.structured,
        content=payload.content,
        text=redactor.clean(_joined(payload.content)) if payload.is_error else "",
        meta=_meta(payload.meta),
    )


def _meta(raw: bytes) -> JsonObject:
    try:
        return as_object(msgspec.json.decode(raw))
    except (msgspec.MsgspecError, RecursionError):
        return {}


def _joined(content: bytes) -> str:
    if len(content) > _DECODED_BYTES:
        return f"{content[:_QUOTE_LIMIT].decode('utf-8', 'replace')}... ({len(content)} bytes)"
    try:
        blocks = msgspec.json.decode(content, type=list[_Block])
    except (msgspec.MsgspecError, RecursionError):
        return content[:_TEXT_LIMIT].decode("utf-8", "replace")
    return "\n".join(block.text for block in blocks if block.text)[:_TEXT_LIMIT]


def quote(text: str, redactor: Redactor | None = None, *, limit: int = _QUOTE_LIMIT) -> str:
    """Foreign text as it may stand in a message of ours: one line, bounded, printable, secrets masked."""
    start = text[: limit * 16]  # white space may shrink it to what is shown; the rest is never looked at
    line = " ".join((redactor.clean(start) if redactor else start).split())
    line = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in line)
    return line if len(line) <= limit else line[: limit - 1] + "…"


def hint_for(code: str, server: str) -> str:
    """What a person can do about a fault below JSON-RPC, "" when there is nothing general to say."""
    if code == "upstream.sign_in":
        return f"renew the token in `headers` of `{server}`, or in the variable it comes from, and start again"
    if code == "upstream.protocol":
        return f"look at what `{server}` writes: its log has the last lines of stderr"
    return ""


def call_error(
    code: str,
    message: str,
    *,
    server: str,
    tool: str = "",
    outcome: Outcome,
    hint_model: str = "",
    hint_operator: str = "",
    details: Mapping[str, object] | None = None,
    retryable: bool = False,
) -> UpstreamError:
    """An `UpstreamError` with the details every caller may rely on."""
    return UpstreamError(
        message,
        code=code,
        hint_model=hint_model,
        hint_operator=hint_operator,
        details={"server": server, "tool": tool, "outcome": outcome, **(details or {})},
        retryable=retryable,
    )
