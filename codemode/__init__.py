"""Code mode for MCP: the model writes one Python program that calls every tool, behind kernel walls.

    async with Host.open(load_config("mcp.json")) as host:
        session = host.session()
        answer = await session.tool_search("open issues")
        outcome = await session.execute("tools.github.list_issues(repo='a/b')")

Names are imported when they are first used, so that the command line starts fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codemode.config.load import load_config
    from codemode.config.model import Config
    from codemode.errors import CodemodeError
    from codemode.host import Host, HostSession
    from codemode.ids import ToolId
    from codemode.runs.outcome import RunOutcome

__all__ = ["CodemodeError", "Config", "Host", "HostSession", "RunOutcome", "ToolId", "load_config"]

_HOMES = {
    "CodemodeError": "errors",
    "Config": "config.model",
    "Host": "host",
    "HostSession": "host",
    "RunOutcome": "runs.outcome",
    "ToolId": "ids",
    "load_config": "config.load",
}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f"codemode.{_HOMES[name]}"), name)
    raise AttributeError(f"module `codemode` has no `{name}`")
