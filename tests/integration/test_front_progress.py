"""What a server says about a call reaches the client that asked for progress, over the real front in both eras."""

import json
import sys

import anyio
import pytest
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client

from tests.support.front_process import environment
from tests.support.upstream import ODD_SERVER

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_servers_progress_is_passed_on_to_the_client_that_asked(tmp_path, mode):
    schema = {"type": "object", "properties": {"steps": {"type": "integer"}, "silent": {"type": "boolean"}}}
    tool = {"name": "long", "description": "", "inputSchema": schema, "annotations": {"readOnlyHint": True}}
    quirks = {"tools": [tool], "acts": {"long": "progress"}, "log": str(tmp_path / "seen")}
    servers = {"lab": {"command": sys.executable, "args": [str(ODD_SERVER), json.dumps(quirks)]}}
    config = tmp_path / "mcp.json"
    config.write_text(json.dumps({"mcpServers": servers, "codemode": {"gate": "open"}}))
    heard = anyio.Event()
    texts = []

    async def progress(value, total, message):
        texts.append(message)
        if message.endswith("; lab.long: 2"):
            heard.set()

    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "codemode", "serve", "--config", str(config)], env=environment(tmp_path)
    )
    client = Client(stdio_client(parameters, errlog=sys.stderr), mode=mode)

    async def execute():
        await client.call_tool("execute", {"code": "tools.lab.long(steps=3, silent=True)"}, progress_callback=progress)

    with anyio.fail_after(100):
        async with client, anyio.create_task_group() as tasks:
            tasks.start_soon(execute)
            await heard.wait()
            tasks.cancel_scope.cancel()
    assert texts[-1].startswith("the program runs: 1 call, ")
    assert '"progressToken"' in (tmp_path / "seen").read_text()
