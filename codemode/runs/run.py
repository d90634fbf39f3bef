"""One run's state, owned by the host: what it is doing, what it asks, how it ended.

Enters: changes made by the executor and by whoever answers questions. Leaves: snapshots as `RunOutcome`, and a wait
that ends when the run ends, asks something, or the time is up. Requests come and go; the run stays.
"""

from __future__ import annotations

import time
from dataclasses import replace

import anyio

from codemode.broker.broker import Broker
from codemode.ids import RunId
from codemode.jsonvalue import Json
from codemode.policy.desk import Desk
from codemode.runs.files import RunFiles
from codemode.runs.outcome import RunOutcome, Used, WrittenFields
from codemode.session import Session


class Run:
    """One program of one session.

    Attributes:
        label, key: what the client calls it, and what the record calls it.
        earlier: label and program of the runs before it, newest first.
        is_told: somebody has been told how it ended; a refusal must be read before the program may run again.
    """

    def __init__(
        self, *, label: str, key: RunId, session: Session, source: str, earlier: tuple[tuple[str, str], ...] = ()
    ) -> None:
        self.label = label
        self.key = key
        self.session = session
        self.source = source
        self.earlier = earlier
        self.desk = Desk(self._wake)
        self.broker: Broker | None = None
        self.files = RunFiles(session.workspace) if session.workspace is not None else None
        self.record: dict[str, Json] = {}
        self.scope = anyio.CancelScope()
        self.is_told = False
        self.started_s = time.time()
        self._begun = time.monotonic()
        self._outcome: RunOutcome | None = None
        self._changed = anyio.Event()

    @property
    def outcome(self) -> RunOutcome | None:
        """The end, or None while the run goes on."""
        return self._outcome

    def restart(self) -> None:
        """Make a refused run ready to be driven again: same program, same label."""
        self._outcome = None
        self.is_told = False
        self.broker = None
        self.scope = anyio.CancelScope()
        self._begun = time.monotonic()

    def end(self, outcome: RunOutcome) -> None:
        """Set the end; the first one counts."""
        if self._outcome is None:
            self._outcome = replace(outcome, run=self.label, receipt=self.key, **self._written())
            self._wake()

    def _written(self) -> WrittenFields:
        """The files of the run, and where they are when the client may know."""
        if self.files is None or not self.files.written:
            return {"files": (), "workspace": ""}
        is_told = self.session.is_local
        return {"files": self.files.written, "workspace": str(self.files.path) if is_told else ""}

    def snapshot(self) -> RunOutcome:
        """The end, or how things stand."""
        if self._outcome is not None:
            return self._outcome
        calls = tuple(self.broker.records) if self.broker is not None else ()
        return RunOutcome(
            run=self.label,
            status="running",
            calls=calls,
            used=Used(wall_s=time.monotonic() - self._begun, calls=len(calls)),
            receipt=self.key,
            question=self.desk.question,
            **self._written(),
        )

    async def wait(self, timeout_s: float) -> RunOutcome:
        """Wait until the run has ended or asks something, at most `timeout_s`; then its snapshot."""
        with anyio.move_on_after(timeout_s):
            while self._outcome is None and self.desk.question is None:
                await self._changed.wait()
        if self._outcome is not None:
            self.is_told = True
        return self.snapshot()

    def _wake(self) -> None:
        """Wake every waiter; later ones wait for the next change."""
        self._changed.set()
        self._changed = anyio.Event()
