"""What goes into a run and what comes out: plain frozen values, units in their names.

Enters: nothing. Leaves: `Limits`, `RunSpec`, `Prepared*` facts and `RunResult`, used by both halves.
Must never import anything outside the standard library: the guest loads this module too.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from sandbox.errors import SpecError

MIB = 1 << 20
_FILE_HEADER_BYTES = 16 * 1024  # room for two names of 1,024 characters in a frame, each of them escaped

DialectName = Literal["restricted", "native"]
Status = Literal["ok", "error", "refused", "limit", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Hard bounds on one guest. Every field is inclusive: the bound itself is still allowed.

    Raises:
        SpecError: a field is not positive, is absurd, or contradicts another; the message names the field.
    """

    wall_s: float = 600.0  # chosen: ARCHITECTURE 4.4; includes time spent waiting for tools
    cpu_s: float = 60.0  # whole seconds are enforced by RLIMIT_CPU: rounded up
    memory_bytes: int = 512 * MIB  # private writable memory on top of the interpreter's own
    threads: int = 64
    calls: int = 10_000  # frames `call` in one run
    in_flight: int = 64  # calls being answered at once; further ones wait
    output_bytes: int = 64 * MIB  # prints and value together, counted at the host
    kept_print_bytes: int = 256 * 1024  # of the prints: the first half and the last half of this are kept
    frame_bytes: int = 64 * MIB  # one message, either way
    queued_bytes: int = 64 * MIB  # waiting towards a guest that does not read
    argument_bytes: int = 16 * MIB  # arguments of one call; more is an error of that call
    nesting: int = 64  # JSON depth of call arguments
    source_bytes: int = 256 * 1024
    modules: int = 2_000  # frames `load` in one run
    file_operations: int = 100_000  # frames `file` in one run

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            whole = item.type == "int"
            if isinstance(value, bool) or not isinstance(value, (int,) if whole else (int, float)):
                raise SpecError(
                    f"`limits.{item.name}` must be {'a whole number' if whole else 'a number'}, got {value!r}"
                )
            low, high = _RANGES[item.name]
            if not low <= value <= high:
                raise SpecError(f"`limits.{item.name}` must be between {low} and {high}, got {value!r}")
        if self.in_flight > self.calls:
            raise SpecError(f"`limits.in_flight` ({self.in_flight}) is larger than `limits.calls` ({self.calls})")
        if self.kept_print_bytes > self.output_bytes:
            raise SpecError(
                f"`limits.kept_print_bytes` ({self.kept_print_bytes}) is larger than "
                f"`limits.output_bytes` ({self.output_bytes})"
            )

    @property
    def file_bytes(self) -> int:
        """The longest file that can be read or written: it travels in one frame."""
        return self.frame_bytes - _FILE_HEADER_BYTES

    def to_wire(self) -> dict[str, float | int]:
        """The limits as a flat JSON object, for the `prepare` frame."""
        return {name: getattr(self, name) for name in _RANGES}

    def with_changes(self, **changes: float) -> Limits:
        """A copy with some fields changed, checked again."""
        return replace(self, **changes)  # type: ignore[arg-type]  # __post_init__ checks the type of every field


