"""The main job through the whole host: calls of a real stdio server from a real guest, beside a bare client's floor.

Run: python tests/bench/bench_main_job.py
The floor is the same work by a client that speaks JSON lines to the same server from this process. Medians, with
minima.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import Future
from pathlib import Path

import anyio

from codemode import Host, load_config

SERVER = str(Path(__file__).resolve().parents[1] / "support" / "bench_tools.py")
ONE = "1 + 1"
HUNDRED = "total = 0\nfor i in range(100):\n    total += tools.bench.add(a=i, b=1)\ntotal"
FIFTY = "import asyncio\nlen(await asyncio.gather(*[tools.bench.slow(ms=100) for _ in range(50)]))"
BULK = "rows = tools.bench.list_records(n=10_000)['records']\nsum(r['amount'] for r in rows if r['id'] % 3 == 0)"


class BareClient:
    """Speaks JSON lines to the server; a thread reads."""

    def __init__(self) -> None:
        self.process = subprocess.Popen([sys.executable, SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.waiting: dict[int, Future] = {}
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout:
            message = json.loads(line)
            self.waiting.pop(message["id"]).set_result(message["result"])

    def call(self, name: str, **arguments) -> Future:
        number, future = len(self.waiting) + time.perf_counter_ns(), Future()
        self.waiting[number] = future
        request = {"jsonrpc": "2.0", "id": number, "method": "tools/call"}
        line = json.dumps({**request, "params": {"name": name, "arguments": arguments}}).encode() + b"\n"
        self.process.stdin.write(line)
        self.process.stdin.flush()
        return future

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(5)


def floors() -> dict[str, float]:
    client = BareClient()

    def timed(work) -> float:
        times = []
        for _ in range(5):
            started = time.perf_counter()
            work()
            times.append(time.perf_counter() - started)
        return statistics.median(times)

    out = {
        "100 calls one after the other": timed(lambda: [client.call("add", a=1, b=1).result() for _ in range(100)]),
        "50 calls of 100 ms at once": timed(
            lambda: [f.result() for f in [client.call("slow", ms=100) for _ in range(50)]]
        ),
        "10,000 records, filtered and summed": timed(lambda: client.call("list_records", n=10_000).result()),
    }
    client.close()
    return out


async def measure(session, source: str, count: int, pause_s: float = 0.15) -> list[float]:
    times = []
    for _ in range(count):
        await anyio.sleep(pause_s)
        started = time.perf_counter()
        outcome = await session.execute(source)
        times.append(time.perf_counter() - started)
        assert outcome.status == "ok", (outcome.code, outcome.error)
    return times


def show(name: str, times: list[float], floor: float | None = None) -> None:
    median = statistics.median(times)
    ratio = f"{median / floor:6.2f}x of the floor ({floor * 1e3:.1f} ms)" if floor else ""
    print(f"{name:44} {median * 1e3:8.1f} ms   min {min(times) * 1e3:8.1f}   {ratio}")


async def main() -> None:
    base = floors()
    for fillers in (0, 500):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "mcp.json")
            entry = {"command": sys.executable, "args": [SERVER, str(fillers)]}
            file.write_text(json.dumps({"mcpServers": {"bench": entry}, "codemode": {"gate": "open", "pool": 4}}))
            async with Host.open(load_config(file), state_dir=Path(folder, "state")) as host:
                session = host.session()
                await host.wait_ready({"bench"}, 30)
                print(f"-- {len(host.catalog.tools)} tools")
                await session.execute(ONE)
                show("execute of 1 + 1", await measure(session, ONE, 20))
                for name, source in zip(base, (HUNDRED, FIFTY, BULK), strict=True):
                    show(name, await measure(session, source, 7), base[name])


if __name__ == "__main__":
    anyio.run(main)
