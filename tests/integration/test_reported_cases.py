"""What people reported about servers, through the whole host: paging, changed tools, names, order, secrets."""

import json
import logging
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from codemode import Host, load_config
from tests.support.upstream import ODD_SERVER

pytestmark = pytest.mark.anyio

READ = {"readOnlyHint": True}
EMPTY: dict[str, Any] = {"type": "object", "properties": {}}


def tool(name: str, schema: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": name, "inputSchema": schema or EMPTY, "annotations": READ, **more}


@asynccontextmanager
async def hosting(
    folder: Path, name: str, quirks: dict[str, Any], entry: dict[str, Any] | None = None, **settings: Any
) -> AsyncIterator[Host]:
    """A host over one odd server that writes what it receives to `seen`."""
    args = [str(ODD_SERVER), json.dumps({"log": str(folder / "seen"), **quirks})]
    servers = {name: {"command": sys.executable, "args": args, **(entry or {})}}
    file = folder / "mcp.json"
    file.write_text(json.dumps({"mcpServers": servers, "codemode": settings}))
    with anyio.fail_after(100):
        async with Host.open(load_config(file), state_dir=folder / "state") as host:
            await host.wait_ready([name], 60)
            yield host


def calls_of(folder: Path) -> list[str]:
    return [
        json.loads(line)["params"]["name"]
        for line in (folder / "seen").read_text().splitlines()
        if '"tools/call"' in line
    ]


async def test_a_tool_of_the_last_page_is_found_and_called_and_all_pages_are_counted(tmp_path: Path) -> None:
    names = [f"tool_{number:03}" for number in range(101)]
    pages = [[tool(name) for name in names[start : start + 50]] for start in (0, 50, 100)]
    async with hosting(tmp_path, "erp", {"pages": pages}, {"allowedTools": ["tool_100"]}) as host:
        session = host.session()
        answer = await session.tool_search("select:erp.tool_100")
        outcome = await session.execute("tools.erp.tool_100()")
        (status,) = host.manager.status()
    assert [hit.tool.short for hit in answer.found.hits] == ["erp.tool_100"]
    assert (outcome.status, calls_of(tmp_path)) == ("ok", ["tool_100"])
    assert (status.listed, len(host.catalog.tools)) == (101, 1)


async def test_a_tool_that_took_the_place_of_a_denied_one_is_new_and_not_allowed_by_the_rest(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    gone = {**tool("delete_all", description="Delete everything"), "annotations": {"destructiveHint": True}}
    tidy = {"name": "tidy", "description": "Delete everything", "inputSchema": EMPTY}
    quirks = {
        "era": "old",
        "tools": [gone, tool("morph"), tool("ping")],
        "acts": {"morph": "morph"},
        "then_tools": [tidy, tool("ping"), tool("pong")],
        "notices": 100,
    }
    rules = [{"tool": "morph.delete_all", "decision": "deny"}]
    async with hosting(tmp_path, "morph", quirks, policy={"rules": rules}, gate="open") as host:
        session = host.session()
        assert (await session.execute("tools.morph.delete_all()")).code == "policy.denied"
        assert (await session.execute("tools.morph.morph()")).status == "ok"
        while host.catalog.find("morph.pong") == ():
            await anyio.sleep(0.01)
        assert (await session.execute("tools.morph.pong()")).status == "ok"
        refused = await session.execute("tools.morph.tidy()")
    assert (refused.status, refused.code) == ("refused", "policy.ask")
    assert calls_of(tmp_path) == ["morph", "pong"]
    assert "2 gone (delete_all, morph), 2 new (pong, tidy)" in caplog.text


async def test_a_running_program_keeps_the_tools_it_started_with(tmp_path: Path) -> None:
    quirks = {
        "era": "old",
        "tools": [tool("morph"), tool("wait"), tool("old")],
        "acts": {"morph": "morph", "wait": "wait"},
        "wait_for": str(tmp_path / "go"),
        "then_tools": [tool("new")],
        "notices": 1,
    }
    program = "tools.morph.morph()\ntools.morph.wait()\ntools.morph.old()"
    async with hosting(tmp_path, "morph", quirks, gate="open") as host:
        session = host.session()
        running = await session.execute(program, wait_s=0.0)
        while host.catalog.find("morph.new") == ():
            await anyio.sleep(0.01)
        (tmp_path / "go").touch()
        outcome = await session.execute(resume=running.run)
        later = await session.execute(program)
    assert (outcome.status, outcome.value) == ("ok", 1)
    assert calls_of(tmp_path) == ["morph", "wait", "old"]
    assert (later.status, later.code) == ("refused", "gate.unknown_tool")


async def test_six_names_that_look_alike_have_six_functions_in_any_order_and_each_reaches_its_own_tool(
    tmp_path: Path,
) -> None:
    names = ["read-only", "read_only", "read.only", "readOnly", "READ_ONLY", "read only"]
    results = {name: {"content": [{"type": "text", "text": json.dumps(name)}]} for name in names}
    functions: list[dict[str, str]] = []
    for order, ordered in (("one", names), ("two", names[::-1])):
        folder = tmp_path / order
        folder.mkdir()
        # One exact name is denied, which must close exactly one tool.
        rules = [{"tool": "cat.read_only", "decision": "deny"}]
        quirks = {"tools": [tool(name) for name in ordered], "results": results}
        async with hosting(folder, "cat", quirks, gate="open", policy={"rules": rules}) as host:
            functions.append({item.spec.name: item.function for item in host.catalog.tools})
            for item in host.catalog.tools:
                outcome = await host.session().execute(f"{item.path}()")
                if item.spec.name == "read_only":
                    assert outcome.code == "policy.denied"
                else:
                    assert outcome.value == item.spec.name
    assert functions[0] == functions[1]
    assert len(set(functions[0].values())) == 6
    assert functions[0]["read_only"] == "read_only"
    assert all(name.isidentifier() for name in functions[0].values())


async def test_values_of_concurrent_calls_come_in_the_order_of_the_arguments_and_no_call_is_lost(
    tmp_path: Path,
) -> None:
    numbers = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    quirks = {"tools": [tool("wait", numbers), tool("audit")], "acts": {"wait": "echo"}}
    program = """
import asyncio
asyncio.ensure_future(tools.slow.audit())
r = await asyncio.gather(*[tools.slow.wait(n=n) for n in (9, 3, 6, 1, 5)])
[x['n'] for x in r]"""
    async with hosting(tmp_path, "slow", quirks, gate="open") as host:
        outcome = await host.session().execute(program)
    assert (outcome.status, outcome.value) == ("ok", [9, 3, 6, 1, 5])
    assert sorted(calls_of(tmp_path)) == ["audit", *["wait"] * 5]
    assert len(outcome.calls) == 6


CANARY = "s3cret-canary"
PROGRAM = """
out = ['harbour' + ' master']
try:
    tools.vault.refuse()
except ToolError as e:
    out.append(str(e))
out.append(tools.vault.ping())
tools.vault.hang()"""


async def test_no_secret_gets_into_results_receipts_logs_caches_bindings_or_the_guests_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("DATABASE_URL", "TEAM_WEBHOOK", "SSH_AUTH_SOCK", "VAULT_TOKEN"):
        monkeypatch.setenv(name, f"{CANARY}-{name}")
    quirks = {
        "tools": [tool("refuse"), tool("hang"), tool("ping", description=f"Answers. {CANARY}-VAULT_TOKEN")],
        "acts": {"refuse": "refuse", "hang": "hang"},
        "last_words": f"hello {CANARY}-VAULT_TOKEN",
        "before": [f"key {CANARY}-literal".encode().hex()],
    }
    entry = {"env": {"VAULT_KEY": "${VAULT_TOKEN}", "OTHER_KEY": f"{CANARY}-literal"}}
    texts: list[str] = []
    async with hosting(tmp_path, "vault", quirks, entry, gate="open") as host:
        session = host.session()
        outcome = await session.execute(PROGRAM, wait_s=0.0)
        while "hanging" not in (tmp_path / "seen").read_text():
            await anyio.sleep(0.01)
        guests = await anyio.to_thread.run_sync(guest_processes)
        memories = [await anyio.to_thread.run_sync(readable_parts, pid) for pid in guests]
        # Root can read them all; who cannot, cannot show that the program is there either.
        assert os.geteuid() != 0 or any(b"harbour master" in memory for memory in memories)
        assert not any(CANARY.encode() in memory for memory in memories)
        session.cancel(outcome.run)
        outcome = await session.execute(resume=outcome.run)
        assert [call.name for call in outcome.calls] == ["refuse", "ping", "hang"]
        texts += [repr(outcome), repr(host.manager.status()), repr(host.catalog), repr(host.config)]
        tree = host.view.tree
        paths = ["tools", "tools._runtime", "tools.vault", *(item.path for item in host.catalog.tools)]
        texts += [str(tree.module(path)) for path in paths]
        texts.append(str(await session.tool_search("vault ping")))
    texts.append(caplog.text)
    files = [path for path in (tmp_path / "state").rglob("*") if path.is_file()]
    texts += [path.read_bytes().decode("latin-1") for path in files]
    assert len(files) >= 3  # the record, a listing, a log
    for text in texts:
        assert CANARY not in text


def guest_processes() -> list[int]:
    """Descendants of this process that run the guest."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    family = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    return [pid for pid in sorted(family - {os.getpid()}) if b"sandbox/guest" in part_of(pid, "cmdline")]


def readable_parts(pid: int) -> bytes:
    """Environment, command line and, where the kernel lets this user read it, the writable memory of a process."""
    parts = [part_of(pid, "environ"), part_of(pid, "cmdline")]
    try:
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
            for line in part_of(pid, "maps").decode().splitlines():
                place, rights = line.split()[:2]
                start, end = (int(text, 16) for text in place.split("-"))
                if rights.startswith("rw") and end - start <= 256 << 20:
                    memory.seek(start)
                    parts.append(memory.read(end - start))
    except (OSError, ValueError):
        pass
    return b"\n".join(parts)


def part_of(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""
