"""What the client side costs: large results, small calls, many calls at once; beside the SDK's own stdio transport.

    python tests/bench/bench_upstream.py [ROUNDS]

Prints one JSON document. Times are medians with (lowest, highest) over the rounds, in milliseconds. `read` is the
floor: the same bytes read from the same server through a plain pipe. The server writes a prepared line, so its own work
is small. The SDK is not asked for 50 MB: its line buffer is quadratic.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters

from codemode.config.model import Config, ServerConfig
from codemode.upstream.manager import Manager

MB = 1_000_000
SIZES = (1, 5, 20, 50)
SDK_LIMIT_MB = 20

SERVER = """
import json, sys, threading, time
out, lock = sys.stdout.buffer, threading.Lock()
row = {"id": 12345, "name": "item-000001", "amount": 321.5, "note": "d\\u00e9j\\u00e0"}
rows = {}
def write(*parts):
    with lock:
        for part in parts: out.write(part)
        out.flush()
def send(i, result): write(json.dumps({"jsonrpc": "2.0", "id": i, "result": result}).encode(), b"\\n")
def call(i, name, a):
    if name == "wait":
        time.sleep(a["ms"] / 1000)
    if name == "big":
        head = b'{"jsonrpc":"2.0","id":%d,"result":{"content":[],"structuredContent":{"rows":' % i
        write(head, rows[a["mb"]], b"}}}\\n")
    else:
        send(i, {"content": [{"type": "text", "text": "1"}]})
for mb in map(int, sys.argv[1].split(",")):
    one = json.dumps(row).encode()
    rows[mb] = b"[" + b",".join([one] * (mb * 1000000 // (len(one) + 1))) + b"]"
for line in sys.stdin.buffer:
    m = json.loads(line); i = m.get("id"); p = m.get("params") or {}
    if i is None: continue
    if m["method"] == "initialize":
        send(i, {"protocolVersion": p["protocolVersion"], "capabilities": {"tools": {}},
                 "serverInfo": {"name": "b", "version": "1"}})
    elif m["method"] == "tools/list":
        send(i, {"tools": [{"name": n, "inputSchema": {"type": "object"}} for n in ("big", "small", "wait")]})
    elif m["method"] == "tools/call":
        threading.Thread(target=call, args=(i, p["name"], p.get("arguments") or {})).start()
    else:
        write(json.dumps({"jsonrpc": "2.0", "id": i, "error": {"code": -32601, "message": "no"}}).encode(), b"\\n")
"""


def summary(times: list[float]) -> dict[str, float]:
    """Median, lowest and highest in milliseconds."""
    ms = [value * 1000 for value in times]
    return {"median": round(statistics.median(ms), 2), "low": round(min(ms), 2), "high": round(max(ms), 2)}


async def timed(rounds: int, act: Callable[[], Awaitable[Any]]) -> dict[str, float]:
    """The act, so many times, after one that does not count."""
    await act()
    times: list[float] = []
    for _ in range(rounds):
        started = time.perf_counter()
        await act()
        times.append(time.perf_counter() - started)
    return summary(times)


def floor(program: Path, mb: int, rounds: int) -> dict[str, float]:
    """The same bytes through a plain pipe, read in large pieces and thrown away."""
    process = subprocess.Popen(
        [sys.executable, str(program), str(mb)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    )
    assert process.stdin is not None
    assert process.stdout is not None
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "big", "arguments": {"mb": mb}}}
    line = json.dumps(request).encode() + b"\n"
    times: list[float] = []
    for _ in range(rounds + 1):
        started = time.perf_counter()
        process.stdin.write(line)
        while not os.read(process.stdout.fileno(), 1 << 20).endswith(b"\n"):
            pass
        times.append(time.perf_counter() - started)
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()
    return summary(times[1:])


async def ours(program: Path, folder: Path, rounds: int) -> dict[str, Any]:
    """The manager of this project."""
    args = (str(program), ",".join(map(str, SIZES)))
    config = Config(servers=(ServerConfig(name="b", command=sys.executable, args=args),))
    out: dict[str, Any] = {}
    async with Manager.open(config, cache_dir=folder / "c", log_dir=folder / "l") as manager:
        await manager.wait_ready(None, 60)

        async def call(tool: str, **arguments: int) -> int:
            result = await manager.call("b", tool, arguments, timeout_s=120, repeatable=True)
            return len(result.structured or b"")

        async def fifty() -> None:
            async with anyio.create_task_group() as tasks:
                for _ in range(50):
                    tasks.start_soon(lambda: call("wait", ms=100))

        for mb in SIZES:
            out[f"{mb} MB"] = await timed(rounds, lambda mb=mb: call("big", mb=mb))  # type: ignore[misc]  # bound now
        out["small call"] = await timed(rounds * 20, lambda: call("small"))
        out["50 calls of 100 ms"] = await timed(rounds, fifty)
    return out


async def sdk(program: Path, rounds: int) -> dict[str, Any]:
    """The SDK's client over its own transport."""
    sizes = [mb for mb in SIZES if mb <= SDK_LIMIT_MB]
    parameters = StdioServerParameters(command=sys.executable, args=[str(program), ",".join(map(str, sizes))])
    out: dict[str, Any] = {}
    async with Client(parameters) as client:
        await client.list_tools()
        for mb in sizes:
            out[f"{mb} MB"] = await timed(rounds, lambda mb=mb: client.call_tool("big", {"mb": mb}))  # type: ignore[misc]  # bound now
        out["small call"] = await timed(rounds * 20, lambda: client.call_tool("small"))
    return out


async def main(rounds: int) -> None:
    """Measure everything and print it."""
    with tempfile.TemporaryDirectory() as name:
        program = Path(name) / "server.py"
        program.write_text(SERVER)
        read = {f"{mb} MB": floor(program, mb, rounds) for mb in SIZES}
        here = await ours(program, Path(name), rounds)
        there = await sdk(program, rounds)
    ratio = {key: round(here[key]["median"] / read[key]["median"], 2) for key in read}
    per_mb = {key: round(here[key]["median"] / int(key.split()[0]), 2) for key in read}
    document = {"read": read, "here": here, "sdk": there, "here / read": ratio, "here, ms per MB": per_mb}
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    anyio.run(main, int(sys.argv[1]) if len(sys.argv) > 1 else 5)
