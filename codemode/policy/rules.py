"""Policy rules: patterns over raw `server.tool` names with a decision, and which of them decide nothing.

Enters: rules of the configuration. Leaves: the rule that decides about a tool; dead and hidden rules. A pattern is
matched against `server.tool`, case and all; `*` matches any run of characters, `?` one. Source of the shape:
ARCHITECTURE 4.6.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from codemode.catalog.spec import Tool

Decision = Literal["allow", "ask", "deny"]
_STRICTNESS: Mapping[Decision, int] = {"allow": 0, "ask": 1, "deny": 2}


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule. `reason` is shown to the model when the rule denies; `source` says where the rule stands."""

    tool: str
    decision: Decision
    reason: str = ""
    source: str = ""

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        parts = {"*": ".*", "?": "."}
        return re.compile("".join(parts.get(c, re.escape(c)) for c in re.sub(r"\*+", "*", self.tool)), re.DOTALL)

    def matches(self, tool: Tool) -> bool:
        """Whether the rule speaks about the tool."""
        return self._pattern.fullmatch(f"{tool.spec.server}.{tool.spec.name}") is not None

    def may_concern(self, server: str) -> bool:
        """Whether some tool of this server could have a name that the rule matches."""
        literal = re.split(r"[*?]", self.tool, maxsplit=1)[0]
        is_open = literal != self.tool
        return literal.startswith(f"{server}.") or (is_open and f"{server}.".startswith(literal))


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenRule:
    """A rule that matches tools and decides about none of them, and the rules that do."""

    rule: Rule
    by: tuple[Rule, ...]


def deciding_rule(tool: Tool, rules: Iterable[Rule]) -> Rule | None:
    """The strictest of all rules that match; of equally strict ones the first."""
    matching = (rule for rule in rules if rule.matches(tool))
    return max(matching, key=lambda rule: _STRICTNESS[rule.decision], default=None)


def dead_rules(rules: Iterable[Rule], tools: Sequence[Tool]) -> tuple[Rule, ...]:
    """Rules that match none of the tools there are: usually a misspelt name."""
    return tuple(rule for rule in rules if not any(rule.matches(tool) for tool in tools))


def hidden_rules(rules: Sequence[Rule], tools: Sequence[Tool]) -> tuple[HiddenRule, ...]:
    """Rules that match some tools, each of which another rule decides about: a stricter one, or an equal one before."""
    places = range(len(rules))  # two rules may be equal in all they say
    winners: dict[int, set[int]] = {place: set() for place in places}
    for tool in tools:
        matching = [place for place in places if rules[place].matches(tool)]
        if matching:
            winner = max(matching, key=lambda place: _STRICTNESS[rules[place].decision])
            for place in matching:
                winners[place].add(winner)
    return tuple(
        HiddenRule(rule=rules[place], by=tuple(rules[other] for other in sorted(winners[place])))
        for place in places
        if winners[place] and place not in winners[place]
    )
