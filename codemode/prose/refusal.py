"""Why a program was not run, line by line, with everything that makes the next attempt pass.

Enters: the gate's `Heal`, the policy's `Denied`, the preflight's errors. Leaves: lines of text and the tools whose
signatures stand in them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from codemode.bindings.signature import MAX_CHARS, signature
from codemode.catalog.spec import Tool
from codemode.catalog.text import clean_line
from codemode.gate.gate import CallProblem, Heal
from codemode.gate.review import UnknownUse
from codemode.runs.outcome import Denied, ProgramError, RunOutcome

Marks = Callable[[Tool], tuple[str, ...]]

_INDENT: Final = "        "
_MAX_SOURCE_CHARS: Final = 160
_MIN_SIGNATURE_CHARS: Final = 120
_MAX_LINES_NAMED: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A refusal as text: `head` is the first line, `lines` the details, `next` the exact line to send next."""

    head: str
    lines: tuple[str, ...]
    next: str
    shown: tuple[Tool, ...] = ()


def refusal(outcome: RunOutcome, marks: Marks, *, room_chars: int) -> Refusal:
    """The refusal of a run. Signatures get shorter when all of them would need more than `room_chars`."""
    if outcome.errors:
        return _program_refusal(outcome)
    if outcome.heal is not None:
        return _gate_refusal(outcome, outcome.heal, marks, room_chars)
    if outcome.denied:
        return _policy_refusal(outcome)
    return _other_refusal(outcome)


CORRECTED: Final = 'execute(code="<the corrected program>")'
TELL_THE_USER: Final = "tell the user what stands here; no other program will do better"
OURS: Final = ("isolation.", "sandbox.", "guest.start", "run.internal")
"""Beginnings of codes that no change of a program mends."""


def _other_refusal(outcome: RunOutcome) -> Refusal:
    """A program that is too large, or a machine that cannot run any."""
    error = outcome.error
    reason = clean_line(error.message, 400) if error is not None else outcome.code or "no reason was given"
    hint = (clean_line(error.hint, 400),) if error is not None and error.hint else ()
    next_line = TELL_THE_USER if outcome.code.startswith(OURS) else CORRECTED
    return Refusal(head=f"Nothing ran. {outcome.run}: {reason}.", lines=hint, next=next_line)


# -- programs that do not compile, or that the dialect refuses ---------------------------------------------------


def _program_refusal(outcome: RunOutcome) -> Refusal:
    errors = outcome.errors
    first = errors[0]
    if first.code == "guest.syntax":
        head = f"Nothing ran. {outcome.run} is not valid Python: {_place(first)}{clean_line(first.message, 300)}."
    else:
        count = f"{len(errors)} things" if len(errors) > 1 else "something"
        head = f"Nothing ran. {outcome.run} uses {count} that cannot be used here: {clean_line(first.message, 300)}."
    lines = [line for error in errors for line in _error_lines(error)]
    return Refusal(head=head, lines=tuple(lines), next=CORRECTED)


def _place(error: ProgramError) -> str:
    return f"line {error.line}: " if error.line else ""


def _error_lines(error: ProgramError) -> list[str]:
    lines = [f"{_place(error)}{clean_line(error.message, 400)}"]
    if error.source_line.strip():
        lines.extend(_source_lines(error))
    if error.hint:
        lines.append(f"{_INDENT}{clean_line(error.hint, 400)}")
    return lines


