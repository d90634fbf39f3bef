"""The durable record of runs: one row a run, written before its first call and again at its end.

Enters: a run's facts as JSON. Leaves: rows, newest first. A run whose process is gone without an end is listed as
`lost`.
All methods block on the disk: call them in a thread.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Mapping
from dataclasses import dataclass

from codemode.jsonvalue import Json, JsonObject, as_object
from codemode.state.owner import identity, is_alive

MAX_LISTED = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One run. `started` in seconds since the epoch; `record` as it was last written (code, calls, limits, …)."""

    key: str
    session: str
    principal: str
    label: str
    started: float
    status: str
    code: str
    record: JsonObject


class Receipts:
    """Reads and writes rows. One lock, so that threads take turns on the one connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._owner = identity(os.getpid())

    def begin(
        self, *, key: str, session: str, principal: str, label: str, started: float, record: Mapping[str, Json]
    ) -> None:
        """Write a run that is about to start; a refused run that starts again keeps its row."""
        with self._lock:
            self._connection.execute(
                "insert into runs (key, session, principal, label, started, status, owner, record) "
                "values (?, ?, ?, ?, ?, 'running', ?, ?) "
                "on conflict (key) do update set status = 'running', code = '', owner = excluded.owner, "
                "record = excluded.record",
                (key, session, principal, label, started, self._owner, _dump(record)),
            )

    def end(self, key: str, *, status: str, code: str, record: Mapping[str, Json]) -> None:
        """Write a run's end; an unknown key is ignored."""
        with self._lock:
            self._connection.execute(
                "update runs set status = ?, code = ?, record = ? where key = ?", (status, code, _dump(record), key)
            )

    def newest(self, principal: str, limit: int = 50) -> list[Row]:
        """The newest runs of a principal; those whose process is gone come as `lost`."""
        return self._rows(
            "where principal = ? order by started desc, rowid desc limit ?", (principal, min(limit, MAX_LISTED))
        )

    def find(self, principal: str, name: str) -> Row | None:
        """One run by its key (or a unique beginning of it), or the newest with this label."""
        by_key = self._rows("where principal = ? and substr(key, 1, ?) = ? limit 2", (principal, len(name), name))
        if len(by_key) == 1 and len(name) >= 4:
            return by_key[0]
        by_label = self._rows("where principal = ? and label = ? order by started desc limit 1", (principal, name))
        return by_label[0] if by_label else None

    def _rows(self, where: str, values: tuple[object, ...]) -> list[Row]:
        columns = "key, session, principal, label, started, status, code, owner, record"
        query = f"select {columns} from runs {where}"  # noqa: S608 - `where` is a literal of this class
        with self._lock:
            found = self._connection.execute(query, values).fetchall()
        return [_row(*values) for values in found]

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()


def _row(
    key: str, session: str, principal: str, label: str, started: float, status: str, code: str, owner: str, record: str
) -> Row:
    if status == "running" and not is_alive(owner):
        status = "lost"
    return Row(
        key=key,
        session=session,
        principal=principal,
        label=label,
        started=started,
        status=status,
        code=code,
        record=as_object(json.loads(record)),
    )


def _dump(record: Mapping[str, Json]) -> str:
    return json.dumps(record, ensure_ascii=True, separators=(",", ":"))
