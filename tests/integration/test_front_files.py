"""Files and values between programs as a client meets them: over stdio, over HTTP, from the command line."""

import json
import os
import sys
from pathlib import Path

import anyio
import pytest
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client

from tests.support.front_process import codemode, environment

pytestmark = pytest.mark.anyio

WRITE = """
import csv
with open("report.csv", "w", newline="") as f:
    csv.writer(f).writerows([["name", "count"], *([f"row {n}", n] for n in range(1_000))])
store["seen"] = {"rows": 1_000}
"written"
"""
READ = """
import csv
with open("report.csv", newline="") as f:
    rows = list(csv.DictReader(f))
len(rows), rows[-1], store["seen"]
"""


@pytest.fixture
def folder(tmp_path):
    config = tmp_path / "mcp.json"
    config.write_text('{"mcpServers": {}}')
    return tmp_path


def text_of(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_two_programs_share_a_file_and_a_value_and_the_client_is_told_where(folder, mode):
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "codemode", "serve", "--config", str(folder / "mcp.json")],
        env=environment(folder),
    )
    with anyio.fail_after(100):
        async with Client(stdio_client(parameters, errlog=sys.stderr), mode=mode) as client:
            described = next(tool for tool in (await client.list_tools()).tools if tool.name == "execute").description
            first = await client.call_tool("execute", {"code": WRITE})
            second = await client.call_tool("execute", {"code": READ})
    assert "files from `open()`" in described
    facts = first.meta["codemode/run"]
    assert facts["files"] == [{"name": "report.csv", "bytes": 12_792}]
    assert text_of(first).splitlines()[1:] == ["written", f"files: report.csv (12.8 kB) in {facts['workspace']}"]
    assert (Path(facts["workspace"]) / "report.csv").stat().st_size == 12_792
    assert '[1000,{"name":"row 999","count":"999"},{"rows":1000}]' in text_of(second)
    assert (second.meta["codemode/run"]["files"], "workspace" in second.meta["codemode/run"]) == ([], False)


def test_the_command_line_says_what_was_written_and_where(folder):
    done = codemode("run", "--config", "mcp.json", "-", folder=folder, stdin=WRITE)
    assert (done.stdout, done.returncode) == ("written\n", 0), done.stderr
    line = done.stderr.splitlines()[-1]
    assert line.startswith(f"files: report.csv (12.8 kB) in {folder / 'state' / 'workspaces'}")
    assert (Path(line.rpartition(" in ")[2]) / "report.csv").is_file()


def test_the_json_of_the_command_line_has_files(folder):
    done = codemode("run", "--config", "mcp.json", "--json", "-", folder=folder, stdin=f"{WRITE}\n1 / 0")
    document = json.loads(done.stdout)
    assert (document["status"], document["files"]) == ("error", [{"name": "report.csv", "bytes": 12_792}])
    assert (Path(document["workspace"]) / "report.csv").is_file()


def test_a_run_without_files_leaves_no_folder(folder):
    done = codemode("run", "--config", "mcp.json", "--json", "-", folder=folder, stdin="1 + 1")
    document = json.loads(done.stdout)
    assert (document["files"], document["workspace"]) == ([], "")
    assert not (folder / "state" / "workspaces").exists()


def test_old_workspaces_are_cleared_away_at_a_later_start(folder):
    first = json.loads(codemode("run", "--config", "mcp.json", "--json", "-", folder=folder, stdin=WRITE).stdout)
    place = Path(first["workspace"]).parent
    marker = place / "workspace.json"
    os.utime(marker, (0, 0))
    codemode("run", "--config", "mcp.json", "-", folder=folder, stdin="1 + 1")
    assert not place.exists()
