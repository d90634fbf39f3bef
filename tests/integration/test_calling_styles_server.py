"""Every way to write calls, against a real server whose slow calls end only when they overlap."""

import json
import sys

import anyio
import pytest

from codemode import Host, load_config
from codemode.prose.run_answer import run_answer
from tests.architecture.source import ROOT

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

START = """
import asyncio, threading
from concurrent.futures import ThreadPoolExecutor
from tools.meeting import add, fail, hang, hanging, meet
"""
# Each ends with the numbers that the answers of six calls carry; the calls wait for one another on the server.
OVERLAPPING = {
    "gather": "[r['n'] for r in await asyncio.gather(*[meet(n=n, of=6) for n in range(6)])]",
    "gather of a list made before": (
        "calls = []\nfor n in range(6):\n    calls.append(meet(n=n, of=6))\n"
        "answers = await asyncio.gather(*calls)\n[r['n'] for r in answers]"
    ),
    "gather with exceptions": (
        "got = await asyncio.gather(*[meet(n=n, of=6) for n in range(6)], fail(n=9), return_exceptions=True)\n"
        "assert isinstance(got[6], ToolError)\n[r['n'] for r in got[:6]]"
    ),
    "task group": (
        "async def main():\n    async with asyncio.TaskGroup() as group:\n"
        "        tasks = [group.create_task(meet(n=n, of=6)) for n in range(6)]\n"
        "    return [task.result()['n'] for task in tasks]\nasyncio.run(main())"
    ),
    "as completed": (
        "got = []\nfor item in asyncio.as_completed([meet(n=n, of=6) for n in range(6)]):\n"
        "    got.append((await item)['n'])\nsorted(got)"
    ),
    "tasks": (
        "async def main():\n    tasks = [asyncio.create_task(meet(n=n, of=6)) for n in range(6)]\n"
        "    return [(await task)['n'] for task in tasks]\nawait main()"
    ),
    "wait": (
        "done, left = await asyncio.wait([asyncio.ensure_future(meet(n=n, of=6)) for n in range(6)])\n"
        "sorted(task.result()['n'] for task in done)"
    ),
    "run of a main": (
        "async def one(n):\n    return (await meet(n=n, of=6))['n']\n"
        "async def main():\n    return await asyncio.gather(*(one(n) for n in range(6)))\nasyncio.run(main())"
    ),
    "executor map": (
        "with ThreadPoolExecutor(6) as pool:\n    got = list(pool.map(lambda n: meet(n=n, of=6)['n'], range(6)))\ngot"
    ),
    "executor submit": (
        "pool = ThreadPoolExecutor()\nfutures = [pool.submit(meet, n=n, of=6) for n in range(6)]\n"
        "[future.result()['n'] for future in futures]"
    ),
    "threads": (
        "got = [None] * 6\ndef one(n):\n    got[n] = meet(n=n, of=6)['n']\n"
        "threads = [threading.Thread(target=one, args=(n,)) for n in range(6)]\n"
        "for thread in threads:\n    thread.start()\nfor thread in threads:\n    thread.join()\ngot"
    ),
    "to_thread": "[r['n'] for r in await asyncio.gather(*[asyncio.to_thread(meet, n=n, of=6) for n in range(6)])]",
    "threads beside the loop": (
        "with ThreadPoolExecutor(3) as pool:\n    plain = [pool.submit(meet, n=n, of=6) for n in range(3)]\n"
        "    awaited = await asyncio.gather(*[meet(n=n, of=6) for n in range(3, 6)])\n"
        "    got = [f.result()['n'] for f in plain] + [r['n'] for r in awaited]\ngot"
    ),
}
# Program → its value.
OTHERS = {
    "plain": ("[add(n=n) for n in range(4)]", [1, 2, 3, 4]),
    "await": ("[await add(n=n) for n in range(4)]", [1, 2, 3, 4]),
    "await on a plain value": ("x = add(n=1)\nawait x", 2),
    "await in one function and not in another": (
        "def plain(n):\n    return add(n=n)\nasync def awaited(n):\n    return await add(n=n)\n"
        "async def main():\n    return [plain(1), await awaited(2), plain(3)]\nasyncio.run(main())",
        [2, 3, 4],
    ),
    "one run after another": (
        "async def main(n):\n    return await add(n=n)\n[asyncio.run(main(1)), add(n=2), asyncio.run(main(3))]",
        [2, 3, 4],
    ),
    "shield": ("await asyncio.shield(add(n=1))", 2),
    "a failure": (
        "try:\n    await fail(n=3)\nexcept ToolError as error:\n    got = type(error).__name__\ngot",
        "ToolError",
    ),
    "a task group with a failure": (
        "async def main():\n    try:\n        async with asyncio.TaskGroup() as group:\n"
        "            group.create_task(fail(n=3))\n"
        "            group.create_task(hang(n=4))\n    except ExceptionGroup as group:\n"
        "        return [type(error).__name__ for error in group.exceptions]\nasyncio.run(main())",
        ["ToolError"],
    ),
}


@pytest.fixture(scope="module")
async def place(tmp_path_factory):
    """A session that knows the functions, and what the server has noted since it was last asked."""
    folder = tmp_path_factory.mktemp("meeting")
    log = folder / "log.jsonl"
    entry = {"command": sys.executable, "args": [str(ROOT / "tests/support/meeting_server.py"), str(log)]}
    file = folder / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"meeting": entry}}))
    read = 0

    def noted():
        nonlocal read
        lines = log.read_text().splitlines() if log.exists() else []
        new, read = [json.loads(line) for line in lines[read:]], len(lines)
        return new

    async with Host.open(load_config(file), state_dir=folder / "state") as host:
        await host.wait_ready(None, 60)
        session = host.session()
        await session.tool_search("select:meeting.add,meeting.fail,meeting.hang,meeting.hanging,meeting.meet")
        yield session, noted


