"""One session's files on the disk: content, bounds, atomicity, and what others plant there."""

import errno
import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from codemode.state import workspace as module
from codemode.state.workspace import Entry, Workspace


@pytest.fixture
def place(tmp_path):
    return Workspace(tmp_path / "all" / "one", quota_bytes=1_000, max_file_bytes=600, max_entries=20)


def number_of(call, *arguments, **options):
    """The error number that a call ends with; the error carries no path."""
    with pytest.raises(OSError) as caught:
        call(*arguments, **options)
    assert caught.value.filename is None
    return caught.value.errno


def test_nothing_is_on_the_disk_before_the_first_use(place, tmp_path):
    assert list(tmp_path.iterdir()) == []
    place.close()
    assert list(tmp_path.iterdir()) == []


def test_what_is_written_is_read(place):
    place.write("a.txt", b"one")
    place.write("a.txt", b"two!")
    assert place.read("a.txt") == b"two!"
    assert (place.used_bytes, place.entries) == (4, 1)


def test_folders_and_files_belong_to_their_owner_only(place):
    place.make_folder("f")
    place.write("f/a", b"x")
    place.append("f/b", b"x")
    place.create("f/c")
    modes = [stat.S_IMODE((place.path / name).stat().st_mode) for name in ("", "f", "f/a", "f/b", "f/c")]
    assert modes == [0o700, 0o700, 0o600, 0o600, 0o600]
    assert stat.S_IMODE(place.path.parent.parent.stat().st_mode) == 0o700


def test_appending_makes_a_file_and_says_how_long_it_is(place):
    assert [place.append("log", b"ab"), place.append("log", b"c"), place.append("log", b"")] == [2, 3, 3]
    assert place.read("log") == b"abc"
    assert (place.used_bytes, place.entries) == (3, 1)


def test_appending_at_a_place_needs_a_file_of_that_length(place):
    place.write("log", b"ab")
    assert place.append("log", b"c", at=2) == 3
    assert number_of(place.append, "log", b"d", at=2) == errno.ESTALE
    assert number_of(place.append, "none", b"d", at=2) == errno.ESTALE
    assert (place.read("log"), place.entries) == (b"abc", 1)


def test_making_a_file_that_is_there_is_refused(place):
    place.create("a")
    assert number_of(place.create, "a") == errno.EEXIST
    assert place.read("a") == b""


def test_facts_and_listings_are_sorted_and_name_kinds(place):
    place.make_folder("sub")
    place.write("b", b"12")
    place.write("a", b"")
    assert [(entry.name, entry.kind, entry.size) for entry in place.list("")] == [
        ("a", "file", 0),
        ("b", "file", 2),
        ("sub", "folder", 0),
    ]
    assert place.stat("") == Entry("", "folder", 0, 0.0)
    assert place.stat("b").modified > 1e9


def test_errors_are_those_of_the_system(place):
    place.make_folder("sub")
    place.write("sub/file", b"")
    assert number_of(place.read, "none") == errno.ENOENT
    assert number_of(place.write, "none/a", b"") == errno.ENOENT
    assert number_of(place.read, "sub") == errno.EISDIR
    assert number_of(place.read, "") == errno.EISDIR
    assert number_of(place.write, "sub", b"") == errno.EISDIR
    assert number_of(place.append, "sub", b"") == errno.EISDIR
    assert number_of(place.remove, "sub") == errno.EISDIR
    assert number_of(place.remove, "none") == errno.ENOENT
    assert number_of(place.list, "sub/file") == errno.ENOTDIR
    assert number_of(place.write, "sub/file/x", b"") == errno.ENOTDIR
    assert number_of(place.make_folder, "sub") == errno.EEXIST
    assert number_of(place.make_folder, "") == errno.EEXIST
    assert number_of(place.remove_folder, "sub") == errno.ENOTEMPTY
    assert number_of(place.remove_folder, "sub/file") == errno.ENOTDIR
    assert number_of(place.rename, "none", "a") == errno.ENOENT
    assert number_of(place.rename, "sub/file", "sub") == errno.EISDIR
    assert number_of(place.rename, "sub/file", "") == errno.EEXIST


def test_renaming_replaces_a_file_and_its_bytes_are_free_again(place):
    place.write("old", b"12345")
    place.write("new", b"1")
    place.rename("new", "old")
    place.rename("old", "old")
    assert (place.read("old"), place.used_bytes, place.entries) == (b"1", 1, 1)


