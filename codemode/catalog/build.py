"""What a server listed → a `Listing`: each tool repaired or quarantined by itself, a good one never lost.

Enters: the entries of `tools/list` as a JSON parser left them, and what is known of the server. Leaves: specs in the
order listed, and the held-back ones with a reason. Never raises for anything a server can send.

Source: MCP specification 2025-06-18, `tools/list`; what 70 public servers and hostile lists really hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from codemode.catalog import bounds
from codemode.catalog.digests import cosmetic_digest, semantic_digest
from codemode.catalog.schemas import SchemaError, repair_input, repair_schema
from codemode.catalog.spec import Annotations, Listing, Quarantined, ServerState, ToolSpec
from codemode.catalog.text import clean_line, clean_text, has_hidden
from codemode.jsonvalue import JsonObject

MAX_DESCRIPTION_CHARS = 8_000  # chosen: kept whole for help(); what is shown is cut again, by budget
MAX_TITLE_CHARS = 200
MAX_INSTRUCTIONS_CHARS = 20_000
_MAX_REASON_CHARS = 300
_SHOWN_NAME_CHARS = 120


def build_listing(
    server: str,
    raw_tools: Sequence[object],
    *,
    state: ServerState,
    reason: str = "",
    protocol: str = "",
    instructions: str = "",
    description: str = "",
    allowed: Sequence[str] = (),
    disabled: Sequence[str] = (),
) -> Listing:
    """The listing of one server.

    `allowed` and `disabled` are glob patterns on raw tool names; an empty `allowed` allows all; `disabled` wins. What
    they leave out is neither listed nor quarantined.

    Safety: every argument but `server`, `state`, `allowed` and `disabled` may be a hostile server's.
    """
    specs: dict[str, ToolSpec] = {}
    quarantined: list[Quarantined] = []
    for raw in raw_tools[: bounds.MAX_TOOLS]:
        name = raw.get("name") if isinstance(raw, dict) else None
        if isinstance(name, str) and not is_allowed(name, allowed, disabled):
            continue
        built = _build_one(server, raw)
        if isinstance(built, Quarantined):
            quarantined.append(built)
        elif built.name not in specs:
            specs[built.name] = built
        elif specs[built.name].cosmetic_digest == built.cosmetic_digest:
            first = specs[built.name]
            if _TWICE not in first.repairs:
                specs[built.name] = replace(first, repairs=(*first.repairs, _TWICE))
        else:
            quarantined.append(
                Quarantined(server=server, tool=built.name, reason="a tool of this name was listed before it")
            )
    if len(raw_tools) > bounds.MAX_TOOLS:
        left_out = len(raw_tools) - bounds.MAX_TOOLS
        text = f"{left_out} tools after the first {bounds.MAX_TOOLS} were left out"
        quarantined.append(Quarantined(server=server, tool="", reason=text))
    return Listing(
        server=server,
        state=state,
        reason=clean_line(reason, _MAX_REASON_CHARS),
        protocol=clean_line(protocol, 40),
        instructions=clean_text(instructions, MAX_INSTRUCTIONS_CHARS),
        description=clean_text(description, MAX_DESCRIPTION_CHARS),
        tools=tuple(specs.values()),
        quarantined=tuple(quarantined),
    )


_TWICE = "$: listed more than once, each time the same"


def is_allowed(name: str, allowed: Sequence[str], disabled: Sequence[str]) -> bool:
    """Whether a raw tool name passes the two lists of glob patterns of its server's entry."""
    if any(fnmatchcase(name, pattern) for pattern in disabled):
        return False
    return not allowed or any(fnmatchcase(name, pattern) for pattern in allowed)