async def value_of(session, source):
    with anyio.fail_after(90):
        outcome = await session.execute(START + source, wait_s=80)
    assert outcome.status == "ok", outcome.error
    return outcome.value


@pytest.mark.parametrize("style", OVERLAPPING)
async def test_calls_written_in_this_style_overlap_on_the_server(place, style):
    session, noted = place
    noted()
    assert await value_of(session, OVERLAPPING[style]) == list(range(6))
    assert sorted(n for what, n in noted() if what == "meet") == list(range(6))


@pytest.mark.parametrize("style", OTHERS)
async def test_calls_written_in_this_style_give_their_values(place, style):
    session, _ = place
    source, value = OTHERS[style]
    assert await value_of(session, source) == value


async def test_calls_one_after_the_other_do_not_overlap(place):
    session, _ = place
    call = "asyncio.wait_for(meet(n=0, of=2, room='alone'), 0.2)"
    source = f"try:\n    await {call}\nexcept TimeoutError:\n    got = 'alone'\ngot"
    assert await value_of(session, source) == "alone"


@pytest.mark.parametrize(
    "source",
    [
        "try:\n    await asyncio.wait_for(task, 0.1)\nexcept TimeoutError:\n    got = 'late'\ngot",
        "try:\n    async with asyncio.timeout(0.1):\n        await task\nexcept TimeoutError:\n    got = 'late'\ngot",
        "task.cancel()\ntry:\n    await task\nexcept asyncio.CancelledError:\n    got = 'late'\ngot",
    ],
    ids=["wait_for", "timeout", "cancel"],
)
async def test_a_call_that_the_program_gives_up_is_cancelled_on_the_server(place, source):
    session, noted = place
    noted()
    begun = "task = asyncio.create_task(hang(n=1))\nwhile not await hanging():\n    await asyncio.sleep(0.01)\n"
    assert await value_of(session, begun + source) == "late"
    seen = []
    with anyio.fail_after(60):
        while ["cancelled", 1] not in seen:
            seen += noted()
            await anyio.sleep(0.02)
    assert seen.count(["hang", 1]) == 1


async def test_a_forgotten_await_still_makes_the_call_before_the_run_ends(place):
    session, noted = place
    noted()
    assert await value_of(session, "asyncio.ensure_future(add(n=70))\nadd(n=71)\nawait add(n=72)") == 73
    assert sorted(n for _, n in noted()) == [70, 71, 72]


async def test_a_mix_of_threads_and_awaited_calls_ends_with_every_answer(place):
    session, _ = place
    source = """
wrong = []
def plainly(start):
    for n in range(start, start + 60):
        if add(n=n) != n + 1:
            wrong.append(n)
async def awaiting(start):
    for n in range(start, start + 60):
        if await add(n=n) != n + 1:
            wrong.append(n)
        if n % 20 == 0 and add(n=n) != n + 1:
            wrong.append(n)
threads = [threading.Thread(target=plainly, args=(i * 1_000,)) for i in range(3)]
for thread in threads:
    thread.start()
await asyncio.gather(*[awaiting(10_000 + i * 1_000) for i in range(3)])
for thread in threads:
    await asyncio.to_thread(thread.join)
wrong
"""
    assert await value_of(session, source) == []


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "async def main():\n    return await add(n=1)\nawait add(n=0)\nasyncio.run(main())",
            "write `await main()` instead",
        ),
        (
            "async def main():\n    return await add(n=1)\n"
            "ThreadPoolExecutor().submit(lambda: asyncio.run(main())).result()",
            "works in the main thread only",
        ),
    ],
    ids=["beside top-level await", "in a thread"],
)
async def test_a_second_run_of_the_loop_is_an_error_that_says_what_to_write(place, source, message):
    session, _ = place
    outcome = await session.execute(START + source, wait_s=80)
    assert outcome.status != "ok"
    assert message in outcome.error.message


async def test_a_call_inside_of_evaluated_text_is_a_call_like_any_other(place):
    session, noted = place
    noted()
    source = (
        "got = []\nexec('for n in range(3):\\n    got.append(add(n=n))')\n"
        "[*got, eval('add(n=9)'), eval(\"eval('add(n=10)')\")]"
    )
    outcome = await session.execute(START + source, wait_s=80)
    assert outcome.value == [1, 2, 3, 10, 11], outcome.error
    assert (len(outcome.calls), len(noted())) == (5, 5)


async def test_evaluated_text_cannot_call_what_the_session_was_not_shown(place):
    session, noted = place
    noted()
    source = 'try:\n    exec("x = tools.meeting.wave(n=1)")\nexcept ToolError as error:\n    got = str(error)\ngot'
    outcome = await session.execute(source, wait_s=80)
    assert outcome.value is not None, (outcome.status, outcome.error, outcome.calls)
    assert "had not been shown" in outcome.value
    assert [(call.status, call.code) for call in outcome.calls] == [("refused", "gate.not_loaded")]
    assert noted() == []


async def test_what_was_taken_off_a_program_is_told_to_the_model(place):
    session, _ = place
    outcome = await session.execute("Sure, here it is:\n```python\nx = “forty-two”\nx\n```", wait_s=80)
    text = run_answer(outcome, session.marks).text
    assert outcome.value == "forty-two"
    for note in ("a Markdown fence around the program was taken off", "the text around the fence was left out"):
        assert note in text
    assert "typographic quotes, spaces or signs in the code were read as the plain ones" in text
