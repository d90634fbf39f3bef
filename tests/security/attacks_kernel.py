"""Attacks that reach parts of the kernel which a guest has no need of."""

from __future__ import annotations

from tests.security.attack import Attack

# name: (x86_64, aarch64); numbers of calls that only attacks make
NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "mremap": (25, 216),
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "clock_settime": (227, 112),
    "clone": (56, 220),
    "clone3": (435, 435),
    "delete_module": (176, 106),
    "epoll_create1": (291, 20),
    "eventfd2": (290, 19),
    "fanotify_init": (300, 262),
    "fsopen": (430, 430),
    "futex": (202, 98),
    "init_module": (175, 105),
    "inotify_init1": (294, 26),
    "io_uring_setup": (425, 425),
    "kcmp": (312, 272),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "landlock_create_ruleset": (444, 444),
    "memfd_secret": (447, 447),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "mq_open": (240, 180),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "openat2": (437, 437),
    "perf_event_open": (298, 241),
    "personality": (135, 92),
    "pidfd_getfd": (438, 438),
    "pidfd_open": (434, 434),
    "pivot_root": (155, 41),
    "pkey_alloc": (330, 289),
    "prctl": (157, 167),
    "prlimit64": (302, 261),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "quotactl": (179, 60),
    "reboot": (169, 142),
    "remap_file_pages": (216, 234),
    "rt_sigqueueinfo": (129, 138),
    "seccomp": (317, 277),
    "setns": (308, 268),
    "setsockopt": (54, 208),
    "shmget": (29, 194),
    "signalfd4": (289, 74),
    "statfs": (137, 43),
    "statx": (332, 291),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "tgkill": (234, 131),
    "timer_create": (222, 107),
    "timerfd_create": (283, 85),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "vmsplice": (278, 75),
}

_SYSTEM_CALLS: dict[str, str] = {
    "acct": "None",
    "add_key": 'b"user", b"x", b"y", 1, -2',
    "adjtimex": "ctypes.create_string_buffer(256)",
    "bpf": "99, None, 0",
    "chroot": 'b"/nonexistent"',
    "clock_settime": "0, None",
    "delete_module": 'b"none", 0',
    "epoll_create1": "0",
    "eventfd2": "0, 0",
    "fanotify_init": "0xFFFF0000, 0",
    "fsopen": 'b"none", 0',
    "init_module": 'None, 0, b""',
    "inotify_init1": "0",
    "io_uring_setup": "0, None",
    "kcmp": "0, 0, 0, 0, 0",
    "kexec_load": "0, 0, None, 0xFFFF",
    "keyctl": "0, -3, 1",
    "landlock_create_ruleset": "None, 0, 1",
    "mount": 'b"none", b"/nonexistent", None, 0, None',
    "mount_setattr": '-1, b"", 0, None, 0',
    "mq_open": 'b"x", 0, 0, None',
    "name_to_handle_at": '-100, b"/", None, None, 0',
    "open_by_handle_at": "-1, None, 0",
    "open_tree": '-1, b"/", 0',
    "openat2": '-100, b"/", None, 0',
    "perf_event_open": "None, 0, -1, -1, 0",
    "personality": "0xFFFFFFFF",
    "pivot_root": 'b"/nonexistent", b"/nonexistent"',
    "pkey_alloc": "0, 0",
    "prctl": "15, b'name', 0, 0, 0",
    "quotactl": "0, None, 0, None",
    "reboot": "0x11111111, 0, 0, None",
    "remap_file_pages": "0, 0, 0, 0, 0",
    "seccomp": "0, 0, None",
    "setns": "-1, 0",
    "setsockopt": "3, 1, 26, None, 0",
    "shmget": "0, 4096, 0o1600",
    "signalfd4": "-1, None, 8, 0",
    "statfs": 'b"/", None',
    "statx": '-100, b"/", 0, 0, None',
    "swapon": 'b"/nonexistent", 0',
    "syslog": "10, None, 0",
    "timer_create": "0, None, None",
    "timerfd_create": "0, 0",
    "umount2": 'b"/nonexistent", 0',
    "unshare": "0x10000000",
    "userfaultfd": "0xFFFF",
    "vmsplice": "-1, None, 0, 0",
}

KERNEL = (
    *(
        Attack(
            id=f"kernel.{name}",
            claim=f"reaches the kernel's `{name}`",
            code=f'try_call("{name}", {arguments})',
            is_shown_bare=False,
            unproved="what it gives outside depends on the caller's rights; the claim is that the kernel is not asked",
        )
        for name, arguments in _SYSTEM_CALLS.items()
    ),
    Attack(
        id="kernel.priority-futex",
        claim="reaches the kernel's priority-inheriting futexes",
        code="word = (ctypes.c_uint32 * 1)()\nr, e = call('futex', word, 6, 0, None, None, 0)\nif r == 0: reached()",
    ),
    Attack(
        id="kernel.other-clock",
        claim="reads the processor clock of another process",
        code="""
import time
time.clock_gettime((~T["victim"]) << 3 | 2); reached()
""",
    ),
    Attack(
        id="kernel.out-of-band",
        claim="sends out-of-band data on its channel",
        code="""
import socket
socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=3).send(b"x", socket.MSG_OOB); reached()
""",
        is_shown_bare=False,
        unproved="there is no channel outside",
    ),
    Attack(
        id="kernel.x32",
        claim="calls by the numbers of the x32 ABI",
        code="libc.syscall(ctypes.c_long(0x40000000 | 39)); print('REACHED')",
        is_shown_bare=False,
        unproved="outside it is ENOSYS or works, as the kernel is built",
    ),
    Attack(
        id="kernel.terminal",
        claim="types into the host's terminal",
        code="""
import fcntl
for number in range(4):
    try:
        fcntl.ioctl(number, 0x5412, b"x"); reached(number)
    except OSError:
        pass
""",
        is_shown_bare=False,
        unproved="the runner has no terminal",
    ),
)
