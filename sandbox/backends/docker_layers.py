"""What a container's facts and an examined guest's claims mean: the layers of the docker backend and their remedies.

Enters: the claims of `sandbox.guest.selftest` and what the engine confirms. Leaves: an `IsolationReport`. Pure.
Required are the container's walls and the whole inner seal that needs no privilege. Landlock is extra here: the files
of the container hold nothing of the host, so the filter has a second layer behind it without Landlock too.
"""

from __future__ import annotations

from collections.abc import Mapping

from sandbox.backends.base import IsolationReport
from sandbox.backends.isolation import Row, layers
from sandbox.guest.control import Ready

_NEVER = "report it as a defect of this package"
_ENGINE = "use another engine or runtime, or the process backend"
_CGROUPS = "let the engine manage control groups for memory and pids"

_TABLE: tuple[Row, ...] = (
    ("container", True, "the zygote is process 1, the only interface is `lo`", _ENGINE),
    ("read-only", True, "the root is read-only and no mounted folder can be written", _ENGINE),
    ("descriptors", True, "descriptors planted in a guest are closed", _NEVER),
    ("environment", True, "a guest sees no variable of the host", _NEVER),
    ("identity", True, "setuid(0), setgroups and chroot are refused", _ENGINE),
    ("parent-death", True, "the kernel confirms the signal after every change of user", _ENGINE),
    ("dumpable", True, "the kernel confirms it", _ENGINE),
    ("no-new-privs", True, "the kernel confirms it", _ENGINE),
    ("memory", True, "an allocation above the limit is refused, one below succeeds", _ENGINE),
    ("seccomp", True, "20 system calls outside of the table are refused", _ENGINE),
    ("kill", True, "a guest that waits for ever ends by its pidfd or by the zygote", "use Linux 5.3 or later"),
    ("container-limits", False, "the engine confirms limits of memory and tasks", _CGROUPS),
    ("container-seccomp", False, "the engine confirms a profile", "start the engine with its default seccomp profile"),
    ("landlock", False, "opening `/` is refused with the filter still off", "boot with `lsm=landlock,...`"),
    ("landlock-tcp", False, "connecting is refused with the filter still off", "use Linux 6.7 or later"),
    (
        "landlock-signals",
        False,
        "signalling the zygote is refused with the filter still off",
        "use Linux 6.12 or later",
    ),
    ("landlock-abstract", False, "an outer abstract socket is out of reach", "use Linux 6.12 or later"),
    ("threads", False, "a guest cannot start more threads than its limit", "use the process backend as root"),
)


def report(
    ready: Ready, claims: Mapping[str, bool], *, is_killed: bool, has_limits: bool, has_profile: bool
) -> IsolationReport:
    """The report of one start. A layer that was not claimed counts as missing."""
    has = {
        **claims,
        "container": claims.get("namespaces", False),
        "kill": is_killed,
        "container-limits": has_limits,
        "container-seccomp": has_profile,
        "threads": ready.nproc_counts and claims.get("threads", False),
    }
    return IsolationReport(backend="docker", mode=ready.mode, layers=layers(_TABLE, has))
