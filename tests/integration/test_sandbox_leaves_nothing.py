"""Many runs leave nothing behind: no state, descriptor, process or zombie, and neither host nor zygote grows."""

import gc
import os
import sys
from pathlib import Path

import anyio
import pytest

from sandbox import Limits, Reply, RunSpec, open_sandbox
from tests.support.own_memory import resident_bytes
from tests.support.real_guests import descendants, still_there
from tests.support.running import BINDING

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform != "linux", reason="did not run: needs Linux"),
]

MIB = 1 << 20
WARM_UP, RUNS = 100, 1_000
GROWTH_BYTES = 4 * MIB  # a leak of one kilobyte a run would be a quarter of it, of one frame buffer far more
STATE = """
import builtins, sys, tools
seen = [hasattr(builtins, "left"), hasattr(sys, "left"), "left" in globals(), hasattr(tools, "left")]
builtins.left = sys.left = left = tools.left = "x" * 1000
print(tools.echo(n=1))
any(seen)
"""


async def many(box, count, spec):
    """Run it `count` times, four at once; the values and codes that came."""
    found = set()

    async def worker(rounds):
        for _ in range(rounds):
            result = await box.run(spec, call=lambda call: Reply(payload=call.arguments))
            found.add((result.status, result.value))

    with anyio.fail_after(200):
        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(worker, count // 4)
    return found


def descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))


async def settled(box, below):
    """Wait until guests that were used are gone and the pool is full again; what the host then has."""
    with anyio.fail_after(60):
        while len(descendants(os.getpid())) != below or box._pool.waiting != 2:
            await anyio.sleep(0.02)
    gc.collect()
    return descriptors(), resident_bytes()


async def test_a_thousand_runs_leave_no_state_no_descriptor_no_process_and_no_growth():
    spec = RunSpec(source=STATE, dialect="native", modules={"tools": BINDING}, limits=Limits(memory_bytes=64 * MIB))
    at_first = descriptors(), set(descendants(os.getpid()))
    async with open_sandbox("process", pool=2) as box:
        with anyio.fail_after(60):
            while box._pool.waiting != 2:
                await anyio.sleep(0.02)
        below = len(descendants(os.getpid()))
        zygotes = [pid for pid in descendants(os.getpid()) if descendants(pid)]
        await many(box, WARM_UP, spec)
        before = await settled(box, below)
        zygote_before = sum(map(resident_bytes, zygotes))
        assert await many(box, RUNS, spec) == {("ok", False)}
        after = await settled(box, below)
        assert after[0] == before[0]
        assert after[1] - before[1] < GROWTH_BYTES
        assert sum(map(resident_bytes, zygotes)) - zygote_before < GROWTH_BYTES
        everyone = set(descendants(os.getpid())) - at_first[1]
    assert still_there(everyone) == []
    assert descriptors() == at_first[0]


async def test_a_sandbox_that_closes_in_the_middle_of_its_runs_keeps_no_descriptor():
    async with open_sandbox("process", pool=1):
        pass  # what the first one loads and opens for good
    before = descriptors()
    for _ in range(3):
        async with anyio.create_task_group() as tasks, open_sandbox("process", pool=1) as box:
            called = anyio.Event()
            tasks.start_soon(_spin, box, called)
            with anyio.fail_after(60):
                await called.wait()
            tasks.cancel_scope.cancel()
    gc.collect()
    assert descriptors() == before


async def _spin(box, called):
    def answer(call):
        called.set()
        return Reply()

    await box.run(
        RunSpec(source="from tools import echo\necho()\nwhile True: pass", modules={"tools": BINDING}), call=answer
    )