def _source_lines(error: ProgramError) -> list[str]:
    """The source line, and for a syntax error a caret below the column."""
    source = error.source_line.rstrip().replace("\t", " ")
    cut = max(0, error.column - _MAX_SOURCE_CHARS // 2) if len(source) > _MAX_SOURCE_CHARS else 0
    shown = source[cut : cut + _MAX_SOURCE_CHARS]
    indent = len(shown) - len(shown.lstrip())
    lines = [f"{_INDENT}{shown[indent:]}"]
    at = error.column - cut - indent
    if error.code == "guest.syntax" and 0 <= at <= _MAX_SOURCE_CHARS:
        lines.append(f"{_INDENT}{' ' * at}^")
    return lines


# -- the gate ----------------------------------------------------------------------------------------------------


def _gate_refusal(outcome: RunOutcome, heal: Heal, marks: Marks, room_chars: int) -> Refusal:
    named = [use.tool for use in heal.new] if heal.loads else []
    guesses = [item.nearest[0] for item in heal.unknown if item.nearest]
    shown = {tool.path: tool for tool in (*named, *(problem.tool for problem in heal.problems), *guesses)}
    max_chars = max(_MIN_SIGNATURE_CHARS, min(MAX_CHARS, room_chars // max(1, len(shown))))

    def line_of(tool: Tool) -> str:
        return signature(tool, marks=marks(tool), max_chars=max_chars).line

    problems: dict[str, list[CallProblem]] = {}
    for problem in heal.problems:
        problems.setdefault(problem.tool.path, []).append(problem)
    lines: list[str] = []
    for use in heal.new:
        wrong = problems.pop(use.tool.path, [])
        lines.append(f"{_lines_text(use.lines)}  {line_of(use.tool) if heal.loads or wrong else use.tool.path}")
        lines.extend(_problem_lines(wrong, use.lines))
    for wrong in problems.values():
        places = tuple(problem.line for problem in wrong)
        lines.append(f"{_lines_text(places)}  {line_of(wrong[0].tool)}")
        lines.extend(_problem_lines(wrong, places))
    for item in heal.unknown:
        lines.extend(_unknown_lines(item, line_of))
    return Refusal(
        head=_gate_head(outcome, heal), lines=tuple(lines), next=_gate_next(outcome, heal), shown=tuple(shown.values())
    )


def _gate_head(outcome: RunOutcome, heal: Heal) -> str:
    said: list[str] = []
    if heal.new:
        loaded = " (loaded now)" if heal.loads else ""
        said.append(f"uses {_count(len(heal.new), 'function')} you had not been shown{loaded}")
    absent = [item for item in heal.unknown if not item.reason]
    if absent:
        names = ", ".join(f"`{clean_line(item.path, 80)}`" for item in absent[:3])
        more = f" and {len(absent) - 3} more" if len(absent) > 3 else ""
        said.append(f"names {names}{more}, which {'does' if len(absent) == 1 else 'do'} not exist")
    away = sorted({item.path.partition(".")[0] for item in heal.unknown if item.reason})
    if away:
        said.append(f"needs {', '.join(f'`{clean_line(name, 80)}`' for name in away[:5])}, not available now")
    if heal.problems:
        said.append(f"has {_count(len(heal.problems), 'call')} with wrong arguments")
    text = f"Nothing ran. {outcome.run} {' and '.join(said)}."
    wrong = sorted({problem.line for problem in heal.problems} | {item.line for item in absent})
    if heal.fits_unchanged and away:
        return text
    if heal.fits_unchanged:
        verb = "call fits it" if len(heal.new) == 1 else "calls fit them"
        return f"{text} What can be checked before a run is right: your {verb}."
    if wrong:
        return f"{text} {_lines_text(tuple(wrong)).capitalize()} must change: send the corrected program."
    return text


def _gate_next(outcome: RunOutcome, heal: Heal) -> str:
    if heal.fits_unchanged and outcome.can_resume:
        when = ", once the server is up" if any(item.reason for item in heal.unknown) else ""
        return f'execute(resume="{outcome.run}")  # the same program, unchanged{when}'
    unknown = [item for item in heal.unknown if not item.nearest and not item.reason]
    if unknown:
        words = " ".join(dict.fromkeys(unknown[0].path.replace(".", " ").replace("_", " ").split()))
        return f'tool_search(query="{clean_line(words, 80)}")'
    if not heal.loads and heal.new:
        names = ",".join(use.tool.short for use in heal.new[:20])
        return f'tool_search(query="select:{names}")'
    return CORRECTED


def _problem_lines(problems: Sequence[CallProblem], lines: tuple[int, ...]) -> list[str]:
    """What is wrong with calls of one tool; the line is said again only when the tool is used on several."""
    out: list[str] = []
    for problem in problems:
        place = f"line {problem.line}: " if len(set(lines)) > 1 and problem.line else ""
        out.extend(f"{_INDENT}{place}{clean_line(text, 400)}" for text in problem.texts)
    return out


def _unknown_lines(item: UnknownUse, line_of: Callable[[Tool], str]) -> list[str]:
    if item.reason:
        server = clean_line(item.path.partition(".")[0], 80)
        return [f"{_lines_text((item.line,))}  `{server}`: {clean_line(item.reason, 400)}"]
    what = "server" if item.is_server else "function"
    name = clean_line(item.path.partition(".")[0] if item.is_server else item.path, 120)
    lines = [f"{_lines_text((item.line,))}  there is no {what} `{name}`"]
    if item.nearest:
        lines.append(f"{_INDENT}nearest: {line_of(item.nearest[0])}")
        others = ", ".join(tool.short for tool in item.nearest[1:])
        lines.extend([f"{_INDENT}also near: {others}"] if others else [])
    return lines


# -- the policy --------------------------------------------------------------------------------------------------


def _policy_refusal(outcome: RunOutcome) -> Refusal:
    names = ", ".join(item.use.tool.short for item in outcome.denied[:3])
    more = f" and {len(outcome.denied) - 3} more" if len(outcome.denied) > 3 else ""
    head = (
        f"Nothing ran. {outcome.run} uses {_count(len(outcome.denied), 'function')} "
        f"that may not be called here: {names}{more}."
    )
    lines: list[str] = []
    for item in outcome.denied:
        lines.extend(_denied_lines(item))
    return Refusal(
        head=head,
        lines=tuple(lines),
        next='execute(code="<the program without these calls>")  # or tell the user what is needed',
    )


def _denied_lines(item: Denied) -> list[str]:
    lines = [f"{_lines_text(item.use.lines)}  {item.use.tool.path}: {clean_line(item.decision.reason, 300)}"]
    if item.allow_line:
        lines.append(f"{_INDENT}the user can allow it in the configuration, under codemode.policy.rules:")
        lines.append(f"{_INDENT}{item.allow_line}")
    return lines


def _lines_text(lines: tuple[int, ...]) -> str:
    known = sorted({line for line in lines if line})
    if not known:
        return "called"
    named = ", ".join(str(line) for line in known[:_MAX_LINES_NAMED])
    more = ", …" if len(known) > _MAX_LINES_NAMED else ""
    return f"line {named}" if len(known) == 1 else f"lines {named}{more}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
