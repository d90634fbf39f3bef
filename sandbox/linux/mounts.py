"""An empty read-only root in place of the machine's files.

Enters: nothing; needs an own mount namespace and CAP_SYS_ADMIN in it. Leaves: a process whose `/` is an empty
tmpfs; everything that was mapped or open before stays usable. Source: pivot_root(2), `pivot_root(".", ".")`.
"""

from __future__ import annotations

import os

from sandbox.linux.syscalls import call

# include/uapi/linux/mount.h
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_REC, MS_PRIVATE = 1 << 14, 1 << 18
MNT_DETACH = 2

_FLAGS = MS_NOSUID | MS_NODEV | MS_NOEXEC
_OPTIONS = b"size=4k,nr_inodes=2,mode=0555"  # tmpfs(5): the root itself and nothing more
_PLACES = ("/tmp", "/proc", "/dev")  # noqa: S108 - where the tmpfs is put for a moment; no file is made there


def empty_root() -> None:
    """Replace the file system of the calling process's mount namespace by an empty read-only one."""
    call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)
    place = next(path for path in _PLACES if os.path.isdir(path))  # noqa: PTH112 - pathlib is not loaded this early
    call("mount", b"tmpfs", place.encode("ascii"), b"tmpfs", _FLAGS, _OPTIONS)
    os.chdir(place)
    call("pivot_root", b".", b".")
    call("umount2", b".", MNT_DETACH)  # the old root, which pivot_root stacked on top of the new one
    os.chdir("/")
    call("mount", b"none", b"/", None, MS_REMOUNT | MS_RDONLY | _FLAGS, _OPTIONS)
