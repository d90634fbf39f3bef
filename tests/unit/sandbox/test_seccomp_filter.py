"""The system-call filter, run by a small interpreter of the six instructions it uses, for both machines."""

import errno
import struct

import pytest

from sandbox.linux import seccomp
from sandbox.linux.syscalls import MACHINES, numbers

ALLOWED, KILLED = seccomp.RET_ALLOW, seccomp.RET_KILL_PROCESS
REFUSED = seccomp.RET_ERRNO | errno.EPERM

THREAD = 0x3D0F00
EVERY_NUMBER = range(600)


def verdict(machine, number, *arguments, arch=None, stack=()):
    """What the kernel would answer: runs the encoded program over a `struct seccomp_data`."""
    values = [value & 0xFFFFFFFFFFFFFFFF for value in (*arguments, 0, 0, 0, 0, 0, 0)][:6]
    data = struct.pack("<iIQ6Q", number, seccomp.AUDIT_ARCH[machine] if arch is None else arch, 0, *values)
    program = list(struct.iter_unpack("=HBBI", seccomp.encode(seccomp.build(machine, stack))))
    accumulator, at = 0, 0
    while True:
        code, if_true, if_false, value = program[at]
        at += 1
        if code == seccomp.LOAD:
            accumulator = struct.unpack_from("<I", data, value)[0]
        elif code == seccomp.AND:
            accumulator &= value
        elif code == seccomp.JUMP_EQUAL:
            at += if_true if accumulator == value else if_false
        elif code == seccomp.JUMP_NOT_LESS:
            at += if_true if accumulator >= value else if_false
        else:
            assert code == seccomp.RETURN
            return value


def of(machine, name, *arguments):
    return verdict(machine, numbers(machine)[name], *arguments)


@pytest.fixture(params=MACHINES)
def machine(request):
    return request.param


def test_the_program_fits_the_kernel_and_its_jumps_stay_inside(machine):
    program = seccomp.build(machine)
    assert len(program) <= 4096  # BPF_MAXINSNS
    for index, instruction in enumerate(program):
        assert index + 1 + max(instruction.if_true, instruction.if_false) < len(program) or instruction.code == 0x06
        assert max(instruction.if_true, instruction.if_false) <= 255


def test_every_number_outside_of_the_table_is_refused(machine):
    known = numbers(machine)
    named = {*seccomp.ALLOWED, *seccomp.CHECKED, *seccomp.ANSWERED}
    inside = {known[name] for name in named if name in known}
    assert {verdict(machine, number) for number in EVERY_NUMBER if number not in inside} == {REFUSED}


def test_every_name_in_the_tables_has_a_number_on_some_machine():
    known = {name for machine in MACHINES for name in numbers(machine)}
    assert {*seccomp.ALLOWED, *seccomp.CHECKED, *seccomp.ANSWERED} <= known
    assert not set(seccomp.ALLOWED) & set(seccomp.CHECKED)


def test_a_foreign_architecture_ends_the_process(machine):
    i386, other = 0x40000003, seccomp.AUDIT_ARCH[next(m for m in MACHINES if m != machine)]
    for arch in (i386, other, 0):
        assert verdict(machine, numbers(machine)["read"], arch=arch) == KILLED


def test_the_x32_numbers_end_the_process():
    assert verdict("x86_64", 0x40000000) == KILLED
    assert verdict("x86_64", 0x40000000 | 39) == KILLED
    assert verdict("x86_64", -1) == KILLED


def test_what_a_waiting_guest_needs_is_allowed(machine):
    for name in ("read", "write", "epoll_pwait", "epoll_ctl", "ppoll", "close", "munmap", "brk", "getrandom", "exit"):
        assert of(machine, name) == ALLOWED


@pytest.mark.parametrize(
    ("protection", "flags", "expected"),
    [
        (3, 0x22, ALLOWED),
        (0, 0x4022, ALLOWED),  # PROT_NONE, MAP_NORESERVE: an allocator's arena
        (0, 0x20022, ALLOWED),  # MAP_STACK: a thread's stack
        (3, 0x32, ALLOWED),  # MAP_FIXED
        (7, 0x22, REFUSED),
        (5, 0x22, REFUSED),
        (3, 0x21, REFUSED),  # MAP_SHARED
        (3, 0x23, REFUSED),  # MAP_SHARED_VALIDATE
        (3, 0x122, REFUSED),  # MAP_GROWSDOWN
        (3, 0x40022, REFUSED),  # MAP_HUGETLB
        (3, 0x2022, REFUSED),  # MAP_LOCKED
        (1, 0x02, REFUSED),  # a file
        (0x01000003, 0x22, REFUSED),  # PROT_GROWSDOWN
    ],
)
def test_only_private_anonymous_data_can_be_mapped(machine, protection, flags, expected):
    assert of(machine, "mmap", 0, 4096, protection, flags) == expected


@pytest.mark.parametrize(
    ("protection", "expected"), [(3, ALLOWED), (0, REFUSED), (1, REFUSED), (4, REFUSED), (7, REFUSED)]
)
def test_memory_can_be_made_writable_and_nothing_else(machine, protection, expected):
    assert of(machine, "mprotect", 0, 4096, protection) == expected


