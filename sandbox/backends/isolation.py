"""What a zygote's facts and an examined guest's claims mean: the layers of the process backend and their remedies.

Enters: `Ready` facts and the claims of `sandbox.guest.selftest`. Leaves: an `IsolationReport`. Pure.
Required is what stops an attacker with native code on every machine; what only some machines have is extra.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sandbox.backends.base import IsolationReport, Layer
from sandbox.guest.control import Ready

_DOCKER = "use the docker backend"
_NEVER = "report it as a defect of this package"
_LANDLOCK = "boot Linux 5.13 or later with `lsm=landlock,...`, or allow user namespaces, or use the docker backend"
_USERNS = (
    "allow unprivileged user namespaces (sysctl `kernel.apparmor_restrict_unprivileged_userns=0` on Ubuntu, "
    "`user.max_user_namespaces` above 0), or start as root"
)
_CGROUPS = (
    "start as root, or under systemd with its own control group "
    "(`systemd-run --user --scope -p Delegate=yes ...`, in a service `Delegate=memory pids`)"
)

Row = tuple[str, bool, str, str]
"""Name of a layer, whether it is required, how it is tested, what to do without it."""

_TABLE: tuple[Row, ...] = (
    ("descriptors", True, "descriptors planted in a guest are closed", _NEVER),
    ("environment", True, "a guest sees no variable of the host", _NEVER),
    ("identity", True, "setuid(0), setgroups and chroot are refused", _DOCKER),
    ("parent-death", True, "the kernel confirms the signal after every change of user", _DOCKER),
    ("dumpable", True, "the kernel confirms it", _DOCKER),
    ("no-new-privs", True, "the kernel confirms it", "use Linux 3.5 or later"),
    ("memory", True, "an allocation above the limit is refused, one below succeeds", _DOCKER),
    ("files", True, "opening `/` is refused by Landlock, or the root is empty", _LANDLOCK),
    ("seccomp", True, "20 system calls outside of the table are refused", "use a kernel with CONFIG_SECCOMP_FILTER"),
    ("kill", True, "a guest that waits for ever ends by its pidfd", "use Linux 5.3 or later"),
    ("namespaces", False, "the zygote is process 1, the only interface is `lo`", _USERNS),
    ("empty-root", False, "listing `/` finds nothing", _USERNS),
    ("landlock", False, "opening `/` is refused with the filter still off", "boot with `lsm=landlock,...`"),
    ("landlock-tcp", False, "connecting is refused with the filter still off", "use Linux 6.7 or later"),
    (
        "landlock-signals",
        False,
        "signalling the zygote is refused with the filter still off",
        "use Linux 6.12 or later",
    ),
    ("landlock-abstract", False, "an outer abstract socket is out of reach", "use Linux 6.12 or later"),
    ("own-user", False, "each guest has a user id that nothing else uses", "start as root"),
    ("threads", False, "a guest cannot start more threads than its limit", _USERNS),
    ("cgroup-memory", False, "a child never has more memory at once than the group's bound", _CGROUPS),
    ("cgroup-pids", False, "a task above the group's bound is refused with the other limits still open", _CGROUPS),
)


def report(
    ready: Ready, claims: Mapping[str, bool], *, is_killed: bool, controllers: frozenset[str] = frozenset()
) -> IsolationReport:
    """The report of one start. A layer that was not claimed counts as missing.

    `controllers` are those of the control groups that guests enter.
    """
    groups = {f"cgroup-{name}": claims.get(f"cgroup-{name}", False) for name in controllers}
    counts = ready.nproc_counts or groups.get("cgroup-pids", False)
    has = {
        **claims,
        "files": claims.get("landlock", False) or (ready.empty_root and claims.get("empty-root", False)),
        "namespaces": ready.namespaces and claims.get("namespaces", False),
        "empty-root": ready.empty_root and claims.get("empty-root", False),
        "own-user": ready.slots > 0,
        "threads": counts and claims.get("threads", False),
        "cgroup-memory": False,
        "cgroup-pids": False,
        **groups,
        "kill": is_killed,
    }
    return IsolationReport(backend="process", mode=ready.mode, layers=layers(_TABLE, has))


def layers(table: Iterable[Row], has: Mapping[str, bool]) -> tuple[Layer, ...]:
    """The layers of a table; one that is not in `has` is missing."""
    return tuple(
        Layer(
            name=name,
            state=("on" if required else "extra") if has.get(name, False) else "missing",
            required=required,
            how_tested=how_tested,
            remedy=remedy,
        )
        for name, required, how_tested, remedy in table
    )
