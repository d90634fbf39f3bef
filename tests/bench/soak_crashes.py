"""A hundred kills -9 at random moments: 60 of guests and zygotes, 30 of hosts, 10 of a served `codemode`.

Run: python tests/bench/soak_crashes.py [SEED]
Ends with an error when a process is left, a run or a client hangs, or an end is not explained.
"""

import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import anyio

from sandbox import open_sandbox
from tests.support import crashes


async def parts(rounds: int, chance: random.Random) -> Counter[str]:
    ends: Counter[str] = Counter()
    async with open_sandbox("process", pool=2) as box:
        for _ in range(rounds):
            ends.update(code or "ok" for code, _ in await crashes.hit_a_part(box, chance))
    return ends


async def hosts(rounds: int, chance: random.Random) -> int:
    return sum([await crashes.hit_the_host(chance) for _ in range(rounds)])


def main(seed: int) -> None:
    chance = random.Random(seed)
    started = time.monotonic()
    ends = anyio.run(parts, 60, chance)
    print(f"60 kills of guests and zygotes: {dict(ends)}, {time.monotonic() - started:.1f} s")
    started = time.monotonic()
    below = anyio.run(hosts, 30, chance)
    print(f"30 kills of hosts: {below} processes below them, none left, {time.monotonic() - started:.1f} s")
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        below = sum(crashes.hit_a_served_host(Path(folder), chance) for _ in range(10))
    print(f"10 kills of `codemode serve`: {below} processes below, none left, {time.monotonic() - started:.1f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
