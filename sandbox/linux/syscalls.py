"""The one way to the kernel: libc's `syscall(2)` through ctypes, errno as OSError, numbers by machine.

Enters: a call's name and its arguments. Leaves: the call's result. Goes by number, so that glibc and musl behave
the same and a call that libc does not wrap (Landlock, seccomp, pivot_root) looks like any other.
Imports only `ctypes` and `os`: the zygote needs it before anything else is loaded.
"""

from __future__ import annotations

import ctypes
import os

MACHINE = os.uname().machine

# name: (x86_64, aarch64); None where the machine has no such call.
# Sources: arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h of Linux 6.1;
# tests/unit/sandbox/test_syscall_numbers.py compares with the headers of the machine it runs on.
TABLE: dict[str, tuple[int | None, int | None]] = {
    "brk": (12, 214),
    "capget": (125, 90),
    "capset": (126, 91),
    "clock_getres": (229, 114),
    "clock_gettime": (228, 113),
    "clock_nanosleep": (230, 115),
    "clone": (56, 220),
    "clone3": (435, 435),
    "close": (3, 57),
    "close_range": (436, 436),
    "epoll_ctl": (233, 21),
    "epoll_pwait": (281, 22),
    "epoll_wait": (232, None),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "fcntl": (72, 25),
    "fstat": (5, 80),
    "futex": (202, 98),
    "getcpu": (309, 168),
    "getcwd": (79, 17),
    "getegid": (108, 177),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "getrandom": (318, 278),
    "getrlimit": (97, 163),
    "getrusage": (98, 165),
    "getsockopt": (55, 209),
    "gettid": (186, 178),
    "gettimeofday": (96, 169),
    "getuid": (102, 174),
    "ioctl": (16, 29),
    "landlock_add_rule": (445, 445),
    "landlock_create_ruleset": (444, 444),
    "landlock_restrict_self": (446, 446),
    "lseek": (8, 62),
    "madvise": (28, 233),
    "mmap": (9, 222),
    "mount": (165, 40),
    "mprotect": (10, 226),
    "mremap": (25, 216),
    "munmap": (11, 215),
    "nanosleep": (35, 101),
    "pivot_root": (155, 41),
    "poll": (7, None),
    "ppoll": (271, 73),
    "prctl": (157, 167),
    "prlimit64": (302, 261),
    "pselect6": (270, 72),
    "read": (0, 63),
    "readv": (19, 65),
    "recvfrom": (45, 207),
    "restart_syscall": (219, 128),
    "rseq": (334, 293),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sched_getaffinity": (204, 123),
    "sched_yield": (24, 124),
    "seccomp": (317, 277),
    "select": (23, None),
    "sendto": (44, 206),
    "set_robust_list": (273, 99),
    "sigaltstack": (131, 132),
    "time": (201, None),
    "times": (100, 153),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "write": (1, 64),
    "writev": (20, 66),
}

MACHINES = ("x86_64", "aarch64")

_libc = ctypes.CDLL(None, use_errno=True)
_syscall = _libc.syscall
_syscall.restype = ctypes.c_long


def numbers(machine: str) -> dict[str, int]:
    """Name → number of every call in `TABLE` that the machine has."""
    column = MACHINES.index(machine)
    return {name: number for name, pair in TABLE.items() if (number := pair[column]) is not None}


_own_numbers = numbers(MACHINE) if MACHINE in MACHINES else {}


def check(result: int, what: str) -> int:
    """`result`, or OSError with libc's errno when it is negative; `what` names the call in the message."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def call(name: str, *arguments: int | bytes | ctypes.Array[ctypes.c_char] | None) -> int:
    """Make one system call. Whole numbers pass as C longs, bytes and buffers by address, None as a null pointer.

    Raises:
        OSError: the kernel refused, or the machine has no such call (ENOSYS).
    """
    number = _own_numbers.get(name)
    if number is None:
        raise OSError(38, f"{name}: no such system call on `{MACHINE}`")  # ENOSYS, asm-generic/errno.h
    passed = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    return check(int(_syscall(ctypes.c_long(number), *passed)), name)


def buffer(size: int) -> ctypes.Array[ctypes.c_char]:
    """Zeroed memory that the kernel may write to; `.raw` reads it."""
    return ctypes.create_string_buffer(size)


def address(memory: ctypes.Array[ctypes.c_char]) -> int:
    """Where a buffer lies, for structures that hold a pointer; the caller keeps the buffer alive."""
    return ctypes.addressof(memory)


def libc_function(name: str) -> ctypes._NamedFuncPointer | None:
    """A function of libc that is no system call, or None where this libc has none of that name."""
    function: ctypes._NamedFuncPointer | None = getattr(_libc, name, None)
    return function


def touch(place: int) -> None:
    """Read the byte at an address: the kernel gives memory to it, or ends the process where it cannot."""
    ctypes.string_at(place, 1)
