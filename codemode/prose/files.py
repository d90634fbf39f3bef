"""The line that says which files a run wrote, and where they are when the client may know.

Enters: a `RunOutcome`. Leaves: one line, or "". Names are a program's: bounded, without controls.
"""

from __future__ import annotations

from typing import Final

from codemode.catalog.text import clean_line
from codemode.runs.outcome import RunOutcome

_NAMED: Final = 8


def files_line(outcome: RunOutcome) -> str:
    """`files: report.csv (12.3 kB) in <folder>`."""
    if not outcome.files:
        return ""
    named = [f"{clean_line(file.name, 100)} ({_size(file.bytes)})" for file in outcome.files[:_NAMED]]
    more = f" and {len(outcome.files) - _NAMED} more" if len(outcome.files) > _NAMED else ""
    where = f" in {outcome.workspace}" if outcome.workspace else ""
    return f"files: {', '.join(named)}{more}{where}"


def _size(count: int) -> str:
    if count < 1_000:
        return f"{count} byte{'' if count == 1 else 's'}"
    return f"{count / 1_000:.1f} kB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"
