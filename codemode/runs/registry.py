"""A session's runs by label: `r1`, `r2`, …; `last` means the newest.

Enters: new runs. Leaves: runs that are found. Only so many finished runs are kept for collection; running ones always
are.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator

from codemode.errors import RunRequestError
from codemode.ids import RunId
from codemode.runs.run import Run
from codemode.session import Session

KEPT_RUNS = 50  # chosen: a model collects the last few; older ones are in the durable record
EARLIER_RUNS = 5  # chosen: whose names a model may still have in mind


class Registry:
    """The runs of one session, and whose they are."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._runs: dict[str, Run] = {}
        self._count = 0

    def add(self, source: str) -> Run:
        """A new run under the next label."""
        self._count += 1
        label = f"r{self._count}"
        earlier = tuple((old.label, old.source) for old in list(self._runs.values())[: -EARLIER_RUNS - 1 : -1])
        run = Run(label=label, key=RunId(secrets.token_hex(12)), session=self.session, source=source, earlier=earlier)
        self._runs[label] = run
        for old in [run for run in self._runs.values() if run.outcome is not None][
            : max(0, len(self._runs) - KEPT_RUNS)
        ]:
            del self._runs[old.label]
        return run

    def find(self, label: str) -> Run:
        """The run with this label, or the newest for `last`.

        Raises:
            RunRequestError: there is no such run in this session.
        """
        known = list(self._runs)
        asked = label.strip()
        if asked == "last" and known:
            return self._runs[known[-1]]
        if asked in self._runs:
            return self._runs[asked]
        has = f"the newest is `{known[-1]}`" if known else "nothing has run in this session"
        raise RunRequestError(
            f"there is no run `{asked[:40]}` in this session; {has}",
            hint_model="send the program as `code`, without `resume`",
        )

    def __iter__(self) -> Iterator[Run]:
        return iter(list(self._runs.values()))
