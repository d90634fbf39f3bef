"""How a run ended, in the trusted side's own values; the only translator of the sandbox's results and errors.

Enters: `sandbox` results and diagnostics. Leaves: `RunOutcome`, which prose turns into text and receipts into a record.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypedDict

from codemode.broker.record import CallRecord
from codemode.gate.gate import Heal
from codemode.gate.review import ToolUse
from codemode.jsonvalue import Json
from codemode.policy.decide import Deny
from codemode.policy.desk import Question
from codemode.runs.fresh import starts_fresh
from sandbox.spec import Diagnostic, RunResult
from sandbox.spec import RunError as SandboxRunError

RunStatus = Literal["ok", "error", "refused", "running", "limit", "cancelled", "lost"]
ValueForm = Literal["none", "json", "text", "image", "preview"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramError:
    """What went wrong in a program. All text comes from the guest and is bounded; `code` is stable.

    `line` counts from 1, 0 = unknown. `hint` is ours. `shape` is what the tool's result that the error was
    about really is.
    """

    code: str
    message: str
    type: str = ""
    line: int = 0
    column: int = 0
    source_line: str = ""
    traceback: str = ""
    notes: tuple[str, ...] = ()
    shape: str = ""
    hint: str = ""

    def to_json(self) -> dict[str, Json]:
        """The error for `--json` and receipts."""
        return {
            "code": self.code,
            "type": self.type,
            "message": self.message,
            "line": self.line,
            "source_line": self.source_line,
            "traceback": self.traceback,
            "notes": list(self.notes),
            "shape": self.shape,
            "hint": self.hint,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Denied:
    """A tool that the program uses and that the policy refuses before anything runs.

    `allow_line` is the rule to add to the configuration so that it passes; "" when a rule denies it on purpose.
    """

    use: ToolUse
    decision: Deny
    allow_line: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """What a run used. Times in seconds, sizes in bytes."""

    wall_s: float = 0.0
    cpu_s: float = 0.0
    memory_bytes: int = 0
    calls: int = 0
    printed_bytes: int = 0
    value_bytes: int = 0

    def to_json(self) -> dict[str, Json]:
        """The figures for `--json` and receipts."""
        return {
            "wall_s": round(self.wall_s, 4),
            "cpu_s": round(self.cpu_s, 4),
            "memory_bytes": self.memory_bytes,
            "calls": self.calls,
            "printed_bytes": self.printed_bytes,
            "value_bytes": self.value_bytes,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFile:
    """A file that a run wrote, and its size when it was written last."""

    name: str
    bytes: int

    def to_json(self) -> dict[str, Json]:
        """The file for `--json`, receipts and `_meta`."""
        return {"name": self.name, "bytes": self.bytes}


class WrittenFields(TypedDict):
    """The fields of a `RunOutcome` that say what was written."""

    files: tuple[WrittenFile, ...]
    workspace: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """A run's state as it is told: ended, refused, or still running.

    Attributes:
        run: the label in its session (`r3`).
        code: `stage.reason` for everything but `ok` and `running`.
        value_form, value_raw, value_type: see `sandbox.spec.RunResult`.
        printed, complaints: kept head and tail of the prints and of stderr, also of a run that failed.
        error: for `error` and `limit`, and for a program that does not compile (`errors` has all of those).
        heal: for `refused` by the gate: the tools, names and calls to mend.
        denied: for `refused` by the policy before the run.
        calls: what was called, in order.
        notes: lines the model should see (a stripped fence, a note from the guest).
        warnings: results that broke their output schema, and the like.
        can_resume: `execute(resume=<run>)` without code runs the same program.
        receipt: the key of the durable record.
        question: for a run that waits for a person: what is asked, by us or by a server.
        files: what was written and is still there, by name.
        workspace: the folder with them, "" when nothing was written or the client must not know.
    """

    run: str
    status: RunStatus
    code: str = ""
    value_form: ValueForm = "none"
    value_raw: bytes = b""
    value_type: str = ""
    printed: str = ""
    complaints: str = ""
    error: ProgramError | None = None
    errors: tuple[ProgramError, ...] = ()
    heal: Heal | None = None
    denied: tuple[Denied, ...] = ()
    calls: tuple[CallRecord, ...] = ()
    used: Used = field(default_factory=Used)
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    can_resume: bool = False
    receipt: str = ""
    question: Question | None = None
    files: tuple[WrittenFile, ...] = ()
    workspace: str = ""

    @property
    def value(self) -> Json:
        """The value as JSON: what `--json` prints. An image is an object with its type and base64 data.

        The bytes are the guest's claim: what is no JSON comes as text.
        """
        if self.value_form in ("json", "preview"):
            try:
                decoded: Json = json.loads(self.value_raw, parse_constant=_refuse_constant)
            except (ValueError, RecursionError):
                return self.value_raw.decode("utf-8", "replace")
            return decoded
        if self.value_form == "text":
            return self.value_raw.decode("utf-8", "replace")
        if self.value_form == "image":
            return {"type": self.value_type, "base64": base64.b64encode(self.value_raw).decode("ascii")}
        return None

    def to_json(self) -> dict[str, Json]:
        """The document of `codemode run --json` (ARCHITECTURE 4.1)."""
        return {
            "run": self.run,
            "status": self.status,
            "code": self.code,
            "value": self.value,
            "printed": self.printed,
            "complaints": self.complaints,
            "error": self._error_json(),
            "calls": [{"tool": call.tool, "status": call.status, "ms": round(call.ms, 3)} for call in self.calls],
            "usage": self.used.to_json(),
            "receipt": self.receipt,
            "notes": [*self.notes, *self.warnings],
            "files": [file.to_json() for file in self.files],
            "workspace": self.workspace,
        }

    def _error_json(self) -> Json:
        if self.error is not None:
            return self.error.to_json()
        if self.heal is not None:
            return {
                "code": self.code,
                "not_shown": [use.tool.short for use in self.heal.new],
                "unknown": [item.path for item in self.heal.unknown],
                "problems": [text for problem in self.heal.problems for text in problem.texts],
            }
        if self.denied:
            return {
                "code": self.code,
                "denied": [
                    {"tool": item.use.tool.short, "reason": item.decision.reason, "allow_with": item.allow_line}
                    for item in self.denied
                ],
            }
        return None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def from_result(
    result: RunResult,
    *,
    run: str,
    earlier: Sequence[tuple[str, str]],
    calls: Sequence[CallRecord],
    notes: Sequence[str],
    warnings: Sequence[str],
) -> RunOutcome:
    """A finished run's outcome; `earlier` holds label and program of the runs before it, newest first."""
    used = result.usage
    error = _program_error(result.error, earlier) if result.error is not None else None
    return RunOutcome(
        run=run,
        status=result.status,
        code=error.code if error is not None else "",
        value_form=result.value_form,
        value_raw=result.value_raw,
        value_type=result.value_type,
        printed=result.printed,
        complaints=result.complaints,
        error=error,
        calls=tuple(calls),
        used=Used(
            wall_s=used.wall_s,
            cpu_s=used.cpu_s,
            memory_bytes=used.memory_bytes,
            calls=used.calls,
            printed_bytes=used.printed_bytes,
            value_bytes=used.value_bytes,
        ),
        notes=(*notes, *result.notes),
        warnings=tuple(warnings),
    )


