"""Holds a question to a person until it is answered, outside of any request.

Enters: what a run wants to do. Leaves: yes or no. A run that waits here belongs to the host: the request that started
it may end, and another one may bring the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import anyio


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question. `lines` describe what is asked for, one line each, in our own words."""

    id: int
    lines: tuple[str, ...]


class Desk:
    """The questions of one run, one at a time. `on_change` is called when a question is put or answered."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        self._on_change = on_change
        self._turn = anyio.Lock()
        self._answer: bool | None = None
        self._answered = anyio.Event()
        self._count = 0
        self.question: Question | None = None

    async def ask(self, lines: tuple[str, ...]) -> bool:
        """Put the question and wait for the answer, however long that takes."""
        async with self._turn:
            self._count += 1
            self._answer = None
            self._answered = anyio.Event()
            self.question = Question(id=self._count, lines=lines)
            self._on_change()
            try:
                await self._answered.wait()
            finally:
                if self.question is not None:
                    self.question = None
                    self._on_change()
            return self._answer is True

    def answer(self, question_id: int, is_yes: bool) -> bool:
        """Give the answer; False when that question is not open (any more)."""
        if self.question is None or self.question.id != question_id or self._answered.is_set():
            return False
        self._answer = is_yes
        self.question = None  # at once: whoever waits for the run must not be shown an answered question
        self._answered.set()
        self._on_change()
        return True
