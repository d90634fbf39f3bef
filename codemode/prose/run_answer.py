"""A run's outcome as the model reads it: one line of status, then prints, value or error, inside a budget.

Enters: a `RunOutcome`. Leaves: text, images, and the tools whose signatures stand in the text. The first line says the
status, the first 200 characters what happened; every failure ends with the exact line to send next. A value and prints
are a program's data: they stand below our lines and are cut, never changed.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from codemode.broker.record import CallRecord
from codemode.catalog.spec import Tool
from codemode.catalog.text import clean_line
from codemode.errors import CodemodeError
from codemode.jsonvalue import Json, as_object, as_text, compact
from codemode.policy.desk import Approval
from codemode.prose.files import files_line
from codemode.prose.questions import waiting_lines
from codemode.prose.refusal import CORRECTED, OURS, TELL_THE_USER, Marks, refusal
from codemode.prose.shorten import shorten_json, shorten_text
from codemode.prose.visible import visible
from codemode.runs.outcome import ProgramError, RunOutcome
from codemode.tokens import bytes_for

BUDGET_TOKENS: Final = 6_000
MAX_IMAGE_BYTES: Final = 3_750_000  # given: 5 MB of base64 is what model interfaces accept for one image
OUR_FAULT: Final = (
    "codemode itself failed; this is no fault of your request. Its log has the details.\n"
    "Next: send the same request once more; when it fails again, tell the user"
)
_MAX_NOTES: Final = 6
_PREVIEW_BYTES: Final = 256 * 1024  # chosen: our guest's previews are smaller; a larger claim is not decoded
_STDERR_SHARE: Final = 0.15  # chosen: room for a traceback that the program printed itself
_MIN_PRINT_SHARE: Final = 0.25  # chosen: a long value never hides what was printed, nor the other way round
_TRACEBACK_SHARE: Final = 0.4
_LIMIT_HINTS: Final = {
    "limit.wall": "do less in one program, or make the calls at the same time: `ThreadPoolExecutor().map(f, xs)`",
    "limit.cpu": "compute less: filter early, avoid nested loops over large lists",
    "limit.memory": "keep less at once: fetch page by page and keep only what is needed",
    "limit.threads": "use fewer threads: one pool for all calls",
    "limit.calls": "make fewer calls: filter on the server's side, or split the job over several programs",
    "limit.output": "print less: end with the answer only",
    "limit.frame": "one message was too large: ask for smaller pages",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image to be shown: its media type and bytes."""

    type: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class RunText:
    """An answer: the text, images that follow it, the tools whose signatures it shows."""

    text: str
    images: tuple[Image, ...] = ()
    shown: tuple[Tool, ...] = ()


