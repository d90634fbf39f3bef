"""What a start removes of other hosts' groups, in plain folders that stand for groups."""

import fcntl
import os
import sys

import pytest

from sandbox.linux import cgroups
from sandbox.linux.cgroups import Bound, Groups

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="did not run: needs Linux")


def test_groups_of_a_host_that_has_ended_are_removed_with_those_below(tmp_path):
    (tmp_path / "codemode-1-ab" / "guest-0").mkdir(parents=True)
    cgroups.sweep(str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_groups_of_a_host_that_lives_stay(tmp_path):
    group = tmp_path / "codemode-1-ab"
    group.mkdir()
    held = os.open(group, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    cgroups.sweep(str(tmp_path))
    assert group.exists()
    os.close(held)
    cgroups.sweep(str(tmp_path))
    assert not group.exists()


def test_what_others_made_stays(tmp_path):
    (tmp_path / "docker" / "guest-0").mkdir(parents=True)
    (tmp_path / "codemode-file").touch()
    cgroups.sweep(str(tmp_path))
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["codemode-file", "docker"]
    assert (tmp_path / "docker" / "guest-0").exists()


def test_no_link_is_followed(tmp_path):
    target = tmp_path / "elsewhere" / "codemode-target"
    (target / "kept").mkdir(parents=True)
    place = tmp_path / "place"
    place.mkdir()
    (place / "codemode-link").symlink_to(target)
    (place / "codemode-1-ab").mkdir()
    (place / "codemode-1-ab" / "link").symlink_to(target)
    cgroups.sweep(str(place))
    assert (target / "kept").exists()
    assert (place / "codemode-link").is_symlink()


def test_one_start_removes_a_bounded_number(tmp_path):
    for number in range(70):
        (tmp_path / f"codemode-{number}").mkdir()
    cgroups.sweep(str(tmp_path))
    assert len(list(tmp_path.iterdir())) == 6


def test_groups_that_were_never_opened_do_nothing():
    groups = Groups()
    assert groups.controllers == frozenset()
    assert groups.enter(0, Bound(memory_bytes=1, tasks=1)) == []
    groups.bind(0, Bound(memory_bytes=1, tasks=1))
    assert groups.memory_kills(0) == 0
    groups.close()


def test_places_without_the_files_of_a_group_are_no_error(tmp_path, monkeypatch):
    parent = cgroups.Parent(version=2, folder=str(tmp_path), controllers=frozenset({"memory", "pids"}))
    gone = cgroups.Parent(version=1, folder=str(tmp_path / "gone"), controllers=frozenset({"pids"}))
    monkeypatch.setattr(cgroups, "parents", lambda: [parent, gone])
    groups = Groups()
    groups.open(Bound(memory_bytes=1 << 20, tasks=1))
    assert groups.controllers == frozenset()
    assert list(tmp_path.iterdir()) == []
    groups.close()


def test_a_descriptor_that_is_no_group_cannot_be_joined(tmp_path):
    (tmp_path / "file").write_text("")
    with open(tmp_path / "file", "r+") as file:
        assert not cgroups.join(file.fileno())
