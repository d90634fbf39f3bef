"""The process sandbox under load: runs a second from several clients, memory of a waiting guest, growth over time.

Run: python tests/bench/bench_sandbox_load.py [SECONDS]
Growth is between the first and the last fifth of the time, when everything is warm. The floor is fork, exit and wait of
this process, by as many workers as there are clients.
"""

import os
import statistics
import sys
import time
from multiprocessing.pool import ThreadPool
from pathlib import Path

import anyio

from sandbox import RunSpec, open_sandbox

CLIENTS = 4
SETTLE_S = 1.0


def pss_bytes(pid: int) -> int:
    """Proportional share of memory (proc(5), smaps_rollup)."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def rss_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def children(pid: int) -> list[int]:
    return [int(n) for path in Path(f"/proc/{pid}/task").glob("*/children") for n in path.read_text().split()]


def descendants(pid: int) -> list[int]:
    """All processes below, parents first."""
    found = children(pid)
    for child in found:
        found.extend(children(child))
    return found


def zygote_and_guests() -> tuple[int, list[int]]:
    """The process with the most children of its own, and those."""
    zygote = max(descendants(os.getpid()), key=lambda pid: len(children(pid)))
    return zygote, children(zygote)


def fork_floor(seconds: float) -> float:
    def forks(_: int) -> int:
        done, end = 0, time.monotonic() + seconds
        while time.monotonic() < end:
            pid = os.posix_spawn("/bin/true", ["true"], {})
            os.waitpid(pid, 0)
            done += 1
        return done

    with ThreadPool(CLIENTS) as pool:
        return sum(pool.map(forks, range(CLIENTS))) / seconds


async def main(seconds: float) -> None:
    floor = fork_floor(2.0)
    print(f"floor: posix_spawn of /bin/true                {floor:9.0f} /s")
    async with open_sandbox("process", pool=4) as box:
        await anyio.sleep(SETTLE_S)
        zygote, guests = zygote_and_guests()
        shares = [pss_bytes(pid) for pid in guests]
        print(f"waiting guest, proportional memory            {statistics.median(shares) / 2**20:9.1f} MiB")
        print(f"zygote, resident                              {rss_bytes(zygote) / 2**20:9.1f} MiB")
        samples: list[tuple[float, int, int, int]] = []
        done = 0
        end = time.monotonic() + seconds

        async def client() -> None:
            nonlocal done
            while time.monotonic() < end:
                result = await box.run(RunSpec(source="1 + 1"))
                assert result.value == 2, result.error
                done += 1

        async def watch() -> None:
            while time.monotonic() < end:
                await anyio.sleep(seconds / 50)
                host = os.getpid()
                samples.append(
                    (time.monotonic(), rss_bytes(host), rss_bytes(zygote), len(list(Path("/proc/self/fd").iterdir())))
                )

        started = time.monotonic()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch)
            for _ in range(CLIENTS):
                tasks.start_soon(client)
        rate = done / (time.monotonic() - started)
        name = f"runs, {CLIENTS} clients, {seconds:g} s"
        print(f"{name:45} {rate:9.0f} /s   {rate / floor:.2f}x of the floor")
        fifth = max(1, len(samples) // 5)
        for name, column in (("host, resident KiB", 1), ("zygote, resident KiB", 2), ("host, descriptors", 3)):
            unit = 1024 if "KiB" in name else 1
            first = statistics.median(row[column] for row in samples[:fifth]) / unit
            last = statistics.median(row[column] for row in samples[-fifth:]) / unit
            print(f"{name:44} {first:10.0f} -> {last:10.0f}")
        await anyio.sleep(SETTLE_S)
        print(f"processes left besides those that wait        {len(zygote_and_guests()[1]) - 4:9d}")


if __name__ == "__main__":
    anyio.run(main, float(sys.argv[1]) if len(sys.argv) > 1 else 10.0)
