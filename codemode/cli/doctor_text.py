"""The report of `codemode doctor` for a person: sections of at most 80 columns, readable without colour.

Enters: a `Report`. Leaves: text. Text of servers stands behind a label and is made visible; it never starts a line.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from codemode.config.model import MIB
from codemode.doctor.report import Problem, Report, ServerFacts, Setting
from codemode.prose.visible import visible

WIDTH: Final = 80
_GIB: Final = 1 << 30
_SHOWN_HELD: Final = 5
_STATES: Final = {
    "ready": "ready",
    "listing_only": "a listing from a file",
    "disabled": "disabled",
    "failed": "FAILED",
    "ended": "ENDED",
    "sign_in": "NEEDS A SIGN-IN",
    "starting": "STILL STARTING",
    "not_started": "NOT STARTED",
}
_AUTH: Final = {"sent": "a credential is given", "refused": "the sign-in was refused", "none": "no credential"}


def report_text(report: Report) -> str:
    """The whole report."""
    sections = (
        _isolation(report),
        _machine(report),
        ["servers", *_servers(report.servers)],
        ["limits", *_limits(report.settings)],
        ["rules that decide nothing", *_rules(report)],
        [_headline(report.problems), *(line for problem in report.problems for line in _problem(problem))],
    )
    return "\n\n".join("\n".join(lines) for lines in sections)


def _isolation(report: Report) -> Iterator[str]:
    found = report.isolation
    who = {"root": ", as root", "user": ", as a plain user", "": ", not started"}[found.mode]
    yield f"isolation: {found.backend} backend{who}"
    width = max((len(layer.name) for layer in found.layers), default=0)
    for layer in found.layers:
        is_grave = layer.required and layer.state == "missing"
        state = "MISSING" if is_grave else layer.state
        head = f"{state:<7}  {layer.name:<{width}}  "
        optional = "not required; " if layer.state == "missing" and not layer.required else ""
        yield from _entry(head, optional + layer.how_tested)
        if layer.state == "missing":
            yield from _entry(" " * len(head), f"do: {layer.remedy}")
    if not found.layers:
        yield from _entry("", found.message)


def _machine(report: Report) -> Iterator[str]:
    machine = report.machine
    user = "root" if machine.user == "root" else "a plain user"
    rows = (
        ("kernel", f"{machine.kernel}, {machine.architecture}"),
        ("python", machine.python),
        ("packages", ", ".join(f"{name} {version}" for name, version in machine.versions)),
        ("user", f"{user} (uid {machine.uid})"),
        ("cores", str(machine.cores)),
        (
            "memory",
            f"{machine.memory_bytes / _GIB:.1f} GiB, of which all runs together may use "
            f"{machine.runs_memory_bytes / _GIB:.1f} GiB",
        ),
        ("files", ", ".join(report.files) or "no configuration"),
        ("state", report.state_folder),
    )
    yield "machine"
    for name, text in rows:
        yield from _entry(f"{name:<9} ", text)


def _servers(servers: Sequence[ServerFacts]) -> Iterator[str]:
    if not servers:
        yield "  none are configured"
    for facts in servers:
        yield from _entry("", f"{facts.server}: {_headline_of(facts)}")
        for text in _details(facts):
            yield from _entry("  ", text)


def _headline_of(facts: ServerFacts) -> str:
    parts = [_STATES[facts.state]]
    if facts.is_required:
        parts.append("required")
    if not facts.may_ask:
        parts.append("may not ask the person")
    if facts.state in ("ready", "listing_only"):
        parts.append(f"{facts.tools:,} tools")
    if facts.held:
        parts.append(f"{len(facts.held)} held back")
    return ", ".join(parts)


def _details(facts: ServerFacts) -> Iterator[str]:
    protocol = f"protocol {facts.protocol} ({facts.era or 'unknown'})" if facts.protocol else ""
    how = "; ".join(part for part in (facts.start, protocol, _AUTH.get(facts.auth, "")) if part)
    if how:
        yield how
    if facts.state == "ready":
        yield f"up in {facts.start_ms:,} ms, of which {facts.list_ms:,} ms to list its tools"
    elif facts.reason and facts.state != "disabled":
        yield f"why: {facts.reason}"
    for item in facts.held[:_SHOWN_HELD]:
        yield f"held back: `{item.tool}`: {item.reason}"
    if len(facts.held) > _SHOWN_HELD:
        yield f"held back: and {len(facts.held) - _SHOWN_HELD} more; `--json` has them"
    if facts.passed_over:
        yield f"passed over: its {' and '.join(facts.passed_over)}; links in results can be read"
    if facts.noise_lines:
        first = f", the first: {facts.noise_samples[0]}" if facts.noise_samples else ""
        yield f"stray lines on its stdout: {facts.noise_lines}{first}"
    for line in facts.stderr:
        yield f"stderr: {line}"
    if facts.todo:
        yield f"do: {facts.todo}"


def _limits(settings: Sequence[Setting]) -> Iterator[str]:
    amounts = [_amount(item) for item in settings]
    width = max((len(item.name) for item in settings), default=0)
    wide = max(map(len, amounts), default=0)
    for item, amount in zip(settings, amounts, strict=True):
        yield from _entry(f"{item.name:<{width}}  {amount:>{wide}}  ", item.source)


def _amount(item: Setting) -> str:
    if item.name.endswith("_bytes"):
        return f"{item.value / MIB:g} MiB" if item.value >= MIB else f"{item.value / 1024:g} KiB"
    return f"{item.value:,}" if isinstance(item.value, int) else f"{item.value:g}"


def _rules(report: Report) -> Iterator[str]:
    if not report.rules:
        yield "  none"
    for rule in report.rules:
        why = f": {rule.why}" if rule.state == "unjudged" else ""
        where = f", {rule.source}" if rule.source else ""
        yield from _entry(f"{rule.state:<8}  ", f"{rule.kind} `{rule.pattern}`{why}{where}")


def _headline(problems: Sequence[Problem]) -> str:
    if not problems:
        return "problems: none"
    counts = {weight: sum(item.weight == weight for item in problems) for weight in ("blocking", "failing", "advice")}
    named = (
        (counts["blocking"], "blocking"),
        (counts["failing"], "failing"),
        (counts["advice"], "advice"),
    )
    return "problems: " + ", ".join(f"{count} {name}" for count, name in named if count)


def _problem(problem: Problem) -> Iterator[str]:
    head = f"{problem.weight:<8}  "
    yield from _entry(head, problem.message)
    if problem.todo:
        yield from _entry(" " * len(head), f"do: {problem.todo}")


def _entry(head: str, text: str) -> Iterator[str]:
    """A text behind a head, wrapped under itself."""
    start = f"  {head}"
    shown = " ".join(visible(text).split())
    indent = " " * len(start)
    lines = textwrap.wrap(shown, WIDTH, initial_indent=start, subsequent_indent=indent, break_on_hyphens=False)
    yield from lines or [start.rstrip()]
