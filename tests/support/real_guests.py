"""Speaking to real guests without the supervisor, and looking at the processes that a backend started."""

import os
import textwrap
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from sandbox import wire
from sandbox.backends.process import ProcessBackend
from sandbox.spec import MIB, Limits

LIMITS = Limits(memory_bytes=64 * MIB, cpu_s=1, threads=8)


async def talk(guest, source, limits=LIMITS):
    """Run a program and return the frames that came back; ends with the guest."""
    prepare = {"kind": "prepare", "dialect": "native", "roots": [], "limits": limits.to_wire(), "seed": 0}
    frames = wire.encode({**prepare, "filename": "<program>"}, textwrap.dedent(source).encode())
    go = wire.encode({"kind": "go"}, b'{"modules": {}, "aliases": {}}')
    guest.channel.send(frames + go)
    splitter, found = wire.Splitter(wire.MAX_ID), []
    with anyio.fail_after(20):
        while True:
            await anyio.wait_readable(guest.channel)
            data = guest.channel.recv(65536)
            if not data:
                return found
            found += [wire.decode(body) for body in splitter.feed(data)]


def printed(frames):
    return b"".join(payload for header, payload in frames if header["kind"] == "print").decode()


def descendants(pid):
    """Process ids below `pid`, in the kernel's own words; threads and processes may end while this looks."""
    found = []
    for task in _entries(f"/proc/{pid}/task"):
        try:
            children = Path(f"/proc/{pid}/task/{task}/children").read_text().split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        for child in children:
            found += [int(child), *descendants(int(child))]
    return found


def _entries(folder):
    try:
        return [entry.name for entry in Path(folder).iterdir()]
    except (FileNotFoundError, ProcessLookupError):
        return []


@asynccontextmanager
async def own_backend():
    """A backend of the test's own and the ids of the processes that it started."""
    before = set(descendants(os.getpid()))
    async with ProcessBackend() as started:
        yield started, lambda: sorted(set(descendants(os.getpid())) - before)


def still_there(pids):
    return [pid for pid in pids if Path(f"/proc/{pid}").exists()]


async def gone(pids):
    with anyio.fail_after(10):
        while still_there(pids):
            await anyio.sleep(0.01)
