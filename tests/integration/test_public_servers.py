"""Public servers as their authors publish them: each starts, lists its tools and does one real thing."""

import importlib.util
import os
import shutil
import subprocess
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult, ImageContent, TextContent

pytestmark = [pytest.mark.anyio, pytest.mark.public]

ROOT = Path(__file__).resolve().parents[2]
NPM_FOLDER = Path(os.environ.get("CODEMODE_NPM_DIR") or ROOT / "node_modules").absolute()
SETUP = ROOT / "examples" / "public_servers" / "setup.py"


def npm_server(package: str, *arguments: str) -> AbstractAsyncContextManager[Client]:
    """A client of an npm package's server; the test says what to install when it is not there."""
    entry = NPM_FOLDER / package / "dist" / "index.js"
    if shutil.which("node") is None:
        pytest.skip("did not run: Node.js is not installed")
    if not entry.is_file():
        command = f"npm install --no-save --prefix . {package}"
        pytest.skip(
            f"did not run: `{package}` is not installed; `{command}`, or set CODEMODE_NPM_DIR to a node_modules"
        )
    return Client(StdioServerParameters(command="node", args=[str(entry), *arguments]))


def python_server(package: str, *arguments: str) -> AbstractAsyncContextManager[Client]:
    """A client of a PyPI package's server; the test says what to install when it is not there."""
    module = package.replace("-", "_")
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"did not run: `{package}` is not installed; `python -m pip install {package}`")
    return Client(StdioServerParameters(command=sys.executable, args=["-m", module, *arguments]))


def text_of(result: CallToolResult) -> str:
    block = result.content[0]
    assert isinstance(block, TextContent)
    return block.text


async def names(client: Client) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools}


@pytest.mark.node
async def test_filesystem_writes_a_file_and_reads_it_back(tmp_path: Path) -> None:
    async with npm_server("@modelcontextprotocol/server-filesystem", str(tmp_path)) as client:
        listed = await names(client)
        written = await client.call_tool("write_file", {"path": str(tmp_path / "a.txt"), "content": "Malmö\n"})
        read = await client.call_tool("read_text_file", {"path": str(tmp_path / "a.txt")})
        outside = await client.call_tool("read_text_file", {"path": "/etc/hostname"})

    assert {"read_text_file", "write_file", "list_allowed_directories"} <= listed
    assert not written.is_error
    assert read.structured_content == {"content": "Malmö\n"}
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "Malmö\n"
    assert outside.is_error


@pytest.mark.node
async def test_everything_adds_up_and_draws() -> None:
    async with npm_server("@modelcontextprotocol/server-everything") as client:
        listed = await names(client)
        total = await client.call_tool("get-sum", {"a": 25, "b": 22})
        picture = await client.call_tool("get-tiny-image", {})

    assert {"get-sum", "get-structured-content", "get-tiny-image"} <= listed
    assert text_of(total) == "The sum of 25 and 22 is 47."
    assert any(isinstance(block, ImageContent) for block in picture.content)


async def test_git_reads_the_log_of_the_examples_repository(tmp_path: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("did not run: git is not installed")
    repository = tmp_path / "repository"
    make_repository(repository)
    async with python_server("mcp-server-git", "--repository", str(repository)) as client:
        listed = await names(client)
        log = await client.call_tool("git_log", {"repo_path": str(repository)})
        (repository / "new.txt").write_text("x")
        status = await client.call_tool("git_status", {"repo_path": str(repository)})

    assert {"git_log", "git_status", "git_diff_unstaged"} <= listed
    assert text_of(log).count("Message: ") == 5
    assert "Rhea Lund" in text_of(log)
    assert "new.txt" in text_of(status)


def make_repository(folder: Path) -> None:
    """The repository of `examples/public_servers`, made by its own set-up script."""
    code = (
        f"import runpy; runpy.run_path({str(SETUP)!r})['make_repository'](__import__('pathlib').Path({str(folder)!r}))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


async def test_time_converts_between_zones_without_summer_time() -> None:
    arguments = {"source_timezone": "Asia/Tokyo", "time": "17:30", "target_timezone": "Africa/Johannesburg"}
    async with python_server("mcp-server-time", "--local-timezone", "UTC") as client:
        listed = await names(client)
        result = await client.call_tool("convert_time", arguments)

    assert {"convert_time", "get_current_time"} <= listed
    assert isinstance(result.structured_content, dict)
    assert result.structured_content["target"]["datetime"][11:16] == "10:30"
    assert result.structured_content["time_difference"] == "-7.0h"
