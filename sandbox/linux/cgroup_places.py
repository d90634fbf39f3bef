"""Where this process may make control groups for its guests: in its own group, in each hierarchy.

Enters: /proc/self/cgroup and /proc/self/mountinfo. Leaves: folders with the controllers that may be used there.
Version 1 has a hierarchy for each controller, and groups below a group with processes are allowed. Version 2 has one
for all, where a group with processes cannot pass controllers on (cgroup-v2.rst, "No Internal Process Constraint"):
where the own group was delegated to us, this process and what it started move to a leaf of it first.

Sources: cgroups(7), proc(5); systemd's "Control Group APIs and Delegation" for the mark of a delegated group.
Never above the own group, except to its parent when the own group is such a leaf.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

CONTROLLERS = frozenset({"memory", "pids"})
PREFIX = "codemode-"
"""How the names of our groups begin; nothing else is ever removed."""

_MARKS = ("user.delegate", "trusted.delegate")  # extended attributes that systemd sets; `Delegate=yes`
_SUBGROUP_TRIES = 3  # chosen: while we move, what we started may start more
_ANCESTORS = 64  # chosen: of a process, looked at to tell whether it is ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """The groups of one process, as folders that can be seen: by controller in version 1, one in version 2.

    `is_top` says that the group of version 2 is the top of what can be seen: of the machine or of a container.
    """

    v1: Mapping[str, str]
    v2: str | None
    is_top: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Parent:
    """A folder in which groups with these controllers can be made."""

    version: int
    folder: str
    controllers: frozenset[str]


def parse_own(cgroup: str, mountinfo: str) -> Own:
    """What /proc/PID/cgroup and /proc/PID/mountinfo of one process say together."""
    mounts = [mount for line in mountinfo.splitlines() if (mount := _mount(line)) is not None]
    v1: dict[str, str] = {}
    v2: str | None = None
    is_top = False
    for line in cgroup.splitlines():
        number, names, path = line.split(":", 2)
        for kind, root, point, options in mounts:
            if kind == "cgroup2" and number == "0" and v2 is None:
                v2 = _below(point, root, path)
                is_top = v2 == point
            for name in CONTROLLERS & set(names.split(",")):
                folder = _below(point, root, path) if kind == "cgroup" and name in options else None
                if folder is not None:
                    v1.setdefault(name, folder)
    return Own(v1=v1, v2=v2, is_top=is_top)


def _mount(line: str) -> tuple[str, str, str, list[str]] | None:
    """proc(5): file-system type, root inside it, mount point, options of the file system."""
    before, _, after = line.partition(" - ")
    fields, rest = before.split(" "), after.split(" ")
    if len(fields) < 6 or len(rest) < 3 or rest[0] not in ("cgroup", "cgroup2"):
        return None
    return rest[0], _plain(fields[3]), _plain(fields[4]), rest[2].split(",")


def _plain(text: str) -> str:
    """Undo the octal escapes of spaces, tabs, line ends and backslashes."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)


def _below(point: str, root: str, path: str) -> str | None:
    """The folder of a group whose `path` counts from the same top as the mount's `root`; None when it is outside."""
    if path == root:
        return point
    inner = path if root == "/" else path.removeprefix(root) if path.startswith(f"{root}/") else ""
    return point.rstrip("/") + inner if inner.startswith("/") and ".." not in inner.split("/") else None


def parents() -> list[Parent]:
    """Where groups may be made now; makes no group but the leaf that version 2 may need. Never raises."""
    try:
        with open("/proc/self/cgroup", encoding="utf-8") as one, open("/proc/self/mountinfo", encoding="utf-8") as two:
            own = parse_own(one.read(), two.read())
    except (OSError, ValueError):
        return []
    found: dict[str, frozenset[str]] = {}
    for name, folder in sorted(own.v1.items()):
        found[folder] = found.get(folder, frozenset()) | {name}
    places = [Parent(version=1, folder=folder, controllers=names) for folder, names in found.items()]
    left = CONTROLLERS - set(own.v1)
    if own.v2 is not None and left:
        with contextlib.suppress(OSError):
            places += _parent_v2(own.v2, left, is_top=own.is_top)
    return places


def _parent_v2(own: str, wanted: frozenset[str], *, is_top: bool) -> Iterator[Parent]:
    """The first folder that passes on, or can be made to pass on, what is wanted of what it has itself."""
    above = os.path.dirname(own)  # noqa: PTH120 - paths are text here
    is_leaf = not is_top and (os.path.basename(own).startswith(PREFIX) or _is_marked(above))  # noqa: PTH119
    folder = above if is_leaf else own
    controllers = wanted & _words(folder, "cgroup.controllers")
    if not controllers:
        return
    if not controllers <= _words(folder, "cgroup.subtree_control"):
        if not (is_leaf or is_top or _is_marked(own) or _is_users(own)):
            return
        _pass_on(folder, controllers)
    yield Parent(version=2, folder=folder, controllers=controllers)


def _is_marked(folder: str) -> bool:
    for name in _MARKS:
        with contextlib.suppress(OSError):
            if os.getxattr(folder, name) == b"1":
                return True
    return False


def _is_users(folder: str) -> bool:
    """cgroup-v2.rst, "Model of Delegation": write access is what delegates to a plain user. Root may write anywhere."""
    names = (folder, f"{folder}/cgroup.procs", f"{folder}/cgroup.subtree_control")
    return os.geteuid() != 0 and all(os.access(name, os.W_OK) for name in names)


def _pass_on(folder: str, controllers: frozenset[str]) -> None:
    """Have `folder` pass controllers on; when it has processes and all are ours, they move to a leaf.

    Raises:
        OSError: refused, or there are processes of others.
    """
    text = " ".join(f"+{name}" for name in sorted(controllers))
    for _ in range(_SUBGROUP_TRIES):
        try:
            write(folder, "cgroup.subtree_control", text)
            return
        except OSError:
            _move_aside(folder)
    write(folder, "cgroup.subtree_control", text)


def _move_aside(folder: str) -> None:
    """This process and its descendants, into a leaf. It stays until they end; the next start removes it."""
    members = [int(pid) for pid in read(folder, "cgroup.procs").split()]
    if not members or not all(_is_ours(pid) for pid in members):
        raise OSError(16, "the group has processes of others")  # EBUSY
    leaf = f"{folder}/{PREFIX}host-{os.getpid()}"
    with contextlib.suppress(FileExistsError):
        os.mkdir(leaf)  # noqa: PTH102 - paths are text here
    for pid in members:
        with contextlib.suppress(ProcessLookupError):
            write(leaf, "cgroup.procs", str(pid))


def _is_ours(pid: int) -> bool:
    """Whether it is this process or one that descends from it. 0 is a process of another namespace."""
    for _ in range(_ANCESTORS):
        if pid == os.getpid():
            return True
        if pid <= 1:
            return False
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                pid = int(file.read().rpartition(")")[2].split()[1])  # proc(5): the fourth field, after the name
        except OSError:
            return False
    return False


def _words(folder: str, name: str) -> frozenset[str]:
    return frozenset(read(folder, name).split())


def read(folder: str, name: str) -> str:
    """A file of a group."""
    with open(f"{folder}/{name}", encoding="ascii", errors="replace") as file:
        return file.read()


def write(folder: str, name: str, text: str) -> None:
    """Write a file of a group with one call, as the kernel wants it."""
    descriptor = os.open(f"{folder}/{name}", os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode("ascii"))
    finally:
        os.close(descriptor)
