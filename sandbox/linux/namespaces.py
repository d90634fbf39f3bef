"""Own network, process, mount, IPC and host-name namespaces.

Enters: nothing. Leaves: what was possible. Two ways (user_namespaces(7)): as root without a user namespace, so that a
later change of user works; as a plain user inside one, which maps the user to itself and to nothing else. Both are
tried in a throw-away child first, because a user namespace that turns out to be useless (AppArmor on Ubuntu 24.04
grants it without capabilities) cannot be left again.
"""

from __future__ import annotations

import os
from enum import IntFlag

from sandbox.linux import mounts
from sandbox.linux.syscalls import call

# include/uapi/linux/sched.h
CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

_OWN = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNET


class Possible(IntFlag):
    """What a throw-away child managed to do."""

    NOTHING = 0
    NAMESPACES = 1
    EMPTY_ROOT = 2


def try_out() -> Possible:
    """Do in a forked child what `enter` and `mounts.empty_root` do, and say how far it came.

    The calling process must have one thread and no child of its own.
    """
    child = os.fork()
    if child == 0:
        reached = Possible.NOTHING
        try:
            enter()
            reached |= Possible.NAMESPACES
            mounts.empty_root()
            reached |= Possible.EMPTY_ROOT
        except OSError:
            pass
        finally:
            os._exit(int(reached))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return Possible(code) if code in (0, 1, 3) else Possible.NOTHING


def enter() -> None:
    """Leave the machine's namespaces for own ones; the next forked child is process 1 of the new process namespace.

    Raises:
        OSError: not allowed; the process may then be in a half-made user namespace and must not go on.
    """
    if os.geteuid() == 0:  # root without the capability cannot map itself either (user_namespaces(7), CAP_SETFCAP)
        call("unshare", _OWN)
        return
    uid, gid = os.geteuid(), os.getegid()
    call("unshare", CLONE_NEWUSER | _OWN)
    # user_namespaces(7): a group map of an unprivileged process needs setgroups denied first.
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{uid} {uid} 1")
    _write("/proc/self/gid_map", f"{gid} {gid} 1")


def enter_unmapped_user() -> None:
    """A user namespace of its own with no id in it: since Linux 5.14 threads are counted by it alone.

    Nothing is mapped, so no id can be taken, and the capabilities that come with it reach nothing; the caller
    drops them next.
    """
    call("unshare", CLONE_NEWUSER)


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode("ascii"))
    finally:
        os.close(descriptor)