_RANGES: Mapping[str, tuple[float, float]] = {
    "wall_s": (0.05, 86_400.0),
    "cpu_s": (0.05, 86_400.0),
    "memory_bytes": (32 * MIB, 1 << 40),
    "threads": (1, 4_096),
    "calls": (1, 10_000_000),
    "in_flight": (1, 4_096),
    "output_bytes": (1_024, 1 << 34),
    "kept_print_bytes": (1_024, 64 * MIB),
    "frame_bytes": (64 * 1024, 1 << 30),
    "queued_bytes": (64 * 1024, 1 << 31),
    "argument_bytes": (1_024, 1 << 30),
    "nesting": (4, 512),
    "source_bytes": (1_024, 16 * MIB),
    "modules": (1, 1_000_000),
    "file_operations": (1, 10_000_000),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    """One program and the conditions it runs under.

    Attributes:
        source: the program's text (or its bytes, exactly as they came).
        dialect: "restricted" puts the language layer in front; "native" is for testing the jail alone.
        limits: hard bounds.
        roots: names of the importable module roots whose use is reported by `prepare` (usually ("tools",)).
        modules: dotted module name → source that is there from the start, without a `load` callback.
        seed: seeds `random` and numpy inside the guest, so that a run can be repeated.
        filename: what tracebacks call the program.
    """

    source: str | bytes
    dialect: DialectName = "restricted"
    limits: Limits = field(default_factory=Limits)
    roots: tuple[str, ...] = ("tools",)
    modules: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    filename: str = "<program>"

    def source_bytes(self) -> bytes:
        """The program as bytes, lone surrogates kept.

        Raises:
            SpecError: larger than `limits.source_bytes` (code `limit.source`), or an unknown dialect.
        """
        if self.dialect not in ("restricted", "native"):
            raise SpecError(f"dialect must be `restricted` or `native`, got {self.dialect!r}", code="spec.dialect")
        raw = self.source if isinstance(self.source, bytes) else self.source.encode("utf-8", "surrogatepass")
        if len(raw) > self.limits.source_bytes:
            raise SpecError(
                f"the program has {len(raw)} bytes, `source_bytes` allows {self.limits.source_bytes}",
                code="limit.source",
            )
        return raw


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One thing the preflight has to say about a program.

    `severity` "error" means that the program will not run; "note" is information (a stripped Markdown fence).
    `line` and `column` count from 1 and 0, as Python's own.
    """

    code: str
    message: str
    line: int = 0
    column: int = 0
    hint: str = ""
    source_line: str = ""
    severity: Literal["error", "note"] = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class NameUse:
    """A dotted name below a module root, or a free name that nothing in the program binds.

    `path` is fully resolved through the program's imports and plain aliases: `tools.github.list_issues`.
    A free name has `is_free` and its own path: `github.list_issues`.
    """

    path: str
    line: int
    column: int = 0
    is_free: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CallUse:
    """A call of such a name, with what can be read off its arguments without running anything.

    `keywords` maps each keyword to its literal value, or to `UNKNOWN` when it is not a literal;
    `positional` the same by position. `is_open` says that `*args` or `**kwargs` occur, so that more may come.
    """

    path: str
    line: int
    positional: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)
    is_open: bool = False
    is_free: bool = False


class _Unknown:
    """The value of an argument that is no literal."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Unknown()


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a run used, measured by the host where the kernel tells it, else the guest's own claim.

    `cpu_s` and `memory_bytes` (peak resident) come from the kernel once the guest is gone, else from the guest.
    """

    wall_s: float = 0.0
    cpu_s: float = 0.0
    memory_bytes: int = 0
    calls: int = 0
    printed_bytes: int = 0
    value_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunError:
    """Why a run did not end well; text was formatted inside the guest and is bounded.

    Attributes:
        code: `guest.raised`, `guest.syntax`, `limit.wall`, … (`sandbox.errors.CODES`)
        type: the exception's class name, or "".
        message: the exception's text, or one line of ours.
        line: line of the program, counted from 1; 0 when there is none.
        source_line: that line's text.
        traceback: the model's own frames only, ready to print.
        notes: further lines (`add_note`, hints, used and allowed of a limit).
        shape: what the value of a call that the exception was about really is, in up to 1,200 characters; else "".
    """

    code: str
    type: str = ""
    message: str = ""
    line: int = 0
    source_line: str = ""
    traceback: str = ""
    notes: tuple[str, ...] = ()
    shape: str = ""


ValueForm = Literal["none", "json", "text", "image", "preview"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """The end of a run.

    `value_form` says what `value_raw` holds: JSON, a raw string, an image (`value_type` is its media type), or a
    `preview` (a last assignment: JSON object with `name`, `shape`, `items`). `printed` is the kept head and tail
    of what was printed, already joined by a mark that says how much is missing; `complaints` the same of stderr.
    """

    status: Status
    value_form: ValueForm = "none"
    value_raw: bytes = b""
    value_type: str = ""
    printed: str = ""
    complaints: str = ""
    error: RunError | None = None
    usage: Usage = field(default_factory=Usage)
    notes: tuple[str, ...] = ()

    @property
    def value(self) -> Any:
        """The value decoded: JSON as Python values, text as `str`, images as `bytes`, nothing as `None`.

        The bytes are the guest's claim: what is no JSON comes as text.
        """
        if self.value_form in ("json", "preview"):
            try:
                return json.loads(self.value_raw, parse_constant=_refuse_constant)
            except (ValueError, RecursionError):
                return self.value_raw.decode("utf-8", "replace")
        if self.value_form == "text":
            return self.value_raw.decode("utf-8", "replace")
        return self.value_raw if self.value_form == "image" else None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call that a program makes: the guest's claim, to be judged by whoever answers it.

    `target` is an opaque string of at most 1,024 characters; `arguments` raw JSON bytes, not yet parsed.
    """

    id: int
    target: str
    arguments: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The answer to a call.

    `ok` with `form` and raw `payload` (what they mean is between the caller's bindings and the answerer), or
    not `ok` with `payload` a JSON object {code, message, hint, ...} that the guest raises as an exception.
    """

    ok: bool = True
    form: str = "json"
    payload: bytes = b"null"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRequest:
    """One thing that a program does to its files: the guest's claim, to be judged by whoever answers it.

    Attributes:
        operation: one of `wire.FILE_OPERATIONS`.
        name, to: any text of at most 1,024 characters; "" is the folder that everything lies in. `to` is for `rename`.
        at: for `append`: how long the file must be (else ESTALE), or -1.
        data: the content, for `write` and `append`.

    Answers: `read` the content; `append` the new length as JSON; `stat` `[kind, bytes, modified]` and `list` a list of
    `[name, kind, bytes, modified]` as JSON, with kind "file" or "folder" and seconds since the epoch; others nothing.
    """

    operation: str
    name: str
    to: str = ""
    at: int = -1
    data: bytes = b""


CallHandler = Callable[[Call], Reply | Awaitable[Reply]]
"""Answers calls. May return the reply at once (no task is made) or an awaitable of it."""

ModuleLoader = Callable[[str], str | Awaitable[str | None] | None]
"""Dotted module name → its source, or None when there is no such module."""

FileHandler = Callable[[FileRequest], bytes | Awaitable[bytes]]
"""Answers file requests. An OSError is what the program sees: its number and text, with the program's own name."""
