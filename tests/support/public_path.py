"""The public `execute` path with the language layer off, so that native code can attack what stands behind it."""

import functools
import json
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from unittest import mock

import anyio

from codemode import Host, load_config
from sandbox import RunSpec

SERVER = Path(__file__).with_name("tracker_server.py")


@asynccontextmanager
async def native_host(folder, *, server=None, **settings):
    """An open host over the tracker server whose programs speak the native dialect. Only a test can ask for that."""
    entry = {"command": sys.executable, "args": [str(SERVER), str(folder / "calls.jsonl")], **(server or {})}
    file = folder / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"tracker": entry}, "codemode": settings}), encoding="utf-8")
    native = functools.partial(RunSpec, dialect="native")
    with mock.patch("codemode.runs.execute.RunSpec", native):
        async with Host.open(load_config(file), state_dir=folder / "state") as host:
            with anyio.fail_after(60):
                await host.wait_ready(None, 60)
            yield host
