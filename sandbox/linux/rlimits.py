"""Memory, processor time, threads and the rest of setrlimit(2): the numbers, and how they are set.

Enters: limits of a run and what the interpreter itself already uses. Leaves: (soft, hard) pairs, set in the calling
process. The arithmetic is pure. Why RLIMIT_DATA: RLIMIT_AS also counts memory that is reserved and never touched
(stacks, allocator arenas) and breaks ordinary programs; RLIMIT_DATA counts private writable memory. What it does
not count (shared and growing-down mappings, pages made read-only after use) the seccomp filter refuses; the main
thread's stack, which grows downwards, has its final size before a guest is forked and may not grow in it.
"""

from __future__ import annotations

import math
import resource
from collections.abc import Mapping

MIB = 1 << 20

RESERVE_BYTES = 16 * MIB  # chosen: between soft and hard RLIMIT_DATA, so that a MemoryError can still be reported
ADDRESS_BYTES = 1024 * MIB  # chosen: room for reservations (two allocator arenas, stacks); also bounds page tables
STACK_BYTES = 8 * MIB  # the usual soft limit; the zygote's stack grows to it (`memory.grow_stack`), a guest's no more
CPU_GRACE_S = 1  # between SIGXCPU (soft) and SIGKILL (hard), getrlimit(2)
CPU_START_S = 1  # chosen: what a guest may use before its program starts (own start, compiling, loading)
DESCRIPTORS = 16  # chosen: null devices, channel, event loop; nothing can be opened anyway
PENDING_SIGNALS = 64  # chosen: nothing in a guest queues signals

Pairs = Mapping[int, tuple[int, int]]
"""RLIMIT_* → (soft, hard)."""


def sealed(
    *, memory_bytes: int, cpu_s: float, tasks: int, baseline_data_bytes: int, baseline_address_bytes: int
) -> Pairs:
    """The ceiling of a guest, set before it waits for a program; a run can only lower it.

    `tasks` counts the main thread too, and every process of the same user that the kernel counts with this guest.
    """
    data = baseline_data_bytes + memory_bytes
    address = baseline_address_bytes + memory_bytes + RESERVE_BYTES + ADDRESS_BYTES
    cpu = math.ceil(cpu_s) + CPU_START_S
    return {
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_FSIZE: (0, 0),
        resource.RLIMIT_MEMLOCK: (0, 0),
        resource.RLIMIT_MSGQUEUE: (0, 0),
        resource.RLIMIT_NICE: (0, 0),
        resource.RLIMIT_RTPRIO: (0, 0),
        resource.RLIMIT_SIGPENDING: (PENDING_SIGNALS, PENDING_SIGNALS),
        resource.RLIMIT_NOFILE: (DESCRIPTORS, DESCRIPTORS),
        resource.RLIMIT_STACK: (0, 0),  # bounds growth only: what the stack has it keeps
        resource.RLIMIT_DATA: (data, data + RESERVE_BYTES),
        resource.RLIMIT_AS: (address, address),
        resource.RLIMIT_CPU: (cpu, cpu + CPU_GRACE_S),
        resource.RLIMIT_NPROC: (tasks, tasks),
    }


def tightened(
    *, memory_bytes: int, cpu_s: float, used_cpu_s: float, tasks: int | None, baseline_data_bytes: int
) -> Pairs:
    """The limits of one run, to be set before its first foreign line.

    `used_cpu_s` is what was used until then; `tasks` is None where they cannot be counted for one guest alone.
    """
    data = baseline_data_bytes + memory_bytes
    cpu = math.ceil(used_cpu_s + cpu_s)
    pairs = {
        resource.RLIMIT_DATA: (data, data + RESERVE_BYTES),
        resource.RLIMIT_CPU: (cpu, cpu + CPU_GRACE_S),
    }
    if tasks is not None:
        pairs[resource.RLIMIT_NPROC] = (tasks, tasks)
    return pairs


def lowered(wanted: tuple[int, int], present: tuple[int, int]) -> tuple[int, int]:
    """`wanted`, but never above the present hard limit: an unprivileged process cannot raise that."""
    hard = _least(wanted[1], present[1])
    return _least(wanted[0], hard), hard


def _least(one: int, other: int) -> int:
    if resource.RLIM_INFINITY in (one, other):
        return max(one, other) if one != other else one  # RLIM_INFINITY is -1 in Python
    return min(one, other)


def apply(pairs: Pairs) -> None:
    """Set the limits of the calling process and read them back.

    Raises:
        OSError: the kernel refused one, or shows another value than was set.
    """
    for kind, wanted in pairs.items():
        pair = lowered(wanted, resource.getrlimit(kind))
        try:
            resource.setrlimit(kind, pair)
        except ValueError as error:  # what the resource module makes of EPERM and EINVAL
            raise OSError(1, f"resource {kind} cannot be limited to {pair}") from error
        if resource.getrlimit(kind) != pair:
            raise OSError(1, f"resource {kind} is not limited to {pair}")


def rehearse() -> None:
    """Set the limits that a run will lower to what they are: no change, but the code and its memory are warm."""
    kinds = (resource.RLIMIT_DATA, resource.RLIMIT_CPU, resource.RLIMIT_NPROC)
    apply({kind: resource.getrlimit(kind) for kind in kinds})


def use_reserve() -> None:
    """Let the calling process use the reserve above the soft memory limit, to report that memory ran out."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
