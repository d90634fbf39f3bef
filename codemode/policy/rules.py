"""Policy rules: patterns over raw `server.tool` names with a decision, and which of them can never match.

Enters: rules of the configuration. Leaves: matching rules, dead rules. A pattern is matched against `server.tool`, case
and all; `*` matches any run of characters, `?` one. Source of the shape: ARCHITECTURE 4.6.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from codemode.catalog.spec import Tool

Decision = Literal["allow", "ask", "deny"]


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


def dead_rules(rules: Iterable[Rule], tools: Sequence[Tool]) -> tuple[Rule, ...]:
    """Rules that match none of the tools there are: usually a misspelt name."""
    return tuple(rule for rule in rules if not any(rule.matches(tool) for tool in tools))
