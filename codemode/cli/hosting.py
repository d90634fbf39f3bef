"""An open host for commands that look at a catalog or run a program, once its servers have settled.

Enters: a configuration, dumps. Leaves: a `Host`.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from codemode.catalog.spec import ServerEntry
from codemode.cli.output import tell
from codemode.config.model import Config
from codemode.errors import UpstreamError
from codemode.host import Host

_QUIET_S: Final = 1.5  # chosen: servers that are up by then need no word


@asynccontextmanager
async def settled_host(config: Config, catalogs: Sequence[Path] | None, *, live: bool = False) -> AsyncIterator[Host]:
    """A host whose servers are up or have failed; `live` starts also those whose listing is known already.

    Raises:
        ConfigError, UpstreamError: as `Host.open`.
    """
    async with Host.open(config, catalogs=tuple(catalogs or ())) as host:
        names = [entry.name for entry in config.servers if not entry.is_disabled and not entry.problem]
        wanted = names if live else None
        await host.wait_ready(wanted, _QUIET_S)
        waiting = [entry.id for entry in host.catalog.servers if entry.state == "starting"]
        if waiting:
            if sys.stderr.isatty():
                tell(f"waiting for {', '.join(waiting)}")
            await host.wait_ready(wanted, config.start_timeout_s)
        yield host


def unreachable(entry: ServerEntry) -> UpstreamError:
    """The error for a server that a command needed."""
    reason = f": {entry.reason}" if entry.reason else ""
    return UpstreamError(f"the server `{entry.id}` is {entry.state.replace('_', ' ')}{reason}")
