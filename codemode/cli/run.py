"""`codemode run`: one program over the configured servers, from a file or standard input.

Enters: a program. Leaves: its prints and its value on standard output, why it failed on standard error. Nobody searches
on a command line, so functions need not have been shown before (`--gate open` is the default here).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import anyio.to_thread

from codemode.catalog.text import clean_line
from codemode.cli.hosting import settled_host
from codemode.cli.opening import read_config, run_async
from codemode.cli.output import FAILED, INTERRUPTED, LIMIT, OK, exit_code_of, print_json, print_text, tell, tell_error
from codemode.errors import ConfigError, RunRequestError
from codemode.host import HostSession
from codemode.policy.desk import Approval
from codemode.prose.files import files_line
from codemode.prose.refusal import Refusal, refusal
from codemode.runs.outcome import ProgramError, RunOutcome

_WAIT_S: Final = 5.0  # how often a person at a terminal is told that the program runs
_ROOM_CHARS: Final = 20_000
_MAX_BYTES: Final = 16 << 20  # the largest `source_bytes` there is


def run_program(
    file: str, files: Sequence[Path] | None, catalogs: Sequence[Path] | None, *, gate: str, approve: str, as_json: bool
) -> int:
    """Run the program and print what came of it.

    Raises:
        ConfigError: the configuration or the program's file cannot be read.
    """
    config = read_config(files, catalogs, gate=gate, approve=approve)
    source = _read(file)
    can_ask = config.approve == "ask" and file != "-" and sys.stdin.isatty() and sys.stderr.isatty()

    async def work() -> int:
        async with settled_host(config, catalogs) as host:
            session = host.session(can_ask=can_ask, is_local=True)
            try:
                outcome = await _run(session, source)
            except RunRequestError as error:
                problem = ProgramError(code=error.code, message=error.message)
                outcome = RunOutcome(run="", status="refused", code=error.code, error=problem, errors=(problem,))
            if as_json:
                print_json(outcome.to_json())
            else:
                _print_output(outcome)
            _tell_end(outcome, session)
        return _exit_code(outcome)

    return run_async(work)


def _read(file: str) -> str:
    try:
        raw = sys.stdin.buffer.read(_MAX_BYTES + 1) if file == "-" else Path(file).read_bytes()
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise ConfigError(f"{file}: cannot be read: {reason}", code="config.missing") from error
    if len(raw) > _MAX_BYTES:
        raise ConfigError(f"{file}: larger than {_MAX_BYTES} bytes")
    # A wrong byte is the program's mistake: the guest says where it is.
    return raw.decode("utf-8-sig", "surrogateescape")


async def _run(session: HostSession, source: str) -> RunOutcome:
    outcome = await session.execute(source, wait_s=_WAIT_S)
    while outcome.status == "running":
        if isinstance(outcome.question, Approval):
            session.answer(outcome.run, await _ask(outcome.question))
        elif sys.stderr.isatty():
            tell(f"still running after {outcome.used.wall_s:.0f} s, {len(outcome.calls)} calls")
        outcome = await session.execute(resume=outcome.run, wait_s=_WAIT_S)
    return outcome


async def _ask(question: Approval) -> bool:
    """Ask the person at the terminal; anything but a plain yes is a no."""
    tell("The program wants to do this:")
    for line in question.lines:
        tell(f"  {clean_line(line, 400)}")
    sys.stderr.write("Allow it? [y/N] ")
    sys.stderr.flush()
    answer = await anyio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True)
    return answer.strip().lower() in ("y", "yes")


# -- what is printed ------------------------------------------------------------------------------------------------


def _print_output(outcome: RunOutcome) -> None:
    if outcome.complaints:
        tell(outcome.complaints.removesuffix("\n"))
    if outcome.printed:
        print_text(outcome.printed.removesuffix("\n"))
    match outcome.value_form:
        case "none":
            return
        case "image":
            tell(f"the value is an image ({outcome.value_type}, {len(outcome.value_raw):,} bytes); `--json` has it")
        case _:
            print_text(outcome.value_raw.decode("utf-8", "replace"))


def _tell_end(outcome: RunOutcome, session: HostSession) -> None:
    for note in (*outcome.notes, *outcome.warnings):
        tell(f"note: {clean_line(note, 400)}")
    if outcome.files:
        tell(files_line(outcome))
    if outcome.status == "ok":
        return
    if outcome.status == "refused":
        _tell_refusal(outcome, refusal(outcome, session.marks, room_chars=_ROOM_CHARS))
        return
    error = outcome.error
    if error is not None and error.traceback:
        tell(error.traceback.rstrip())
    if error is not None and error.shape:
        tell(f"shape: {error.shape}")
    message = error.message if error is not None else outcome.status
    shown = f"{error.type}: {message}" if error is not None and error.code == "guest.raised" else message
    tell_error(outcome.code or outcome.status, clean_line(shown, 1_000), error.hint if error is not None else "")


def _tell_refusal(outcome: RunOutcome, refused: Refusal) -> None:
    tell_error(outcome.code, refused.head.removeprefix("Nothing ran. ").rstrip("."))
    for line in refused.lines:
        tell(f"  {line}")
    if any(item.allow_line for item in outcome.denied):
        tell("hint: add the rule above, or allow everything that needs a yes with `--approve all`")
    elif outcome.code == "gate.not_loaded":
        tell("hint: `--gate open` lets functions pass that were not shown before")


def _exit_code(outcome: RunOutcome) -> int:
    match outcome.status:
        case "ok":
            return OK
        case "limit":
            return LIMIT
        case "cancelled":
            return INTERRUPTED
        case "refused":
            return exit_code_of(outcome.code)
        case _:
            return FAILED
