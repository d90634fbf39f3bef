"""The report as values: what was found, and the problems drawn from it.

Enters: nothing; the other modules of this package fill these in. Leaves: a `Report`. Every text of a server in here is
bounded, printable and cleaned of the values of its entry.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from codemode.runs.isolation import Isolation

ServerState = Literal[
    "ready", "ended", "failed", "sign_in", "starting", "not_started", "disabled", "listing_only"
]  # "ended": came up, listed, and was gone when the report was made; "not_started": this program would start itself
Era = Literal["handshake", "modern", ""]
Auth = Literal["sent", "refused", "none", ""]
RuleState = Literal["dead", "hidden", "unjudged"]
About = Literal["isolation", "state", "server", "rule", "configuration"]
Weight = Literal["blocking", "failing", "advice"]

USABLE: tuple[ServerState, ...] = ("ready", "listing_only", "disabled")
"""States that need nobody's attention."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Facts about this machine and this process.

    Attributes:
        kernel: name and release; architecture: as in `uname -m`.
        user: "root" or "plain"; uid: the effective user id.
        cores: processors this process may use.
        memory_bytes: of the machine; runs_memory_bytes: what all runs together may use.
        versions: of this package and of the libraries that matter.
    """

    kernel: str
    architecture: str
    python: str
    user: Literal["root", "plain"]
    uid: int
    cores: int
    memory_bytes: int
    runs_memory_bytes: int
    versions: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A tool that is held back, with the reason."""

    tool: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """One server, started for this report.

    Attributes:
        reason: why it is in this state, for all but "ready"; code: the error code behind it, or "".
        start: how it is started, without arguments, path and query: they may hold a secret.
        protocol: negotiated version; era: "handshake" (up to 2025-11-25) or "modern" (from 2026-07-28 on).
        tools: that can be used; listed: before patterns and quarantine.
        passed_over: what it offers beside tools and is not used, as in "prompts".
        may_ask: what it asks the person at the client is passed on (`elicitation` of its entry).
        auth: "sent" (the entry has a credential), "refused" (a sign-in is asked for), "none"; "" when unknown.
        start_ms: the last successful start, listing included; list_ms: the listing alone; starts: how many.
        stderr: the last lines, when it is not usable.
        todo: what to do, in one line, when something is wrong.
        known: how the cached listing, which fronts show first, differs from what is listed now; "" when it does not.
    """

    server: str
    state: ServerState
    reason: str = ""
    code: str = ""
    is_required: bool = False
    may_ask: bool = True
    start: str = ""
    protocol: str = ""
    era: Era = ""
    tools: int = 0
    listed: int = 0
    held: tuple[Held, ...] = ()
    passed_over: tuple[str, ...] = ()
    auth: Auth = ""
    is_nested: bool = False
    noise_lines: int = 0
    noise_samples: tuple[str, ...] = ()
    start_ms: int = 0
    list_ms: int = 0
    starts: int = 0
    stderr: tuple[str, ...] = ()
    todo: str = ""
    known: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A limit in force. `source`: "default", or the place where it is written."""

    name: str
    value: float
    source: str = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleFinding:
    """A pattern of the configuration that decides nothing.

    Attributes:
        pattern: as it is written; kind: what it would do, as in "deny", "effect read", "disabledTools".
        state: "dead" (matches nothing), "hidden" (others decide about all it matches), "unjudged" (the tools of a
            server it may speak about are not known).
        why: in one line; source: where it is written.
    """

    pattern: str
    kind: str
    state: RuleState
    why: str
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something that needs attention.

    Attributes:
        about, name: what it concerns: a layer, a server, a rule's pattern, a key.
        weight: "blocking" (nothing, or no front, works), "failing" (one server does not work), "advice".
        code: a stable error code where there is one.
        todo: what to change.
    """

    about: About
    weight: Weight
    message: str
    name: str = ""
    code: str = ""
    todo: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything that was found."""

    isolation: Isolation
    machine: Machine
    servers: tuple[ServerFacts, ...] = ()
    settings: tuple[Setting, ...] = ()
    rules: tuple[RuleFinding, ...] = ()
    problems: tuple[Problem, ...] = ()
    files: tuple[str, ...] = ()
    state_folder: str = field(default="")
