"""Who a process is and what it may gain: user, capabilities, no_new_privs, dumpable, death with its parent.

Enters: a user id. Leaves: nothing; each function reads back what it set and raises OSError when it did not hold.
Order matters and is the caller's duty: a change of user clears the parent-death signal and needs capabilities,
so user first, then `die_with_parent`, then the rest (prctl(2), credentials(7)).
"""

from __future__ import annotations

import errno
import os
import signal
import struct

from sandbox.linux.syscalls import buffer, call

# include/uapi/linux/prctl.h
PR_SET_PDEATHSIG, PR_GET_PDEATHSIG = 1, 2
PR_GET_DUMPABLE, PR_SET_DUMPABLE = 3, 4
PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS, PR_GET_NO_NEW_PRIVS = 38, 39
PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 47, 4

_CAPABILITY_VERSION_3 = 0x20080522  # include/uapi/linux/capability.h; two 32-bit halves of each set
_CAPABILITY_SETS = struct.Struct("=6I")  # (effective, permitted, inheritable) low half, then high half
_CAPABILITY_COUNT = 64  # the sets have 64 bits; the kernel says EINVAL beyond its last one


def _prctl(option: int, *values: int) -> int:
    return call("prctl", option, *values, *([0] * (4 - len(values))))


def _must(is_so: bool, claim: str) -> None:
    if not is_so:
        raise OSError(errno.EPERM, f"the kernel does not confirm: {claim}")


def become(uid: int) -> None:
    """Take the user and group id `uid` for good, with no further groups. Needs CAP_SETUID and CAP_SETGID."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    _must(os.getresuid() == (uid, uid, uid) and os.getresgid() == (uid, uid, uid), "user and group id")
    _must(os.getgroups() == [], "no further groups")


def empty_bounding_set() -> None:
    """Drop every capability from the bounding set, as far as allowed (CAP_SETPCAP); forked children inherit that.

    Without that capability it is left as it is: no_new_privs already keeps an execve from using it.
    """
    for capability in range(_CAPABILITY_COUNT):
        try:
            _prctl(PR_CAPBSET_DROP, capability)
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.EPERM):
                return
            raise


def drop_capabilities() -> None:
    """Empty the effective, permitted, inheritable and ambient sets of the calling thread."""
    try:
        _prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    except OSError as error:
        if error.errno != errno.EINVAL:  # no ambient set before Linux 4.3
            raise
    call("capset", _header(), _CAPABILITY_SETS.pack(0, 0, 0, 0, 0, 0))
    _must(not has_capabilities(), "no capabilities")


def has_capabilities() -> bool:
    """Whether the calling thread has any effective, permitted or inheritable capability."""
    sets = buffer(_CAPABILITY_SETS.size)
    call("capget", _header(), sets)
    return any(_CAPABILITY_SETS.unpack(sets.raw))


def _header() -> bytes:
    return struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)  # 0: the calling thread


def forbid_new_privileges() -> None:
    """Set no_new_privs: no later execve gains anything; also what lets a plain user set a seccomp filter."""
    _prctl(PR_SET_NO_NEW_PRIVS, 1)
    _must(_prctl(PR_GET_NO_NEW_PRIVS) == 1, "no_new_privs")


def forbid_inspection() -> None:
    """Make the process undumpable: no core file or core pipe, no ptrace and no /proc/PID/mem by its own user."""
    _prctl(PR_SET_DUMPABLE, 0)
    _must(_prctl(PR_GET_DUMPABLE) == 0, "not dumpable")


def die_with_parent() -> None:
    """Have the kernel kill this process when the thread that forked it ends.

    The caller checks afterwards that the parent is still there: a parent that ended before sends no signal.
    """
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    _must(dies_with_parent(), "death with the parent")


def dies_with_parent() -> bool:
    """Whether the parent-death signal is still SIGKILL; a change of user or capabilities clears it."""
    number = buffer(4)
    call("prctl", PR_GET_PDEATHSIG, number, 0, 0, 0)
    value: int = struct.unpack("=i", number.raw)[0]
    return value == signal.SIGKILL
