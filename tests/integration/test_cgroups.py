"""Control groups around real guests: what ends when a bound is reached, who stays, and what is left afterwards."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from sandbox import Limits, RunSpec, open_sandbox
from sandbox.backends.process import ProcessBackend
from sandbox.linux.cgroups import Bound, Groups, join
from sandbox.spec import MIB
from tests.security.plain_user import UID
from tests.security.register import ATTACKS, PRELUDE
from tests.support.control_groups import bound, delegated_to, groups_of, members, need_groups, ours
from tests.support.real_guests import LIMITS, own_backend, printed, talk

ROOT = Path(__file__).resolve().parents[2]
HOLD = "held = [bytes([1]) * (1 << 20) for _ in range({})]\nprint(len(held))"
THREADS = """
import threading
gate, count = threading.Event(), 0
try:
    while True:
        threading.Thread(target=gate.wait).start()
        count += 1
except RuntimeError:
    print(count)
gate.set()
"""

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform != "linux", reason="did not run: needs Linux")]


@pytest.fixture(autouse=True)
def groups():
    need_groups()


def alone_in(group):
    """Processes that have a group below `group` for themselves."""
    inside = [members(below) for below in group.glob("guest-*")]
    return [pids[0] for pids in inside if len(pids) == 1]


# -- bounds -----------------------------------------------------------------------------------------------------------


async def test_both_groups_are_in_force_and_each_guest_has_its_own():
    async with own_backend() as (backend, family):
        layers = {layer.name: layer.state for layer in backend.describe().layers}
        assert (layers["cgroup-memory"], layers["cgroup-pids"]) == ("extra", "extra")
        zygote = set(family())
        guests = [await backend.spawn(LIMITS) for _ in range(2)]
        forked = set(family()) - zygote
        assert len(forked) == 2
        for group in ours():
            with anyio.fail_after(30):  # a guest enters by itself, right after the fork
                while sorted(found := alone_in(group)) != sorted(forked):
                    await anyio.sleep(0.01)
            assert len(found) == 2
            assert members(group) == []
        for guest in guests:
            await guest.aclose()


async def test_a_guest_above_its_groups_bound_is_ended_and_its_zygote_is_not():
    async with own_backend() as (backend, family):
        zygote = family()
        ceiling = LIMITS.with_changes(memory_bytes=512 * MIB)
        guest = await backend.spawn(ceiling)
        await guest.lower(LIMITS.with_changes(memory_bytes=32 * MIB))
        assert printed(await talk(guest, HOLD.format(300), ceiling)) == ""
        ending = await guest.wait_exit(30)
        assert (ending.how, ending.code, ending.is_out_of_memory) == ("signaled", signal.SIGKILL, True)
        await guest.aclose()
        assert family() == zygote
        other = await backend.spawn(ceiling)  # takes the same slot, whose counters go on
        assert printed(await talk(other, HOLD.format(300), ceiling)) == "300\n"
        assert not (await other.wait_exit(30)).is_out_of_memory
        await other.aclose()


async def test_a_guest_that_the_host_kills_is_not_out_of_memory():
    async with own_backend() as (backend, _):
        guest = await backend.spawn(LIMITS)
        guest.kill()
        ending = await guest.wait_exit(30)
        assert (ending.code, ending.is_out_of_memory) == (signal.SIGKILL, False)
        await guest.aclose()


async def test_a_run_that_would_take_more_than_all_runs_may_reaches_a_limit():
    share = 64 * MIB / (os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    limits = Limits(memory_bytes=1024 * MIB)
    async with open_sandbox("process", pool=1, memory_share=share) as box:
        result = await box.run(RunSpec(source=HOLD.format(700), limits=limits))
        assert result.error is not None
        assert (result.status, result.error.code) == ("limit", "limit.memory")
        result = await box.run(RunSpec(source=HOLD.format(100), limits=limits))
        assert (result.status, result.printed) == ("ok", "100\n")


async def test_the_memory_limit_is_met_by_the_program_before_the_kernel_ends_it():
    async with open_sandbox("process", pool=1) as box:
        result = await box.run(RunSpec(source=HOLD.format(100), limits=Limits(memory_bytes=64 * MIB)))
        assert result.error is not None
        assert (result.error.code, result.error.type) == ("limit.memory", "MemoryError")


async def test_a_run_gets_the_bounds_of_its_own_limits():
    async with own_backend() as (backend, family):
        zygote = set(family())
        guest = await backend.spawn(Limits(memory_bytes=512 * MIB, threads=64))
        await guest.lower(Limits(memory_bytes=64 * MIB, threads=6))
        (pid,) = set(family()) - zygote
        with anyio.fail_after(30):
            while len(own := [b for group in ours() for b in group.glob("guest-*") if pid in members(b)]) < len(ours()):
                await anyio.sleep(0.01)
        assert [(group / "pids.max").read_text() for group in own if (group / "pids.max").exists()] == ["7\n"]
        sizes = [bound(group) for group in own if (group / "memory.stat").exists()]
        assert len(sizes) == 1
        assert 64 * MIB < sizes[0] < 512 * MIB
        await guest.aclose()


async def test_guests_one_after_the_other_use_the_same_group():
    async with ProcessBackend() as backend:
        made = []
        for _ in range(5):
            guest = await backend.spawn(LIMITS)
            guest.kill()
            assert (await guest.wait_exit(30)).how == "signaled"
            await guest.aclose()
            made.append({below for group in ours() for below in group.glob("guest-*")})
        assert made[0] == made[-1]


# -- who may use groups, and who may not ------------------------------------------------------------------------------

PLAIN = f"""
import anyio, json
from sandbox import Limits, RunSpec, open_sandbox
async def main():
    async with open_sandbox("process", pool=1) as box:
        found = {{layer.name: layer.state for layer in box.isolation.layers}}
        spec = RunSpec(source={THREADS!r}, limits=Limits(threads=7))
        found["started"] = (await box.run(spec)).printed
    print(json.dumps(found))
