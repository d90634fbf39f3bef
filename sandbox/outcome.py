"""What the host makes of a guest's last words, or of its silence.

Enters: an `end` frame (the guest's claim), a kernel exit status, a limit that was reached. Leaves: `RunResult`. Every
text is bounded and every field has its type, whatever the guest sent.
"""

from __future__ import annotations

import signal
from dataclasses import replace
from typing import Any, get_args

from sandbox.backends.base import GuestExit
from sandbox.spec import Diagnostic, Limits, RunError, RunResult, Status, Usage, ValueForm

_FORMS = frozenset(get_args(ValueForm))
_TEXT_CHARS = 16_000
_SHAPE_CHARS = 1_200
_GUEST_CODES = frozenset({"guest.raised", "limit.memory", "limit.threads"})
"""What a guest can know about its own end; every other code is for the host to give."""


class Kept:
    """The head and the tail of a stream; everything between is counted and dropped as it comes.

    Holds at most one and a half times what it keeps, in however small pieces the stream comes.
    """

    def __init__(self, kept_bytes: int) -> None:
        self._half = kept_bytes // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.total_bytes = 0

    def add(self, data: bytes) -> None:
        """Take what was printed."""
        self.total_bytes += len(data)
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail += data[-self._half :]
            if len(self._tail) >= 2 * self._half:  # seldom, so that each byte is moved once
                del self._tail[: -self._half]

    def text(self) -> str:
        """What is kept, with a mark where something is missing."""
        head = bytes(self._head)
        tail = bytes(self._tail[-self._half :])
        missing = self.total_bytes - len(head) - len(tail)
        if not missing:
            return (head + tail).decode("utf-8", "replace")
        mark = f"\n… {missing} bytes of prints left out …\n"
        return head.decode("utf-8", "ignore") + mark + tail.decode("utf-8", "ignore")


class Prints:
    """What a guest printed, and what it wrote to stderr; both are kept within bounds and counted together."""

    def __init__(self, kept_bytes: int) -> None:
        self._out = Kept(kept_bytes)
        self._err = Kept(kept_bytes // 4)

    def add(self, data: bytes, *, is_complaint: bool = False) -> None:
        """Take what was printed."""
        (self._err if is_complaint else self._out).add(data)

    @property
    def total_bytes(self) -> int:
        """Bytes of both streams."""
        return self._out.total_bytes + self._err.total_bytes

    def text(self) -> str:
        """What is kept of the prints."""
        return self._out.text()

    def complaints(self) -> str:
        """What is kept of stderr."""
        return self._err.text()


def from_end(header: dict[str, Any], payload: bytes, prints: Prints, usage: Usage) -> RunResult:
    """The result that an `end` frame claims."""
    status, form = header["status"], header["form"]
    error = _error(header.get("error"))
    if status not in ("ok", "error", "limit") or form not in _FORMS or (status == "ok") == (error is not None):
        error = RunError(code="guest.protocol", message="the guest's last frame contradicts itself")
        return RunResult(
            status="error", printed=prints.text(), complaints=prints.complaints(), error=error, usage=usage
        )
    return RunResult(
        status=status,
        value_form=form,
        value_raw=payload,
        value_type=_short(header["type"], 100),
        printed=prints.text(),
        complaints=prints.complaints(),
        error=error,
        usage=replace(
            usage,
            value_bytes=len(payload),
            cpu_s=_number(header["usage"].get("cpu_s")),
            memory_bytes=int(_number(header["usage"].get("memory_bytes"))),
        ),
        notes=tuple(_short(note, 1_000) for note in header["notes"][:20]),
    )


def from_code(code: str, message: str, prints: Prints, usage: Usage, *notes: str) -> RunResult:
    """The result of a run that the host ended."""
    status: Status = "limit" if code.startswith("limit.") else "cancelled" if code == "guest.cancelled" else "error"
    error = RunError(code=code, message=message, notes=notes)
    return RunResult(status=status, printed=prints.text(), complaints=prints.complaints(), error=error, usage=usage)


def from_diagnostics(diagnostics: tuple[Diagnostic, ...]) -> RunResult:
    """The result of a program that was refused before it ran: its first error, the others as notes."""
    first, *others = [item for item in diagnostics if item.severity == "error"]
    error = RunError(
        code=first.code,
        message=first.message,
        line=first.line,
        source_line=first.source_line,
        notes=tuple(note for note in (first.hint, *(f"line {i.line}: {i.message}" for i in others)) if note),
    )
    return RunResult(status="refused", error=error)


def from_exit(ending: GuestExit, limits: Limits, prints: Prints, usage: Usage) -> RunResult:
    """The result of a guest that ended without a last frame, from what the kernel says."""
    if ending.how == "unknown":
        message = "the guest ended together with the process that guests are forked from; nothing of it runs any more"
        return from_code("guest.died", message, prints, usage)
    usage = replace(usage, cpu_s=ending.cpu_s, memory_bytes=ending.max_rss_bytes)
    if ending.how == "signaled" and (
        ending.code == signal.SIGXCPU or (ending.code == signal.SIGKILL and ending.cpu_s >= limits.cpu_s)
    ):
        message = f"the program used {ending.cpu_s:.1f} s of processor time, `cpu_s` allows {limits.cpu_s:g}"
        return from_code("limit.cpu", message, prints, usage)
    if ending.is_out_of_memory:
        message = (
            f"the kernel ended the program for its memory: `memory_bytes` allows {limits.memory_bytes}, "
            "and all runs together have a bound"
        )
        return from_code("limit.memory", message, prints, usage)
    how = _signal_name(ending.code) if ending.how == "signaled" else f"exit status {ending.code}"
    message = f"the interpreter ended without a result ({how}); nothing else was affected"
    return from_code("guest.died", message, prints, usage)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _error(raw: object) -> RunError | None:
    if raw is None:
        return None
    if not isinstance(raw, dict):
        return RunError(code="guest.protocol", message="the guest's error is no object")
    line = raw.get("line")
    notes = raw.get("notes")
    code = raw.get("code")
    return RunError(
        code=code if isinstance(code, str) and code in _GUEST_CODES else "guest.raised",
        type=_short(raw.get("type"), 200),
        message=_short(raw.get("message"), _TEXT_CHARS),
        line=line if isinstance(line, int) and 0 <= line < 2**31 else 0,
        source_line=_short(raw.get("source_line"), 500),
        traceback=_short(raw.get("traceback"), _TEXT_CHARS),
        notes=tuple(_short(note, 2_000) for note in notes[:20]) if isinstance(notes, list) else (),
        shape=_short(raw.get("shape"), _SHAPE_CHARS),
    )


def _short(value: object, limit: int) -> str:
    """A guest's text, bounded and always encodable: half of a surrogate pair becomes a mark."""
    return value[:limit].encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) and 0 <= value < 1e15 else 0.0
