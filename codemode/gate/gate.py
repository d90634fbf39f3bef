"""Admits a program or a call, or heals it: refuses once, with what makes the retry pass.

Enters: a review (before a run) or one tool (during a run), what the session has loaded, the mode. Leaves `Admit |
Heal`. The same rule holds before and during a run. Modes: "heal" refuses and marks as loaded; "strict" refuses until a
search has shown the tool; "open" admits everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from codemode.catalog.spec import Tool
from codemode.gate.loaded import Loaded
from codemode.gate.review import Review, ToolUse, UnknownUse

Mode = Literal["heal", "open", "strict"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallProblem:
    """A call that will be refused for its arguments, seen before anything runs. `texts` has one line a problem."""

    tool: Tool
    line: int
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Admit:
    """The program or call may go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heal:
    """Nothing runs. `new` tools were not shown before, `unknown` names mean no tool, `problems` are wrong calls.

    `loads` says whether showing `new` marks them as loaded, so that the same program passes next time.
    """

    new: tuple[ToolUse, ...] = ()
    unknown: tuple[UnknownUse, ...] = ()
    problems: tuple[CallProblem, ...] = ()
    loads: bool = True

    @property
    def fits_unchanged(self) -> bool:
        """Whether the same program may pass when it is sent again: now, or once a missing server is up."""
        return self.loads and all(item.reason for item in self.unknown) and not self.problems


def judge_program(review: Review, problems: Sequence[CallProblem], loaded: Loaded, mode: Mode) -> Admit | Heal:
    """Decide on a program before it runs: everything that is wrong with it in one refusal."""
    new = () if mode == "open" else tuple(use for use in review.tools if use.tool not in loaded)
    if not new and not review.unknown and not problems:
        return Admit()
    return Heal(new=new, unknown=review.unknown, problems=tuple(problems), loads=mode == "heal")


def judge_call(tool: Tool, loaded: Loaded, mode: Mode) -> Admit | Heal:
    """Decide on one call while the program runs."""
    if mode == "open" or tool in loaded:
        return Admit()
    return Heal(new=(ToolUse(tool=tool, lines=()),), loads=mode == "heal")
