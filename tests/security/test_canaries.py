"""Secrets of a host are in no zygote and no guest, and what it has open is not theirs: looked up in their memory.

The hosts are real processes: one that uses `sandbox` alone, one that is a served `codemode` with a server's secret in
its configuration. Each is shown to hold the secrets itself, so that not finding them below it means something.
"""

import os
import secrets
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import anyio
import pytest

from tests.support.front_process import ROOT, RawFront, calls_of, write_config
from tests.support.process_contents import command_of, holds, is_null_device, open_files
from tests.support.real_guests import descendants

pytestmark = [
    pytest.mark.timeout(180),
    pytest.mark.skipif(
        sys.platform != "linux" or os.geteuid() != 0, reason="did not run: only root may read another's memory"
    ),
]

GUEST_FILES = ("/dev/null", "/null", "socket:", "anon_inode:[eventpoll]")
"""The null device (by its name behind an empty root), channel and the event loop's own pair, the event loop's poll."""

HOST = """
import anyio, os, sys
from sandbox import Reply, RunSpec, open_sandbox
from tests.support.running import BINDING
kept = [os.environ["CANARY"], sys.stdin.readline(), open(sys.argv[1]).read()]
async def hold(call):
    print("called", flush=True)
    await anyio.sleep(120)
async def main():
    async with open_sandbox("process", pool=2) as box:
        spec = RunSpec(source="from tools import echo\\necho()", modules={"tools": BINDING})
        await box.run(spec, call=hold)
anyio.run(main)
"""


class Planted:
    """What a careless host may have: secrets, and descriptors that its children inherit."""

    def __init__(self, stack, folder):
        self.by_variable, self.by_input, self.by_file, self.by_memory_file = (
            f"CANARY-{secrets.token_hex(12)}" for _ in range(4)
        )
        self.file = folder / "canary.txt"
        self.file.write_text(self.by_file)
        kept = stack.enter_context(self.file.open("rb"))
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        folder_of_machine = os.open("/", os.O_RDONLY)
        memory_file = os.memfd_create("canary")
        os.write(memory_file, self.by_memory_file.encode())
        stack.callback(os.close, memory_file)
        stack.callback(os.close, folder_of_machine)
        self.numbers = (kept.fileno(), listener.fileno(), memory_file, folder_of_machine)
        self.names = {str(Path(f"/proc/self/fd/{number}").readlink()) for number in self.numbers}
        self.environment = {"CANARY": self.by_variable}

    def secrets(self, *more):
        return {one.encode() for one in (self.by_variable, self.by_file, *more)}


@pytest.fixture
def planted(tmp_path):
    with ExitStack() as stack:
        yield Planted(stack, tmp_path)


def look_below(host, planted, wanted, *, apart=""):
    """Assert that no process below the host holds a secret or a planted descriptor; how many there are."""
    assert set(open_files(host).values()) >= planted.names, "the host must have them, or nothing is shown"
    assert holds(host, wanted) == wanted, "the host must hold them, or nothing is shown"
    below = [pid for pid in descendants(host) if not apart or not any(apart in part for part in command_of(pid))]
    for pid in below:
        assert holds(pid, wanted) == set()
        assert set(open_files(pid).values()) & planted.names == set()
    return below


def assert_guests_have_only_their_own(pids):
    """The leaves below a zygote are guests: everything that they have open is what a guest is given."""
    guests = [pid for pid in pids if not descendants(pid) and any("bootstrap" in part for part in command_of(pid))]
    assert len(guests) >= 2
    for pid in guests:
        files = open_files(pid)
        assert all(is_null_device(pid, number) for number in (0, 1, 2)), (command_of(pid), files)
        assert all(name.startswith(GUEST_FILES) for name in files.values()), files
        assert len(files) <= 8


def test_nothing_of_a_host_that_uses_the_sandbox_is_found_in_zygote_or_guests(planted):
    host = subprocess.Popen(
        [sys.executable, "-c", HOST, str(planted.file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        pass_fds=planted.numbers,
        env={**os.environ, **planted.environment},
        cwd=ROOT,
        text=True,
    )
    with host:
        try:
            host.stdin.write(planted.by_input + "\n")
            host.stdin.flush()
            assert host.stdout.readline() == "called\n"
            below = look_below(host.pid, planted, planted.secrets(planted.by_input))
            assert_guests_have_only_their_own(below)
        finally:
            host.kill()


def test_nothing_of_a_served_codemode_is_found_in_zygote_or_guests(planted, tmp_path):
    token = f"CANARY-{secrets.token_hex(12)}"
    config = write_config(tmp_path, server={"env": {"TOKEN": token, "OTHER": "${CANARY}"}})
    with RawFront(
        "--config", config, folder=tmp_path, variables=planted.environment, inherits=planted.numbers
    ) as front:
        _have_it_wait(front, tmp_path)
        wanted = {planted.by_variable.encode(), token.encode()}
        host = front.process.pid
        below = look_below(host, planted, wanted, apart="tracker_server")
        assert_guests_have_only_their_own(below)
        servers = set(descendants(host)) - set(below)
        assert servers
        for server in servers:
            assert set(open_files(server).values()) & planted.names == set()


def _have_it_wait(front, folder):
    """Serve up to a program that waits for a slow tool, whose signature a first program has brought."""

    def program(seconds):
        return {"name": "execute", "arguments": {"code": f"tools.tracker.wait(seconds={seconds})"}}

    front.initialize()
    front.request("tools/call", program(0))
    front.send({"id": 99, "method": "tools/call", "params": program(100)})
    anyio.run(_until_called, folder)


async def _until_called(folder):
    with anyio.fail_after(60):
        while not any(call["arguments"]["seconds"] == 100 for call in calls_of(folder)):
            await anyio.sleep(0.05)
