"""kill -9 of host, zygote or guest at a random moment: no process is left, nobody hangs, the pool heals.

Few rounds here; `python tests/bench/soak_crashes.py` does a hundred of them.
"""

import os
import random
import signal
import sys

import anyio
import pytest

from sandbox import GuestError, RunSpec, open_sandbox
from tests.support import crashes

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform != "linux", reason="did not run: needs Linux"),
]


@pytest.mark.anyio
async def test_runs_end_with_what_happened_and_the_pool_heals_when_a_guest_or_its_zygote_is_killed():
    chance = random.Random(1)
    async with open_sandbox("process", pool=2) as box:
        for _ in range(12):
            await crashes.hit_a_part(box, chance)
        assert await crashes.one_run(box) == ("", "")


@pytest.mark.anyio
@pytest.mark.parametrize("seed", range(3))
async def test_nothing_is_left_of_a_host_that_is_killed_at_a_random_moment(seed):
    await crashes.hit_the_host(random.Random(seed))


@pytest.mark.parametrize("seed", range(2))
def test_a_client_of_a_killed_server_hears_the_end_and_nothing_is_left(tmp_path, seed):
    assert crashes.hit_a_served_host(tmp_path, random.Random(seed)) >= 3


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
