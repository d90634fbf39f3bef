"""Attacks on other processes, and for more rights, threads and limits."""

from __future__ import annotations

from tests.security.attack import Attack

PROCESSES = (
    Attack(
        id="process.fork",
        claim="forks",
        code="pid = os.fork()\nif pid == 0: os._exit(0)\nos.waitpid(pid, 0); reached()",
    ),
    Attack(
        id="process.forkpty",
        claim="forks with a terminal",
        code="pid, fd = os.forkpty()\nif pid == 0: os._exit(0)\nreached()",
    ),
    Attack(
        id="process.clone",
        claim="makes a process by the raw call",
        code="""
result, number = call("clone", 17, 0, 0, 0, 0)
if result == 0: os._exit(0)
if result > 0: reached()
""",
    ),
    Attack(
        id="process.clone3",
        claim="makes a process by the new call, whose flags no filter can read",
        code="""
import struct
arguments = struct.pack("=8Q", 0, 0, 0, 0, 17, 0, 0, 0)
result, number = call("clone3", arguments, 64)
if result == 0: os._exit(0)
if result > 0: reached()
""",
    ),
    Attack(
        id="process.exec",
        claim="runs a program",
        code='import subprocess\nif subprocess.run(["/bin/true"]).returncode == 0: reached()',
    ),
    Attack(
        id="process.exec-replace",
        claim="turns into a program",
        code="""os.execv("/bin/sh", ["sh", "-c", f"echo REACHED; : > {T['folder']}/made"])""",
    ),
    Attack(id="process.system", claim="runs a shell", code='if os.system("exit 0") == 0: reached()'),
    Attack(
        id="process.exec-memory",
        claim="runs a program from an anonymous memory file",
        code='fd = os.memfd_create("x"); reached("memory file")',
    ),
    Attack(id="process.kill", claim="ends a host process", code='os.kill(T["victim"], 9); reached()'),
    Attack(id="process.kill-parent", claim="signals its parent", code="os.kill(os.getppid(), 0); reached()"),
    Attack(id="process.kill-all", claim="signals every process it may", code="os.kill(-1, 0); reached()"),
    Attack(id="process.kill-group", claim="signals its process group", code="os.killpg(0, 0); reached()"),
    Attack(
        id="process.kill-thread",
        claim="signals a thread of the host",
        code='r, e = call("tgkill", T["victim"], T["victim"], 0)\nif r == 0: reached()',
    ),
    Attack(
        id="process.queue-signal",
        claim="queues a signal with data",
        code="""
data = ctypes.create_string_buffer(128)
data[8] = 0xFF
result, number = call("rt_sigqueueinfo", T["victim"], 0, data)
if number != errno.EPERM: reached(number)
""",
        is_shown_bare=False,
        unproved="the kernel checks the data first",
    ),
    Attack(
        id="process.pidfd",
        claim="gets a handle on a host process and takes a descriptor out of it",
        code="""
fd, e = call("pidfd_open", T["victim"], 0)
if fd >= 0: reached(call("pidfd_getfd", fd, 1, 0))
""",
    ),
    Attack(
        id="process.session",
        claim="leaves its session",
        code="os.setsid(); reached()",
        is_shown_bare=False,
        unproved="a session leader cannot",
    ),
    Attack(
        id="process.ptrace",
        claim="attaches to a host process",
        code="""
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
if libc.ptrace(0x4206, T["victim"], None, None) == 0: reached()
""",
    ),
    Attack(
        id="process.read-memory",
        claim="reads the memory of a host process",
        code="""
import struct
buffer = ctypes.create_string_buffer(64)
local = struct.pack("=QQ", ctypes.addressof(buffer), 64)
remote = struct.pack("=QQ", T["address"], 64)
result, number = call("process_vm_readv", T["victim"], local, 1, remote, 1, 0)
if T["memory_secret"].encode() in buffer.raw: reached()
""",
    ),
    Attack(
        id="process.write-memory",
        claim="writes the memory of a host process",
        code="""
import struct
buffer = ctypes.create_string_buffer(b"y")
local = struct.pack("=QQ", ctypes.addressof(buffer), 1)
remote = struct.pack("=QQ", T["address"] + 60, 1)
result, number = call("process_vm_writev", T["victim"], local, 1, remote, 1, 0)
if result == 1: reached()
""",
    ),
    Attack(
        id="process.enumerate",
        claim="learns the numbers of other processes, one guess at a time",
        code="""
own, mask = os.getpid(), ctypes.create_string_buffer(1024)
found = [pid for pid in range(1, 70_000) if pid != own and libc.sched_getaffinity(pid, 1024, mask) == 0]
found += [pid for pid in (T["victim"],) if libc.sched_getaffinity(pid, 1024, mask) == 0]
if found: reached(found[:5])
""",
    ),
    Attack(
        id="process.signal-by-descriptor",
        claim="has the kernel signal another process whenever its channel can be read",
        code="""
import fcntl, socket
number = 3
if T["bare"]:
    pair = socket.socketpair(); number = pair[0].fileno()
    for step in ((8, T["victim"]), (10, 9), (4, 0o20000 | os.O_NONBLOCK)): fcntl.fcntl(number, *step)
    pair[1].send(b"x")
for step in ((8, T["victim"]), (10, 9), (4, 0o20000)):
    try:
        fcntl.fcntl(number, *step); reached(step)
    except OSError: pass
for request in (0x8901, 0x8902, 0x5452):
    try:
        fcntl.ioctl(number, request, (1).to_bytes(4, "little")); reached(hex(request))
    except OSError: pass
""",
    ),
    Attack(
        id="process.spawn",
        claim="starts a program by a child that shares its memory",
        code='os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0); reached()',
    ),
    Attack(
        id="process.traced",
        claim="makes its parent its tracer",
        code="libc.ptrace.restype = ctypes.c_long\nif libc.ptrace(0, 0, None, None) == 0: reached()",
    ),
    Attack(
        id="process.scheduling",
        claim="chooses how it is scheduled, or how its reads and writes are",
        code="""
try_call("setpriority", 0, 0, 19)
try_call("sched_setscheduler", 0, 3, ctypes.create_string_buffer(8))
try_call("sched_setattr", 0, ctypes.create_string_buffer(64), 0)
try_call("ioprio_set", 1, 0, 0x6000)
""",
    ),
    Attack(
        id="process.timers",
        claim="has the kernel raise signals by timers, thousands at a time",
        code="""
import signal
signal.signal(signal.SIGALRM, signal.SIG_IGN)
try:
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001); reached("interval")
except OSError: pass
made = 0
for _ in range(1000):
    made += call("timer_create", 1, None, ctypes.create_string_buffer(8))[0] == 0
    made += call("timerfd_create", 1, 0)[0] >= 0
if made: reached(made)
""",
    ),
    Attack(
        id="process.environment",
        claim="finds a variable of the host in its own environment",
        code="""
libc.getenv.restype = ctypes.c_char_p
if any(T["environment_secret"] in value for value in os.environ.values()): reached("os.environ")
if libc.getenv(T["environment_name"].encode()): reached("getenv")
""",
    ),
    Attack(
        id="process.limits-of-others",
        claim="reads or sets the limits of another process",
        code="""
import struct
for pid in (T["victim"], os.getppid()):
    result, number = call("prlimit64", pid, 7, None, ctypes.create_string_buffer(16))
    if result == 0: reached(pid)
""",
    ),
    Attack(
        id="process.limits-up",
        claim="raises its own limits",
        code="""
import resource
for kind in (resource.RLIMIT_DATA, resource.RLIMIT_CPU, resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE):
    soft, hard = resource.getrlimit(kind)
    if hard == resource.RLIM_INFINITY:
        reached("unlimited", kind)
        continue
    try:
        resource.setrlimit(kind, (hard + 1, hard + 1)); reached(kind)
    except (ValueError, OSError):
        pass
""",
    ),
    Attack(
        id="process.priority",
        claim="takes processor time from others",
        code="os.nice(-5); reached()",
        is_shown_bare=False,
        unproved="needs root",
    ),
    Attack(
        id="process.own-group",
        claim="learns its control group",
        code='if open("/proc/self/cgroup").read(): reached()',
    ),
    Attack(
        id="process.leave-group",
        claim="leaves its control group, or lifts the bounds of it",
        code="""
places = [line.split(" ")[4] for line in open("/proc/self/mountinfo") if " - cgroup" in line]
own = [line.rstrip().split(":", 2)[2] for line in open("/proc/self/cgroup")]
for place in places:
    for group in own:
        for name, text in (("memory.max", "max"), ("memory.limit_in_bytes", "-1"), ("pids.max", "max")):
            try:
                os.write(os.open(f"{place}{group}/{name}", os.O_WRONLY), text.encode()); reached(name)
            except OSError: pass
    try:
        os.write(os.open(f"{place}/cgroup.procs", os.O_WRONLY), b"0"); reached("cgroup.procs")
    except OSError: pass
""",
        is_shown_bare=False,
        unproved="needs root; tests/integration/test_cgroups.py shows it where that is at hand",
    ),
    Attack(
        id="process.group-namespace",
        claim="makes a namespace of control groups",
        code="r, e = call('unshare', 0x02000000)\nif r == 0: reached()",
        is_shown_bare=False,
        unproved="needs root",
    ),
    Attack(id="process.affinity", claim="chooses its processors", code="os.sched_setaffinity(0, {0}); reached()"),
    Attack(
        id="process.threads",
        claim="starts far more threads than the limit of 16",
        code="""
import threading
gate, count = threading.Event(), 0
threading.stack_size(T["smallest_stack"])
for _ in range(200):
    try:
        threading.Thread(target=gate.wait, daemon=True).start(); count += 1
    except RuntimeError:
        break
gate.set()
if count > 16: reached(count)
""",
        not_held=("bare",),
    ),
    Attack(
        id="process.thread-flood",
        claim="floods the machine with threads",
        code="""
import threading
gate, count = threading.Event(), 0
threading.stack_size(T["smallest_stack"])
for _ in range(1500):
    try:
        threading.Thread(target=gate.wait, daemon=True).start(); count += 1
    except RuntimeError:
        break
gate.set()
if count > 1400: reached(count)
""",
    ),
)

IDENTITY = (
    Attack(
        id="identity.root",
        claim="is or becomes the machine's root",
        code="""
for step in (lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.setgroups([0]), lambda: os.setresuid(0, 0, 0)):
    try:
        step(); reached()
    except OSError:
        pass
if os.getuid() == 0: reached("uid 0")
""",
        is_shown_bare=False,
        unproved="a plain user cannot either",
    ),
    Attack(
        id="identity.capabilities",
        claim="gains or keeps capabilities",
        code="""
header = (ctypes.c_uint32 * 2)(0x20080522, 0)
sets = (ctypes.c_uint32 * 6)()
if libc.capget(header, sets) == 0 and any(sets): reached(list(sets))
if call("unshare", 0x10000000)[0] == 0: reached("user namespace")
""",
        is_shown_bare=False,
        unproved="depends on who runs the tests",
    ),
    Attack(
        id="identity.host-name",
        claim="learns the machine's name",
        code="if os.uname().nodename: reached(os.uname().nodename)",
    ),
)
