"""Runs one file of the escape corpus and prints what went wrong: `corpus_runner.py alone|public SHARED NAME`.

An entry that is larger than a source may be must be refused with `limit.source`. Through `sandbox` alone it is run once
more with the highest `source_bytes` there is; what is larger still has a piece of its middle left out.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from sandbox import Limits, Reply, RunSpec, open_sandbox
from sandbox.errors import SandboxError
from tests.security.register import PRELUDE
from tests.support.own_memory import forget_peak, peak_bytes, resident_bytes
from tests.support.real_guests import descendants

MIB = 1 << 20
WALL_S, LATE_S, HOST_MAY_GROW_BYTES = 0.5, 2.0, 64 * MIB  # tolerances of the corpus
LIMITS = Limits(
    wall_s=WALL_S, cpu_s=3, memory_bytes=128 * MIB, threads=16, calls=500, output_bytes=2 * MIB, kept_print_bytes=65_536
)
NATIVE = PRELUDE.split("import ctypes")[0]
LARGEST_SOURCE = 16 * MIB - 4096  # the highest `source_bytes`, less what is put in front of an entry
Run = Callable[[str], Awaitable[tuple[str, str, float]]]
"""Program → what comes back as text, the code of its end, the wall time that was reported."""


class Alone:
    """Through `sandbox`."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack
        self.calls: list[tuple[str, bytes]] = []
        self.limits = LIMITS

    async def open(self) -> None:
        self._box = await self._stack.enter_async_context(open_sandbox("process", pool=2))

    async def run(self, source: str) -> tuple[str, str, float]:
        def answer(call: Any) -> Reply:
            self.calls.append((call.target, call.arguments))
            return Reply(payload=b"1")

        try:
            result = await self._box.run(RunSpec(source=source, dialect="native", limits=self.limits), call=answer)
        except SandboxError as error:
            return error.message, error.code, 0.0
        code = result.error.code if result.error else ""
        return f"{result}\n{result.value!r}", code, result.usage.wall_s


class Public:
    """Through `Host.session().execute`."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack
        self.calls: list[tuple[str, bytes]] = []
        self.limits = LIMITS

    async def open(self) -> None:
        from tests.support.public_path import native_host

        folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        limits = {
            "wall_s": WALL_S,
            "cpu_s": 3,
            "memory_bytes": 128 * MIB,
            "threads": 16,
            "calls": 500,
            "output_bytes": 2 * MIB,
        }
        self._host = await self._stack.enter_async_context(native_host(folder, limits=limits))
        self._log = folder / "calls.jsonl"

    async def run(self, source: str) -> tuple[str, str, float]:
        outcome = await self._host.session().execute(source)
        if self._log.exists():
            self.calls = [(line, b"") for line in self._log.read_text().splitlines()]
        return json.dumps(outcome.to_json()), outcome.code, outcome.used.wall_s


async def check(entry: dict[str, Any], canaries: Any, way: Any, load: Any) -> list[str]:
    """The forbidden effects of one entry."""
    source = NATIVE + load.render(entry, canaries.tokens())["code"]
    is_too_large = len(source.encode("utf-8", "surrogatepass")) > way.limits.source_bytes
    canaries.mark()
    forget_peak()
    before, at_first = resident_bytes(), len(way.calls)
    output, code, wall_s = await way.run(source)
    bad = list(canaries.hits({**entry, "forbid_policy": []}, output))
    if peak_bytes() - before > HOST_MAY_GROW_BYTES:
        bad.append(f"host:memory {(peak_bytes() - before) >> 20} MiB")
    if wall_s > WALL_S + LATE_S:
        bad.append("time:over_limit")
    if len(output) > 4 * MIB:
        bad.append("out:over_limit")
    if len(way.calls) != at_first:
        bad.append(f"rpc:ungranted_call {way.calls[at_first:][:3]}")
    if "FORGED-RESULT-7" in output.partition("value")[0] and code == "":
        bad.append("rpc:forged_result")
    if code == "run.internal":
        bad.append("host:crash")
    if is_too_large is not (code == "limit.source"):
        bad.append(f"source: {code or 'ran'}")
    if not await is_well(way):
        bad.append("other_session:harmed")
    canaries.clean(entry["id"])
    if not canaries.victim_ok():
        canaries.new_victim()
    return bad


async def is_well(way: Any) -> bool:
    """Whether another run gets its answer. Half a second of wall clock can be too little on a loaded machine."""
    started = time.monotonic()
    while True:
        output, code, _ = await way.run("40 + 2")
        if code != "limit.wall" or time.monotonic() - started > 30:
            return "42" in output and time.monotonic() - started < 30


async def check_at_large(entry: dict[str, Any], canaries: Any, way: Any, load: Any) -> list[str]:
    """The forbidden effects of an entry that the limits refuse, with a limit that lets it in."""
    code = entry["code"]
    if len(code) > LARGEST_SOURCE:
        code = code[: LARGEST_SOURCE // 2] + code[-LARGEST_SOURCE // 2 :]
    way.limits = LIMITS.with_changes(source_bytes=16 * MIB)
    try:
        return await check({**entry, "code": code}, canaries, way, load)
    finally:
        way.limits = LIMITS


async def main(how: str, shared: Path, name: str) -> None:
    sys.path.insert(0, str(shared / "data" / "escapes"))
    import canary  # type: ignore[import-not-found]  # part of the corpus
    import load  # type: ignore[import-not-found]  # part of the corpus

    bad, ran = [], 0
    with canary.Canaries() as canaries:
        os.environ.update(canaries.env())
        leaked = os.open(canaries.secret_file, os.O_RDONLY), os.open("/", os.O_RDONLY)
        for number in leaked:
            os.set_inheritable(number, True)
        before = set(descendants(os.getpid()))
        async with AsyncExitStack() as stack:
            way = Alone(stack) if how == "alone" else Public(stack)
            await way.open()
            for entry in load.read(shared / "data" / "escapes" / f"{name}.jsonl"):
                with anyio.fail_after(60):
                    found = await check(entry, canaries, way, load)
                if len(entry["code"]) > LIMITS.source_bytes and how == "alone":
                    with anyio.fail_after(60):
                        found += await check_at_large(entry, canaries, way, load)
                ran += 1
                bad += [(entry["id"], effect) for effect in found]
        left = set(descendants(os.getpid())) - before - {canaries.victim.pid}
        bad += [("all", f"proc:leftover {left}")] if left else []
    print(json.dumps({"ran": ran, "bad": bad}))


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], Path(sys.argv[2]), sys.argv[3])
