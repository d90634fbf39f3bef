"""The process sandbox alone: time of a run, of calls, of a kill, and of computing, beside a floor of the same run.

Run: python tests/bench/bench_sandbox.py
Every figure is a median with its minimum; the last column is the ratio to the floor named beside it.
"""

import asyncio
import importlib.util
import json
import os
import socket
import statistics
import subprocess
import sys
import time

import anyio

from sandbox import Limits, Reply, RunSpec, open_sandbox
from sandbox.backends import process
from sandbox.dialect.program import compile_program
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
LOOPS = {
    "2M-step loop": "total = 0\nfor i in range(2_000_000):\n    total += i * i % 7\ntotal",
    "word count": (
        "words = ('red green blue red amber blue green red ' * 25_000).split()\ncounts = {}\n"
        "for w in words:\n    counts[w] = counts.get(w, 0) + 1\nsorted(counts.items())"
    ),
    "objects": (
        "class P:\n    def __init__(self, x):\n        self.x = x\n    def double(self):\n        return self.x * 2\n"
        "total = 0\nfor i in range(300_000):\n    p = P(i)\n    p.x += 1\n    total += p.double()\ntotal"
    ),
    "rows": (
        "import json\nrows = [{'id': i, 'owner': f'u{i % 17}', 'amount': i * 7 % 1000} for i in range(60_000)]\n"
        "out = {}\nfor r in rows:\n    out[r['owner']] = out.get(r['owner'], 0) + r['amount']\nlen(json.dumps(out))"
    ),
}


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


def plain(source: str) -> float:
    """Seconds that a fresh plain CPython needs for the source itself."""
    code = (
        f"import time\ncode = compile({source!r}, 'x', 'exec')\n"
        "started = time.perf_counter()\nexec(code, {})\nprint(time.perf_counter() - started)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(found.stdout)


async def in_guest(box, source: str) -> float:
    """Seconds that the guest needs for it, by the guest's own clock."""
    timed_source = f"import time\n_t = time.perf_counter()\n{source}\nprint(time.perf_counter() - _t)"
    result = await box.run(RunSpec(source=timed_source, limits=Limits(cpu_s=60)))
    assert result.status == "ok", result.error
    return float(result.printed.split()[-1])


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


FIFTY_LINES = "".join(
    f"class Row{n}:\n    def __init__(self, x: int) -> None:\n        self.x = x\n"
    f"    def text(self) -> str:\n        return f'{{self.x}}: {{[k for k in range(self.x) if k % {n + 2}]}}'\n"
    for n in range(10)
)


def show_compile() -> None:
    """Compiling fifty lines with the language layer, warm, beside Python's own compiler."""
    source = FIFTY_LINES.encode()

    def ours() -> None:
        compile_program(source, dialect="restricted", filename="x", roots=("tools",))

    ours()
    plain_times = [timed(lambda: compile(FIFTY_LINES, "x", "exec")) for _ in range(50)]
    show("compiling 50 lines", [timed(ours) for _ in range(50)], statistics.median(plain_times), "of compile()")


async def main() -> None:
    show_compile()
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

        for name, source in LOOPS.items():
            floors = [plain(source) for _ in range(3)]
            guests = [await in_guest(box, source) for _ in range(3)]
            show(f"computing: {name}", guests, statistics.median(floors), "of plain CPython")
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