def test_a_folder_moves_with_what_is_in_it_but_not_further_down(place):
    place.make_folder("a")
    place.write("a/x", b"1")
    place.rename("a", "b")
    assert place.read("b/x") == b"1"
    place.make_folder("c")
    assert number_of(place.rename, "b", "c/b") == errno.EINVAL


# -- bounds -----------------------------------------------------------------------------------------------------------


def test_the_quota_of_bytes_names_what_is_used_and_allowed(place):
    place.write("a", b"x" * 600)
    with pytest.raises(OSError, match="600 of 1,000 bytes are used, this needs 401 more") as caught:
        place.write("b", b"x" * 401)
    assert caught.value.errno == errno.ENOSPC
    place.write("b", b"x" * 400)
    assert number_of(place.append, "b", b"x") == errno.ENOSPC
    assert (place.read("b"), place.used_bytes) == (b"x" * 400, 1_000)


def test_a_new_content_may_take_the_room_of_the_old(place):
    place.write("a", b"x" * 600)
    place.write("b", b"x" * 400)
    place.write("a", b"y" * 600)
    place.write("a", b"y")
    assert place.used_bytes == 401


def test_one_file_has_a_bound_of_its_own(place):
    assert number_of(place.write, "a", b"x" * 601) == errno.EFBIG
    place.write("a", b"x" * 600)
    assert number_of(place.append, "a", b"x") == errno.EFBIG
    (place.path / "by hand").write_bytes(b"x" * 601)
    assert number_of(place.read, "by hand") == errno.EFBIG


def test_the_number_of_files_and_folders_is_bounded(place):
    for n in range(10):
        place.make_folder(f"d{n}")
        place.create(f"f{n}")
    for call in (lambda: place.create("x"), lambda: place.write("x", b""), lambda: place.make_folder("x")):
        with pytest.raises(OSError, match="there are 20 of 20 files and folders") as caught:
            call()
        assert caught.value.errno == errno.ENOSPC
    assert number_of(place.append, "x", b"") == errno.ENOSPC
    place.write("f0", b"still")
    place.remove("f1")
    place.remove_folder("d1")
    place.create("x")
    assert place.entries == 19


def test_sixty_four_threads_never_exceed_the_quota(tmp_path):
    place = Workspace(tmp_path / "s", quota_bytes=10_000, max_file_bytes=10_000)

    def fill(n):
        refused = set()
        for step in range(20):
            try:
                place.append(f"f{n % 8}", b"x" * 97)
                place.write(f"g{n}", b"y" * (step + 1))
            except OSError as error:
                refused.add(error.errno)
        return refused

    with ThreadPoolExecutor(64) as pool:
        assert set().union(*pool.map(fill, range(64))) == {errno.ENOSPC}
    on_disk = sum(path.stat().st_size for path in place.path.iterdir())
    assert on_disk == place.used_bytes <= 10_000


def test_room_that_a_person_has_cleared_is_found_again(place, monkeypatch):
    monkeypatch.setattr(module, "_RECOUNT_S", 0.0)
    place.write("a", b"x" * 600)
    place.write("b", b"x" * 400)
    (place.path / "a").unlink()
    place.write("c", b"x" * 600)
    assert (place.used_bytes, place.entries) == (1_000, 2)


def test_a_full_workspace_is_not_counted_again_for_every_refusal(place, monkeypatch):
    monkeypatch.setattr(module, "_RECOUNT_S", 1e9)
    place.write("a", b"x" * 600)
    monkeypatch.setattr(place, "_recount", None)
    for _ in range(100):
        assert number_of(place.write, "b", b"x" * 500) == errno.ENOSPC


def test_what_was_there_before_a_crash_counts_and_half_a_write_does_not(tmp_path):
    first = Workspace(tmp_path / "s", quota_bytes=1_000, max_file_bytes=600)
    first.make_folder("d")
    first.write("d/a", b"x" * 600)
    (tmp_path / "s" / "new").write_bytes(b"half")
    again = Workspace(tmp_path / "s", quota_bytes=1_000, max_file_bytes=600)
    assert number_of(again.write, "b", b"x" * 401) == errno.ENOSPC
    assert (again.used_bytes, again.entries) == (600, 2)
    assert not (tmp_path / "s" / "new").exists()


def test_a_write_that_fails_leaves_the_old_content_and_nothing_else(place, monkeypatch):
    place.write("a", b"old")
    place.append("log", b"12")

    def half(file, content):
        os.write(file, content[:1])
        raise OSError(errno.EIO, "the disk is gone")

    monkeypatch.setattr(module, "write_all", half)
    assert number_of(place.write, "a", b"new") == errno.EIO
    assert number_of(place.append, "log", b"345") == errno.EIO
    assert (place.read("a"), place.read("log"), place.used_bytes) == (b"old", b"12", 5)
    assert sorted(item.name for item in place.path.parent.iterdir()) == ["files", "workspace.json"]


