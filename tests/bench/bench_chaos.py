"""What seven misbehaving servers cost the calls of thirteen good ones: eight programs, with and without the seven.

    python tests/bench/bench_chaos.py [ROUNDS]

Prints one JSON document. In the baseline the seven others behave and are called as often as answers come. Times are
milliseconds: `wall` from the first program's start to the last one's end, `call` one good call as the broker sees it.
Each figure is the median of the rounds with (lowest, highest); baseline and chaos take turns. The promise: wall time
within 2x of the baseline.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import anyio

from codemode.errors import CodemodeError
from codemode.host import Host
from tests.support.chaos import bad_servers, calm_servers, disturb, opened, run_programs

TURNS = 20


async def measure(others: dict[str, dict[str, Any]], *, is_calm: bool) -> dict[str, float]:
    """One host, one crowd of programs."""
    with tempfile.TemporaryDirectory() as name:
        async with opened(Path(name), others) as host, anyio.create_task_group() as tasks:
            over = anyio.Event()
            await run_programs(host, 1)  # guests, bindings and validators are warm from here on
            tasks.start_soon(_use_calmly, host, over) if is_calm else tasks.start_soon(disturb, host, over)
            started = time.perf_counter()
            outcomes = await run_programs(host, TURNS)
            wall = time.perf_counter() - started
            over.set()
    assert all(outcome.status == "ok" for outcome in outcomes)
    calls = [call.ms for outcome in outcomes for call in outcome.calls]
    ordered = sorted(calls)
    return {
        "wall": wall * 1000,
        "call median": statistics.median(ordered),
        "call 99th of 100": ordered[len(ordered) * 99 // 100],
    }


async def _use_calmly(host: Host, until: anyio.Event) -> None:
    """Call the calm servers as `disturb` calls the bad ones."""

    async def keep_calling(server: str) -> None:
        while not until.is_set():
            try:
                await host.manager.call(server, "use", {}, timeout_s=5)
            except CodemodeError as error:
                raise AssertionError("a calm server failed") from error
            await anyio.sleep(0.02)

    async with anyio.create_task_group() as tasks:
        for server in calm_servers():
            tasks.start_soon(keep_calling, server)


def summary(values: list[float]) -> dict[str, float]:
    """Median, lowest and highest."""
    return {"median": round(statistics.median(values), 1), "low": round(min(values), 1), "high": round(max(values), 1)}


async def main(rounds: int) -> None:
    """Measure everything and print it."""
    calm: list[dict[str, float]] = []
    chaos: list[dict[str, float]] = []
    for _ in range(rounds):
        calm.append(await measure(calm_servers(), is_calm=True))
        with tempfile.TemporaryDirectory() as name:
            chaos.append(await measure(bad_servers(Path(name)), is_calm=False))
    document: dict[str, Any] = {"calls": 8 * 13 * TURNS}
    for key in calm[0]:
        before, now = summary([item[key] for item in calm]), summary([item[key] for item in chaos])
        document[key] = {"calm": before, "chaos": now, "ratio": round(now["median"] / before["median"], 2)}
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    anyio.run(main, int(sys.argv[1]) if len(sys.argv) > 1 else 3)
