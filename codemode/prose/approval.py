"""The question that a person is asked before a program does something that needs a yes.

Enters: a run and what it wants to do, one line each. Leaves: plain text. Lines quote the program and names of servers:
they are cut to one line each, so that nothing in them can pass for ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from codemode.catalog.text import clean_line

_MAX_LINES: Final = 12
_MAX_CHARS: Final = 400


def question_text(run: str, lines: Sequence[str]) -> str:
    """The question for the lines of one run."""
    shown = [f"- {clean_line(line, _MAX_CHARS)}" for line in lines[:_MAX_LINES]]
    more = [f"- and {len(lines) - _MAX_LINES} more"] if len(lines) > _MAX_LINES else []
    return "\n".join([f"A program ({run}) wants to do this:", *shown, *more, "Allow it?"])
