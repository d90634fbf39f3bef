"""`codemode runs`: what ran here, newest first, from the durable record.

Enters: a run's name, or nothing. Leaves: rows, or one record. Argument values and results are not in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from codemode.cli.opening import read_config
from codemode.cli.output import OK, print_json, print_text, table
from codemode.errors import RunRequestError
from codemode.host import folders_of
from codemode.jsonvalue import Json, as_text, is_object
from codemode.session import LOCAL_PRINCIPAL
from codemode.state.database import open_database
from codemode.state.receipts import Receipts, Row


def list_runs(run: str, limit: int, files: Sequence[Path] | None, *, as_json: bool) -> int:
    """Print the newest runs, or one.

    Raises:
        RunRequestError: there is no such run.
        ConfigError: the record cannot be opened.
    """
    receipts = Receipts(open_database(folders_of(read_config(files)).state))
    try:
        if run:
            row = receipts.find(LOCAL_PRINCIPAL, run)
            if row is None:
                raise RunRequestError(f"there is no run `{run[:80]}`", hint_operator="`codemode runs` lists all")
            rows = [row]
        else:
            rows = receipts.newest(LOCAL_PRINCIPAL, limit)
    finally:
        receipts.close()
    if as_json:
        print_json({"runs": [_document(row, with_record=bool(run)) for row in rows]})
    elif run:
        print_text(_one(rows[0]))
    else:
        print_text(_many(rows) if rows else "nothing has run yet")
    return OK


def _document(row: Row, *, with_record: bool) -> dict[str, Json]:
    document: dict[str, Json] = {
        "run": row.label,
        "receipt": row.key,
        "status": row.status,
        "started": _time(row.started),
        "code": row.code,
    }
    return {**document, "record": dict(row.record)} if with_record else document


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _many(rows: Sequence[Row]) -> str:
    cells = [
        (_time(row.started), row.label, row.key, row.status, row.code or "-", str(len(_calls(row)))) for row in rows
    ]
    return table(("started", "run", "receipt", "status", "code", "calls"), cells, right=frozenset({5}))


def _calls(row: Row) -> list[dict[str, Json]]:
    listed = row.record.get("calls")
    return [dict(call) for call in listed if is_object(call)] if isinstance(listed, list) else []


def _one(row: Row) -> str:
    lines = [f"{row.label} {row.status} {row.code}".rstrip(), f"receipt {row.key}, started {_time(row.started)}", ""]
    lines.extend(as_text(row.record.get("program")).splitlines())
    calls = _calls(row)
    if calls:
        cells = [
            (as_text(c.get("tool")), as_text(c.get("status")), str(c.get("ms")), as_text(c.get("code"))) for c in calls
        ]
        lines += ["", table(("call", "status", "ms", "code"), cells, right=frozenset({2}))]
    return "\n".join(lines)
