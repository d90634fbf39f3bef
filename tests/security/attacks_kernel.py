"""Attacks that reach parts of the kernel which a guest has no need of."""

from __future__ import annotations

from tests.security.attack import Attack

# name: (x86_64, aarch64); numbers of calls that only attacks make
NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "mremap": (25, 216),
    "acct": (163, 89),
    "arch_prctl": (158, None),
    "cachestat": (451, 451),
    "fallocate": (285, 47),
    "fchmod": (91, 52),
    "fchown": (93, 55),
    "flock": (73, 32),
    "fsetxattr": (190, 7),
    "fsync": (74, 82),
    "ftruncate": (77, 46),
    "futex_waitv": (449, 449),
    "get_mempolicy": (239, 236),
    "getsockopt": (55, 209),
    "io_setup": (206, 0),
    "ioperm": (173, None),
    "iopl": (172, None),
    "ioprio_set": (251, 30),
    "madvise": (28, 233),
    "mbind": (237, 235),
    "membarrier": (324, 283),
    "migrate_pages": (256, 238),
    "mincore": (27, 232),
    "modify_ldt": (154, None),
    "pidfd_send_signal": (424, 424),
    "pkey_mprotect": (329, 288),
    "process_madvise": (440, 440),
    "request_key": (249, 218),
    "rt_tgsigqueueinfo": (297, 240),
    "sched_setattr": (314, 274),
    "sched_setscheduler": (144, 119),
    "set_mempolicy": (238, 237),
    "setfsuid": (122, 151),
    "setpriority": (141, 140),
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
    "arch_prctl": "0x1003, ctypes.create_string_buffer(8)",
    "cachestat": "0, None, None, 0",
    "futex_waitv": "None, 0, 0, None, 0",
    "get_mempolicy": "None, None, 0, None, 0",
    "getsockopt": "3, 1, 17, ctypes.create_string_buffer(12), ctypes.create_string_buffer(b'\\x0c\\0\\0\\0')",
    "io_setup": "1, ctypes.create_string_buffer(8)",
    "ioperm": "0, 1, 0",
    "iopl": "0",
    "mbind": "None, 0, 0, None, 0, 0",
    "membarrier": "0, 0, 0",
    "migrate_pages": "0, 0, None, None",
    "mincore": "None, 4096, None",
    "modify_ldt": "0, ctypes.create_string_buffer(16), 16",
    "pidfd_send_signal": "-1, 0, None, 0",
    "process_madvise": "-1, None, 0, 4, 0",
    "request_key": 'b"user", b"x", None, 0',
    "rt_tgsigqueueinfo": 'T["victim"], T["victim"], 0, None',
    "set_mempolicy": "0, None, 0",
    "setfsuid": "0",
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
            code=f'if "{name}" in T["numbers"]: try_call("{name}", {arguments})',
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
        id="kernel.every-number",
        claim="reaches a system call that is not in the table, known to anybody or not",
        code="""
nothing = ctypes.c_long(-1)
for number in set(range(0, 700)) - set(T["allowed"]):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *[nothing] * 6)
    if (result, ctypes.get_errno()) != (-1, errno.EPERM): reached(number, result, ctypes.get_errno())
""",
        is_shown_bare=False,
        unproved="some of them would end the machine",
    ),
    Attack(
        id="kernel.every-prctl",
        claim="reaches one of the options of prctl: names, keeping rights, tracers, memory, its own filter",
        code="for option in [*range(0, 100), 0x59616D61]: try_call('prctl', option, 0, 0, 0, 0)",
        is_shown_bare=False,
        unproved="would change the process that shows it",
    ),
    Attack(
        id="kernel.null-device",
        claim="changes or locks the null device, the one file that everybody has open",
        code="""
for number in range(3):
    try_call("flock", number, 2 | 4)
    try_call("fchmod", number, 0o777)
    try_call("fchown", number, -1, -1)
    try_call("fsetxattr", number, b"user.x", b"x", 1, 0)
    try_call("ftruncate", number, 0)
    try_call("fallocate", number, 0, 0, 1)
    try_call("fsync", number)
""",
        is_shown_bare=False,
        unproved="would change the machine's null device",
    ),
    Attack(
        id="kernel.x32",
        claim="calls by the numbers of the x32 ABI",
        code="if T['machine'] == 'x86_64':\n    libc.syscall(ctypes.c_long(0x40000000 | 39)); print('REACHED')",
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