@pytest.mark.parametrize(("flags", "expected"), [(0, ALLOWED), (1, ALLOWED), (2, REFUSED), (4, REFUSED)])
def test_mappings_can_grow_and_move_but_not_to_a_chosen_place(machine, flags, expected):
    assert of(machine, "mremap", 0, 4096, 8192, flags) == expected


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (THREAD, ALLOWED),
        (THREAD | 0x400000, ALLOWED),  # musl
        (17, REFUSED),  # fork
        (0x4111, REFUSED),  # vfork
        (THREAD | 0x10000000, REFUSED),  # CLONE_NEWUSER
        (THREAD | 0x2000, REFUSED),  # CLONE_PTRACE
        (THREAD & ~0x10000, REFUSED),
        (THREAD & ~0x400, REFUSED),
        (THREAD | (1 << 32), ALLOWED),  # the kernel looks at the low half only
    ],
)
def test_threads_can_be_made_and_processes_cannot(machine, flags, expected):
    assert of(machine, "clone", flags) == expected


def test_clone3_is_answered_as_missing_so_that_libc_falls_back(machine):
    assert of(machine, "clone3") == seccomp.RET_ERRNO | errno.ENOSYS


@pytest.mark.parametrize("name", ["sendto", "recvfrom"])
@pytest.mark.parametrize(
    ("flags", "address", "expected"),
    [
        (0, 0, ALLOWED),
        (0x40, 0, ALLOWED),  # MSG_DONTWAIT
        (1, 0, REFUSED),  # MSG_OOB
        (0, 0x7FFF0000, REFUSED),
        (0, 0x7FFF_0000_0000, REFUSED),  # an address whose low half is zero
    ],
)
def test_the_channel_is_used_without_an_address(machine, name, flags, address, expected):
    assert of(machine, name, 3, 0, 10, flags, address) == expected


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (0, ALLOWED),
        (128, ALLOWED),
        (9 | 128 | 256, ALLOWED),
        (10 | 128, ALLOWED),
        (6, REFUSED),
        (11, REFUSED),
        (13, REFUSED),
    ],
)
def test_only_plain_futexes_are_allowed(machine, operation, expected):
    assert of(machine, "futex", 0, operation) == expected


@pytest.mark.parametrize("name", ["clock_gettime", "clock_getres", "clock_nanosleep"])
def test_clocks_of_other_processes_are_refused(machine, name):
    assert of(machine, name, 1) == ALLOWED
    assert of(machine, name, (~1234) << 3 | 2) == REFUSED


def test_limits_of_the_own_process_only(machine):
    assert of(machine, "prlimit64", 0, 7) == ALLOWED
    assert of(machine, "prlimit64", 1, 7) == REFUSED


@pytest.mark.parametrize(
    ("command", "expected"), [(1, ALLOWED), (3, ALLOWED), (0, REFUSED), (4, REFUSED), (1030, REFUSED)]
)
def test_descriptors_can_be_asked_about_and_not_copied(machine, command, expected):
    assert of(machine, "fcntl", 3, command) == expected


@pytest.mark.parametrize(("request_number", "expected"), [(0x5421, ALLOWED), (0x5412, REFUSED), (0x5413, REFUSED)])
def test_of_all_device_requests_only_non_blocking_remains(machine, request_number, expected):
    assert of(machine, "ioctl", 3, request_number) == expected


@pytest.mark.parametrize("name", ["unshare", "mount", "pivot_root", "prctl", "capset", "seccomp", "landlock_add_rule"])
def test_the_calls_that_made_the_seal_are_refused_behind_it(machine, name):
    assert of(machine, name) == REFUSED


def test_the_stack_cannot_be_remapped_and_other_memory_can(machine):
    number, stack = numbers(machine)["mremap"], (0x7FFC, 0x7FFD)
    for word in stack:
        assert verdict(machine, number, word << 32 | 0x1000, 4096, 1 << 30, 1, stack=stack) == REFUSED
    assert verdict(machine, number, 0x7F12 << 32 | 0x1000, 4096, 1 << 30, 1, stack=stack) == ALLOWED
    assert verdict(machine, number, 0x7F12 << 32, 4096, 1 << 30, 2, stack=stack) == REFUSED


def test_memory_that_can_only_be_read_and_chosen_addresses_are_refused(machine):
    private = seccomp.MAP_PRIVATE | seccomp.MAP_ANONYMOUS
    assert of(machine, "mmap", 0, 4096, seccomp.PROT_READ | seccomp.PROT_WRITE, private) == ALLOWED
    assert of(machine, "mmap", 0, 4096, 0, private) == ALLOWED
    assert of(machine, "mmap", 0, 4096, seccomp.PROT_READ, private) == REFUSED
    assert of(machine, "mmap", 1 << 40, 4096, seccomp.PROT_READ | seccomp.PROT_WRITE, private) == REFUSED
    assert of(machine, "mmap", 4096, 4096, seccomp.PROT_READ | seccomp.PROT_WRITE, private) == REFUSED
