"""Patterns of the configuration that decide nothing: policy rules, effects, and the tool lists of server entries.

Enters: a `Config`, the catalog, which servers are not known. Leaves: `RuleFinding`s. Pure.
A pattern that may speak about a server whose tools are not known is not called dead: the server may be down today.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase

from codemode.catalog.spec import Tool
from codemode.config.model import Config, ServerConfig
from codemode.doctor.report import RuleFinding, RuleState
from codemode.policy.rules import Rule, dead_rules, hidden_rules

_SHOWN = 3
_NEAR = 0.75  # chosen: one or two wrong letters in a name of usual length


def find_idle_rules(
    config: Config, tools: tuple[Tool, ...], names: Mapping[str, Collection[str]], unknown: Collection[str]
) -> tuple[RuleFinding, ...]:
    """Every pattern that decides nothing.

    Args:
        tools: of the catalog in force.
        names: server → the raw names it lists, before its own patterns.
        unknown: servers whose tools are not known.
    """
    return (
        *_policy(config, tools, unknown),
        *_effects(config, tools, unknown),
        *(finding for entry in config.servers for finding in _lists(entry, names.get(entry.name))),
    )


def _policy(config: Config, tools: tuple[Tool, ...], unknown: Collection[str]) -> Iterator[RuleFinding]:
    rules = [Rule(tool=r.tool, decision=r.decision, reason=r.reason, source=r.source) for r in config.policy.rules]
    dead = dead_rules(rules, tools)
    hidden = {id(item.rule): item.by for item in hidden_rules(rules, tools)}
    full_names = [f"{tool.spec.server}.{tool.spec.name}" for tool in tools]
    for rule in rules:
        down = [server for server in unknown if rule.may_concern(server)]
        is_dead = any(rule is item for item in dead)
        if (is_dead or id(rule) in hidden) and down:
            yield _finding(rule.tool, rule.decision, "unjudged", _not_known(down), rule.source)
        elif is_dead:
            yield _finding(rule.tool, rule.decision, "dead", _no_match(rule.tool, full_names), rule.source)
        elif id(rule) in hidden:
            yield _finding(rule.tool, rule.decision, "hidden", _decided_by(hidden[id(rule)]), rule.source)


def _effects(config: Config, tools: tuple[Tool, ...], unknown: Collection[str]) -> Iterator[RuleFinding]:
    """Of effects the first that matches counts."""
    left = {f"{tool.spec.server}.{tool.spec.name}" for tool in tools}
    everything = sorted(left)
    for item in config.policy.effects:
        matching = [name for name in everything if fnmatchcase(name, item.tool)]
        down = [server for server in unknown if Rule(tool=item.tool, decision="ask").may_concern(server)]
        if not left.intersection(matching):
            why = _no_match(item.tool, everything) if not matching else "effects before it match all that it matches"
            state: RuleState = "unjudged" if down else "hidden" if matching else "dead"
            kind = f"effect {item.effect}"
            yield _finding(item.tool, kind, state, _not_known(down) if down else why, item.source)
        left.difference_update(matching)


def _lists(entry: ServerConfig, names: Collection[str] | None) -> Iterator[RuleFinding]:
    for kind, patterns in (("allowedTools", entry.allowed_tools), ("disabledTools", entry.disabled_tools)):
        for pattern in patterns:
            if names is not None and not any(fnmatchcase(name, pattern) for name in names):
                why = _no_match(pattern, sorted(names), of=f"`{entry.name}`")
                yield _finding(pattern, kind, "dead", why, entry.source)


def _finding(pattern: str, kind: str, state: RuleState, why: str, source: str) -> RuleFinding:
    return RuleFinding(pattern=pattern, kind=kind, state=state, why=why, source=source)


def _no_match(pattern: str, names: list[str], *, of: str = "all servers") -> str:
    near = difflib.get_close_matches(pattern, names, n=1, cutoff=_NEAR)
    hint = f"; did you mean `{near[0]}`?" if near else ""
    return f"matches none of the {len(names)} tools of {of}{hint}"


def _not_known(servers: list[str]) -> str:
    return f"the tools of {_listed(servers)} are not known now"


def _decided_by(rules: tuple[Rule, ...]) -> str:
    shown = [f"`{rule.tool}` ({rule.decision}{', ' + rule.source if rule.source else ''})" for rule in rules[:_SHOWN]]
    more = f" and {len(rules) - _SHOWN} more" if len(rules) > _SHOWN else ""
    return f"all that it matches is decided by {', '.join(shown)}{more}: the strictest rule wins, then the first"


def _listed(servers: list[str]) -> str:
    shown = ", ".join(f"`{server}`" for server in servers[:_SHOWN])
    return shown + (f" and {len(servers) - _SHOWN} more" if len(servers) > _SHOWN else "")
