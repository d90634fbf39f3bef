"""The system calls that remain for a guest: a table, and the small compiler that makes a BPF program of it.

Enters: a machine name. Leaves: the program's bytes; `install` puts it on the calling thread for good.
Everything that is not in the table gets EPERM: the list says what is allowed, never what is forbidden. A foreign
architecture and the x32 numbers end the process, because their numbers mean other calls.
Source: seccomp(2), Documentation/userspace-api/seccomp_filter.rst, include/uapi/linux/{seccomp,filter,audit}.h.

What remains is what a Python that opens nothing needs: its memory, its threads, its clock, its one channel and the
event loop made before. Nothing here names a file, makes a descriptor, reaches another process or maps code.
"""

from __future__ import annotations

import errno
import struct
from typing import NamedTuple

from sandbox.linux.syscalls import MACHINE, address, buffer, call, numbers

_ALL = 0xFFFFFFFF


class Test(NamedTuple):
    """A condition on one argument: its low 32 bits, masked, must be one of `values`; `wide` also wants 0 above."""

    argument: int
    values: tuple[int, ...]
    mask: int = _ALL
    wide: bool = False


def only(argument: int, bits: int) -> Test:
    """No bit outside of `bits` is set."""
    return Test(argument, (0,), _ALL & ~bits)


def equals(argument: int, *values: int) -> Test:
    """The argument is one of `values`."""
    return Test(argument, values)


def null(argument: int) -> Test:
    """The argument is a null pointer."""
    return Test(argument, (0,), wide=True)


class Elsewhere(NamedTuple):
    """A condition on one address: its high 32 bits are none of `high_words`."""

    argument: int
    high_words: tuple[int, ...]


