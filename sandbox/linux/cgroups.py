"""Control groups: what one guest, and all guests of a sandbox together, may hold of memory and tasks.

Enters: this process's place in the hierarchies, bounds in bytes and tasks. Leaves: one group a sandbox, one group a
guest below it, descriptors by which a guest enters its own, and how often the kernel ended one for its memory.
The host makes, bounds and removes groups; a guest enters with a descriptor that it was given and holds none after.
Every bound is read back. What is not possible here leaves a controller out of `Groups.controllers`; it is no error.

Sources: Documentation/admin-guide/cgroup-v1/memory.rst, cgroup-v1/pids.rst, cgroup-v2.rst of the kernel; cgroups(7).
Never above this process's own group, so that what bounds the host also bounds its guests.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import threading
import time
from dataclasses import dataclass

from sandbox.linux.cgroup_places import PREFIX, Parent, parents, read, write

_SWEPT = 64  # chosen: groups of hosts that were killed, removed by one start
_REMOVE_S = 2.0  # chosen: killed guests leave their groups within milliseconds
_PAUSE_S = 0.005
_NAMES = 3  # chosen: tries for a new group


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """What the processes of a group may hold: bytes of all kinds of memory (None: no bound), and tasks."""

    memory_bytes: int | None
    tasks: int


class Groups:
    """The groups of one sandbox. Until `open`, and where nothing is possible, there are none and nothing is done.

    May be used by several threads, a guest's slot by one at a time.
    """

    def __init__(self) -> None:
        self._trees: list[_Tree] = []
        self._dropped: list[_Tree] = []
        self._lock = threading.Lock()

    @property
    def controllers(self) -> frozenset[str]:
        """Those of `memory` and `pids` that bound guests here."""
        return frozenset(name for tree in self._trees for name in tree.controllers)

    def open(self, bound: Bound) -> None:
        """Make the sandbox's own group with its bound wherever that is possible; remove what killed hosts left."""
        for parent in parents():
            with contextlib.suppress(OSError):
                sweep(parent.folder)
                self._trees.append(_Tree(parent, bound))

    def enter(self, slot: int, bound: Bound) -> list[int]:
        """Make the group of a slot ready; returns descriptors for `join`, which the caller closes.

        Raises:
            OSError: a bound could not be set, or `close` was called.
        """
        opened: list[int] = []
        try:
            for tree in self._trees:
                with self._lock:
                    tree.make(slot)
                tree.bind(slot, bound)
                opened.append(os.open(f"{tree.folder_of(slot)}/cgroup.procs", os.O_RDWR | os.O_CLOEXEC))
        except OSError:
            for descriptor in opened:
                os.close(descriptor)
            raise
        return opened

    def is_ready(self, slot: int, bound: Bound) -> bool:
        """Whether `enter` has nothing to make and to set: it is quick then, and else may wait for the kernel."""
        return all(tree.is_bound(slot, bound) for tree in self._trees)

    def bind(self, slot: int, bound: Bound) -> None:
        """Change the bounds of a slot that was entered.

        Raises:
            OSError: one could not be set.
        """
        for tree in self._trees:
            tree.bind(slot, bound)

    def memory_kills(self, slot: int) -> int:
        """How many processes of that slot the kernel has ever ended for want of memory, whoever's bound it was."""
        return sum(tree.memory_kills(slot) for tree in self._trees)

    def keep(self, controllers: frozenset[str]) -> None:
        """Go on with these only: a throw-away guest has shown that the others have no effect."""
        for tree in self._trees:
            tree.controllers &= controllers
        self._dropped += [tree for tree in self._trees if not tree.controllers]
        self._trees = [tree for tree in self._trees if tree.controllers]

    def close(self) -> None:
        """Remove every group once its processes are gone; waits for that a bounded time. May be called again."""
        with self._lock:
            trees, self._trees, self._dropped = [*self._trees, *self._dropped], [], []
            for tree in trees:
                tree.close()


def join(descriptor: int) -> bool:
    """Have the calling process enter the group behind a descriptor of `Groups.enter`; whether the kernel confirms it.

    "0" stands for the writer (cgroups(7)), so neither a process id nor a process namespace can point at a stranger.
    """
    try:
        os.write(descriptor, b"0")
        members = os.pread(descriptor, 65_536, 0).split()
    except OSError:
        return False
    return str(os.getpid()).encode("ascii") in members


