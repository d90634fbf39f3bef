"""A host over the asking server, and people at clients of fronts of that host, all in the process of the test."""

import json
import sqlite3
from contextlib import asynccontextmanager, closing
from pathlib import Path

import anyio
from mcp import types
from mcp.client import Client

from codemode import Host, load_config
from codemode.server.app import Front
from codemode.server.ports import HostSlot
from codemode.state.database import FILE_NAME
from tests.support.asking_server import build
from tests.support.web import serving


class Person:
    """The person at a client: answers what it is asked, in order, the last answer again and again."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    async def __call__(self, context, params):
        self.asked.append(params)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class SlowPerson:
    """Answers when the test says so; `reading` is set while it has a question before it."""

    def __init__(self, answer):
        self.answer = answer
        self.reading = anyio.Event()
        self.may_answer = anyio.Event()
        self.asked = []
        self.taken_back = anyio.Event()

    async def __call__(self, context, params):
        self.asked.append(params)
        self.reading.set()
        try:
            await self.may_answer.wait()
        except anyio.get_cancelled_exc_class():
            self.taken_back.set()
            raise
        return self.answer


def accept(**content):
    return types.ElicitResult(action="accept", content=content)


def write_config(folder: Path, entry: dict, **settings) -> Path:
    """A configuration with one server, `asker`, whose functions need not be looked up."""
    path = folder / "mcp.json"
    settings = {"gate": "open", **settings}
    path.write_text(json.dumps({"mcpServers": {"asker": entry}, "codemode": settings}), encoding="utf-8")
    return path


@asynccontextmanager
async def asking_host(folder: Path, *, era: str = "", entry: dict | None = None, **settings):
    """A host over the asking server (over HTTP, in a thread), or over the server of `entry`."""
    if entry is None:
        with serving(build(folder / "calls.jsonl", era).streamable_http_app()) as address:
            async with asking_host(folder, entry={"url": f"{address}/mcp"}, **settings) as host:
                yield host
        return
    with anyio.fail_after(100):
        async with Host.open(load_config(write_config(folder, entry, **settings)), state_dir=folder / "state") as host:
            await host.wait_ready(None, 60)
            yield host


@asynccontextmanager
async def client_of(host: Host, person=None, *, mode: str = "auto"):
    """A client of a front of its own: another session of the same host."""

    @asynccontextmanager
    async def opened():
        yield host

    slot = HostSlot(opened)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(slot.own)
        async with Client(Front(slot).server(["asker"]), mode=mode, elicitation_callback=person) as client:
            yield client
        slot.close()


async def execute(client: Client, code: str):
    """Run a program; the last line of the answer's own text, and what it says for machines."""
    result = await client.call_tool("execute", {"code": code})
    assert isinstance(result, types.CallToolResult)
    assert not result.is_error, result
    return outcome_of(result)


def outcome_of(result):
    text = "\n".join(block.text for block in result.content if block.type == "text")
    return text.partition("\nNews: ")[0], result.meta["codemode/run"]


def bodies(folder: Path) -> list[str]:
    """The tools of the asking server whose bodies ran, in order."""
    log = folder / "calls.jsonl"
    return [json.loads(line)["name"] for line in log.read_text().splitlines()] if log.exists() else []


def records(folder: Path) -> list[dict]:
    """The records of all runs that have ended, oldest first."""
    with closing(sqlite3.connect(folder / "state" / FILE_NAME)) as connection:
        return [json.loads(row[0]) for row in connection.execute("select record from runs order by started")]
