"""Every error the sandbox raises on the host side, with a stable code.

    SandboxError
    ├── SpecError            spec.*       a RunSpec or Limits value that cannot be used
    ├── IsolationError       isolation.*  a required layer is missing: nothing was started
    ├── GuestError           guest.*      the guest died, broke the protocol or could not be started
    └── ClosedError        sandbox.closed

What a *program* does wrong is never one of these: it comes back as a `RunResult` with a status and a code.
"""

from __future__ import annotations

from collections.abc import Mapping

CODES: Mapping[str, str] = {
    "spec.limit": "a limit is negative, zero, absurd or contradicts another",
    "spec.source": "the source is larger than `source_bytes` or is not text",
    "spec.dialect": "the dialect is not one of those on offer",
    "spec.package": "a package cannot be allowed: not known, not installed, or not with this backend",
    "isolation.platform": "the backend does not work on this system; the message says what it needs",
    "isolation.layer": "a required isolation layer is missing on this machine",
    "guest.start": "no guest could be started",
    "guest.died": "the guest process ended without a result",
    "guest.killed": "the guest was ended by the host before it finished",
    "guest.protocol": "the guest broke the wire protocol",
    "guest.raised": "the program raised an exception",
    "guest.syntax": "the program is not valid Python",
    "guest.cancelled": "the run was cancelled",
    "dialect.refused": "the program uses something that the dialect refuses",
    "limit.wall": "the wall-clock limit was reached",
    "limit.cpu": "the processor-time limit was reached",
    "limit.memory": "the memory limit was reached",
    "limit.threads": "the thread limit was reached",
    "limit.output": "more was printed and returned than `output_bytes`",
    "limit.frame": "one message was larger than `frame_bytes`",
    "limit.queued": "more was waiting towards the guest than `queued_bytes`",
    "limit.calls": "the program made more calls than `calls`",
    "limit.source": "the source is larger than `source_bytes`",
    "limit.compile": "the program is too deep or too large to compile within the limits",
    "sandbox.closed": "the sandbox is closed",
}
"""Code → what it means. The same table is printed in `sandbox/README.md`; a test compares them."""


class SandboxError(Exception):
    """Base of all sandbox errors.

    Attributes:
        code: `stage.reason`, a key of `CODES`; callers branch on this and never on the text.
        message: one line: what was expected, what came, where.
        hint_operator: the setting or fact to change, or "".
        details: small JSON-like values for logs.
    """

    default_code = "guest.died"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        hint_operator: str = "",
        details: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code or self.default_code
        self.message = message
        self.hint_operator = hint_operator
        self.details = dict(details or {})

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class SpecError(SandboxError):
    """A RunSpec or Limits value cannot be used; nothing was started."""

    default_code = "spec.limit"


class IsolationError(SandboxError):
    """A required isolation layer is missing; the backend refuses to start (fail closed)."""

    default_code = "isolation.layer"


class GuestError(SandboxError):
    """A guest could not be started, died, or spoke something else than the protocol."""

    default_code = "guest.died"


class ClosedError(SandboxError):
    """A call on a sandbox that is closed."""

    default_code = "sandbox.closed"
