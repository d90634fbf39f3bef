"""Decides whether a call may be made: `Allow`, `Ask` or `Deny`, the strictest of all rules that match.

Enters: a tool with its effect, the rules, how approvals are handled. Leaves: a decision with its reason. Without a
matching rule, reads are allowed and everything else asks (ARCHITECTURE 4.6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from codemode.catalog.spec import Tool
from codemode.policy.rules import Rule, deciding_rule

Approve = Literal["never", "ask", "all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Allow:
    """The call may be made."""

    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Somebody must say yes first."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Deny:
    """The call must not be made. `rule` is the rule that says so, or None when nobody can be asked."""

    reason: str
    rule: Rule | None = None


Decided = Allow | Ask | Deny


def decide(tool: Tool, rules: Sequence[Rule], approve: Approve, *, can_ask: bool) -> Decided:
    """The decision on calls of a tool.

    Args:
        approve: what becomes of `ask`: "all" allows, "never" denies, "ask" asks.
        can_ask: whether there is somebody to ask.
    """
    strictest = deciding_rule(tool, rules)
    if strictest is not None and strictest.decision == "deny":
        return Deny(reason=strictest.reason or f"the rule `{strictest.tool}` denies it", rule=strictest)
    if strictest is not None and strictest.decision == "allow":
        return Allow(reason=f"the rule `{strictest.tool}` allows it")
    if strictest is None and tool.effect == "read":
        return Allow(reason="reads are allowed")
    why = f"the rule `{strictest.tool}` asks" if strictest is not None else f"it is {_EFFECT_TEXT[tool.effect]}"
    if approve == "all":
        return Allow(reason=f"{why}; approvals are given to all")
    if approve == "never" or not can_ask:
        return Deny(reason=f"{why}, and nobody can be asked here")
    return Ask(reason=why)


_EFFECT_TEXT = {"read": "a read", "write": "a write", "destructive": "destructive"}


def allow_line(tool: Tool) -> str:
    """The configuration line that would allow the tool, ready to paste under `codemode.policy.rules`."""
    name = f"{tool.spec.server}.{tool.spec.name}".replace("\\", "\\\\").replace('"', '\\"')
    return f'{{"tool": "{name}", "decision": "allow"}}'