# -- what others plant there ------------------------------------------------------------------------------------------


@pytest.fixture
def secret(tmp_path):
    file = tmp_path / "secret"
    file.write_bytes(b"secret")
    return file


def test_a_link_to_a_file_is_neither_read_nor_written_through(place, secret):
    place.create("other")
    (place.path / "link").symlink_to(secret)
    assert number_of(place.read, "link") in (errno.ELOOP, errno.EACCES)
    assert number_of(place.write, "link", b"x") == errno.EACCES
    assert number_of(place.append, "link", b"x") == errno.EACCES
    assert number_of(place.create, "link") == errno.EEXIST
    assert number_of(place.stat, "link") == errno.ENOENT
    assert number_of(place.rename, "other", "link") == errno.EACCES
    assert [entry.name for entry in place.list("")] == ["other"]
    place.remove("link")
    assert secret.read_bytes() == b"secret"


def test_a_link_to_a_folder_is_not_entered(place, tmp_path, secret):
    place.create("other")
    (place.path / "link").symlink_to(tmp_path)
    for call in (
        lambda: place.read("link/secret"),
        lambda: place.write("link/secret", b"x"),
        lambda: place.list("link"),
        lambda: place.make_folder("link/new"),
        lambda: place.remove("link/secret"),
        lambda: place.rename("other", "link/other"),
        lambda: place.rename("link/secret", "mine"),
        lambda: place.remove_folder("link"),
    ):
        assert number_of(call) in (errno.ENOTDIR, errno.ELOOP)
    assert secret.read_bytes() == b"secret"


def test_a_link_in_the_place_of_the_whole_folder_is_not_entered(place, tmp_path, secret):
    place.create("a")
    place.path.rename(tmp_path / "moved")
    place.path.symlink_to(tmp_path)
    assert number_of(place.read, "secret") in (errno.ENOTDIR, errno.ELOOP)
    assert number_of(place.write, "secret", b"x") in (errno.ENOTDIR, errno.ELOOP)


def test_a_file_with_a_second_name_is_neither_read_nor_appended_to(place, secret):
    place.create("other")
    os.link(secret, place.path / "hard")
    assert number_of(place.read, "hard") == errno.EACCES
    assert number_of(place.append, "hard", b"x") == errno.EACCES
    place.write("hard", b"mine")  # takes the name, not the file
    assert (secret.read_bytes(), place.read("hard")) == (b"secret", b"mine")


def test_a_pipe_holds_nobody_up(place):
    place.create("other")
    os.mkfifo(place.path / "pipe")
    assert number_of(place.read, "pipe") == errno.EACCES
    assert number_of(place.write, "pipe", b"x") == errno.EACCES
    assert number_of(place.append, "pipe", b"x") == errno.EACCES
    assert number_of(place.stat, "pipe") == errno.ENOENT


def test_a_link_that_is_planted_between_look_and_write_is_replaced_and_not_followed(place, secret, monkeypatch):
    place.write("a", b"old")
    found = module.found_file

    def plant(name, folder):
        facts = found(name, folder)
        (place.path / name).unlink()
        (place.path / name).symlink_to(secret)
        return facts

    monkeypatch.setattr(module, "found_file", plant)
    place.write("a", b"new")
    assert (place.path / "a").read_bytes() == b"new"
    assert not (place.path / "a").is_symlink()
    assert number_of(place.append, "a", b"x") == errno.ELOOP
    assert secret.read_bytes() == b"secret"


# -- the end ----------------------------------------------------------------------------------------------------------


def test_an_empty_workspace_is_removed_at_the_end_and_another_stays(tmp_path):
    for name, content in (("empty", b""), ("kept", b"x")):
        place = Workspace(tmp_path / name, quota_bytes=1_000, max_file_bytes=600)
        place.write("a", content)
        if not content:
            place.remove("a")
        place.close()
        assert number_of(place.read, "a") == errno.EIO
    assert [item.name for item in tmp_path.iterdir()] == ["kept"]


def test_a_folder_that_was_cleared_away_is_made_again(place):
    place.write("a", b"x")
    for item in (place.path / "a", place.path.parent / "workspace.json"):
        item.unlink()
    place.path.rmdir()
    place.path.parent.rmdir()
    place.write("b", b"yy")
    assert (place.read("b"), place.used_bytes, place.entries) == (b"yy", 2, 1)
