"""What servers ask the person at the client during one run: bounded, checked, put, and accounted for.

Enters: `Asked`, as it came from a server. Leaves: what the server is told, and one `AskedRecord` each, without the
question's text or the answer's content. The order is bounds, what the client can show, the form or address, the
person, the answer; what is refused is never shown to anybody.

Safety: an answer here reaches the server that asked and nothing else: it never comes near grants or policy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, assert_never

import anyio

from codemode.jsonvalue import Json
from codemode.policy.desk import Desk, FormQuestion, LinkQuestion, Mode, ServerQuestion
from codemode.policy.form import FormError, check_answer, read_form
from codemode.policy.link import LinkError, read_link
from codemode.session import Session
from codemode.upstream.asking import Answer, Asked, Refused

MAX_PER_CALL: Final = 5  # chosen: a wizard of a few pages; a server that wants more nags
MAX_PER_RUN: Final = 20  # chosen: what a person bears for one program
_MAX_RECORDS: Final = 100

_CANNOT: Final = {
    "form": "the client shows no forms",
    "url": "the client opens no addresses",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedRecord:
    """One question of a server.

    Attributes:
        tool: raw name of the tool that asked, "" when several may have.
        action: what the server was told; "refused" when nobody was asked, "withdrawn" when the call ended before.
        reason: why, when it was no person's own decision.
    """

    server: str
    tool: str
    mode: Mode
    action: str
    reason: str = ""

    def to_json(self) -> dict[str, Json]:
        """The record for a receipt."""
        return {
            "server": self.server,
            "tool": self.tool,
            "mode": self.mode,
            "action": self.action,
            "reason": self.reason,
        }


class Questions:
    """The questions of one run's servers.

    Attributes:
        records: the first hundred, in order of their end.
        total: how many there were in all.
    """

    def __init__(self, session: Session, desk: Desk, warn: Callable[[str], None], *, answer_s: float) -> None:
        """`answer_s`: how long a person has for one question, in seconds, waiting for its turn included.

        `warn` takes one line about each question that was put and not answered; a refused one fails its call.
        """
        self._session = session
        self._desk = desk
        self._warn = warn
        self._answer_s = answer_s
        self._put = 0
        self.records: list[AskedRecord] = []
        self.total = 0

    @property
    def modes(self) -> frozenset[Mode]:
        """What the client can show at the moment."""
        return self._session.takes if self._put < MAX_PER_RUN else frozenset()

    def asker(self) -> CallQuestions:
        """Who answers during one call."""
        return CallQuestions(self)

    async def answer(self, asked: Asked, *, is_too_many: bool) -> Answer | Refused:
        """Ask the person, or refuse; either way it is recorded."""
        action, reason = "withdrawn", ""
        try:
            said = await self._answered(asked, is_too_many=is_too_many)
            action, reason = (said.action, said.reason) if isinstance(said, Answer) else ("refused", said.reason)
            if isinstance(said, Answer) and reason:
                self._warn(f"{asked.server} asked the person at the client something, without an answer: {reason}")
            return said
        finally:
            self.total += 1
            if len(self.records) < _MAX_RECORDS:
                record = AskedRecord(
                    server=asked.server, tool=asked.tool, mode=asked.mode, action=action, reason=reason
                )
                self.records.append(record)

    async def _answered(self, asked: Asked, *, is_too_many: bool) -> Answer | Refused:
        if is_too_many:
            return Refused(f"a call may ask {MAX_PER_CALL} times")
        if self._put >= MAX_PER_RUN:
            return Refused(f"the servers of one program may ask {MAX_PER_RUN} times")
        if asked.mode not in self._session.takes:
            return Refused(_CANNOT[asked.mode])
        question = _question(asked)
        if isinstance(question, Refused):
            return question
        self._put += 1
        with anyio.move_on_after(self._answer_s):
            return await self._person(question)
        return Answer(action="cancel", reason=f"nobody answered in {self._answer_s:g} s")

    async def _person(self, question: ServerQuestion) -> Answer:
        reply = await self._desk.pass_on(question)
        if reply.action != "accept" or isinstance(question, LinkQuestion):
            return Answer(action=reply.action)
        try:
            return Answer(action="accept", content=check_answer(question.form, reply.content))
        except FormError as error:
            return Answer(action="cancel", reason=f"the answer does not fit the form: {error}")


class CallQuestions:
    """The questions during one call; see `codemode.upstream.asking.Asker`."""

    def __init__(self, run: Questions) -> None:
        self.run: object = run
        self._questions = run
        self._count = 0

    @property
    def modes(self) -> frozenset[Mode]:
        """What the client can show at the moment."""
        return self._questions.modes

    async def __call__(self, asked: Asked) -> Answer | Refused:
        """Ask the person, within the bounds of the call and of the run."""
        self._count += 1
        return await self._questions.answer(asked, is_too_many=self._count > MAX_PER_CALL)


def _question(asked: Asked) -> ServerQuestion | Refused:
    """The question as it may be shown."""
    match asked.mode:
        case "form":
            try:
                form = read_form(asked.schema)
            except FormError as error:
                return Refused(f"its form cannot be shown: {error}")
            return FormQuestion(server=asked.server, tool=asked.tool, message=asked.message, form=form)
        case "url":
            try:
                link = read_link(asked.url)
            except LinkError as error:
                return Refused(str(error))
            return LinkQuestion(server=asked.server, tool=asked.tool, message=asked.message, link=link)
        case _:
            assert_never(asked.mode)
