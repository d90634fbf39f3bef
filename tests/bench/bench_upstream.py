"""What the client side costs: large results, small calls, many calls at once; beside the SDK's own transports.

    python tests/bench/bench_upstream.py [ROUNDS]

Prints one JSON document. Times are medians with (lowest, highest) over the rounds, in milliseconds; `stdio`, and `sse`
for HTTP whose answers are streams of events. `read` is the floor: the same bytes read from the same server through a
plain pipe or HTTP client and thrown away. The servers write prepared bytes, so their own work is small. The SDK is not
asked for 50 MB, and over HTTP is told to take large events. The promise: the time per MB of the four sizes is within
2x, on both transports.
"""

from __future__ import annotations

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

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

HTTP_SERVER = """
import json, sys
import uvicorn
row = {"id": 12345, "name": "item-000001", "amount": 321.5, "note": "d\\u00e9j\\u00e0"}
one = json.dumps(row).encode()
rows = {}
for mb in map(int, sys.argv[1].split(",")):
    rows[mb] = b"[" + b",".join([one] * (mb * 1000000 // (len(one) + 1))) + b"]"
async def app(scope, receive, send):
    if scope["type"] != "http": return
    body, more = b"", True
    while more:
        part = await receive(); body += part.get("body", b""); more = part.get("more_body", False)
    async def answer(status, kind, *parts):
        head = {"type": "http.response.start", "status": status, "headers": [(b"content-type", kind)]}
        await send(head)
        for part in parts:
            for at in range(0, len(part), 65536):
                await send({"type": "http.response.body", "body": part[at:at + 65536], "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    if scope["method"] != "POST": return await answer(405, b"text/plain")
    m = json.loads(body); i = m.get("id"); p = m.get("params") or {}
    if i is None: return await answer(202, b"text/plain")
    async def result(value):
        await answer(200, b"application/json", json.dumps({"jsonrpc": "2.0", "id": i, "result": value}).encode())
    if m["method"] == "initialize":
        return await result({"protocolVersion": p["protocolVersion"], "capabilities": {"tools": {}},
                             "serverInfo": {"name": "b", "version": "1"}})
    if m["method"] == "tools/list":
        return await result({"tools": [{"name": n, "inputSchema": {"type": "object"}} for n in ("big", "small")]})
    if m["method"] == "tools/call":
        head = b'event: message\\ndata: {"jsonrpc":"2.0","id":%d,' % i
        head += b'"result":{"content":[],"structuredContent":{"rows":'
        big = rows[p["arguments"]["mb"]] if p["name"] == "big" else b"[]"
        return await answer(200, b"text/event-stream", head, big, b"}}}\\n\\n")
    body = json.dumps({"jsonrpc": "2.0", "id": i, "error": {"code": -32601, "message": "no"}}).encode()
    await answer(200, b"application/json", body)
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), log_level="critical", lifespan="off")
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


@contextmanager
def serving(program: Path) -> Iterator[str]:
    """The address of the HTTP server, in a process of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen([sys.executable, str(program), ",".join(map(str, SIZES)), str(port)])
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


async def http_floor(url: str, rounds: int) -> dict[str, Any]:
    """The same bytes through a plain HTTP client, thrown away."""
    async with httpx2.AsyncClient(timeout=120) as client:

        async def read(mb: int) -> None:
            params = {"name": "big", "arguments": {"mb": mb}}
            request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            async with client.stream("POST", url, json=request) as response:
                async for _ in response.aiter_bytes():
                    pass

        return {f"{mb} MB": await timed(rounds, lambda mb=mb: read(mb)) for mb in SIZES}  # type: ignore[misc]  # bound now


async def ours(entry: ServerConfig, folder: Path, rounds: int) -> dict[str, Any]:
    """The manager of this project."""
    config = Config(servers=(entry,))
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
        if entry.transport == "stdio":
            out["50 calls of 100 ms"] = await timed(rounds, fifty)
    return out


async def sdk(target: Any, rounds: int) -> dict[str, Any]:
    """The SDK's client over one of its own transports."""
    out: dict[str, Any] = {}
    async with Client(target) as client:
        await client.list_tools()
        for mb in SIZES:
            if mb <= SDK_LIMIT_MB:
                out[f"{mb} MB"] = await timed(rounds, lambda mb=mb: client.call_tool("big", {"mb": mb}))  # type: ignore[misc]  # bound now
        out["small call"] = await timed(rounds * 20, lambda: client.call_tool("small"))
    return out


def compared(read: dict[str, Any], here: dict[str, Any], there: dict[str, Any]) -> dict[str, Any]:
    """The figures of one transport, with what they say."""
    per_mb = {key: round(here[key]["median"] / int(key.split()[0]), 2) for key in read}
    return {
        "read": read,
        "here": here,
        "sdk": there,
        "here / read": {key: round(here[key]["median"] / read[key]["median"], 2) for key in read},
        "here, ms per MB": per_mb,
        "ms per MB, highest / lowest": round(max(per_mb.values()) / min(per_mb.values()), 2),
    }


async def main(rounds: int) -> None:
    """Measure everything and print it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program, web = folder / "server.py", folder / "web.py"
        program.write_text(SERVER)
        web.write_text(HTTP_SERVER)
        sizes = ",".join(map(str, SIZES))
        read = {f"{mb} MB": floor(program, mb, rounds) for mb in SIZES}
        entry = ServerConfig(name="b", command=sys.executable, args=(str(program), sizes))
        here = await ours(entry, folder, rounds)
        there = await sdk(StdioServerParameters(command=sys.executable, args=[str(program), sizes]), rounds)
        document = {"stdio": compared(read, here, there)}
        with serving(web) as url:
            read = await http_floor(url, rounds)
            here = await ours(ServerConfig(name="b", transport="http", url=url), folder, rounds)
            there = await sdk(streamable_http_client(url, max_sse_event_size=100 * MB), rounds)
        document["sse"] = compared(read, here, there)
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    anyio.run(main, int(sys.argv[1]) if len(sys.argv) > 1 else 5)
