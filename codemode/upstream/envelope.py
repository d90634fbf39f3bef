"""Splits a JSON-RPC message into its parts without decoding what is inside, and what is made of a part.

Enters: bytes of one message. Leaves: raw slices, ids in one form, reduced definitions. msgspec checks the whole text
while it skips: bad JSON, NaN and half characters are refused here, whatever part they are in.
"""

from __future__ import annotations

import math

import msgspec
from msgspec import UNSET, Raw, UnsetType

from codemode.jsonvalue import Json, JsonObject, is_object
from codemode.upstream.exchange import Fault, RequestId


class Envelope(msgspec.Struct):
    """The outer object; any key may be missing, any value may be of the wrong type."""

    jsonrpc: Raw | UnsetType = UNSET
    id: Raw | UnsetType = UNSET
    method: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


class CallResult(msgspec.Struct):
    """The result of `tools/call` or `resources/read`."""

    result_type: Raw | UnsetType = msgspec.field(default=UNSET, name="resultType")
    is_error: Raw | UnsetType = msgspec.field(default=UNSET, name="isError")
    content: Raw | UnsetType = UNSET
    contents: Raw | UnsetType = UNSET
    structured: Raw | UnsetType = msgspec.field(default=UNSET, name="structuredContent")
    meta: Raw | UnsetType = msgspec.field(default=UNSET, name="_meta")


class PageResult(msgspec.Struct):
    """The result of `tools/list`."""

    tools: list[Raw] = msgspec.field(default_factory=list)
    next_cursor: Raw | UnsetType = msgspec.field(default=UNSET, name="nextCursor")
    ttl_ms: Raw | UnsetType = msgspec.field(default=UNSET, name="ttlMs")


UNREADABLE = (msgspec.MsgspecError, RecursionError, UnicodeDecodeError)
"""What decoding bytes of a server may raise."""

decode_envelope = msgspec.json.Decoder(Envelope).decode
decode_result = msgspec.json.Decoder(CallResult).decode
decode_page = msgspec.json.Decoder(PageResult).decode
decode_batch = msgspec.json.Decoder(list[Raw]).decode
_decode_id = msgspec.json.Decoder(int | float | str | None).decode


def seconds_of(raw: Raw | UnsetType) -> float:
    """A count of milliseconds as seconds; 0 when there is none that makes sense."""
    try:
        value = msgspec.json.decode(raw, type=float) if isinstance(raw, Raw) else 0.0
    except UNREADABLE:
        return 0.0
    return value / 1000 if 0.0 < value < math.inf else 0.0


def decode_tool(raw: Raw) -> Json:
    """One listed definition; a text that says why where it cannot be decoded (a number out of range, say)."""
    try:
        value: Json = msgspec.json.decode(raw)
    except UNREADABLE as error:
        return not_json(error).message
    return value


def reduced(tool: JsonObject, raw: Raw) -> dict[str, object]:
    """What the session needs of a tool: its name, and header annotations where there are any (2026-07-28 over HTTP)."""
    schema: dict[str, object] = {"type": "object"}
    if b"x-mcp-header" in bytes(raw):
        given = tool.get("inputSchema")
        properties = given.get("properties") if is_object(given) else None
        if is_object(properties):
            schema["properties"] = {name: item for name, item in properties.items() if is_object(item)}
    return {"name": tool["name"], "inputSchema": schema}


def not_json(error: Exception) -> Fault:
    """The fault of an answer that could not be decoded, without its text."""
    reason = "nested too deep" if isinstance(error, RecursionError) else str(error).removeprefix("JSON is malformed: ")
    return Fault(code="upstream.protocol", message=f"the answer is not valid JSON: {reason[:120]}")


def wire_id(raw: Raw | UnsetType) -> RequestId | None:
    """The id of a message, None when it has none that can be used."""
    if not isinstance(raw, Raw):
        return None
    try:
        return plain_id(_decode_id(raw))
    except UNREADABLE:
        return None


def plain_id(value: object) -> RequestId | None:
    """One form for 7, 7.0 and "7": servers echo ids in all three."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str):
        return int(value) if value.isascii() and value.isdigit() and len(value) < 18 else value
    return value if isinstance(value, int) else None