anyio.run(main)
"""


def as_plain_user(groups=()):
    """What a plain user without user namespaces has, started inside of groups."""
    enter = "".join(f"echo 0 > {group}/cgroup.procs; " for group in groups)
    command = f'{enter} exec "$0" "$@"'
    arguments = [sys.executable, str(ROOT / "tests/security/plain_user.py"), "bare", "-c", PLAIN]
    done = subprocess.run(["/bin/sh", "-c", command, *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.skipif(os.geteuid() != 0, reason="did not run: needs root")
def test_a_plain_user_without_groups_of_its_own_has_none_and_no_count_of_threads():
    found = as_plain_user()
    assert (found["cgroup-memory"], found["cgroup-pids"], found["threads"]) == ("missing",) * 3


@pytest.mark.skipif(os.geteuid() != 0, reason="did not run: needs root")
def test_a_plain_user_with_delegated_groups_has_both_and_threads_are_counted_exactly():
    with delegated_to(UID) as made:
        found = as_plain_user(made)
    assert (found["cgroup-memory"], found["cgroup-pids"], found["threads"]) == ("extra",) * 3
    assert found["started"] == "7\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="did not run: needs root")
def test_what_a_guest_tries_on_its_group_works_for_an_unjailed_process():
    attack = next(attack for attack in ATTACKS if attack.id == "process.leave-group")
    made = Groups()
    made.open(Bound(memory_bytes=256 * MIB, tasks=32))
    try:
        entrances = made.enter(0, Bound(memory_bytes=128 * MIB, tasks=16))
        source = f"T = {{}}\n{PRELUDE}\n{attack.code}"
        done = subprocess.run(
            [sys.executable, "-c", source],
            capture_output=True,
            text=True,
            timeout=60,
            preexec_fn=lambda: [join(descriptor) for descriptor in entrances] and None,
        )
        for descriptor in entrances:
            os.close(descriptor)
        assert "REACHED cgroup.procs" in done.stdout, done.stderr
        assert "REACHED pids.max" in done.stdout
    finally:
        made.close()


# -- what is left -----------------------------------------------------------------------------------------------------

HOST = """
import anyio
from sandbox.backends.process import ProcessBackend
from sandbox.spec import Limits
async def main():
    async with ProcessBackend() as backend:
        guests = [await backend.spawn(Limits()) for _ in range(2)]
        print("ready", flush=True)
        await anyio.sleep(60)
anyio.run(main)
"""


async def test_nothing_is_left_after_close():
    async with ProcessBackend() as backend:
        guests = [await backend.spawn(LIMITS) for _ in range(3)]
        assert ours()
    assert ours() == set()
    for guest in guests:
        await guest.aclose()


async def test_what_a_killed_host_left_is_removed_by_the_next_start():
    host = subprocess.Popen([sys.executable, "-c", HOST], stdout=subprocess.PIPE, cwd=ROOT)
    assert await anyio.to_thread.run_sync(host.stdout.readline) == b"ready\n"
    made = groups_of(host.pid)
    assert made
    async with ProcessBackend():
        assert all(group.exists() for group in made), "its host lives"
    host.kill()
    host.communicate()
    with anyio.fail_after(30):
        while any(members(below) for group in made for below in group.glob("guest-*")):
            await anyio.sleep(0.01)
    async with ProcessBackend():
        assert not any(group.exists() for group in made)
