"""What the kernel says of a sealed guest, asked from outside: descriptors, rights, signals, limits, inspection."""

import contextlib
import json
import os
import pwd
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from sandbox.linux import rlimits
from tests.support.real_guests import LIMITS, own_backend

HERE = Path(__file__).resolve().parent
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(
        sys.platform != "linux" or os.geteuid() != 0,
        reason="did not run: needs Linux, and root, who may look at a guest",
    ),
]
MIB = 1 << 20


@pytest.fixture(scope="module")
async def guest_folder():
    """The folder in /proc of a guest that waits for a program."""
    async with own_backend() as (backend, _):
        guest = await backend.spawn(LIMITS)
        try:
            yield Path("/proc") / _pid(guest._pidfd)
        finally:
            await guest.aclose()


def _pid(pidfd):
    lines = Path(f"/proc/self/fdinfo/{pidfd}").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith("Pid:"))


def status(folder):
    """The fields of proc(5), /proc/PID/status."""
    lines = (folder / "status").read_text().splitlines()
    return {name: value.split() for name, _, value in (line.partition(":") for line in lines)}


async def _is_sealed(folder):
    """The filter is the last layer: it is on once the kernel shows it."""
    with anyio.fail_after(30):
        while status(folder)["Seccomp"] != ["2"]:
            await anyio.sleep(0.01)


async def test_a_guest_holds_null_devices_its_channel_and_its_event_loop(guest_folder):
    await _is_sealed(guest_folder)
    held = {int(place.name): str(place.readlink()) for place in (guest_folder / "fd").iterdir()}
    devices = {(guest_folder / "fd" / str(number)).stat().st_rdev for number in (0, 1, 2) if held.pop(number)}
    assert devices == {os.makedev(1, 3)}
    assert sorted(place.partition(":")[0] for place in held.values()) == ["anon_inode", "socket", "socket", "socket"]
    assert held[3].startswith("socket:")
    assert "anon_inode:[eventpoll]" in held.values()


async def test_a_guest_has_nothing_of_the_hosts_environment_no_capability_and_can_gain_none(guest_folder):
    await _is_sealed(guest_folder)
    facts = status(guest_folder)
    assert (guest_folder / "environ").read_bytes() == b"PYTHONHASHSEED=0\0"  # what its zygote was started with
    assert {facts[name][0] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
    assert (facts["NoNewPrivs"], facts["Groups"]) == (["1"], [])


async def test_as_root_a_guest_has_a_user_id_that_no_account_and_no_other_process_has(guest_folder):
    await _is_sealed(guest_folder)
    facts = status(guest_folder)
    (uid,), (gid,) = set(facts["Uid"]), set(facts["Gid"])
    assert uid == gid
    assert int(uid) not in {account.pw_uid for account in pwd.getpwall()}
    sharing = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if uid in status(folder)["Uid"]:
                sharing.append(folder)
    assert sharing == [guest_folder]


async def test_every_limit_of_a_guest_is_what_the_kernel_enforces(guest_folder):
    await _is_sealed(guest_folder)
    found = {}
    for line in (guest_folder / "limits").read_text().splitlines()[1:]:
        found[line[:25].strip()] = tuple(line[26:].split()[:2])
    soft, hard = map(int, found["Max data size"])
    assert hard - soft == rlimits.RESERVE_BYTES
    assert LIMITS.memory_bytes < soft < LIMITS.memory_bytes + 256 * MIB
    assert int(found["Max address space"][1]) < LIMITS.memory_bytes + 2048 * MIB
    assert found["Max cpu time"] == ("2", "3")  # one second asked for, one to start, one between signal and kill
    assert found["Max processes"] == (str(LIMITS.threads + 1),) * 2
    nothing = ("core file size", "file size", "locked memory", "msgqueue size", "nice priority", "realtime priority")
    assert {found[f"Max {name}"] for name in nothing} == {("0", "0")}
    assert found["Max open files"] == (str(rlimits.DESCRIPTORS),) * 2


async def test_the_stack_of_a_guest_has_its_size_and_may_not_grow(guest_folder):
    await _is_sealed(guest_folder)
    limit = next(
        line for line in (guest_folder / "limits").read_text().splitlines() if line.startswith("Max stack size")
    )
    assert limit.split()[3:5] == ["0", "0"]
    place = next(line for line in (guest_folder / "maps").read_text().splitlines() if line.endswith("[stack]"))
    first, end = (int(part, 16) for part in place.split()[0].split("-"))
    assert end - first == rlimits.STACK_BYTES


async def test_no_memory_of_a_guest_is_writable_and_also_executable_or_shared(guest_folder):
    await _is_sealed(guest_folder)
    flags = {line.split()[1] for line in (guest_folder / "maps").read_text().splitlines()}
    assert [flag for flag in flags if "w" in flag and ("x" in flag or "s" in flag)] == []


async def test_a_guest_is_in_namespaces_of_its_own(guest_folder):
    await _is_sealed(guest_folder)
    own = Path("/proc/self/ns")
    apart = {
        n for n in ("net", "pid", "mnt", "ipc", "uts") if (own / n).readlink() != (guest_folder / "ns" / n).readlink()
    }
    assert apart >= {"net", "pid", "mnt", "ipc"}
    assert list((guest_folder / "root").iterdir()) == []


INSPECTOR = """
import json, os, subprocess, sys
from pathlib import Path
import anyio
from tests.support.real_guests import LIMITS, own_backend
def allowed(pid):
    found = {}
    for name in ("mem", "environ", "maps"):
        try:
            with open(f"/proc/{pid}/{name}", "rb") as file: found[name] = True
        except PermissionError: found[name] = False
    return found
async def main():
    with subprocess.Popen(["/bin/sleep", "60"]) as other:
        plain = allowed(other.pid)
        other.kill()
    async with own_backend() as (backend, _):
        guest = await backend.spawn(LIMITS)
        lines = Path(f"/proc/self/fdinfo/{guest._pidfd}").read_text().splitlines()
        pid = next(line.split()[1] for line in lines if line.startswith("Pid:"))
        with anyio.fail_after(30):
            while "Seccomp:\\t2" not in Path(f"/proc/{pid}/status").read_text(): await anyio.sleep(0.01)
        print(json.dumps([plain, allowed(pid)]))
        await guest.aclose()
anyio.run(main)
"""


def test_a_process_of_the_same_user_may_look_into_others_and_not_into_a_guest():
    command = [sys.executable, str(HERE / "plain_user.py"), "bare", "-c", INSPECTOR]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stderr[-2000:]
    plain, guest = json.loads(done.stdout)
    assert set(plain.values()) == {True}
    assert set(guest.values()) == {False}
