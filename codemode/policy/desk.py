"""Holds a question to a person until it is answered, outside of any request.

Two kinds of question never meet: an `Approval` is ours and asks whether a program may do something; a `FormQuestion` or
`LinkQuestion` is a server's and only carries an answer back to it. Enters: what a run wants to do, or what a server
asks during one of its calls. Leaves: yes or no, or a `Reply`. A run that waits here belongs to the host: the request
that started it may end, and another one may bring the answer.

Safety: a key cannot be guessed and belongs to one question, so an answer counts once, for the question that was shown.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import anyio

from codemode.jsonvalue import Json
from codemode.policy.form import Form
from codemode.policy.link import Link

Action = Literal["accept", "decline", "cancel"]
Mode = Literal["form", "url"]


def _new_key() -> str:
    return secrets.token_hex(8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """Whether a program may do something. `lines` describe it, one line each, in our own words."""

    lines: tuple[str, ...]
    key: str = field(default_factory=_new_key)


@dataclass(frozen=True, slots=True, kw_only=True)
class FormQuestion:
    """A server wants something filled in.

    `message` is the server's text, uncleaned; `tool` is the raw name of the tool that asks, "" when several may.
    """

    server: str
    tool: str
    message: str
    form: Form
    key: str = field(default_factory=_new_key)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkQuestion:
    """A server wants an address opened in a browser; `message` and `tool` as in `FormQuestion`."""

    server: str
    tool: str
    message: str
    link: Link
    key: str = field(default_factory=_new_key)


ServerQuestion: TypeAlias = FormQuestion | LinkQuestion
Question: TypeAlias = Approval | ServerQuestion


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a person answered to a server's question; `content` is what an accepted form holds, unchecked."""

    action: Action
    content: Mapping[str, Json] = field(default_factory=dict)


class Desk:
    """The questions of one run, one at a time. `on_change` is called when a question is put, answered or taken back."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        self._on_change = on_change
        self._turn = anyio.Lock()
        self._answer: bool | Reply | None = None
        self._settled = anyio.Event()
        self.question: Question | None = None

    async def ask(self, lines: tuple[str, ...]) -> bool:
        """Ask for an approval and wait, however long that takes."""
        return await self._put(Approval(lines=lines)) is True

    async def pass_on(self, question: ServerQuestion) -> Reply:
        """Put a server's question and wait for the reply, however long that takes."""
        answer = await self._put(question)
        assert isinstance(answer, Reply)
        return answer

    async def _put(self, question: Question) -> bool | Reply | None:
        async with self._turn:
            self._answer = None
            self._settled = settled = anyio.Event()
            self.question = question
            self._on_change()
            try:
                await settled.wait()
            finally:
                if self.question is question:
                    self._settle()
            return self._answer

    def answer(self, key: str, is_yes: bool) -> bool:
        """Answer an approval; False when no approval of this key is open (any more)."""
        if not isinstance(self.question, Approval) or self.question.key != key:
            return False
        self._answer = is_yes
        self._settle()
        return True

    def reply(self, key: str, reply: Reply) -> bool:
        """Answer a server's question; False when no such question of this key is open (any more)."""
        if not isinstance(self.question, FormQuestion | LinkQuestion) or self.question.key != key:
            return False
        self._answer = reply
        self._settle()
        return True

    def _settle(self) -> None:
        self.question = None  # at once: whoever waits for the run must not be shown an answered question
        self._settled.set()
        self._on_change()

    async def settled(self, key: str) -> None:
        """Wait until the question of this key is answered or taken back; at once when it is not open."""
        if self.question is not None and self.question.key == key:
            await self._settled.wait()
