"""The questions that a person is put: an approval, in our words, or what a server asks, as the server's own text.

Enters: a run and its question. Leaves: plain text. The two are worded so that neither can pass for the other: an
approval says what a program wants to do and ends with "Allow it?"; a server's question begins with the server's name,
and each line of the server's text stands behind a mark.

Safety: lines quote programs and servers. They are bounded, free of hidden characters, and cut to single lines, so that
nothing in them can pass for ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, assert_never

from codemode.catalog.text import clean_line, clean_text
from codemode.policy.desk import Approval, FormQuestion, LinkQuestion, Question, ServerQuestion

_MAX_LINES: Final = 12
_MAX_CHARS: Final = 400
_SAID_CHARS: Final = 1_500  # chosen: a screen
_SAID_LINES: Final = 20
_NAME_CHARS: Final = 60


def question_text(run: str, question: Question) -> str:
    """What the person reads."""
    match question:
        case Approval():
            return _approval(run, question.lines)
        case FormQuestion():
            return "\n".join([*_server_head(run, question), "Leave out passwords, keys and other secrets."])
        case LinkQuestion():
            link = question.link
            where = f"It wants you to open an address at {link.host} in your browser:"
            return "\n".join([*_server_head(run, question), where, link.url, "Open it only if you know that host."])
        case _:
            assert_never(question)


def waiting_lines(question: Question) -> tuple[str, ...]:
    """What a run waits for, for the model: never what a server says."""
    match question:
        case Approval():
            return question.lines
        case FormQuestion():
            return (f"{question.server}{_for_tool(question)} asks the person to fill in a form",)
        case LinkQuestion():
            return (f"{question.server}{_for_tool(question)} asks the person to open an address",)
        case _:
            assert_never(question)


def _approval(run: str, lines: Sequence[str]) -> str:
    shown = [f"- {clean_line(line, _MAX_CHARS)}" for line in lines[:_MAX_LINES]]
    more = [f"- and {len(lines) - _MAX_LINES} more"] if len(lines) > _MAX_LINES else []
    return "\n".join([f"A program ({run}) wants to do this:", *shown, *more, "Allow it?"])


def _server_head(run: str, question: ServerQuestion) -> list[str]:
    server = clean_line(question.server, _NAME_CHARS)
    said = clean_text(question.message, _SAID_CHARS).split("\n")
    more = ["> …"] if len(said) > _SAID_LINES else []
    return [
        f"The server `{server}`{_for_tool(question)} asks you, during the run {run}. Lines behind > are its own text:",
        *(f"> {line}" for line in said[:_SAID_LINES]),
        *more,
        f"Your answer goes to `{server}` and has no other effect.",
    ]


def _for_tool(question: ServerQuestion) -> str:
    name = clean_line(question.tool, _NAME_CHARS).replace("`", "'")
    return f", in its tool `{name}`," if name else ""
