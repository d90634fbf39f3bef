"""What the catalog is made of: frozen values for one listed tool, one server's listing, and the whole.

Enters: nothing. Leaves: `ToolSpec`, `Quarantined`, `Listing`, `Tool`, `ServerEntry`. Pure data; building and naming
live in `build.py`, `names.py`, `risk.py` and `snapshot.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from codemode.ids import DIGEST_LENGTH, ToolId
from codemode.jsonvalue import JsonObject

Effect = Literal["read", "write", "destructive"]
EffectSource = Literal["rule", "hint", "name", "default"]
ServerState = Literal["ready", "cached", "starting", "failed", "sign_in", "stopped", "listing_only"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotations:
    """A server's claims about a tool (hints, never trusted by policy alone). None = not said.

    Source: MCP specification, ToolAnnotations.
    """

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """One tool as a server listed it, normalised.

    Attributes:
        server: the server's id in the user's config, raw.
        name: the tool's raw name; this goes over the wire.
        title, description: server text made safe to show (bounded, control characters stripped).
        input_schema: JSON Schema of an object, repaired where the listing was incomplete.
        output_schema: JSON Schema of `structuredContent`, or None.
        semantic_digest: over name, both schemas without texts and defaults: a change here is drift.
        cosmetic_digest: over everything that was listed.
        repairs: one line for each thing that had to be repaired.
    """

    server: str
    name: str
    title: str = ""
    description: str = ""
    input_schema: JsonObject
    output_schema: JsonObject | None = None
    annotations: Annotations = field(default_factory=Annotations)
    semantic_digest: str
    cosmetic_digest: str
    repairs: tuple[str, ...] = ()

    @property
    def id(self) -> ToolId:
        """The tool's id, as it is printed in receipts and carried by bindings."""
        return ToolId(self.server, self.name, self.semantic_digest[:DIGEST_LENGTH])


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantined:
    """A listed tool that is held back, with the reason in one line. `tool` may be "" when it had no usable name."""

    server: str
    tool: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What one server listed (or last listed), or why there is nothing.

    Attributes:
        state: "ready" live; "cached" last known listing, server not up now; "listing_only" from a dump.
        reason: one line for the states that need one.
        protocol: negotiated protocol version, "" when unknown.
    """

    server: str
    state: ServerState
    reason: str = ""
    protocol: str = ""
    instructions: str = ""
    description: str = ""
    tools: tuple[ToolSpec, ...] = ()
    quarantined: tuple[Quarantined, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A usable tool with its place in the Python module tree and its effect.

    `path` is `tools.<module>.<function>`; `short` is `<module>.<function>` as printed to the model.
    """

    spec: ToolSpec
    module: str
    function: str
    effect: Effect
    effect_source: EffectSource

    @property
    def path(self) -> str:
        """Where the binding lives."""
        return f"tools.{self.module}.{self.function}"

    @property
    def short(self) -> str:
        """The path without the root."""
        return f"{self.module}.{self.function}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerEntry:
    """One server in a catalog: its module name, its listing's facts and its tools by function name, sorted."""

    id: str
    module: str
    state: ServerState
    reason: str = ""
    protocol: str = ""
    instructions: str = ""
    description: str = ""
    tools: tuple[Tool, ...] = ()
    quarantined: tuple[Quarantined, ...] = ()
