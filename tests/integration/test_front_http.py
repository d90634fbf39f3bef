"""`codemode serve --http`: sessions of their own, both protocol eras, loopback only."""

import contextlib
import re
import subprocess
import sys

import httpx2
import pytest
from mcp.client import Client

from tests.support.front_process import codemode, environment, write_config

pytestmark = pytest.mark.anyio


@contextlib.contextmanager
def http_front(folder, *arguments):
    """A served front and its URL."""
    process = subprocess.Popen(
        [sys.executable, "-m", "codemode", "serve", "--http", "127.0.0.1:0", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=environment(folder),
    )
    try:
        for line in process.stderr:
            if found := re.match(r"serving (http://\S+)", line):
                yield process, found.group(1)
                break
        else:
            raise AssertionError("the front did not come up")
    finally:
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=30)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("http")
    config = write_config(folder, tool_search={"enabled": True})
    assert codemode("catalog", "--config", config, folder=folder).returncode == 0
    with http_front(folder, "--config", config) as (_, url):
        yield url


def text_of(result):
    assert not result.is_error, result
    return "\n".join(block.text for block in result.content if block.type == "text")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_program_runs_in_both_eras(served, mode):
    async with Client(served, mode=mode) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["tool_search", "execute"]
        await client.call_tool("tool_search", {"query": "select:tracker.get_issue"})
        result = await client.call_tool("execute", {"code": "tools.tracker.get_issue(number=2)['title']"})
    assert text_of(result).endswith("\nissue 2")


async def test_each_transport_session_has_runs_and_marks_of_its_own(served):
    async with Client(served, mode="legacy") as first, Client(served, mode="legacy") as second:
        await first.call_tool("tool_search", {"query": "select:tracker.list_issues"})
        program = {"code": "len(tools.tracker.list_issues(repo='a/b'))"}
        ran = await first.call_tool("execute", program)
        refused = await second.call_tool("execute", program)
        foreign = await second.call_tool("execute", {"resume": "r9"})
    assert text_of(ran).endswith("\n3")
    assert refused.meta["codemode/run"]["code"] == "gate.not_loaded"
    assert refused.meta["codemode/run"]["run"] == "r1"
    assert "there is no run `r9` in this session" in text_of(foreign)


async def test_sessions_have_files_of_their_own_and_are_told_no_path(served):
    async with Client(served, mode="legacy") as first, Client(served, mode="legacy") as second:
        wrote = await first.call_tool("execute", {"code": "open('a.txt', 'w').write('x')\nstore['k'] = 1\n2"})
        seen = await second.call_tool("execute", {"code": "import os\nos.listdir(), list(store)"})
        again = await first.call_tool("execute", {"code": "open('a.txt').read(), store['k']"})
    assert text_of(wrote).endswith("\n2\nfiles: a.txt (1 byte)")
    assert (wrote.meta["codemode/run"]["files"], "workspace" in wrote.meta["codemode/run"]) == (
        [{"name": "a.txt", "bytes": 1}],
        False,
    )
    assert text_of(seen).endswith("[[],[]]")
    assert text_of(again).endswith('["x",1]')


@pytest.mark.parametrize(
    "headers",
    [{"Host": "evil.example"}, {"Origin": "https://evil.example"}],
    ids=["host", "origin"],
)
async def test_a_web_page_cannot_reach_it(served, headers):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accept = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    async with httpx2.AsyncClient(timeout=60) as client:
        answer = await client.post(served, json=body, headers={**accept, **headers})
    assert answer.status_code in (403, 421)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("0.0.0.0:8900", "only a loopback address is served"),
        ("192.168.1.5:8900", "only a loopback address is served"),
        ("example.com:80", "only a loopback address is served"),
        ("8900", "wants HOST:PORT"),
        ("127.0.0.1:http", "wants HOST:PORT"),
        ("127.0.0.1:99999", "wants HOST:PORT"),
    ],
)
def test_an_address_that_is_not_served_ends_with_two_and_the_reason(tmp_path, address, said):
    done = codemode("serve", "--http", address, "--config", write_config(tmp_path), folder=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert "hint: " in done.stderr
    assert done.stdout == ""


def test_a_port_in_use_is_said(tmp_path, served):
    port = served.split(":")[2].split("/")[0]
    done = codemode("serve", "--http", f"127.0.0.1:{port}", "--config", write_config(tmp_path), folder=tmp_path)
    assert done.returncode == 2
    assert "address already in use" in done.stderr


def test_a_signal_ends_it(tmp_path):
    with http_front(tmp_path, "--config", write_config(tmp_path)) as (process, _):
        process.terminate()
        assert process.wait(timeout=30) == 130