# Allowed with any arguments. Each line is a need; the busiest come first, since a filter is read from the top.
ALLOWED: tuple[str, ...] = (
    *("read", "write", "readv", "writev", "epoll_wait", "epoll_pwait", "epoll_ctl"),  # on what is already open
    *("poll", "ppoll", "select", "pselect6", "close", "fstat", "lseek"),
    *("munmap", "brk"),  # giving memory back; brk is counted by RLIMIT_DATA
    *("rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "restart_syscall"),  # own handlers; none is sent
    *("set_robust_list", "rseq", "sched_yield", "getcpu", "exit", "exit_group"),  # thread life
    *("nanosleep", "gettimeofday", "time", "times", "getrusage", "getrlimit"),  # time and what was used
    *("getrandom", "getcwd"),
    *("getpid", "gettid", "getppid", "getuid", "geteuid", "getgid", "getegid"),  # own numbers
)

# asm-generic/mman-common.h, asm-generic/mman.h, linux/mman.h
PROT_READ, PROT_WRITE = 1, 2
MAP_PRIVATE, MAP_ANONYMOUS = 0x02, 0x20
MAP_FIXED, MAP_NORESERVE, MAP_POPULATE, MAP_STACK, MAP_FIXED_NOREPLACE = 0x10, 0x4000, 0x8000, 0x20000, 0x100000
MREMAP_MAYMOVE = 1
MADV_DONTNEED, MADV_FREE, MADV_HUGEPAGE, MADV_NOHUGEPAGE = 4, 8, 14, 15
MADV_GUARD_INSTALL, MADV_GUARD_REMOVE = 102, 103  # thread stacks of glibc 2.42

# linux/sched.h: VM FS FILES SIGHAND THREAD SYSVSEM SETTLS PARENT_SETTID CHILD_CLEARTID; musl adds the void DETACHED
CLONE_OF_A_THREAD, CLONE_DETACHED = 0x003D0F00, 0x00400000

# linux/futex.h: WAIT WAKE REQUEUE CMP_REQUEUE WAKE_OP WAIT_BITSET WAKE_BITSET; flags PRIVATE and CLOCK_REALTIME
FUTEX_PLAIN, FUTEX_FLAGS = (0, 1, 3, 4, 5, 9, 10), 128 | 256

MSG_DONTWAIT, MSG_WAITALL, MSG_NOSIGNAL = 0x40, 0x100, 0x4000  # linux/socket.h
F_GETFD, F_SETFD, F_GETFL = 1, 2, 3  # asm-generic/fcntl.h
FIONBIO = 0x5421  # asm-generic/ioctls.h
CLOCK_IDS = 0xF  # linux/time.h: 0-11; a negative id means another process or a device

_CLOCK = (only(0, CLOCK_IDS),)

# Allowed only when every test holds; otherwise EPERM.
CHECKED: dict[str, tuple[Test, ...]] = {
    # The common futex operations only: the priority-inheriting ones have a history of kernel holes (CVE-2014-3153).
    "futex": (Test(1, FUTEX_PLAIN, _ALL & ~FUTEX_FLAGS),),
    # No address: what is sent goes to the connected channel. No MSG_OOB (CVE-2025-38236).
    "sendto": (only(3, MSG_DONTWAIT | MSG_NOSIGNAL), null(4)),
    "recvfrom": (only(3, MSG_DONTWAIT | MSG_WAITALL), null(4)),
    "clock_gettime": _CLOCK,
    "clock_getres": _CLOCK,
    "clock_nanosleep": _CLOCK,
    # Private anonymous memory, writable or not to be touched at all: RLIMIT_DATA counts neither MAP_SHARED nor
    # MAP_GROWSDOWN nor maps that can only be read, and each such page takes a page table. No chosen address.
    "mmap": (
        null(0),
        equals(2, 0, PROT_READ | PROT_WRITE),
        Test(
            3,
            (MAP_PRIVATE | MAP_ANONYMOUS,),
            _ALL & ~(MAP_FIXED | MAP_NORESERVE | MAP_POPULATE | MAP_STACK | MAP_FIXED_NOREPLACE),
        ),
    ),
    # Only to readable and writable, as allocators and stacks need: memory made read-only again keeps its pages
    # but is no longer counted by RLIMIT_DATA.
    "mprotect": (equals(2, PROT_READ | PROT_WRITE),),
    "mremap": (only(3, MREMAP_MAYMOVE),),
    "madvise": (
        equals(2, MADV_DONTNEED, MADV_FREE, MADV_HUGEPAGE, MADV_NOHUGEPAGE, MADV_GUARD_INSTALL, MADV_GUARD_REMOVE),
    ),
    # Threads, never processes, never namespaces.
    "clone": (Test(0, (CLONE_OF_A_THREAD,), _ALL & ~CLONE_DETACHED),),
    # The guest lowers its own limits before the first foreign line; no other process's limits can be read or set.
    "prlimit64": (equals(0, 0),),
    # Of itself only: for another number the answer tells whether there is such a process.
    "sched_getaffinity": (equals(0, 0),),
    "fcntl": (equals(1, F_GETFD, F_SETFD, F_GETFL),),
    "ioctl": (equals(1, FIONBIO),),
}

# Answered with an error of its own instead of EPERM.
ANSWERED: dict[str, int] = {
    "clone3": errno.ENOSYS,  # its flags lie in memory that no filter can read; libc falls back to clone
}

# linux/audit.h: machine number with the 64-bit and little-endian flags
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
X32_BIT = 0x40000000  # asm/unistd.h, __X32_SYSCALL_BIT

# linux/seccomp.h
RET_KILL_PROCESS, RET_ERRNO, RET_ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
SECCOMP_SET_MODE_FILTER = 1
DENIED = RET_ERRNO | errno.EPERM

# linux/bpf_common.h and filter.h: the six instructions used here
LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS: accumulator = word at offset k of struct seccomp_data
AND = 0x54  # BPF_ALU | BPF_AND | BPF_K
JUMP_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
JUMP_NOT_LESS = 0x35  # BPF_JMP | BPF_JGE | BPF_K
RETURN = 0x06  # BPF_RET | BPF_K

_NUMBER_AT, _ARCH_AT, _ARGUMENTS_AT = 0, 4, 16  # struct seccomp_data: nr, arch, instruction_pointer, args[6]


class Instruction(NamedTuple):
    """`struct sock_filter`; the jumps count instructions to skip."""

    code: int
    value: int
    if_true: int = 0
    if_false: int = 0


def build(machine: str, stack: tuple[int, ...] = ()) -> list[Instruction]:
    """The filter for a machine (`x86_64` or `aarch64`).

    `stack` holds the high 32 bits of the addresses of the main thread's stack. RLIMIT_DATA does not count what grows
    downwards, so `mremap` must not make more of it; where an allocator's memory shares those bits, it copies instead.
    """
    number = numbers(machine)
    program = [
        Instruction(LOAD, _ARCH_AT),
        Instruction(JUMP_EQUAL, AUDIT_ARCH[machine], 1, 0),
        Instruction(RETURN, RET_KILL_PROCESS),
        Instruction(LOAD, _NUMBER_AT),
    ]
    if machine == "x86_64":
        program += [Instruction(JUMP_NOT_LESS, X32_BIT, 0, 1), Instruction(RETURN, RET_KILL_PROCESS)]
    for name in ALLOWED:
        if name in number:
            program += _when(number[name], [Instruction(RETURN, RET_ALLOW)])
    for name, tests in CHECKED.items():
        extra = (Elsewhere(0, stack),) if name == "mremap" and stack else ()
        program += _when(number[name], _all_of((*extra, *tests)))
    for name, error in ANSWERED.items():
        program += _when(number[name], [Instruction(RETURN, RET_ERRNO | error)])
    program.append(Instruction(RETURN, DENIED))
    return program


def _when(number: int, body: list[Instruction]) -> list[Instruction]:
    """`body` for that system call number, else go on after it; the body always returns."""
    return [Instruction(JUMP_EQUAL, number, 0, len(body)), *body]


def _all_of(tests: tuple[Test | Elsewhere, ...]) -> list[Instruction]:
    """Allow when every test holds. Built from the end, where the refusal stands that a failed test jumps to."""
    rest = [Instruction(RETURN, RET_ALLOW), Instruction(RETURN, DENIED)]
    for test in reversed(tests):
        low = _ARGUMENTS_AT + 8 * test.argument  # both machines are little-endian: low word first
        if isinstance(test, Elsewhere):
            rest = [Instruction(LOAD, low + 4), *_none_of(test.high_words, rest)]
            continue
        if test.wide:
            rest = [Instruction(LOAD, low + 4), *_one_of((0,), rest)]
        masked = [] if test.mask == _ALL else [Instruction(AND, test.mask)]
        rest = [Instruction(LOAD, low), *masked, *_one_of(test.values, rest)]
    return rest


def _one_of(values: tuple[int, ...], rest: list[Instruction]) -> list[Instruction]:
    """Go on with `rest` when the accumulator is one of `values`, else to the last instruction of `rest`."""
    last = len(values) - 1
    jumps = [
        Instruction(JUMP_EQUAL, value, last - index, len(rest) - 1 if index == last else 0)
        for index, value in enumerate(values)
    ]
    return [*jumps, *rest]


def _none_of(values: tuple[int, ...], rest: list[Instruction]) -> list[Instruction]:
    """Go on with `rest` when the accumulator is none of `values`, else to the last instruction of `rest`."""
    last = len(values) - 1
    jumps = [Instruction(JUMP_EQUAL, value, last - index + len(rest) - 1, 0) for index, value in enumerate(values)]
    return [*jumps, *rest]


def encode(program: list[Instruction]) -> bytes:
    """The program as an array of `struct sock_filter`."""
    return b"".join(struct.pack("=HBBI", i.code, i.if_true, i.if_false, i.value) for i in program)


def install(program: bytes) -> None:
    """Put the filter on the calling thread and everything it starts, for good. Needs no_new_privs and one thread."""
    memory = buffer(len(program))
    memory.raw = program
    header = struct.pack("@HP", len(program) // 8, address(memory))  # struct sock_fprog
    call("seccomp", SECCOMP_SET_MODE_FILTER, 0, header)


def own_program(stack: tuple[int, ...]) -> bytes:
    """The encoded filter for the machine that this process runs on; `stack` as for `build`."""
    return encode(build(MACHINE, stack))
