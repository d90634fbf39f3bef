"""What a process has mapped, how its stack and allocator reserve, how many tasks there are, and who is ended first.

Enters: nothing. Leaves: counts read from /proc, before an empty root hides it.
"""

from __future__ import annotations

import os
import resource
from typing import NamedTuple

from sandbox.linux.syscalls import libc_function, touch

_M_ARENA_MAX = -8  # malloc.h of glibc
_ARENAS = 2  # chosen: an arena reserves 64 MiB of address space; the interpreter's lock lets few threads allocate
_OOM_SCORE = "500"  # chosen: proc(5), -1000..1000; guests before the host, and before most other processes


class Mapped(NamedTuple):
    """Bytes of the calling process: the whole address space, and private writable memory with the stack.

    `stack` has the high 32 bits of the main thread's stack addresses.
    """

    address_bytes: int
    data_bytes: int
    stack: tuple[int, ...]


_STACK_ROOM = 64 << 20  # chosen: above RLIMIT_STACK of a guest


def mapped() -> Mapped:
    """Read from /proc/self/statm (proc(5): size resident shared text lib data dirty, in pages)."""
    with open("/proc/self/statm", encoding="ascii") as file:
        fields = [int(field) for field in file.read().split()]
    page = os.sysconf("SC_PAGE_SIZE")
    return Mapped(address_bytes=fields[0] * page, data_bytes=fields[5] * page, stack=stack_high_words())


def stack_high_words() -> tuple[int, ...]:
    """The high 32 bits of the main thread's stack addresses, its room to grow included (proc(5), /proc/self/maps).

    Forked children have their stack at the same place.
    """
    words: set[int] = set()
    for first, end in _stacks():
        words |= {(end - 1) >> 32, first >> 32, max(0, end - _STACK_ROOM) >> 32}
    return tuple(sorted(words))


def _stacks() -> list[tuple[int, int]]:
    """First address and end of the main thread's stack."""
    with open("/proc/self/maps", encoding="ascii", errors="replace") as file:
        ranges = [line.split(" ", 1)[0].split("-") for line in file if line.rstrip().endswith("[stack]")]
    return [(int(first, 16), int(end, 16)) for first, end in ranges]


def grow_stack(size: int) -> None:
    """Give the main thread's stack its final size: `size` bytes, or fewer where RLIMIT_STACK says so.

    RLIMIT_DATA does not count the stack, and RLIMIT_STACK bounds each piece of one that was cut in two. A stack that
    has its size needs no growth, so guests are forbidden any (`rlimits.sealed`). Forked children have the same stack.

    Safety: the byte that is read lies below all that is in use, where only the stack can be.
    """
    soft, _ = resource.getrlimit(resource.RLIMIT_STACK)
    final = size if soft == resource.RLIM_INFINITY else min(size, soft)
    page = os.sysconf("SC_PAGE_SIZE")
    for first, end in _stacks():
        lowest = (end - final + page - 1) & -page
        if lowest < first:
            touch(lowest)


def thread_count() -> int:
    """Threads of the calling process, as the kernel counts them."""
    return len(os.listdir("/proc/self/task"))  # noqa: PTH208 - counts entries, needs no paths


def open_task_count() -> int:
    """A descriptor to read the machine's task count from, also behind an empty root."""
    return os.open("/proc/loadavg", os.O_RDONLY | os.O_CLOEXEC)


def task_count(descriptor: int) -> int:
    """Tasks (threads) of the whole machine, in every namespace (proc(5), /proc/loadavg, fourth field)."""
    return int(os.pread(descriptor, 128, 0).split()[3].split(b"/")[1])


def limit_arenas() -> None:
    """Keep glibc from reserving an arena for each processor; other libraries have nothing to limit."""
    mallopt = libc_function("mallopt")
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, _ARENAS)


def be_first_to_go() -> None:
    """When memory runs out, let the kernel end this process and its children before the host.

    Help, not protection: where /proc cannot be written, nothing changes.
    """
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write(_OOM_SCORE)
    except OSError:
        pass
