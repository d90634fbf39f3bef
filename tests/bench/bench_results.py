"""What remembering results costs: loops over them, many small calls, the end of a run.

Run: python tests/bench/bench_results.py [ROUNDS]
Each figure is a ratio of minima, beside the median of the ratios of pairs that ran one after the other.
"""

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from sandbox import Limits, Reply, RunSpec, open_sandbox

BINDING = """
from sandbox.guest.remote import Remote
import json
class Tool(Remote):
    def encode(self, args, kwargs):
        return "t", b"{}"
    def decode(self, form, payload):
        return json.loads(payload)
call = Tool()
"""
WITHOUT = BINDING + "from sandbox.guest import remote\nremote.results.add = lambda *values: None\n"
WITHOUT += "remote.results.site = lambda: None\n"
IMPORT = "from tools import call\n"
ROWS = "[{'id': i, 'owner': f'u{i % 17}', 'amount': i * 7 % 1000} for i in range(200_000)]"
LOOPS = {
    "get of every row": "total = 0\nfor r in rows:\n    total += r.get('amount', 0)",
    "get that misses": "total = 0\nfor r in rows:\n    total += r.get('price', 0)",
    "group by get": "out = {}\nfor r in rows:\n    out[r['owner']] = out.get(r['owner'], 0) + r.get('amount', 0)",
    "comprehension": "total = sum(r.get('amount') or 0 for r in rows if r.get('owner') != 'u3')",
}
LIMITS = Limits(cpu_s=60, memory_bytes=1 << 30)


def plain(source):
    code = (
        f"import time\nrows = {ROWS}\ncode = compile({source!r}, 'x', 'exec')\n"
        "started = time.perf_counter()\nexec(code, {'rows': rows})\nprint(time.perf_counter() - started)"
    )
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


async def in_guest(box, source):
    timed = f"import time\nrows = {ROWS}\n_t = time.perf_counter()\n{source}\nprint(time.perf_counter() - _t)"
    result = await box.run(RunSpec(source=timed, limits=LIMITS))
    assert result.status == "ok", result.error
    return float(result.printed.split()[-1])


async def timed_run(box, source, binding, payload):
    started = time.perf_counter()
    result = await box.run(
        RunSpec(source=IMPORT + source, modules={"tools": binding}, limits=LIMITS),
        call=lambda _: Reply(payload=payload),
    )
    return time.perf_counter() - started, result


def show(name, pairs):
    best = min(one for one, _ in pairs) / min(other for _, other in pairs)
    print(f"{name:50} {best:6.3f}x   median of pairs {statistics.median(one / other for one, other in pairs):6.3f}x")


async def compared(box, source, payload, rounds):
    """Seconds of a run with results remembered, and without."""
    pairs = []
    for _ in range(rounds):
        times = []
        for binding in (BINDING, WITHOUT):
            await anyio.sleep(0.2)
            seconds, result = await timed_run(box, source, binding, payload)
            is_told = bool(result.notes or (result.error and result.error.shape))
            assert is_told is ("nme" in source and binding is BINDING), result
            times.append(seconds)
        pairs.append(tuple(times))
    return pairs


async def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    small, page = b'{"id": 1, "name": "a"}', json.dumps([{"id": n, "name": "x" * 40} for n in range(50)]).encode()
    many = "for _ in range(3_000):\n    call()"
    async with open_sandbox("process", pool=2) as box:
        for name, source in LOOPS.items():
            pairs = [(await in_guest(box, source), plain(source)) for _ in range(rounds)]
            show(f"guarded ÷ plain CPython: {name}", pairs)
        for name, source, payload in (
            ("3,000 calls, one object each", many, small),
            ("3,000 calls, 50 rows each", many, page),
            ("a run that ends with a note", "rows = call()\n[r.get('nme') for r in rows]\n", page),
            ("a run that ends with an error", "rows = call()\nrows[0]['nme']", page),
        ):
            show(f"with ÷ without: {name}", await compared(box, source, payload, rounds))


if __name__ == "__main__":
    anyio.run(main)
