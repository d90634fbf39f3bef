"""Runs a Python program as a plain user, for tests that start as root: `plain_user.py MODE PROGRAM [ARGUMENT...]`.

MODE: `namespaces` (user namespaces allowed), `bare` (refused, as on Ubuntu 24.04 with AppArmor), `container` (root of
a container that has the ids 0-65535 only and no other rights over the machine).
Everything happens in an own mount namespace, where folders that only root may enter get an open stand-in, so that
the interpreter and the checkout can be read; the machine's files are not touched.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY))

from sandbox.linux import mounts, namespaces  # noqa: E402
from sandbox.linux.syscalls import call  # noqa: E402

UID = 12345
MS_BIND, MS_MOVE = 4096, 8192  # include/uapi/linux/mount.h


def main(mode: str, arguments: list[str]) -> None:
    call("unshare", namespaces.CLONE_NEWNS)
    call("mount", b"none", b"/", None, mounts.MS_REC | mounts.MS_PRIVATE, None)
    for folder in {Path(sys.prefix), Path(sys.base_prefix), REPOSITORY}:
        open_way(folder)
    if mode != "namespaces":
        enter_user_namespace()
    if mode == "bare":
        Path("/proc/sys/user/max_user_namespaces").write_text("0")
    if mode != "container":
        os.setgroups([])
        os.setresgid(UID, UID, UID)
        os.setresuid(UID, UID, UID)
    os.environ["PYTHONPATH"] = str(REPOSITORY)
    os.environ["HOME"] = "/"
    os.execv(sys.executable, [sys.executable, "-B", *arguments])


def open_way(folder: Path) -> None:
    """Put an open stand-in over the highest ancestor that others cannot enter, with `folder` at its place inside."""
    for parent in reversed(folder.parents):
        if not parent.stat().st_mode & stat.S_IXOTH:
            keep = f"/proc/self/fd/{os.open(folder, os.O_PATH | os.O_DIRECTORY)}".encode()
            call("mount", b"tmpfs", bytes(parent), b"tmpfs", 0, b"mode=0755")
            folder.mkdir(parents=True)
            call("mount", keep, bytes(folder), None, MS_BIND, None)
            return


def enter_user_namespace() -> None:
    """A user namespace with the ids 0-65535, mapped by a process that stays outside."""
    entered, mapped = os.pipe(), os.pipe()
    inner = os.getpid()
    if os.fork() == 0:
        os.read(entered[0], 1)
        for kind in ("uid", "gid"):
            Path(f"/proc/{inner}/{kind}_map").write_text("0 0 65536")
        os.write(mapped[1], b"x")
        os._exit(0)
    call("unshare", namespaces.CLONE_NEWUSER)
    os.write(entered[1], b"x")
    os.read(mapped[0], 1)
    os.wait()
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
