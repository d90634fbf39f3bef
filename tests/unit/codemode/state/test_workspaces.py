"""Workspaces that nobody has used for a week are cleared away, and nothing else is."""

import json
import os
import subprocess
import sys

import pytest

from codemode.state import workspaces as module
from codemode.state.owner import identity
from codemode.state.workspaces import KEPT_S, Workspaces

DEAD, ALIVE, YOUNG, FOREIGN = (f"{n:032x}" for n in range(4))
NOW_S = 2_000_000_000.0


@pytest.fixture
def dead_owner():
    done = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner = identity(done.pid)
    done.communicate(b"\n")
    return owner


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "workspaces"


@pytest.fixture
def all_of_them(folder):
    return Workspaces(folder, quota_bytes=10_000, max_file_bytes=1_000, total_bytes=1 << 30)


def make(all_of_them, session, *, owner, used_s):
    place = all_of_them.of(session)
    place.make_folder("d")
    place.write("d/report.csv", b"x")
    marker = place.path.parent / "workspace.json"
    marker.write_text(json.dumps({"format": 1, "owner": owner}))
    os.utime(marker, (used_s, used_s))
    return place.path.parent


def left(folder):
    return sorted(item.name for item in folder.iterdir())


def test_only_what_a_dead_process_left_a_week_ago_is_removed(all_of_them, folder, dead_owner):
    old = NOW_S - KEPT_S - 1
    make(all_of_them, DEAD, owner=dead_owner, used_s=old)
    make(all_of_them, ALIVE, owner=identity(os.getpid()), used_s=old)
    make(all_of_them, YOUNG, owner=dead_owner, used_s=NOW_S - KEPT_S + 60)
    (make(all_of_them, FOREIGN, owner=dead_owner, used_s=old) / "workspace.json").unlink()
    assert all_of_them.sweep(NOW_S) == 1
    assert left(folder) == [ALIVE, YOUNG, FOREIGN]


def test_without_a_folder_there_is_nothing_to_do(all_of_them):
    assert all_of_them.sweep(NOW_S) == 0


def test_a_link_is_removed_as_a_link(all_of_them, folder, tmp_path, dead_owner):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_bytes(b"x")
    place = make(all_of_them, DEAD, owner=dead_owner, used_s=0)
    (place / "files" / "link").symlink_to(outside)
    (place / "files" / "d" / "file link").symlink_to(outside / "precious")
    (folder / YOUNG).symlink_to(outside)
    (folder / "other").mkdir()
    assert all_of_them.sweep(NOW_S) == 1
    assert left(folder) == [YOUNG, "other"]
    assert (outside / "precious").read_bytes() == b"x"


def test_a_marker_that_is_a_link_or_a_pipe_or_says_nothing_counts_for_nothing(
    all_of_them, folder, tmp_path, dead_owner
):
    for session, kind in ((DEAD, "link"), (ALIVE, "pipe"), (YOUNG, "text"), (FOREIGN, "list")):
        marker = make(all_of_them, session, owner=dead_owner, used_s=0) / "workspace.json"
        said = marker.read_text()
        marker.unlink()
        if kind == "link":
            (tmp_path / "marker").write_text(said)
            marker.symlink_to(tmp_path / "marker")
        elif kind == "pipe":
            os.mkfifo(marker)
        else:
            marker.write_text("x" if kind == "text" else "[" * 5_000)
    assert all_of_them.sweep(NOW_S) == 0
    assert len(left(folder)) == 4


def test_a_sweep_removes_only_so_much_and_the_next_goes_on(all_of_them, folder, dead_owner, monkeypatch):
    monkeypatch.setattr(module, "_MAX_REMOVALS", 30)
    place = make(all_of_them, DEAD, owner=dead_owner, used_s=0)
    for n in range(50):
        (place / "files" / f"{n}").write_bytes(b"")
    assert all_of_them.sweep(NOW_S) == 0
    assert 15 < len(list((place / "files").iterdir())) < 51
    assert all_of_them.sweep(NOW_S) == 1
    assert left(folder) == []


def test_without_a_quota_there_are_no_files(folder):
    assert Workspaces(folder, quota_bytes=0, max_file_bytes=1, total_bytes=1).of(DEAD) is None
