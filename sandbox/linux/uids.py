"""A block of user ids that nothing else on the machine uses: one id for each pool slot.

Enters: what ids exist for us and which are in use. Leaves: a range of ids. Two guests under one id could count
each other's threads and signal each other if every other layer failed; one id each makes that impossible.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

SLOTS = 1024  # chosen: ids of one zygote; more guests at once than a machine can hold

# systemd's table of user ids (https://systemd.io/UIDS-GIDS/) lists 0x70000000-0x7FFFFFFF as unused by anyone.
FREE_FIRST, FREE_END = 0x70000000, 0x80000000
_MAPPED_MINIMUM = 4 * SLOTS  # a smaller map belongs to someone who gave us single ids, not a range
_TRIES = 16  # chosen: a draw fails only when the block is in use


def choose(mapped: Sequence[range], used: frozenset[int], draw: Callable[[int], int]) -> range | None:
    """A block of `SLOTS` ids inside `mapped` that holds none of `used`; None when there is no such block.

    `draw(n)` gives a random whole number below n, so that two hosts on one machine take different blocks.
    Where the free range of the whole machine is not mapped (a container with its own 65,536 ids), the block comes
    from the upper half of the largest range, below its last `SLOTS` ids (nobody, nogroup).
    """
    room = next((r for m in mapped if len(r := _overlap(m, FREE_FIRST, FREE_END)) >= SLOTS), None)
    if room is None:
        largest = max(mapped, key=len, default=range(0))
        if len(largest) < _MAPPED_MINIMUM:
            return None
        room = range(largest.start + len(largest) // 2, largest.stop - SLOTS)
    for _ in range(_TRIES):
        first = room.start + SLOTS * draw(len(room) // SLOTS)
        block = range(first, first + SLOTS)
        if not any(uid in block for uid in used):
            return block
    return None


def _overlap(ids: range, first: int, end: int) -> range:
    return range(max(ids.start, first), min(ids.stop, end))


def draw(below: int) -> int:
    """A random whole number below `below`, from the kernel."""
    return int.from_bytes(os.urandom(8), "big") % below


def mapped() -> list[range]:
    """Ids that exist for this process both as a user and as a group (user_namespaces(7): inside, outside, count)."""
    users, groups = (_read_map(f"/proc/self/{kind}_map") for kind in ("uid", "gid"))
    return [r for u in users for g in groups if len(r := _overlap(u, g.start, g.stop))]


def _read_map(path: str) -> list[range]:
    rows = [[int(field) for field in line.split()] for line in _lines(path)]
    return [range(inside, inside + count) for inside, _, count in rows]


def used() -> frozenset[int]:
    """Ids of every visible process and of every local account."""
    found: set[int] = set()
    for entry in os.listdir("/proc"):  # noqa: PTH208 - pathlib is not loaded this early
        if entry.isdigit():
            found.update(_ids_of(_lines(f"/proc/{entry}/status")))
    for line in _lines("/etc/passwd"):
        fields = line.split(":")
        if len(fields) > 2 and fields[2].isdigit():
            found.add(int(fields[2]))
    return frozenset(found)


def _ids_of(status: Iterable[str]) -> list[int]:
    """Real, effective, saved and file-system id from /proc/PID/status; the owner of /proc/PID may say root instead."""
    for line in status:
        if line.startswith("Uid:"):
            return [int(field) for field in line.split()[1:]]
    return []


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except OSError:  # gone, or not ours to read
        return []
