"""What is remembered of each call of a run: for the receipt, the trace and the answer.

Enters: a call's end. Leaves: `CallRecord`s in order of their start. Argument values are not kept, only their digest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from codemode.catalog.text import clean_line
from codemode.jsonvalue import Json

_MAX_SAID_CHARS = 100

CallStatus = Literal["ok", "error", "refused", "unknown", "cancelled", "running"]


@dataclass(slots=True, kw_only=True)
class CallRecord:
    """One call.

    Attributes:
        tool: `module.function`, or the raw target when there is no such tool.
        status: "error" the tool or its server failed; "refused" it was never sent; "unknown" it was sent and no
            answer came; "cancelled" the program gave it up.
        ms: milliseconds from the frame's arrival to the answer.
        code: why, for everything but "ok".
        decision: what the policy said.
        arguments_digest: of the arguments as they were sent.
        sent_bytes, received_bytes: of arguments and result.
        progress: what the server last said about this call while it was under way; one line, not kept in receipts.
    """

    tool: str
    server: str = ""
    name: str = ""
    effect: str = ""
    status: CallStatus = "running"
    ms: float = 0.0
    code: str = ""
    decision: str = ""
    arguments_digest: str = ""
    sent_bytes: int = 0
    received_bytes: int = 0
    progress: str = ""

    async def hear(self, progress: float, total: float | None, message: str | None) -> None:
        """Take a report of the server; its text is quoted and bounded."""
        amount = f"{progress:g} of {total:g}" if total else f"{progress:g}"
        said = clean_line(message, _MAX_SAID_CHARS) if message else ""
        self.progress = f"{amount}, `{said}`" if said else amount

    def to_json(self) -> dict[str, Json]:
        """The record for a receipt."""
        return {
            "tool": self.tool,
            "server": self.server,
            "name": self.name,
            "effect": self.effect,
            "status": self.status,
            "ms": round(self.ms, 3),
            "code": self.code,
            "decision": self.decision,
            "arguments": self.arguments_digest,
            "sent_bytes": self.sent_bytes,
            "received_bytes": self.received_bytes,
        }
