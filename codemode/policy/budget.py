"""Counts what one run has spent: calls and writes.

Enters: a tool that is about to be called. Leaves: nothing, or the reason why the budget does not allow it. Refused
calls count too, so that a loop of refusals ends.
"""

from __future__ import annotations

from dataclasses import dataclass

from codemode.catalog.spec import Tool


@dataclass(slots=True, kw_only=True)
class Budget:
    """One run's counters; a write is a call of any tool that is no read."""

    calls_allowed: int
    writes_allowed: int
    calls: int = 0
    writes: int = 0

    def spend(self, tool: Tool) -> str:
        """Count one call; returns "" or why it is over the budget."""
        self.calls += 1
        if self.calls > self.calls_allowed:
            return f"call {self.calls} of this run; the limit `calls` allows {self.calls_allowed}"
        if tool.effect != "read":
            self.writes += 1
            if self.writes > self.writes_allowed:
                return f"write {self.writes} of this run; the limit `writes` allows {self.writes_allowed}"
        return ""
