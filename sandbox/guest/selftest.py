"""A throw-away guest that attacks its own seal and tells the host which layers had an effect.

Enters: nothing foreign; runs in the place of a program, in a guest sealed like any other. Leaves: one frame with a
claim and a truth value for each layer. A layer counts as on when what it must refuse was refused, not when setting
it returned zero. Each layer is tried as soon as it is on, before a later one would refuse the same thing.
"""

from __future__ import annotations

import errno
import json
import mmap
import os
import resource
import select
import signal
import socket
import threading
from collections.abc import Callable
from typing import NoReturn

from sandbox import wire
from sandbox.guest.seal import Ceiling
from sandbox.linux import descriptors

KIND = "examined"
OWN_ENVIRONMENT = frozenset({"TZ"})  # what the guest's own start sets
_PLANTED = (40, 200)
_MIB = 1 << 20
GROUP_BYTES = 12 * _MIB
"""Chosen: the bound of an examined guest's group: three times what a new guest has of its own (4 MiB measured)."""
_FILL_MS = 3_000  # chosen: to fill a group takes milliseconds


class Examination:
    """Witness of one seal. `claims` maps a layer's name to whether it showed its effect."""

    def __init__(self, ceiling: Ceiling, threads: int) -> None:
        self.claims: dict[str, bool] = {}
        self._ceiling = ceiling
        self._threads = threads
        self._listener: socket.socket | None = None
        self._probe: socket.socket | None = None
        self._abstract = b""
        for number in _PLANTED:  # stands for what a careless host may have left open and inheritable
            os.dup2(0, number, inheritable=True)

    def try_groups(self, has_entered: bool) -> None:
        """What the control groups must refuse, before any other limit is on."""
        self.claims["cgroup-pids"] = has_entered and _fork_many(self._threads + 8) == self._threads
        self.claims["cgroup-memory"] = has_entered and _is_held_to(GROUP_BYTES, GROUP_BYTES + _MIB)

    def witness(self, layer: str) -> None:
        """Try what the layer that was just put on must refuse."""
        attempts: dict[str, Callable[[], None]] = {
            "descriptors": self._after_descriptors,
            "namespaces": self._after_namespaces,
            "identity": self._after_identity,
            "rlimits": self._after_rlimits,
            "landlock": self._after_landlock,
            "seccomp": self._after_seccomp,
        }
        if layer in attempts:
            attempts[layer]()
        elif layer in ("parent-death", "dumpable", "no-new-privs"):
            self.claims[layer] = True  # the seal itself reads these back from the kernel

    def report(self, connection: socket.socket) -> NoReturn:
        """Send the claims, then wait for the host's kill, which is the last claim to be shown."""
        payload = json.dumps(self.claims).encode("ascii")
        connection.sendall(wire.encode({"kind": KIND}, payload))
        while connection.recv(1):
            pass
        os._exit(0)

    def _after_descriptors(self) -> None:
        self.claims["descriptors"] = all(_refused(lambda n=n: os.fstat(n)) for n in _PLANTED)  # type: ignore[misc]
        self.claims["environment"] = set(os.environ) <= OWN_ENVIRONMENT

    def _after_namespaces(self) -> None:
        self.claims["namespaces"] = os.getppid() == 1 and [name for _, name in socket.if_nameindex()] == ["lo"]
        self._listener = outer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        outer.bind("")  # unix(7), autobind: an abstract name that is free
        outer.listen()
        self._abstract = outer.getsockname()

    def _after_identity(self) -> None:
        stays = os.getuid() == 0 or _refused(lambda: os.setuid(0))  # root without capabilities is nobody special
        self.claims["identity"] = stays and _refused(lambda: os.setgroups([0])) and _refused(lambda: os.chroot("/"))

    def _after_rlimits(self) -> None:
        over = self._ceiling.memory_bytes + 64 * _MIB
        fits = not _refused(lambda: mmap.mmap(-1, _MIB, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close())
        self.claims["memory"] = fits and _refused(lambda: mmap.mmap(-1, over, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
        self.claims["empty-root"] = _listing("/") == []
        self.claims["read-only"] = _is_read_only()

    def _after_landlock(self) -> None:
        """Before the filter refuses the same: files, TCP, abstract sockets and signals beyond this process."""
        self.claims["landlock"] = _errno_of(lambda: os.close(os.open("/", os.O_RDONLY))) == errno.EACCES
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp:
            self.claims["landlock-tcp"] = _errno_of(lambda: tcp.connect(("127.0.0.1", 9))) == errno.EACCES
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as unix:
            self.claims["landlock-abstract"] = _errno_of(lambda: unix.connect(self._abstract)) == errno.EPERM
        self.claims["landlock-signals"] = _errno_of(lambda: os.kill(os.getppid(), 0)) == errno.EPERM
        self._probe = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)

    def _after_seccomp(self) -> None:
        self.claims["seccomp"] = all(_errno_of(attempt) == errno.EPERM for attempt in self._forbidden())
        self.claims["threads"] = self._start_threads() <= self._threads

    def _forbidden(self) -> tuple[Callable[[], object], ...]:
        """One attempt for each power that the filter takes away."""
        probe = self._probe
        assert probe is not None
        private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        return (
            os.fork,
            lambda: os.execve("/bin/sh", ["sh"], {}),  # noqa: S606 - must be refused
            lambda: os.open("/", os.O_RDONLY),
            lambda: os.stat("/"),  # noqa: PTH116 - the call itself is meant
            lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
            lambda: socket.socket(socket.AF_UNIX),
            lambda: probe.sendto(b"x", self._abstract),
            lambda: probe.sendmsg([b"x"]),
            lambda: probe.recvmsg(1),
            os.pipe,
            lambda: os.dup(descriptors.CHANNEL),
            lambda: os.memfd_create("x"),
            lambda: mmap.mmap(-1, 4096, private, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC),
            lambda: mmap.mmap(-1, 4096, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS),
            lambda: os.kill(os.getppid(), signal.SIGTERM),
            lambda: os.kill(os.getpid(), 0),
            lambda: resource.prlimit(os.getppid(), resource.RLIMIT_CPU),
            lambda: os.setuid(os.getuid()),
            lambda: os.setsid(),
            os.uname,
        )

    def _start_threads(self) -> int:
        """How many threads start before the kernel refuses; tries a few more than the ceiling allows."""
        gate = threading.Event()
        started = 0
        for _ in range(self._threads + 8):
            try:
                threading.Thread(target=gate.wait, daemon=True).start()
            except RuntimeError:  # what Python makes of EAGAIN
                break
            started += 1
        gate.set()
        return started


def _fork_many(wanted: int) -> int:
    """How many children there can be at once; each ends at once and counts until it is reaped (cgroups(7), pids)."""
    children: list[int] = []
    try:
        while len(children) < wanted:
            child = os.fork()
            if child == 0:
                os._exit(0)
            children.append(child)
    except BlockingIOError:  # EAGAIN
        pass
    for child in children:
        os.waitpid(child, 0)
    return len(children)


def _is_held_to(bound_bytes: int, size_bytes: int) -> bool:
    """Whether a child that fills that much has less than the bound at once, or is ended for it.

    What it has filled it marks as dispensable (madvise(2), MADV_FREE): a full group then takes such pages back, which
    read as zero after that, and the kernel has no reason to end anyone and to write a page about it into its log.
    """
    child = os.fork()
    if child == 0:
        held = mmap.mmap(-1, size_bytes, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        for start in range(0, size_bytes, _MIB):
            held[start : start + _MIB : mmap.PAGESIZE] = b"\1" * (_MIB // mmap.PAGESIZE)
            held.madvise(mmap.MADV_FREE, start, _MIB)
        kept_bytes = mmap.PAGESIZE * sum(held[:: mmap.PAGESIZE])
        os._exit(0 if kept_bytes <= bound_bytes else 1)
    watched = os.pidfd_open(child)
    poller = select.poll()
    poller.register(watched, select.POLLIN)
    has_ended = bool(poller.poll(_FILL_MS))
    os.close(watched)
    if not has_ended:  # waits for ever in a full group
        os.kill(child, signal.SIGKILL)
    return has_ended and os.waitpid(child, 0)[1] in (0, signal.SIGKILL)


def _errno_of(attempt: Callable[[], object]) -> int:
    try:
        attempt()
    except OSError as error:
        return error.errno or -1
    return 0


def _refused(attempt: Callable[[], object]) -> bool:
    return _errno_of(attempt) != 0


def _is_read_only() -> bool:
    """Whether the root is read-only and no mounted folder may be written; asks access(2), which makes nothing."""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8") as file:
            places = {"/tmp", *(line.split()[4] for line in file)}  # noqa: S108 - proc(5): the fifth is the mount point
        is_fixed = bool(os.statvfs("/").f_flag & os.ST_RDONLY)
    except OSError:
        return False
    folders = [place for place in places if os.path.isdir(place)]  # noqa: PTH112 - names only
    return is_fixed and not any(os.access(folder, os.W_OK) for folder in folders)


def _listing(path: str) -> list[str] | None:
    try:
        return os.listdir(path)  # noqa: PTH208 - names only
    except OSError:
        return None
