"""The process sandbox alone: time of a run, of calls and of a kill, beside a floor of the same run.

Run: python tests/bench/bench_sandbox.py
Every figure is a median with its minimum; the last column is the ratio to the floor named beside it.
"""

import asyncio
import importlib.util
import json
import os
import socket
import statistics
import time

import anyio

from sandbox import Limits, Reply, RunSpec, open_sandbox
from sandbox.backends import process
from sandbox.linux.cgroups import Groups

BINDING = """
from sandbox.guest.remote import Remote
class Tool(Remote):
    def encode(self, args, kwargs):
        return "t", b"{}"
    def decode(self, form, payload):
        return 1
call = Tool()
"""
PACKAGES = ("numpy", "pandas")
IMPORT = "import asyncio\nfrom tools import call\n"


def show(name: str, times: list[float], floor: float = 0.0, note: str = "") -> None:
    """One row: median and minimum in milliseconds, ratio of the medians."""
    median = statistics.median(times)
    ratio = f"{median / floor:6.2f}x" if floor else "       "
    print(f"{name:46} {median * 1e3:9.2f} ms   min {min(times) * 1e3:9.2f}   {ratio} {note}")


def show_rate(name: str, count: int, times: list[float], floor: float) -> None:
    """One row: calls a second, and what a call takes beside a bare message."""
    each = statistics.median(times) / count
    print(f"{name:46} {1 / each:9.0f} /s   {each / floor:6.2f}x of a message")


def timed(function) -> float:
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def fork_floor() -> float:
    def once() -> None:
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)

    return statistics.median([timed(once) for _ in range(30)])


def echo_floor(count: int = 5_000) -> float:
    """Seconds that two Python processes need to send each other one short message over a socket pair."""
    near, far = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        near.close()
        while data := far.recv(65_536):
            far.send(data)
        os._exit(0)
    far.close()

    def once() -> None:
        near.send(b"x" * 40)
        near.recv(65_536)

    found = statistics.median([timed(once) for _ in range(count)])
    near.close()
    os.waitpid(pid, 0)
    return found


async def runs(box, spec: RunSpec, count: int, *, call=None, pause_s: float = 0.0) -> list[float]:
    times = []
    for _ in range(count):
        await anyio.sleep(pause_s)
        started = time.perf_counter()
        result = await box.run(spec, call=call)
        times.append(time.perf_counter() - started)
        assert result.status == "ok", result.error
    return times


class NoGroups(Groups):
    """Makes no control group, as where none can be had."""

    def open(self, bound) -> None:
        return


async def one_start(groups) -> dict[str, list[float]]:
    """Start, a run out of the pool, a run without one at once and after a pause (moving between groups then waits)."""
    process.Groups = groups
    found = {}
    started = time.perf_counter()
    async with open_sandbox("process", pool=2) as box:
        found["start of a sandbox"] = [time.perf_counter() - started]
        found["trivial run, child waits"] = await runs(box, RunSpec(source="1 + 1"), 10, pause_s=0.1)
    async with open_sandbox("process", pool=0) as box:
        found["trivial run, no child waits, in a row"] = await runs(box, RunSpec(source="1 + 1"), 20)
        found["trivial run, no child waits, each after 0.1 s"] = await runs(
            box, RunSpec(source="1 + 1"), 10, pause_s=0.1
        )
    return found


async def groups_cost() -> None:
    """What control groups cost, in turns with a sandbox that has none."""
    sides: tuple[dict[str, list[float]], ...] = ({}, {})
    for _ in range(6):
        for side, groups in zip(sides, (NoGroups, Groups), strict=True):
            for name, times in (await one_start(groups)).items():
                side.setdefault(name, []).extend(times)
    process.Groups = Groups
    for name, times in sides[1].items():
        show(f"groups: {name}", times, statistics.median(sides[0][name]), "of none")


async def main() -> None:
    floor = fork_floor()
    show("floor: fork, exit, wait", [floor])
    started = time.perf_counter()
    async with open_sandbox("process", pool=4) as box:
        await box.run(RunSpec(source="1"))
        show("first run after start", [time.perf_counter() - started])
        show("trivial run, child waits", await runs(box, RunSpec(source="1 + 1"), 40, pause_s=0.1), floor, "of a fork")

        calls = 2_000
        raw = RunSpec(source=IMPORT + f"for _ in range({calls}):\n    call()", modules={"tools": BINDING})
        echo = echo_floor()
        print(f"{'floor: a message there and back':46} {1 / echo:9.0f} /s")
        times = await runs(box, raw, 5, call=lambda _: Reply(payload=b"1"), pause_s=0.1)
        show_rate("calls through a plain callback", calls, times, echo)

        async def answer(_):
            return Reply(payload=b"1")

        times = await runs(box, raw, 5, call=answer, pause_s=0.1)
        show_rate("calls through an async callback", calls, times, echo)

        async def slow(_):
            await asyncio.sleep(0.1)
            return Reply(payload=b"1")

        fifty = RunSpec(
            source=IMPORT + "len(await asyncio.gather(*[call() for _ in range(50)]))", modules={"tools": BINDING}
        )
        show("50 calls of 100 ms at once", await runs(box, fifty, 5, call=slow, pause_s=0.1), 0.1, "of one")

        payload = json.dumps([{"id": i, "name": f"item-{i:06d}", "amount": i % 1000} for i in range(10_000)]).encode()
        rows = BINDING.replace("return 1", "import json; return json.loads(payload)")
        bulk = RunSpec(source=IMPORT + "sum(r['amount'] for r in call())", modules={"tools": rows})
        show(
            "10,000 records in, summed",
            await runs(box, bulk, 5, call=lambda _: Reply(payload=payload), pause_s=0.1),
            statistics.median([timed(lambda: json.loads(payload)) for _ in range(5)]),
            "of json.loads",
        )

        kills = []
        for _ in range(5):
            result = await box.run(RunSpec(source="while True: pass", limits=Limits(wall_s=0.2)))
            kills.append(result.usage.wall_s - 0.2)
        show("over the deadline at a kill", kills)
    async with open_sandbox("process", pool=0) as box:
        show("trivial run, no child waits", await runs(box, RunSpec(source="1 + 1"), 20), floor, "of a fork")
    await groups_cost()
    await with_packages()


async def with_packages() -> None:
    """Start of a zygote, a trivial run and peak memory with numpy and pandas, beside the same without."""
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        print(f"packages: did not run, not installed: {', '.join(missing)}")
        return
    starts: dict[tuple[str, ...], list[float]] = {(): [], ("numpy",): [], PACKAGES: []}
    waited, memory = {}, {}
    for _ in range(5):
        for packages, times in starts.items():
            started = time.perf_counter()
            async with open_sandbox("process", pool=1, packages=packages) as box:
                result = await box.run(RunSpec(source="1"))
                times.append(time.perf_counter() - started)
                memory[packages] = result.usage.memory_bytes >> 20
                waited[packages] = await runs(box, RunSpec(source="1 + 1"), 20, pause_s=0.1)
    for packages, times in starts.items():
        name = " and ".join(packages) or "no package"
        show(f"first run after start, {name}", times, statistics.median(starts[()]), "of no package")
        floor = statistics.median(waited[()])
        show(f"trivial run, child waits, {name}", waited[packages], floor, f"of no package; {memory[packages]} MiB")


if __name__ == "__main__":
    anyio.run(main)
