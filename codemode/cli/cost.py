"""What tools cost in a model's context when a client lists them directly, as an estimate.

Enters: a tool. Leaves: estimated tokens of what a client shows of it: name, description, input schema.
"""

from __future__ import annotations

from collections.abc import Iterable

from codemode.catalog.spec import Tool
from codemode.jsonvalue import compact
from codemode.tokens import estimate_tokens


def definition_tokens(tools: Iterable[Tool]) -> int:
    """Estimated tokens of the definitions of some tools."""
    return sum(
        estimate_tokens(
            compact(
                {
                    "name": tool.spec.name,
                    "description": tool.spec.description,
                    "input_schema": tool.spec.input_schema,
                }
            )
        )
        for tool in tools
    )
