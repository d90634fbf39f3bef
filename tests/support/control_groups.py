"""Groups of this process on this machine, as tests look at them from outside."""

import os
from contextlib import contextmanager
from pathlib import Path

import pytest

from sandbox.linux.cgroup_places import PREFIX, parents


def need_groups() -> None:
    """Skip the calling test unless memory and tasks can be bounded by groups here."""
    there = {name for parent in parents() if os.access(parent.folder, os.W_OK) for name in parent.controllers}
    if there != {"memory", "pids"}:
        pytest.skip("did not run: no control groups for memory and pids can be made here")


def groups_of(pid: int) -> set[Path]:
    """Groups of the sandboxes that a process has open; it shares this process's own groups."""
    return {path for parent in parents() for path in Path(parent.folder).glob(f"{PREFIX}{pid}-*")}


def ours() -> set[Path]:
    """Groups of the sandboxes that this process has open."""
    return groups_of(os.getpid())


def members(group: Path) -> list[int]:
    """Processes of a group, in this process's numbers; none once it is gone."""
    try:
        return [int(pid) for pid in (group / "cgroup.procs").read_text().split()]
    except OSError:  # removed before or while it is read
        return []


def bound(group: Path) -> int:
    """The memory bound of a group in bytes."""
    names = ("memory.max", "memory.limit_in_bytes")
    return next(int((group / name).read_text()) for name in names if (group / name).exists())


@contextmanager
def delegated_to(uid: int):
    """Groups that a plain user may use, one in each place, as an administrator would make them; removed at the end."""
    made = []
    try:
        for parent in parents():
            group = Path(parent.folder) / f"delegated-{os.getpid()}"
            group.mkdir()
            made.append(group)
            for path in (group, *group.iterdir()):
                if path.name in ("cgroup.procs", "cgroup.subtree_control", "cgroup.threads") or path == group:
                    os.chown(path, uid, uid)
        yield made
    finally:
        for group in made:
            assert not list(group.glob("*/")), "its users have removed what they made"
            group.rmdir()
