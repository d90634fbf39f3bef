"""Which tool definitions this session has been shown: by raw server, raw name and semantic digest.

A tool whose meaning changed since it was shown counts as not shown.
"""

from __future__ import annotations

from collections.abc import Iterable

from codemode.catalog.spec import Tool
from codemode.ids import ToolId


class Loaded:
    """The set of one session. Marks are help, not rights: losing or forging one changes no access."""

    def __init__(self) -> None:
        self._ids: set[ToolId] = set()

    def __contains__(self, tool: Tool) -> bool:
        return tool.spec.id in self._ids

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, tools: Iterable[Tool]) -> None:
        """Mark tools as shown."""
        self._ids.update(tool.spec.id for tool in tools)
