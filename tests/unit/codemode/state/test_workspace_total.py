"""All workspaces together take so much of the disk and no more; those that nobody uses go first."""

import errno
import json
import os
import subprocess
import sys

import pytest

from codemode.state import total as module
from codemode.state.owner import identity
from codemode.state.total import WorkspaceTotal, charge
from codemode.state.workspaces import Workspaces

ONE, TWO, THREE, FOUR, FIVE = (f"{n:032x}" for n in range(1, 6))
FILE = charge(10_000, 1)  # what a workspace with one file of 10,000 bytes counts
ROOM = 2 * FILE + 1_000


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "workspaces"


@pytest.fixture(autouse=True)
def always_looking(monkeypatch):
    """What others do shows at once."""
    monkeypatch.setattr(module, "_SOON_S", -1.0)


def open_folder(folder, total_bytes=ROOM):
    return Workspaces(folder, quota_bytes=1 << 20, max_file_bytes=1 << 20, total_bytes=total_bytes)


def left(folder):
    return sorted(item.name for item in folder.iterdir())


def keep(all_of_them, session, *, used_s):
    """A workspace of an ended session."""
    place = all_of_them.of(session)
    place.write("report", b"x" * 10_000)
    place.close()
    os.utime(place.path.parent / "workspace.json", (used_s, used_s))


def refusal(write, *arguments):
    with pytest.raises(OSError) as caught:
        write(*arguments)
    assert caught.value.errno == errno.ENOSPC
    return caught.value.strerror


def test_the_longest_unused_workspace_goes_when_another_needs_the_room(folder):
    keep(open_folder(folder), ONE, used_s=2_000)
    keep(open_folder(folder), TWO, used_s=1_000)
    all_of_them = open_folder(folder)
    all_of_them.of(THREE).write("a", b"x" * 10_000)
    assert left(folder) == [ONE, THREE]


def test_no_more_is_removed_than_is_needed_and_nothing_while_there_is_room(folder):
    for number, session in enumerate((ONE, TWO, THREE)):
        keep(open_folder(folder, 10 * FILE), session, used_s=number)
    open_folder(folder, 4 * FILE).of(FOUR).write("a", b"x" * 10_000)
    assert left(folder) == [ONE, TWO, THREE, FOUR]
    open_folder(folder, 3 * FILE).of(FIVE).write("a", b"")
    assert left(folder) == [THREE, FOUR, FIVE]


def test_a_workspace_in_use_never_goes_and_the_refusal_names_the_setting(folder):
    all_of_them = open_folder(folder)
    one, two, three = (all_of_them.of(session) for session in (ONE, TWO, THREE))
    one.write("a", b"x" * 10_000)
    two.write("a", b"x" * 10_000)
    text = refusal(three.write, "a", b"x" * 10_000)
    assert "`limits.all_workspaces_bytes`" in text
    assert f"of {ROOM:,} bytes are used, this needs 26,384 more" in text
    assert (one.read("a"), two.read("a")) == (b"x" * 10_000, b"x" * 10_000)
    assert three.list("") == []


def test_what_is_removed_or_replaced_makes_room_again(folder):
    all_of_them = open_folder(folder, 2 * FILE + charge(1_000, 0))
    one, two, three = (all_of_them.of(session) for session in (ONE, TWO, THREE))
    one.write("a", b"x" * 10_000)
    two.write("a", b"x" * 10_000)
    refusal(three.write, "a", b"x" * 9_000)
    one.remove("a")
    three.write("a", b"x")
    two.write("a", b"")
    three.append("a", b"x" * 9_999)
    assert three.read("a") == b"x" * 10_000


def test_a_session_that_ends_in_this_process_leaves_files_that_may_go(folder):
    all_of_them = open_folder(folder)
    keep(all_of_them, ONE, used_s=1_000)
    two = all_of_them.of(TWO)
    two.write("a", b"x" * 10_000)
    all_of_them.of(THREE).write("a", b"x" * 10_000)
    assert left(folder) == [TWO, THREE]


def test_empty_files_and_folders_count_too(folder):
    place = open_folder(folder, charge(0, 5)).of(ONE)
    for number in range(5):
        place.create(str(number)) if number % 2 else place.make_folder(str(number))
    assert "this needs 4,096 more" in refusal(place.create, "6")


def test_the_workspace_of_another_process_counts_and_goes_only_when_that_has_ended(folder):
    keep(open_folder(folder), ONE, used_s=1_000)
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    marker = folder / ONE / "workspace.json"
    marker.write_text(json.dumps({"format": 1, "owner": identity(other.pid)}))
    all_of_them = open_folder(folder)
    two = all_of_them.of(TWO)
    two.write("a", b"x" * 10_000)
    refusal(two.write, "b", b"x" * 10_000)
    other.communicate(b"\n")
    two.write("b", b"x" * 10_000)
    assert left(folder) == [TWO]


def test_a_folder_without_our_marker_is_neither_counted_nor_removed(folder):
    keep(open_folder(folder), ONE, used_s=1_000)
    (folder / ONE / "workspace.json").unlink()
    all_of_them = open_folder(folder, FILE)
    all_of_them.of(TWO).write("a", b"x" * 10_000)
    assert left(folder) == [ONE, TWO]


def test_a_link_in_an_old_workspace_is_removed_as_a_link(folder, tmp_path):
    precious = tmp_path / "precious"
    precious.write_bytes(b"x")
    keep(open_folder(folder), ONE, used_s=1_000)
    (folder / ONE / "files" / "link").symlink_to(precious)
    open_folder(folder, FILE).of(TWO).write("a", b"x" * 10_000)
    assert left(folder) == [TWO]
    assert precious.read_bytes() == b"x"


def test_a_write_that_fails_gives_its_room_back(folder):
    total = WorkspaceTotal(folder, 100_000)
    total.reserve(ONE, 90_000)
    assert "this needs 20,000 more" in refusal(total.reserve, TWO, 20_000)
    total.settle(ONE, 0)
    total.reserve(TWO, 90_000)
    assert total.used_bytes == 90_000