def _build_one(server: str, raw: object) -> ToolSpec | Quarantined:
    if not isinstance(raw, dict):
        return Quarantined(server=server, tool="", reason=f"the list holds {bounds.kind_of(raw)}, not a tool")
    name = raw.get("name")
    if reason := bounds.name_fault(name):
        return _held(server, name, reason)
    assert isinstance(name, str)
    if has_hidden(name):
        return _held(server, name, "its name holds a control or an invisible character")
    if reason := bounds.fault(raw.get("inputSchema")):
        return _held(server, name, f"its inputSchema has {reason}")
    notes: list[str] = []
    try:
        input_schema, repairs = repair_input(raw.get("inputSchema"))
        notes.extend(repairs)
        output_schema = _output(raw.get("outputSchema"), notes)
    except SchemaError as error:
        return _held(server, name, str(error))
    annotations, title = _annotations(raw.get("annotations"), notes)
    return ToolSpec(
        server=server,
        name=name,
        title=_text(raw.get("title"), "title", MAX_TITLE_CHARS, notes) or title,
        description=_text(raw.get("description"), "description", MAX_DESCRIPTION_CHARS, notes),
        input_schema=input_schema,
        output_schema=output_schema,
        annotations=annotations,
        semantic_digest=semantic_digest(name, input_schema, output_schema, annotations),
        cosmetic_digest=cosmetic_digest(_bounded_entries(raw)),
        repairs=tuple(notes),
    )


def _output(schema: object, notes: list[str]) -> JsonObject | None:
    """The output schema, or None with a note: a tool can be called without one.

    Raises:
        SchemaError: it refers to something outside of itself. That is no slip but a request to fetch.
    """
    if schema is None:
        return None
    if not isinstance(schema, dict):
        notes.append(f"outputSchema: {bounds.kind_of(schema)} came, an object was expected; it was dropped")
        return None
    if reason := bounds.fault(schema):
        notes.append(f"outputSchema: dropped, it has {reason}")
        return None
    try:
        repaired, repairs = repair_schema(schema)
    except SchemaError as error:
        if "only `#…` is followed" in str(error):
            raise
        notes.append(f"outputSchema: dropped, {error}")
        return None
    notes.extend(f"outputSchema {line}" for line in repairs)
    return repaired


def _annotations(value: object, notes: list[str]) -> tuple[Annotations, str]:
    if not isinstance(value, dict):
        if value is not None:
            notes.append(f"annotations: {bounds.kind_of(value)} came, an object was expected; it was dropped")
        return Annotations(), ""
    hints: dict[str, bool | None] = {}
    for field, key in _HINTS.items():
        hint = value.get(key)
        if hint is not None and not isinstance(hint, bool):
            notes.append(f"annotations.{key}: true or false was expected, {bounds.kind_of(hint)} came; it was dropped")
        hints[field] = hint if isinstance(hint, bool) else None
    return Annotations(**hints), _text(value.get("title"), "annotations.title", MAX_TITLE_CHARS, notes)


_HINTS = {
    "read_only": "readOnlyHint",
    "destructive": "destructiveHint",
    "idempotent": "idempotentHint",
    "open_world": "openWorldHint",
}


def _text(value: object, what: str, max_chars: int, notes: list[str]) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        notes.append(f"{what}: {bounds.kind_of(value)} came, a string was expected; it was dropped")
        return ""
    return clean_line(value, max_chars) if max_chars <= MAX_TITLE_CHARS else clean_text(value, max_chars)


def _bounded_entries(raw: Mapping[str, object]) -> dict[str, object]:
    """The listed definition for its digest; an entry beyond the limits counts as its size only."""
    kept: dict[str, object] = {}
    for key, value in raw.items():
        # The input schema has passed the limits before; texts are hashed whole.
        is_bounded = value is None or isinstance(value, str) or key == "inputSchema"
        kept[str(key)] = value if is_bounded or not bounds.fault(value) else "too large"
    return kept


def _held(server: str, name: object, reason: str) -> Quarantined:
    shown = clean_line(name, _SHOWN_NAME_CHARS) if isinstance(name, str) else ""
    return Quarantined(server=server, tool=shown, reason=clean_line(reason, _MAX_REASON_CHARS))
