"""The two deadlines of one call, which stand still while a person is asked something on the server's behalf.

Enters: bounds. Leaves: two cancel scopes to work in. Time that a person takes counts for neither deadline; the run's
own limit, and the time a person is given, still bound it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import anyio


@dataclass(frozen=True, slots=True, kw_only=True)
class CallBounds:
    """Deadlines of one call: `timeout_s` from now whatever happens, `idle_s` without progress (0 = none).

    `shown_s` is the limit as it was set, for messages: waiting for a start may have used up a part of it.
    """

    timeout_s: float
    idle_s: float = 0.0
    shown_s: float = 0.0


class Clock:
    """The deadlines of one call, as scopes: enter `absolute`, then `idle`."""

    def __init__(self, bounds: CallBounds) -> None:
        now = anyio.current_time()
        self._idle_s = bounds.idle_s or math.inf
        self._left_s = 0.0
        self._stops = 0
        self.absolute = anyio.CancelScope(deadline=now + bounds.timeout_s)
        self.idle = anyio.CancelScope(deadline=now + self._idle_s)

    def heard(self) -> None:
        """The server has given a sign of life."""
        if not self._stops:
            self.idle.deadline = anyio.current_time() + self._idle_s

    def stop(self) -> None:
        """A person is being asked; as many `go_on` as `stop` make the clock go on."""
        self._stops += 1
        if self._stops == 1:
            self._left_s = self.absolute.deadline - anyio.current_time()
            self.absolute.deadline = self.idle.deadline = math.inf

    def go_on(self) -> None:
        """The question is settled."""
        self._stops -= 1
        if not self._stops:
            self.absolute.deadline = anyio.current_time() + self._left_s
            self.heard()
