"""Kills a part of a running sandbox at a random moment and tells what became of everyone else.

Each function takes a seeded `random.Random`: victims and moments follow from it, what they meet does not.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import anyio

from sandbox import Limits, Reply, RunSpec, SandboxError
from tests.support.front_process import RawFront, write_config
from tests.support.real_guests import descendants, gone
from tests.support.running import BINDING

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 60
PROGRAM = """
from tools import echo
print("begun", flush=True)
for n in range(20):
    echo(n=n)
    sum(range(2_000))
"done"
"""
EXPLAINED = {"guest.died": ("SIGKILL", "forked from", "zygote"), "guest.start": ("zygote",)}
"""Code of a run that was hit → one of these stands in its message."""


def family(host):
    """(waiter and zygote, guests): the processes of a host that has one sandbox."""
    below = descendants(host)
    zygotes = [pid for pid in below if descendants(pid)]
    return zygotes, [pid for pid in below if pid not in zygotes]


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


async def one_run(box):
    """What a run ended with: "" or a code and a message that says what happened."""
    spec = RunSpec(source=PROGRAM, modules={"tools": BINDING}, limits=Limits(wall_s=PATIENCE_S))
    try:
        result = await box.run(spec, call=lambda call: Reply(payload=call.arguments))
    except SandboxError as error:
        return error.code, error.message
    return (result.error.code, result.error.message) if result.error else ("", "")


async def hit_a_part(box, chance, part, *, kills=1):
    """Kill a "guest" or a "zygote" (or its waiter), `kills` times, while twice as many runs are under way.

    Every run must end, with what happened; the next ones must be well.
    """
    found = []
    with anyio.fail_after(PATIENCE_S):
        async with anyio.create_task_group() as tasks:

            async def run():
                found.append(await one_run(box))

            for _ in range(2 * kills):
                tasks.start_soon(run)
            for _ in range(kills):
                await anyio.sleep(chance.random() * 0.03)
                zygotes, guests = family(os.getpid())
                kill(chance.choice(sorted((guests or zygotes) if part == "guest" else (zygotes or guests))))
        after = [await one_run(box)]
        while after[-1][0]:  # a run that takes a guest which the dying zygote left behind
            assert len(after) < 5, after
            after.append(await one_run(box))
    for code, message in (*found, *after):
        assert not code or any(word in message for word in EXPLAINED[code]), (code, message)


async def is_full(box, size):
    """Wait until the pool has as many guests as it should."""
    with anyio.fail_after(PATIENCE_S):
        while box._pool.waiting != size:
            await anyio.sleep(0.01)


HOST = """
import anyio
from sandbox import open_sandbox
from tests.support import crashes
async def main():
    async with open_sandbox("process", pool=2) as box:
        print("ready", flush=True)
        while True:
            await crashes.one_run(box)
anyio.run(main)
"""


async def hit_the_host(chance):
    """Kill a host in the middle of its runs, or while it starts; nothing of it may be left."""
    with subprocess.Popen([sys.executable, "-c", HOST], stdout=subprocess.PIPE, cwd=ROOT) as host:
        if chance.random() < 0.7:
            assert await anyio.to_thread.run_sync(host.stdout.readline) == b"ready\n"
        await anyio.sleep(chance.random() * 0.3)
        below = descendants(host.pid)
        kill(host.pid)
    await gone(below)
    await no_orphan()
    return len(below)


async def no_orphan():
    """Wait until no zygote and no guest of this checkout is left to process 1: also those that nobody had counted."""
    with anyio.fail_after(PATIENCE_S):
        while _orphans():
            await anyio.sleep(0.02)


def _orphans():
    bootstrap = bytes(ROOT / "sandbox" / "guest" / "bootstrap.py")
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            is_ours = bootstrap in (folder / "cmdline").read_bytes()
            if is_ours and int((folder / "stat").read_text().rpartition(")")[2].split()[1]) == 1:
                found.append(folder.name)
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def hit_a_served_host(folder, chance):
    """Kill `codemode serve` while its client waits for an answer: the client hears the end, and nothing is left."""
    config = write_config(folder, limits={"wall_s": PATIENCE_S})
    with RawFront("--config", config, folder=folder) as front:
        front.initialize()
        assert front.request("tools/call", {"name": "execute", "arguments": {"code": "1"}})["result"]
        front.send(
            {"id": 99, "method": "tools/call", "params": {"name": "execute", "arguments": {"code": "while True: pass"}}}
        )
        anyio.run(anyio.sleep, chance.random() * 0.2)
        below = descendants(front.process.pid)
        front.process.kill()
        rest = front.process.stdout.read()
    assert all(json.loads(line).get("id") != 99 for line in rest.splitlines())
    anyio.run(gone, below)
    return len(below)
