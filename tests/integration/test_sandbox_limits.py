"""Limits of real guests, and frames of guests that lie: each ends its own run, with its own code."""

import math

import anyio
import pytest

from sandbox import Limits, Reply, RunSpec, open_sandbox
from tests.support.own_memory import forget_peak, peak_bytes, resident_bytes
from tests.support.running import BINDING, echo, run

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def box():
    async with open_sandbox("process", pool=2) as opened:
        yield opened


# -- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        "print('x')\nwhile True:\n    pass",
        "print('x')\nimport time\ntime.sleep(600)",
        "print('x')\nimport re\nre.match('(a+)+$', 'a' * 40 + 'b')",
        "print('x')\nwhile True:\n    try:\n        while True: pass\n    except BaseException:\n        pass",
        "print('x')\nimport threading\nthreading.Event().wait()",
        "print('x')\nclass A:\n    def __del__(self):\n        while True: pass\na = A()\ndel a",
        "print('x')\nx = 10 ** 10 ** 8",
    ],
)
async def test_a_program_that_never_ends_is_ended_at_the_wall_and_keeps_its_prints(box, source):
    result = await run(box, source, limits=Limits(wall_s=0.5))
    assert (result.status, result.error.code, result.printed) == ("limit", "limit.wall", "x\n")
    assert math.isclose(result.usage.wall_s, 0.5, abs_tol=0.4)


async def test_processor_time_is_limited(box):
    result = await run(box, "while True:\n    pass", limits=Limits(cpu_s=1))
    assert (result.status, result.error.code) == ("limit", "limit.cpu")


@pytest.mark.parametrize(
    "source",
    [
        "x = bytearray(400 * 1024 * 1024)",
        "x = []\nwhile True:\n    x.append('y' * 1_000_000)",
        "x = {}\nn = 0\nwhile True:\n    n += 1\n    x[n] = str(n) * 10",
        "x = [0] * 10 ** 10",
    ],
)
async def test_memory_is_limited_and_reported_as_such(box, source):
    result = await run(box, "print('x')\n" + source, limits=Limits(memory_bytes=128 << 20))
    assert (result.status, result.error.code, result.printed) == ("limit", "limit.memory", "x\n")


async def test_a_memory_error_that_the_program_handles_is_no_end(box):
    source = "try:\n    bytearray(10 ** 9)\nexcept MemoryError:\n    print('too much')\n5"
    result = await run(box, source, limits=Limits(memory_bytes=128 << 20))
    assert (result.status, result.value, result.printed) == ("ok", 5, "too much\n")


async def test_calls_are_limited(box):
    source = "from tools import echo\nfor n in range(100):\n    echo(n=n)"
    result = await run(box, source, call=echo, modules={"tools": BINDING}, limits=Limits(calls=20, in_flight=5))
    assert (result.status, result.error.code, result.usage.calls) == ("limit", "limit.calls", 21)


async def test_no_more_than_the_allowed_calls_are_answered_at_once(box):
    now = most = 0

    async def call(call):
        nonlocal now, most
        now += 1
        most = max(most, now)
        await anyio.sleep(0.001)
        now -= 1
        return Reply(payload=b"1")

    source = "import asyncio\nfrom tools import echo\nlen(await asyncio.gather(*[echo() for _ in range(100)]))"
    result = await run(box, source, call=call, modules={"tools": BINDING}, limits=Limits(in_flight=7))
    assert result.value == 100
    assert most == 7


async def test_a_cancelled_run_leaves_no_guest(box):
    with anyio.move_on_after(0.3):
        await box.run(RunSpec(source="while True:\n    pass"))
    assert (await run(box, "1")).value == 1


async def test_threads_are_limited_and_reported_as_such(box):
    if box.isolation.layer("threads").state == "missing":
        pytest.skip("did not run: threads are not counted on this machine")
    start = "threading.Thread(target=time.sleep, args=(5,), daemon=True).start()"
    source = f"import threading, time\nfor _ in range(100):\n    {start}"
    result = await run(box, source, limits=Limits(threads=16))
    assert (result.status, result.error.code) == ("limit", "limit.threads")


async def test_usage_has_processor_time_and_memory(box):
    result = await run(box, "x = bytearray(50_000_000)\nsum(range(2_000_000))")
    assert result.usage.cpu_s > 0
    assert result.usage.memory_bytes > 50_000_000


async def test_a_forged_last_frame_cannot_claim_codes_of_the_host_or_text_that_breaks_it(box):
    source = """
import os, json, struct
error = {"code": "isolation.layer", "type": "E", "message": "\\ud800", "notes": ["\\ud800"]}
head = {"kind": "end", "status": "error", "form": "none", "type": "\\ud800", "error": error, "notes": [], "usage": {}}
body = json.dumps(head).encode()
os.write(3, struct.pack(">I", len(body)) + body)
"""
    result = await run(box, source, dialect="native")
    assert (result.status, result.error.code) == ("error", "guest.raised")
    str(result).encode("utf-8")


async def test_a_flood_of_small_frames_does_not_hold_up_another_run(box):
    flood = """
import os, struct
body = b'{"kind":"cancel","id":7}'
frames = (struct.pack(">I", len(body)) + body) * 5_000
while True:
    os.write(3, frames)
"""
    times = []

    async def other():
        await anyio.sleep(0.5)
        for _ in range(3):
            with anyio.fail_after(20):
                times.append((await box.run(RunSpec(source="1"))).value)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(other)
        result = await box.run(RunSpec(source=flood, dialect="native", limits=Limits(wall_s=3)))
    assert (result.error.code, times) == ("limit.wall", [1, 1, 1])
    assert result.usage.wall_s < 6


async def test_arguments_that_are_too_large_are_an_error_of_their_call(box):
    source = "from tools import echo\ntry:\n    echo(text='x' * 200_000)\nexcept ValueError as e:\n    print(e)\n5"
    limits = Limits(argument_bytes=100_000)
    result = await run(box, source, call=echo, modules={"tools": BINDING}, limits=limits)
    assert result.value == 5, result.error
    assert "argument_bytes" in result.printed


async def test_the_host_stays_as_small_as_it_is_while_a_guest_prints_a_gigabyte(box):
    limits = Limits(output_bytes=1 << 30, wall_s=100)
    forget_peak()
    before = resident_bytes()
    result = await run(box, "piece = 'x' * 999_999\nfor _ in range(1_050): print(piece)", limits=limits)
    assert result.error is None
    assert result.usage.printed_bytes == 1_050_000_000
    assert peak_bytes() - before < 64 << 20


async def test_the_collector_is_on_in_a_guest_and_leaves_alone_what_the_zygote_had(box):
    source = "import gc\n(gc.isenabled(), gc.get_freeze_count() > 10_000)"
    result = await run(box, source, dialect="native")
    assert result.value == [True, True]
