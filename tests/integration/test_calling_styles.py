"""Plain calls, awaited calls and calls of threads in one program; and what is an error there."""

import pytest

from sandbox import Limits, open_sandbox
from tests.support.running import BINDING, echo, run

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def box():
    async with open_sandbox("process", pool=2) as opened:
        yield opened


MIX = """
import asyncio, threading
from tools import echo

wrong = []

def check(n, answer):
    if answer != {"n": n}:
        wrong.append((n, answer))

def plainly(start):
    for n in range(start, start + 1_250):
        check(n, echo(n=n))

async def awaiting(start):
    for n in range(start, start + 1_000):
        check(n, await echo(n=n))
        if n % 250 == 0:
            check(n, echo(n=n))  # a plain call that blocks the loop while threads wait

threads = [threading.Thread(target=plainly, args=(i * 10_000,)) for i in range(4)]
for thread in threads:
    thread.start()
await asyncio.gather(*[awaiting(100_000 + i * 10_000) for i in range(5)])
for thread in threads:
    await asyncio.to_thread(thread.join)
wrong
"""


async def test_threads_beside_a_running_loop_do_not_hang_over_ten_thousand_calls(box):
    limits = Limits(wall_s=55, calls=20_000)
    result = await run(box, MIX, call=echo, modules={"tools": BINDING}, limits=limits)
    assert (result.status, result.value) == ("ok", []), result.error
    assert result.usage.calls == 10_020


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "import asyncio\nasync def main():\n    return 1\nawait asyncio.sleep(0)\nasyncio.run(main())",
            "write `await main()` instead",
        ),
        (
            "import asyncio\nasync def inner():\n    return 1\n"
            "async def main():\n    return asyncio.run(inner())\nasyncio.run(main())",
            "write `await main()` instead",
        ),
        (
            "import asyncio\nfrom concurrent.futures import ThreadPoolExecutor\nasync def main():\n    return 1\n"
            "ThreadPoolExecutor().submit(lambda: asyncio.run(main())).result()",
            "works in the main thread only",
        ),
    ],
    ids=["beside top-level await", "inside a run", "in a thread"],
)
async def test_a_second_run_of_the_loop_is_an_error_that_says_what_to_write(box, source, message):
    result = await run(box, source)
    assert result.error.type == "RuntimeError"
    assert message in result.error.message
    assert result.notes == ()


async def test_one_run_after_another_is_no_error(box):
    source = (
        "import asyncio\nfrom tools import echo\nasync def main(n):\n    return await echo(n=n)\n"
        "[asyncio.run(main(1)), echo(n=2), asyncio.run(main(3))]"
    )
    result = await run(box, source, call=echo, modules={"tools": BINDING})
    assert result.value == [{"n": 1}, {"n": 2}, {"n": 3}]


async def test_an_error_shows_the_chain_of_the_programs_own_frames_and_its_notes(box):
    source = (
        "import json\ndef load(text):\n    try:\n        return json.loads(text)\n    except ValueError as error:\n"
        "        error.add_note('read from the cache')\n        raise RuntimeError('no data') from error\nload('{')"
    )
    result = await run(box, source)
    text = result.error.traceback
    assert (result.error.type, result.error.message, result.error.line) == ("RuntimeError", "no data", 7)
    assert "JSONDecodeError" in text
    assert "read from the cache" in text
    assert "direct cause" in text
    assert {part.split('"')[1] for part in text.splitlines() if part.startswith("  File")} == {"<program>"}