class _Tree:
    """One sandbox's group in one hierarchy, and the groups of its slots below."""

    def __init__(self, parent: Parent, bound: Bound) -> None:
        self.version = parent.version
        self.controllers = parent.controllers
        self._made: set[int] = set()
        self._bounds: dict[int, Bound] = {}
        self._is_closed = False
        self._folder, self._held = _make_held(parent.folder)
        try:
            if self.version == 1 and "memory" in self.controllers:
                _confirm(self._folder, "memory.use_hierarchy", "1")  # memory.rst, section 6; always so since Linux 5.11
            self._bind(self._folder, bound)
            if self.version == 2:
                _enable(self._folder, self.controllers)
        except OSError:
            self.close()
            raise

    def folder_of(self, slot: int) -> str:
        return f"{self._folder}/guest-{slot}"

    def make(self, slot: int) -> None:
        """Make the group of a slot, once: one for each guest would cost more and leave dying groups in the kernel."""
        if self._is_closed:
            raise OSError(errno.ESRCH, "the groups of this sandbox are closed")
        if slot not in self._made:
            os.mkdir(self.folder_of(slot))  # noqa: PTH102 - paths are text here
            self._made.add(slot)

    def is_bound(self, slot: int, bound: Bound) -> bool:
        return self._bounds.get(slot) == bound

    def bind(self, slot: int, bound: Bound) -> None:
        if not self.is_bound(slot, bound):
            self._bounds.pop(slot, None)
            self._bind(self.folder_of(slot), bound)
            self._bounds[slot] = bound

    def _bind(self, folder: str, bound: Bound) -> None:
        if "memory" in self.controllers:
            (_bind_memory_v1 if self.version == 1 else _bind_memory_v2)(folder, bound.memory_bytes)
        if "pids" in self.controllers:
            _confirm(folder, "pids.max", str(bound.tasks))  # pids.rst; the same file in both versions

    def memory_kills(self, slot: int) -> int:
        """`oom_kill` counts processes of the group ended by any kind of OOM killer (v1: since Linux 4.13)."""
        if "memory" not in self.controllers:
            return 0
        name = "memory.oom_control" if self.version == 1 else "memory.events"
        try:
            fields = read(self.folder_of(slot), name).split()
        except OSError:
            return 0
        return int(fields[fields.index("oom_kill") + 1]) if "oom_kill" in fields else 0

    def close(self) -> None:
        self._is_closed = True
        deadline = time.monotonic() + _REMOVE_S
        while not _remove(self._held, self._folder) and time.monotonic() < deadline:
            time.sleep(_PAUSE_S)
        os.close(self._held)


def _bind_memory_v1(folder: str, size_bytes: int | None) -> None:
    """memory.rst, sections 3 and 8.5; the bound with swap may never be the lower one, so it is lifted first."""
    wanted = str(_pages(size_bytes)) if size_bytes is not None else "-1"
    has_swap_bound = os.path.exists(f"{folder}/memory.memsw.limit_in_bytes")  # noqa: PTH110 - paths are text here
    if has_swap_bound:
        write(folder, "memory.memsw.limit_in_bytes", "-1")
    _confirm(folder, "memory.limit_in_bytes", wanted)
    if has_swap_bound:
        _confirm(folder, "memory.memsw.limit_in_bytes", wanted)
    _confirm_line(folder, "memory.oom_control", "oom_kill_disable 0")  # section 10: else a full group waits for ever


def _bind_memory_v2(folder: str, size_bytes: int | None) -> None:
    """cgroup-v2.rst, "Memory Interface Files"; without swap for guests, as their bound is one of memory."""
    _confirm(folder, "memory.max", str(_pages(size_bytes)) if size_bytes is not None else "max")
    if os.path.exists(f"{folder}/memory.swap.max"):  # noqa: PTH110 - paths are text here
        _confirm(folder, "memory.swap.max", "0")


def _pages(size_bytes: int) -> int:
    """Whole pages, which is what the kernel counts in."""
    page = os.sysconf("SC_PAGE_SIZE")
    return size_bytes // page * page


def _confirm(folder: str, name: str, wanted: str) -> None:
    """Write unless it is so, and read back; "-1" reads back as the largest number there is."""
    if wanted == "-1" or read(folder, name).strip() != wanted:
        write(folder, name, wanted)
    if wanted != "-1" and read(folder, name).strip() != wanted:
        raise OSError(errno.EINVAL, f"the kernel does not confirm {name}")


def _confirm_line(folder: str, name: str, wanted: str) -> None:
    if wanted not in read(folder, name).splitlines():
        raise OSError(errno.EINVAL, f"the kernel does not confirm {wanted}")


def _enable(folder: str, controllers: frozenset[str]) -> None:
    """cgroup-v2.rst, "Enabling and Disabling": for the groups below `folder`."""
    write(folder, "cgroup.subtree_control", " ".join(f"+{name}" for name in sorted(controllers)))
    if not controllers <= set(read(folder, "cgroup.subtree_control").split()):
        raise OSError(errno.EINVAL, "the kernel does not confirm the controllers")


def _make_held(parent: str) -> tuple[str, int]:
    """A new group and a lock on it. The kernel drops the lock with this process, which is how `sweep` knows.

    Another start may take the new group for a left one before it is locked; then the next name is tried.
    """
    for _ in range(_NAMES):
        folder = f"{parent}/{PREFIX}{os.getpid()}-{os.urandom(4).hex()}"
        os.mkdir(folder)  # noqa: PTH102 - paths are text here
        with contextlib.suppress(FileNotFoundError, BlockingIOError):
            descriptor = _locked(folder)
            if os.path.isdir(folder):  # noqa: PTH112 - paths are text here
                return folder, descriptor
            os.close(descriptor)
    raise OSError(errno.EBUSY, "no group could be locked")


def _locked(folder: str) -> int:
    """A descriptor of the group with an exclusive lock.

    Raises:
        OSError: it is gone or no folder; or BlockingIOError: its host lives.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def sweep(folder: str) -> None:
    """Remove groups of ours below `folder` whose host has ended: by name and lock, never by a link, at most `_SWEPT`.

    The kernel refuses to remove a group that still has processes, so nothing that lives can be hit.
    """
    with os.scandir(folder) as entries:
        names = [e.name for e in entries if e.name.startswith(PREFIX) and e.is_dir(follow_symlinks=False)]
    for name in names[:_SWEPT]:
        with contextlib.suppress(OSError):
            descriptor = _locked(f"{folder}/{name}")
            try:
                _remove(descriptor, f"{folder}/{name}")
            finally:
                os.close(descriptor)


def _remove(descriptor: int, folder: str) -> bool:
    """Remove the groups below and the group itself; False while one still has processes."""
    try:
        with os.scandir(descriptor) as entries:
            below = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        for name in below:
            os.rmdir(name, dir_fd=descriptor)
        os.rmdir(folder)  # noqa: PTH106 - paths are text here
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
