"""The language layer beside plain CPython: compiling fifty lines, and computing in the guest.

Run: python tests/bench/bench_language.py
Both sides of a ratio run in turns; a figure is the median of the ratios of such pairs, with the quartiles. It is made
of the processor time of the thread, so that other load on the machine weighs less. (That of the process counts in ticks
where a limit stands on it, as in a guest.)
"""

from __future__ import annotations

import ast
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import anyio

from sandbox import Limits, RunSpec, Sandbox, open_sandbox
from sandbox.dialect.program import compile_program

FIFTY_LINES = "".join(
    f"class Row{n}:\n    def __init__(self, x: int) -> None:\n        self.x = x\n"
    f"    def text(self) -> str:\n        return f'{{self.x}}: {{[k for k in range(self.x) if k % {n + 2}]}}'\n"
    for n in range(10)
)
LOOPS = {
    "2M-step loop": "total = 0\nfor i in range(2_000_000):\n    total += i * i % 7",
    "word count": (
        "words = ('red green blue red amber blue green red ' * 25_000).split()\ncounts = {}\n"
        "for w in words:\n    counts[w] = counts.get(w, 0) + 1\nrows = sorted(counts.items())"
    ),
    "sort of 200,000": (
        "x = 12345\nvalues = []\nfor _ in range(200_000):\n    x = (x * 1103515245 + 12345) % 2147483648\n"
        "    values.append(x)\nvalues.sort()"
    ),
    "rows: filter, group, json": (
        "import json\nrows = [{'id': i, 'team': f't{i % 7}', 'n': i * 3 % 101} for i in range(60_000)]\n"
        "groups = {}\nfor row in rows:\n    if row['n'] > 10:\n        team = row['team']\n"
        "        groups[team] = groups.get(team, 0) + row['n']\ntext = json.dumps([rows, sorted(groups.items())])"
    ),
    "numbers": (
        "total = 0\nfor i in range(600_000):\n    if i % 3:\n        total += i * i % 7 - i // 5\n"
        "    else:\n        total -= 1"
    ),
    "text: split, methods": (
        "lines = [f'user{i},click,{i % 13}' for i in range(100_000)]\ntotal, names = 0, []\nfor line in lines:\n"
        "    user, kind, count = line.split(',')\n    if count.strip() != '5':\n        names.append(user.upper())\n"
        "        total += int(count)"
    ),
    "objects: attributes, method calls": (
        "class Point:\n    def __init__(self, x, y):\n        self.x = x\n        self.y = y\n"
        "    def dot(self, other):\n        return self.x * other.x + self.y * other.y\n"
        "points = [Point(i, i + 1) for i in range(600)]\ntotal = 0\n"
        "for p in points:\n    for q in points:\n        total += p.dot(q)"
    ),
}
COMPILE = """
import time
from sandbox.dialect.program import compile_program
text = {text!r}
started = time.thread_time()
{statement}
print(time.thread_time() - started)
"""
PLAIN = "compile(text, 'x', 'exec')"
OURS = "compile_program(text.encode(), dialect='restricted', filename='x', roots=('tools',))"


def show(name: str, pairs: list[tuple[float, float]]) -> None:
    """One row: the median of our side in milliseconds, and the ratio to plain CPython."""
    ratios = [ours / plain for ours, plain in pairs]
    low, middle, high = statistics.quantiles(ratios, n=4)
    ours = statistics.median(ours for ours, _ in pairs)
    print(f"{name:46} {ours * 1e3:9.2f} ms   {middle:5.2f}x of plain   ({low:.2f} to {high:.2f})")


def timed(function: Callable[[], object]) -> float:
    """Seconds of processor time."""
    started = time.thread_time()
    function()
    return time.thread_time() - started


def show_compile() -> None:
    """Compiling in this process, warm."""
    source = FIFTY_LINES.encode()

    def ours() -> None:
        compile_program(source, dialect="restricted", filename="x", roots=("tools",))

    def plain() -> None:
        compile(FIFTY_LINES, "x", "exec")

    def bare() -> None:
        compile(ast.parse(FIFTY_LINES), "x", "exec")

    ours()
    show("floor: a tree made and compiled, unchecked", [(timed(bare), timed(plain)) for _ in range(400)])
    show("compiling 50 lines, warm", [(timed(ours), timed(plain)) for _ in range(400)])


async def compile_in_guest(box: Sandbox) -> None:
    """Compiling in a guest that has done nothing else: what a run waits for."""

    async def once(statement: str) -> float:
        source = COMPILE.format(text=FIFTY_LINES, statement=statement)
        result = await box.run(RunSpec(source=source, dialect="native"))
        assert result.status == "ok", result.error
        return float(result.printed)

    show("compiling 50 lines, in a fresh guest", [(await once(OURS), await once(PLAIN)) for _ in range(40)])


def in_plain_python(source: str) -> float:
    """Seconds that a fresh plain CPython needs for the source itself."""
    code = (
        f"import time\ncode = compile({source!r}, 'x', 'exec')\n"
        "started = time.thread_time()\nexec(code, {})\nprint(time.thread_time() - started)"
    )
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


async def in_guest(box: Sandbox, source: str) -> float:
    """Seconds that the guest needs for it, by the guest's own clock."""
    timed_source = f"import time\n_t = time.thread_time()\n{source}\nprint(time.thread_time() - _t)"
    result = await box.run(RunSpec(source=timed_source, limits=Limits(cpu_s=60)))
    assert result.status == "ok", result.error
    return float(result.printed)


async def main() -> None:
    show_compile()
    async with open_sandbox("process", pool=1) as box:
        await compile_in_guest(box)
        for name, source in LOOPS.items():
            show(f"computing: {name}", [(await in_guest(box, source), in_plain_python(source)) for _ in range(21)])


if __name__ == "__main__":
    anyio.run(main)
