"""kill -9 of host, zygote or guest at a random moment, a hundred times: nothing is left, nobody hangs, the pool heals.

Victims and moments follow from `SEED`, which is printed; `CRASH_SEED` in the environment chooses another.
"""

import os
import random
import signal
import sys

import anyio
import pytest

from sandbox import GuestError, RunSpec, open_sandbox
from tests.support import crashes
from tests.support.real_guests import descendants, gone

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform != "linux", reason="did not run: needs Linux"),
]

SEED = int(os.environ.get("CRASH_SEED", "1"))
KILLS = {"guest": 66, "zygote": 16, "host": 16, "server": 2}
"""How often each is killed; "host" is a program of its own around a sandbox, "server" is `codemode serve`."""
AT_ONCE = {"guest": 3, "zygote": 1}
"""Kills among the runs that are under way together."""
POOL = 2


def chances(part):
    """One source of chance for all kills of a part."""
    print(f"CRASH_SEED={SEED}")
    return random.Random(f"{SEED} {part}")


def test_a_hundred_processes_are_killed_in_this_file():
    assert sum(KILLS.values()) == 100


@pytest.mark.anyio
@pytest.mark.parametrize("part", ["guest", "zygote"])
async def test_runs_end_with_what_happened_and_the_pool_heals_when_a_part_is_killed(part):
    chance, seen = chances(part), set()
    others = set(descendants(os.getpid()))
    async with open_sandbox("process", pool=POOL) as box:
        for _ in range(KILLS[part] // AT_ONCE[part]):
            await crashes.hit_a_part(box, chance, part, kills=AT_ONCE[part])
            seen |= set(descendants(os.getpid())) - others
        await crashes.is_full(box, POOL)
        assert await crashes.one_run(box) == ("", "")
    await gone(seen)


@pytest.mark.anyio
async def test_nothing_is_left_of_a_host_that_is_killed_at_a_random_moment():
    chance, places = chances("host"), anyio.CapacityLimiter(2)

    async def hit(own):
        async with places:
            await crashes.hit_the_host(own)

    async with anyio.create_task_group() as tasks:
        for _ in range(KILLS["host"]):
            tasks.start_soon(hit, random.Random(chance.random()))


def test_a_client_of_a_killed_server_hears_the_end_and_nothing_is_left(tmp_path):
    chance = chances("server")
    for _ in range(KILLS["server"]):
        assert crashes.hit_a_served_host(tmp_path, chance) >= 3


@pytest.mark.anyio
async def test_a_guest_that_is_killed_before_its_program_is_compiled_does_not_blame_the_program():
    async with open_sandbox("process", pool=1) as box:
        with anyio.fail_after(60):
            while not box._pool.waiting:
                await anyio.sleep(0.01)
            guests = crashes.family(os.getpid())[1]
            os.kill(guests[0], signal.SIGSTOP)  # it takes the program and cannot read it
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_kill_once_taken, guests[0])
                with pytest.raises(GuestError, match="SIGKILL") as caught:
                    await box.run(RunSpec(source="1"))
    assert caught.value.code == "guest.died"


async def _kill_once_taken(guest):
    """A guest that was taken is replaced in the pool: then there are two."""
    while len(crashes.family(os.getpid())[1]) < 2:
        await anyio.sleep(0.01)
    crashes.kill(guest)
