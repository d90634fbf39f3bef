"""The durable record of a run as JSON: what was asked, under which conditions, what was called, how it ended.

Enters: a run and its outcome. Leaves: JSON objects for `codemode/state/receipts.py`. Argument values, results, what
servers ask and are answered, and the content of files are not in it; the program's text is, with names and sizes of
the files it wrote.
"""

from __future__ import annotations

from collections.abc import Mapping

from codemode.broker.questions import Questions
from codemode.catalog.snapshot import Catalog
from codemode.jsonvalue import Json
from codemode.runs.outcome import RunOutcome
from codemode.runs.run import Run
from sandbox.backends.base import IsolationReport
from sandbox.spec import RunSpec

VERSION = 1
_MAX_FILES = 200  # chosen: the names that a receipt lists


def names_of(isolation: IsolationReport) -> list[Json]:
    """The layers in force."""
    return [layer.name for layer in isolation.layers if layer.state != "missing"]


def begin_record(run: Run, catalog: Catalog, spec: RunSpec) -> dict[str, Json]:
    """The record before anything has run."""
    return {
        "version": VERSION,
        "run": run.label,
        "key": run.key,
        "session": run.session.id,
        "program": run.source,
        "catalog": catalog.digest,
        "limits": dict(spec.limits.to_wire()),
        "seed": spec.seed,
        "isolation": [],
        "status": "running",
        "calls": [],
    }


def end_record(record: Mapping[str, Json], outcome: RunOutcome, questions: Questions | None = None) -> dict[str, Json]:
    """The record with the run's end. `questions`: what servers asked the person meanwhile."""
    return {
        **record,
        "status": outcome.status,
        "code": outcome.code,
        "calls": [call.to_json() for call in outcome.calls],
        "usage": outcome.used.to_json(),
        "error": outcome.error.to_json() if outcome.error is not None else None,
        "not_shown": [str(use.tool.spec.id) for use in outcome.heal.new] if outcome.heal is not None else [],
        "denied": [str(item.use.tool.spec.id) for item in outcome.denied],
        "notes": [*outcome.notes, *outcome.warnings],
        "files": [file.to_json() for file in outcome.files[:_MAX_FILES]],
        "asked": [item.to_json() for item in questions.records] if questions is not None else [],
        "asked_total": questions.total if questions is not None else 0,
        "files_written": len(outcome.files),
    }
