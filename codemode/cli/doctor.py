"""`codemode doctor`: what works on this machine with this configuration, and what to change.

Enters: configuration and dumps. Leaves: a report as text or JSON, and an exit code. Servers really start; nothing is
changed.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from codemode.cli.doctor_text import report_text
from codemode.cli.opening import LOG_VARIABLE, run_async
from codemode.cli.output import NO_ISOLATION, OK, UNREACHABLE, USAGE, print_json, print_text, tell
from codemode.config.load import load_config
from codemode.doctor.examine import examine
from codemode.doctor.report import Problem, Report, ServerFacts


def run_doctor(files: Sequence[Path] | None, catalogs: Sequence[Path] | None, *, as_json: bool) -> int:
    """Print the report.

    Raises:
        ConfigError: a file cannot be used.
    """
    config = load_config(*(files or ()))  # its warnings are part of the report
    if LOG_VARIABLE not in os.environ:
        logging.getLogger("codemode").setLevel(logging.ERROR)  # what failed is told once, in the report

    async def work() -> Report:
        return await examine(config, catalogs=tuple(catalogs or ()), tell_waiting=_tell_waiting)

    report = run_async(work)
    if as_json:
        print_json(report_document(report))
    else:
        print_text(report_text(report))
    return exit_code(report.problems)


def _tell_waiting(servers: Sequence[str]) -> None:
    if sys.stderr.isatty():
        tell(f"waiting for {', '.join(servers)}")


def exit_code(problems: Sequence[Problem]) -> int:
    """The gravest of all problems decides; advice never does.

    A server that fails counts whether it is `required` or not, as in `codemode catalog`: 0 means that what is
    configured works, and an entry that may be down has `disabled` to say so.
    """
    grave = {problem.about for problem in problems if problem.weight != "advice"}
    if "isolation" in grave:
        return NO_ISOLATION
    if "state" in grave:
        return USAGE
    return UNREACHABLE if "server" in grave else OK


def report_document(report: Report) -> dict[str, object]:
    """The report as one JSON object."""
    isolation = report.isolation
    return {
        "isolation": {
            layer.name: {
                "state": layer.state,
                "how_tested": layer.how_tested,
                "required": layer.required,
                "remedy": layer.remedy if layer.state == "missing" else "",
            }
            for layer in isolation.layers
        },
        "servers": [_server(facts) for facts in report.servers],
        "problems": [asdict(problem) for problem in report.problems],
        "backend": {"name": isolation.backend, "mode": isolation.mode},
        "machine": {**asdict(report.machine), "versions": dict(report.machine.versions)},
        "limits": [asdict(setting) for setting in report.settings],
        "rules": [asdict(rule) for rule in report.rules],
        "files": list(report.files),
        "state_folder": report.state_folder,
    }


def _server(facts: ServerFacts) -> dict[str, object]:
    document = asdict(facts)
    return {
        **{key: value for key, value in document.items() if key not in ("is_required", "is_nested", "held")},
        "required": facts.is_required,
        "nested": facts.is_nested,
        "quarantined": document["held"],
    }
