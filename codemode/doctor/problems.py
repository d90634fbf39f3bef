"""Draws the problems from what was found, the gravest first.

Enters: the parts of a report. Leaves: `Problem`s, each with what to change. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from codemode.doctor import advice
from codemode.doctor.report import USABLE, Problem, RuleFinding, ServerFacts, Weight
from codemode.errors import CodemodeError
from codemode.runs.isolation import Isolation

_ORDER: tuple[Weight, ...] = ("blocking", "failing", "advice")


def find_problems(
    *,
    isolation: Isolation,
    servers: Sequence[ServerFacts] = (),
    rules: Sequence[RuleFinding] = (),
    warnings: Sequence[str] = (),
    state: CodemodeError | None = None,
    cache: str = "",
) -> tuple[Problem, ...]:
    """Everything that needs attention.

    Args:
        warnings: of the configuration.
        state: what keeps the state folder from being used.
        cache: why no listing can be cached, "" when it can.
    """
    found = [
        *_of_isolation(isolation),
        *_of_state(state, cache),
        *(problem for server in servers for problem in _of_server(server)),
        *(_of_rule(rule) for rule in rules if rule.state != "unjudged"),
        *(Problem(about="configuration", weight="advice", message=text) for text in warnings),
    ]
    return tuple(sorted(found, key=lambda problem: _ORDER.index(problem.weight)))


def _of_isolation(isolation: Isolation) -> Iterator[Problem]:
    missing = [layer for layer in isolation.layers if layer.required and layer.state == "missing"]
    # Where nothing could be tried, the error says more than the layers that it names.
    if isolation.code and (not missing or not isolation.mode):
        yield Problem(
            about="isolation",
            weight="blocking",
            name=missing[0].name if missing else "",
            code=isolation.code,
            message=isolation.message,
            todo=isolation.hint,
        )
        return
    for layer in missing:
        yield Problem(
            about="isolation",
            weight="blocking",
            name=layer.name,
            code=isolation.code,
            message=f"the {isolation.backend} backend needs the layer `{layer.name}`, missing on this machine",
            todo=layer.remedy,
        )


def _of_state(fault: CodemodeError | None, cache: str) -> Iterator[Problem]:
    if fault is not None:
        yield Problem(
            about="state", weight="blocking", code=fault.code, message=fault.message, todo=fault.hint_operator
        )
    if cache:
        yield Problem(
            about="state",
            weight="advice",
            message=cache,
            todo="set `cache_dir` to a folder of yours; until then each front waits for its servers at its start",
        )


def _of_server(facts: ServerFacts) -> Iterator[Problem]:
    name = f"`{facts.server}`"
    if facts.state not in USABLE:
        is_needed = facts.is_required and facts.state != "not_started"
        yield Problem(
            about="server",
            weight="blocking" if is_needed else "failing",
            name=facts.server,
            code=facts.code,
            message=f"{'the required server ' if facts.is_required else ''}{name} {_STATE_TEXT[facts.state]}",
            todo=facts.todo,
        )
    is_ready = facts.state == "ready"
    notes = (
        (
            facts.is_nested,
            f"{name} offers `tool_search` and `execute` itself: code mode inside of code mode",
            advice.NESTED,
        ),
        (
            facts.noise_lines > 0 and is_ready,
            f"{name} wrote {facts.noise_lines} stray lines: they are no messages of MCP",
            advice.NOISE,
        ),
        (
            bool(facts.held),
            f"{len(facts.held)} tools of {name} are held back: their definitions cannot be used",
            advice.HELD,
        ),
        (bool(facts.known), f"{name}: {facts.known}", advice.OLD_LISTING if is_ready else ""),
    )
    for is_so, text, todo in notes:
        if is_so:
            yield Problem(about="server", weight="advice", name=facts.server, message=text, todo=todo)


_STATE_TEXT = {
    "ended": "came up and ended again",
    "failed": "did not come up",
    "sign_in": "needs a sign-in",
    "starting": "is still starting",
    "not_started": "was not started: it would start this program over the same configuration, again and again",
}


def _of_rule(rule: RuleFinding) -> Problem:
    todo = "correct the pattern, or remove it" if rule.state == "dead" else "remove it, or narrow what decides instead"
    where = f" ({rule.source})" if rule.source else ""
    return Problem(
        about="rule",
        weight="advice",
        name=rule.pattern,
        message=f"{rule.kind} `{rule.pattern}`{where} {rule.why}",
        todo=todo,
    )
