"""Clients that others wrote, against `codemode serve`: fastmcp's, and the command line of the MCP Inspector."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.front_process import codemode, environment, write_config

ROOT = Path(__file__).resolve().parents[2]
NPM_FOLDER = Path(os.environ.get("CODEMODE_NPM_DIR") or ROOT / "node_modules").absolute()
INSPECTOR = "@modelcontextprotocol/inspector"


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clients")
    written = write_config(folder)
    assert codemode("catalog", "--config", written, folder=folder).returncode == 0
    return written


@pytest.mark.anyio
@pytest.mark.filterwarnings("default")  # another project's code: its deprecations are not ours
async def test_fastmcps_client_lists_searches_and_runs(config):
    fastmcp = pytest.importorskip("fastmcp", reason="did not run: `pip install fastmcp`")
    from fastmcp.client.transports import StdioTransport

    transport = StdioTransport(
        command=sys.executable,
        args=["-m", "codemode", "serve", "--config", str(config)],
        env=environment(config.parent),
    )
    async with fastmcp.Client(transport) as client:
        names = [tool.name for tool in await client.list_tools()]
        found = await client.call_tool("tool_search", {"query": "list issues"})
        ran = await client.call_tool("execute", {"code": "tools.tracker.get_issue(number=3)['title']"})
    assert names == ["tool_search", "execute"]
    assert found.content[0].text.startswith("Ready to call")
    assert ran.content[0].text.endswith("\nissue 3")


def _inspector() -> list[str]:
    for folder in (NPM_FOLDER, NPM_FOLDER / "node_modules"):
        program = folder / INSPECTOR / "cli" / "build" / "cli.js"
        if program.is_file():
            return [shutil.which("node") or "node", str(program)]
    pytest.skip(f"did not run: `npm install {INSPECTOR}`, or set CODEMODE_NPM_DIR to a node_modules folder that has it")


def _inspect(config: Path, *arguments: str) -> dict:
    entry = {"command": sys.executable, "args": ["-m", "codemode", "serve", "--config", str(config)]}
    its_config = config.with_name("inspector.json")
    its_config.write_text(json.dumps({"mcpServers": {"codemode": {**entry, "env": environment(config.parent)}}}))
    done = subprocess.run(
        [*_inspector(), "--cli", "--config", str(its_config), "--server", "codemode", *arguments],
        capture_output=True,
        text=True,
        timeout=100,
        cwd=config.parent,
        env=environment(config.parent),
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.node
def test_the_inspector_lists_the_two_tools(config):
    tools = _inspect(config, "--method", "tools/list")["tools"]
    assert [tool["name"] for tool in tools] == ["tool_search", "execute"]
    assert all(tool["_meta"] == {"anthropic/alwaysLoad": True} for tool in tools)


@pytest.mark.node
def test_the_inspector_runs_a_program(config):
    code = "code=tools.tracker.get_issue(number=3)"
    result = _inspect(config, "--method", "tools/call", "--tool-name", "execute", "--tool-arg", code)
    assert result["content"][0]["text"].endswith('{"number":3,"title":"issue 3","next":4}')
    assert result["_meta"]["codemode/run"]["status"] == "ok"
