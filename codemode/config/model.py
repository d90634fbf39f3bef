"""Every setting there is: frozen values, units in the names, each default with its reason.

Enters: nothing; `load.py` builds these from files. Leaves: `Config`, read by the composition root and the CLI.
Must never hold an expanded secret: `${VAR}` stays text here, `codemode/upstream/credentials.py` expands it at connect.
The limits are plain numbers: this package does not know the sandbox.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

MIB = 1 << 20

Transport = Literal["stdio", "http"]
Effect = Literal["read", "write", "destructive"]
Decision = Literal["allow", "ask", "deny"]
Gate = Literal["heal", "open", "strict"]
Approve = Literal["never", "ask", "all"]
Backend = Literal["process", "docker"]
Package = Literal["numpy", "pandas"]

PACKAGES: tuple[Package, ...] = ("numpy", "pandas")
"""Packages that the sandbox knows how to load before a program; the same as its own list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerConfig:
    """One server entry, as it was written.

    Attributes:
        name: the key in the file; the server's id everywhere.
        source: the file it came from, with the line, for messages.
        command, args, cwd, env: for "stdio"; `${VAR}` is still text.
        url, headers: for "http"; `${VAR}` is still text.
        headers_helper: for "http", a shell command that prints further headers as a JSON object.
        call_timeout_s: bound on one call, None = the general one.
        idle_timeout_s: bound on silence inside one call (progress counts as sound), None = the general one.
        start_timeout_s: bound on coming up, None = the general one.
        stop_unused_s: stopped after so long without a call, None = the general one.
        in_flight: calls under way at once, None = the general number.
        always_load: the server's tools are shown with their signatures from the start.
        is_required: without this server nothing starts.
        may_ask: what it asks the person at the client during a call (elicitation) is passed on.
        allowed_tools: name patterns; empty = all. disabled_tools: name patterns taken away again.
        problem: why this entry cannot be used, in one line, or "".
    """

    name: str
    source: str = ""
    transport: Transport = "stdio"
    command: str = field(default="", repr=False)
    args: tuple[str, ...] = field(default=(), repr=False)
    cwd: str = field(default="", repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers_helper: str = field(default="", repr=False)
    call_timeout_s: float | None = None
    idle_timeout_s: float | None = None
    start_timeout_s: float | None = None
    stop_unused_s: float | None = None
    in_flight: int | None = None
    always_load: bool = False
    is_disabled: bool = False
    is_required: bool = False
    may_ask: bool = True
    allowed_tools: tuple[str, ...] = ()
    disabled_tools: tuple[str, ...] = ()
    description: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSettings:
    """Bounds on one run and on what comes back. `RANGES` has the accepted ranges, both ends included."""

    wall_s: float = 600.0  # chosen: long chains of slow tools fit; a person gives up earlier
    cpu_s: float = 60.0  # chosen: programs join and count, they do not train models
    memory_bytes: int = 512 * MIB  # chosen: a 100,000 row result decodes into about 200 MiB of objects
    threads: int = 64  # chosen: twice `in_flight`, so a thread pool over tools never starves
    calls: int = 10_000  # chosen: ends a runaway loop, lets a bulk job pass
    writes: int = 200  # chosen: a loop of writes gone wrong stays repairable by hand
    in_flight: int = 64  # chosen: fifty calls made at once take one round; servers have caps of their own
    output_tokens: int = 6_000  # chosen: about one full page for the model, ARCHITECTURE 4.3
    output_bytes: int = 64 * MIB  # chosen: equal to one frame
    frame_bytes: int = 64 * MIB  # chosen: the largest single result that reaches a program
    queued_bytes: int = 64 * MIB  # chosen: equal to one frame
    result_bytes: int = 256 * MIB  # chosen: one line of a server; longer lines are skipped while they arrive
    nesting: int = 64  # chosen: JSON depth of call arguments; the deepest schema of 1,858 seen is 9
    source_bytes: int = 256 * 1024  # chosen: far above any program a model writes
    workspace_bytes: int = 256 * MIB  # chosen: files of one session; 0 = programs have no files
    all_workspaces_bytes: int = 4096 * MIB  # chosen: sixteen full ones; files of all sessions, ended ones included
    store_bytes: int = 16 * MIB  # chosen: values that one session's `store` keeps in memory; tables go into files
    memory_share: float = 0.5  # chosen: all runs together may use this share of the machine's memory


IN_FLIGHT = (1, 4_096)
"""Accepted range of calls at once, of a run and of a server."""

RANGES: Mapping[str, tuple[float, float]] = {
    "wall_s": (0.05, 86_400.0),
    "cpu_s": (0.05, 86_400.0),
    "memory_bytes": (32 * MIB, 1 << 40),
    "threads": (1, 4_096),
    "calls": (1, 10_000_000),
    "writes": (0, 10_000_000),
    "in_flight": IN_FLIGHT,
    "output_tokens": (100, 1_000_000),
    "output_bytes": (1_024, 1 << 34),
    "frame_bytes": (64 * 1024, 1 << 30),
    "queued_bytes": (64 * 1024, 1 << 31),
    "result_bytes": (64 * 1024, 1 << 31),
    "nesting": (4, 512),
    "source_bytes": (1_024, 16 * MIB),
    "workspace_bytes": (0, 1 << 40),
    "all_workspaces_bytes": (MIB, 1 << 44),
    "store_bytes": (0, 1 << 30),
    "memory_share": (0.05, 1.0),
}
"""Accepted range of each limit, both ends included; those shared with `sandbox/spec.py` are the same there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSettings:
    """One policy rule. `tool` is a pattern over `server.tool` with the raw names, as in `github.*`."""

    tool: str
    decision: Decision
    reason: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectSettings:
    """What tools that match `tool` do, in the user's own judgement; it wins over every hint of a server."""

    tool: str
    effect: Effect
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySettings:
    """Rules in file order, effects in file order, and servers whose own hints count for nothing, with their place."""

    rules: tuple[RuleSettings, ...] = ()
    effects: tuple[EffectSettings, ...] = ()
    untrusted_servers: tuple[str, ...] = ()
    untrusted_source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSearchSettings:
    """When signatures stand in the first description instead of behind a search.

    Attributes:
        enabled: "auto" = by size; True = always behind the search; False = always inline.
        auto_percent: with "auto": inline up to this share of `context_window`; 0 = the built-in sizes.
        context_window: tokens of the client's model.
    """

    enabled: bool | Literal["auto"] = "auto"
    auto_percent: float = 0.0
    context_window: int = 200_000  # chosen: the common size of the models that call us


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Everything a host is opened with.

    Attributes:
        servers: in file order, disabled and unusable ones included.
        gate: "heal" refuses an unseen function once with its signature; "open" lets it pass; "strict" needs a search.
        approve: what happens to calls that need approval: "never" = refused, "ask" = ask the person, "all" = allowed.
        start_timeout_s: bound on one server's start.
        call_timeout_s: bound on one call.
        idle_timeout_s: bound on silence inside one call; 0 = none.
        stop_unused_s: a server without a call for so long is stopped, and comes back on the next one; 0 = never.
        server_in_flight: calls under way on one server at once, of all runs together; more wait.
        inherit_env: names of further variables of ours that stdio servers receive (a proxy, a CA bundle).
        state_dir, cache_dir: "" = `CODEMODE_STATE_DIR`, else the XDG folders.
        pool: guests kept waiting, ready for a run.
        backend: what isolates a program.
        packages: what programs may import besides the standard library; "pandas" brings numpy. Only the process backend
            has them. With one of them the language layer stops nobody any more; the kernel walls are the same.
        warnings: one line each: unknown keys, values that contradict each other.
        files: the files this came from.
        places: where each setting of ours is written, as in `limits.wall_s` → `mcp.json, line 7`; one that is not
            there has its default.
    """

    servers: tuple[ServerConfig, ...] = ()
    limits: LimitSettings = field(default_factory=LimitSettings)
    policy: PolicySettings = field(default_factory=PolicySettings)
    tool_search: ToolSearchSettings = field(default_factory=ToolSearchSettings)
    gate: Gate = "heal"
    approve: Approve = "ask"
    start_timeout_s: float = 60.0  # measured: 9-24 s for Python servers on a busy machine
    call_timeout_s: float = 120.0  # chosen: slow queries pass, a hung server costs two minutes once
    idle_timeout_s: float = 0.0  # chosen: off, because most servers send no progress
    stop_unused_s: float = 0.0  # chosen: off, because servers hold state of their own (a browser, a transaction)
    server_in_flight: int = 64  # chosen: one run's `in_flight`, so that one program never waits for itself
    inherit_env: tuple[str, ...] = ()
    state_dir: str = ""
    cache_dir: str = ""
    pool: int = 2  # chosen: one in use, one ready
    backend: Backend = "process"
    packages: tuple[Package, ...] = ()  # chosen: none; they cost a second at the start and 50 MiB
    warnings: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    places: Mapping[str, str] = field(default_factory=dict)

    def server(self, name: str) -> ServerConfig | None:
        """The entry with this name, or None."""
        return next((entry for entry in self.servers if entry.name == name), None)