def from_diagnostics(diagnostics: Sequence[Diagnostic], *, run: str) -> RunOutcome:
    """The outcome of a program that does not compile or that the dialect refuses: all its errors at once."""
    errors = tuple(_diagnosed(item) for item in diagnostics if item.severity == "error")
    return RunOutcome(
        run=run,
        status="refused",
        code=errors[0].code,
        error=errors[0],
        errors=errors,
        notes=notes_of(diagnostics),
    )


def notes_of(diagnostics: Sequence[Diagnostic]) -> tuple[str, ...]:
    """What the preflight noted without refusing anything."""
    return tuple(item.message for item in diagnostics if item.severity == "note")


def _diagnosed(item: Diagnostic) -> ProgramError:
    return ProgramError(
        code=item.code,
        message=item.message,
        line=item.line,
        column=item.column,
        source_line=item.source_line,
        hint=item.hint,
    )


def _program_error(error: SandboxRunError, earlier: Sequence[tuple[str, str]]) -> ProgramError:
    return ProgramError(
        code=error.code,
        message=error.message,
        type=error.type,
        line=error.line,
        source_line=error.source_line,
        traceback=error.traceback,
        notes=error.notes,
        shape=error.shape,
        hint=starts_fresh(error.type, error.message, earlier),
    )