def run_answer(outcome: RunOutcome, marks: Marks, *, budget_tokens: int = BUDGET_TOKENS) -> RunText:
    """The answer for an outcome, at most `budget_tokens` estimated tokens long (a status line is always whole)."""
    room = bytes_for(budget_tokens)
    shown: tuple[Tool, ...] = ()
    if outcome.status == "refused":
        refused = refusal(outcome, marks, room_chars=room // 2)
        head, body, last, shown = refused.head, list(refused.lines), f"Next: {refused.next}", refused.shown
    else:
        head, body, last = _head(outcome), _facts(outcome, room), _next(outcome)
    notes = [*_notes(outcome), files_line(outcome)]
    fixed = _size(head, *body, *notes, last)
    if fixed > room:
        body = [shorten_text("\n".join(body), max(0, room - _size(head, *notes, last)), tail_share=0.25)]
        fixed = _size(head, *body, *notes, last)
    output, images = _output(outcome, max(0, room - fixed))
    parts = [head, *body, *output, *notes, last]
    return RunText(text=visible("\n".join(part for part in parts if part)), images=images, shown=shown)


def fault_answer(error: CodemodeError) -> str:
    """The answer for a request that led to no run: an unknown run id, an empty program, too many runs."""
    hint = error.hint_model.rstrip(".")
    return f"Nothing ran: {error.message}." + (f"\nNext: {hint}" if hint else "")


# -- the status line ---------------------------------------------------------------------------------------------


def _head(outcome: RunOutcome) -> str:
    run, spent = outcome.run, _spent(outcome)
    error = outcome.error
    match outcome.status:
        case "ok":
            return f"{run} ok{f', {spent}' if spent else ''}. {_what_came(outcome)}".rstrip()
        case "running":
            if isinstance(outcome.question, Approval):
                return f"{run} waits for a person to allow what it wants to do. Nothing is lost."
            if outcome.question is not None:
                return f"{run} waits for a person to answer a server. Nothing is lost."
            return f'{run} still runs{_after(spent)}. Nothing is lost: collect it with execute(resume="{run}").'
        case "limit":
            what = clean_line(error.message, 240) if error is not None else outcome.code
            return f"{run} was stopped{_after(spent)}: {what}."
        case "cancelled":
            return f"{run} was cancelled{_after(spent)}."
        case "lost":
            return f"{run} is lost: the process that ran it is gone. What its calls did until then stays done."
        case _:
            return f"{run} failed{_where(error)}{_after(spent)}: {_what_failed(error, outcome.code)}"


def _where(error: ProgramError | None) -> str:
    return f" at line {error.line}" if error is not None and error.line else ""


def _after(spent: str) -> str:
    return f" after {spent}" if spent else ""


def _what_failed(error: ProgramError | None, code: str) -> str:
    if error is None:
        return code
    message = clean_line(error.message, 160)
    if error.code == "guest.raised":
        return f"{error.type}: {message}" if message else error.type
    return f"{message} ({error.code})"


def _spent(outcome: RunOutcome) -> str:
    calls, wall_s = len(outcome.calls) or outcome.used.calls, outcome.used.wall_s
    parts = [f"{calls:,} {'call' if calls == 1 else 'calls'}"] if calls else []
    return " and ".join([*parts, _seconds(wall_s)] if wall_s else parts)


def _seconds(wall_s: float) -> str:
    if wall_s < 0.1:
        return f"{max(1, round(wall_s * 1000))} ms"
    return f"{wall_s:.1f} s" if wall_s < 100 else f"{wall_s:.0f} s"


def _what_came(outcome: RunOutcome) -> str:
    if outcome.value_form == "none" and not (outcome.printed.strip() or outcome.complaints.strip()):
        return (
            "Nothing came back: it printed nothing and did not end with an expression that has a value. "
            "End the program with the value, or print it."
        )
    return ""


# -- facts between the status and the output ----------------------------------------------------------------------


def _facts(outcome: RunOutcome, room: int) -> list[str]:
    asked = waiting_lines(outcome.question) if outcome.question is not None else ()
    lines = [clean_line(line, 300) for line in asked]
    error = outcome.error
    if error is not None:
        lines.extend(_error_facts(error, int(room * _TRACEBACK_SHARE)))
    lines.extend(_call_facts(outcome))
    return lines


def _error_facts(error: ProgramError, room: int) -> list[str]:
    lines = []
    if error.traceback:
        lines.append(shorten_text(_foreign(error.traceback.rstrip()), room))
    elif error.source_line.strip():
        lines.append(f"line {error.line}: {error.source_line.strip()}")
    if error.shape:
        lines.append(f"Shape: {_foreign(error.shape)}")
    seen = error.traceback
    lines.extend(f"Added: {note}" for note in (clean_line(note, 500) for note in error.notes) if note not in seen)
    hint = error.hint or _LIMIT_HINTS.get(error.code, "")
    return [*lines, f"Hint: {clean_line(hint, 400)}"] if hint else lines


def _call_facts(outcome: RunOutcome) -> list[str]:
    """Calls that did not go well, calls whose outcome nobody knows, and after a failure the writes that stay."""
    lines: list[str] = []
    bad = [call for call in outcome.calls if call.status in ("error", "refused", "cancelled")]
    if bad:
        lines.append(f"Calls that failed: {_grouped(bad, with_code=True)}")
    unknown = [call for call in outcome.calls if call.status == "unknown"]
    if unknown:
        lines.append(
            f"Sent, but no answer came: {_grouped(unknown)}. It may have happened: look before you send it again."
        )
    if outcome.status in ("error", "limit", "cancelled", "lost"):
        done = [call for call in outcome.calls if call.status == "ok" and call.effect not in ("read", "")]
        if done:
            lines.append(f"Already done, and not undone: {_grouped(done)}. Leave it out of the corrected program.")
    return lines


def _grouped(calls: Sequence[CallRecord], *, with_code: bool = False) -> str:
    counts = Counter(f"{call.tool} ({call.code})" if with_code and call.code else call.tool for call in calls)
    parts = [f"{clean_line(name, 160)}{f' {count}×' if count > 1 else ''}" for name, count in counts.most_common(6)]
    more = f" and {len(counts) - 6} more" if len(counts) > 6 else ""
    return ", ".join(parts) + more


def _notes(outcome: RunOutcome) -> list[str]:
    said = list(dict.fromkeys(clean_line(note, 400) for note in (*outcome.notes, *outcome.warnings)))
    lines = [f"Note: {note}" for note in said[:_MAX_NOTES]]
    return [*lines, f"Note: {len(said) - _MAX_NOTES} further notes"] if len(said) > _MAX_NOTES else lines


def _next(outcome: RunOutcome) -> str:
    match outcome.status:
        case "ok":
            return ""
        case "running":
            return f'Next: execute(resume="{outcome.run}")'
        case _ if outcome.code.startswith(OURS):
            return f"Next: {TELL_THE_USER}"
        case _:
            return f"Next: {CORRECTED}  # variables are gone; files and `store` are kept"


# -- prints and value ---------------------------------------------------------------------------------------------


def _output(outcome: RunOutcome, room: int) -> tuple[list[str], tuple[Image, ...]]:
    """What went to stderr, the prints, then the value. Each has a label when more than one is there."""
    complaints = _foreign(outcome.complaints.strip())
    said = _labelled("To stderr:", shorten_text(complaints, int(room * _STDERR_SHARE)) if complaints else "", True)
    lines, images = _prints_and_value(outcome, room - _size(*said))
    return [*said, *lines], images


def _prints_and_value(outcome: RunOutcome, room: int) -> tuple[list[str], tuple[Image, ...]]:
    printed = _foreign(outcome.printed.rstrip("\n")) if outcome.printed.strip() else ""
    if outcome.value_form == "image":
        return _image_output(outcome, printed, room)
    value_size = len(outcome.value_raw)
    if not printed and not value_size:
        return [], ()
    room -= _size("Printed:", "Value:", _CUT)
    printed_size = _size(printed) if printed else 0
    if printed_size + value_size <= room:
        print_room, value_room = printed_size, max(value_size, room - printed_size)
    else:
        least = int(room * _MIN_PRINT_SHARE)
        print_room = min(printed_size, max(least, room - value_size)) if value_size else room
        value_room = room - print_room
    shown = shorten_text(printed, print_room) if printed else ""
    value = _value_text(outcome, max(0, value_room)) if value_size else ""
    is_cut = shown != printed or (value_size > value_room and bool(value_size))
    lines = [
        *_labelled("Printed:", shown, bool(value) or _needs_label(outcome) or bool(outcome.complaints.strip())),
        *_labelled("Value:", value, bool(shown) or bool(outcome.complaints.strip())),
    ]
    return ([*lines, _CUT] if is_cut else lines), ()


_CUT: Final = "Cut to fit. Return less: filter, count or slice in the program."


def _needs_label(outcome: RunOutcome) -> bool:
    return outcome.status != "ok"


def _labelled(label: str, text: str, is_wanted: bool) -> list[str]:
    if not text:
        return []
    return [label, text] if is_wanted else [text]


def _value_text(outcome: RunOutcome, room: int) -> str:
    raw = outcome.value_raw
    if outcome.value_form == "text":
        return shorten_text(_foreign(raw.decode("utf-8", "replace")), room, tail_share=0.25)
    if outcome.value_form == "preview":
        return _preview_text(raw, room)
    return shorten_json(raw, room)


def _preview_text(raw: bytes, room: int) -> str:
    """A last assignment: its name and shape, then the beginning of it."""
    if len(raw) > _PREVIEW_BYTES:
        return shorten_text(raw[: room + 1].decode("utf-8", "replace"), room)
    try:
        decoded: Json = json.loads(raw)
    except (ValueError, RecursionError):
        return shorten_text(raw.decode("utf-8", "replace"), room)
    facts = as_object(decoded)
    name, shape = clean_line(as_text(facts.get("name")), 80), clean_line(as_text(facts.get("shape")), 120)
    intro = f"{name} is a {shape}; it begins with " if shape else f"{name} = "
    hint = f"\n(the program ends with an assignment; end it with `{name}` to get all of it)"
    items = compact(facts.get("items")).encode("utf-8", "replace")
    return f"{intro}{shorten_json(items, max(0, room - _size(intro, hint)))}{hint}"


def _image_output(outcome: RunOutcome, printed: str, room: int) -> tuple[list[str], tuple[Image, ...]]:
    size, kind = len(outcome.value_raw), clean_line(outcome.value_type, 60)
    lines = _labelled("Printed:", shorten_text(printed, max(0, room - 200)) if printed else "", True)
    if not kind.startswith("image/"):
        return [*lines, f"The value is {size:,} bytes of `{kind}`, which cannot be shown."], ()
    if size > MAX_IMAGE_BYTES:
        return [*lines, f"The value is an image of {size:,} bytes; up to {MAX_IMAGE_BYTES:,} can be shown."], ()
    return [*lines, f"The value is the image below ({kind}, {size:,} bytes)."], (
        Image(type=kind, data=outcome.value_raw),
    )


_OUR_LINES: Final = re.compile(
    r"^(?=(?:Next|Hint|Note|Added|Shape|Printed|Value|To stderr|Nothing ran|files)\b)", re.MULTILINE
)


def _foreign(text: str) -> str:
    """Text of a program or a tool: a line that begins like one of ours is moved in by a space."""
    return _OUR_LINES.sub(" ", text)


def _size(*parts: str) -> int:
    """UTF-8 bytes of lines, their line ends included."""
    return sum(len(part.encode("utf-8", "replace")) + 1 for part in parts if part)
