"""The files of one session: a folder of its own on the host, bounded in bytes and in number.

Enters: names and content from programs. Leaves: content, or an OSError whose text names no path of this machine.
`Workspace.path` is the folder a person may look into; everything else about its place stays here.

Safety: a program chooses every name, and another process of the same user may plant links meanwhile. Names are parsed
(`filenames.py`), every part is opened relative to the descriptor of the one above it and never follows a link
(openat(2), O_NOFOLLOW), only plain files with one name are read or appended to, and a new content replaces an old one
by rename(2), which never writes through what is there. All methods block on the disk: call them in a thread.
"""

from __future__ import annotations

import errno
import os
import stat as modes
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from codemode.state.beneath import FILE, FOLDER, found_file, opened, plain_facts, read_all, size_of, write_all
from codemode.state.filenames import MAX_DEPTH, parse_name
from codemode.state.marker import FILES, MARKER, write_marker
from codemode.state.total import WorkspaceTotal, charge

MAX_ENTRIES = 10_000  # chosen: files and folders of one session
_NEW = "new"  # where content lies until it takes its name; beside the files, so that no listing shows it
_RECOUNT_S = 1.0  # chosen: how often a full workspace may be counted again
_TOUCH_S = 60.0  # chosen: its age is counted in days

Kind = Literal["file", "folder"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One file or folder. `modified` in seconds since the epoch; a folder's size is 0."""

    name: str
    kind: Kind
    size: int
    modified: float


class Workspace:
    """One session's files; nothing is on the disk before the first use.

    Operations of several threads take turns. Bytes and entries are counted as they change; they are counted anew at
    the first use, and when a full workspace may have been cleared by hand.

    Attributes:
        path: the folder with the files, for the person who owns this machine.
        used_bytes, entries: what is there, as far as this process knows.
    """

    def __init__(
        self,
        place: Path,
        *,
        quota_bytes: int,
        max_file_bytes: int,
        max_entries: int = MAX_ENTRIES,
        total: WorkspaceTotal | None = None,
    ) -> None:
        self.path = place / FILES
        self.used_bytes = 0
        self.entries = 0
        self._place = place
        self._quota_bytes = quota_bytes
        self._max_file_bytes = max_file_bytes
        self._max_entries = max_entries
        self._total = total
        self._lock = threading.Lock()
        self._is_made = False
        self._is_closed = False
        self._counted_s = self._touched_s = 0.0

    # -- files --------------------------------------------------------------------------------------------------------

    def read(self, name: str) -> bytes:
        """The content of a file.

        Raises:
            OSError: as everywhere here; EFBIG when it is longer than `max_file_bytes`.
        """
        with self._above(name) as (_, folder, last), opened(last, os.O_RDONLY | FILE, folder) as file:
            size = plain_facts(file).st_size
            if size > self._max_file_bytes:
                raise OSError(errno.EFBIG, f"the file has {size:,} bytes, {self._max_file_bytes:,} can be read")
            return read_all(file, size)

    def write(self, name: str, content: bytes) -> None:
        """Replace or make a file; it has the old content or the new one at any moment."""
        self._check_length(len(content))
        with self._above(name) as (top, folder, last):
            old = found_file(last, folder)
            before = old.st_size if old is not None else 0
            self._reserve(len(content) - before, 0 if old is not None else 1)
            with opened(_NEW, os.O_WRONLY | os.O_CREAT | os.O_EXCL | FILE, top) as file:
                try:
                    write_all(file, content)
                    os.rename(_NEW, last, src_dir_fd=top, dst_dir_fd=folder)
                except BaseException:
                    os.unlink(_NEW, dir_fd=top)
                    raise
            self._count(len(content) - before, 0 if old is not None else 1)

    def create(self, name: str) -> None:
        """Make an empty file; EEXIST when there is one."""
        with self._above(name) as (_, folder, last):
            self._reserve(0, 1)
            with opened(last, os.O_WRONLY | os.O_CREAT | os.O_EXCL | FILE, folder):
                self._count(0, 1)

    def append(self, name: str, content: bytes, *, at: int = -1) -> int:
        """Add to the end of a file, made when there is none; returns its new length.

        With `at`, ESTALE when the file is not that long. What cannot be added whole is not added.
        """
        with self._above(name) as (_, folder, last):
            is_new = found_file(last, folder) is None
            if is_new and at > 0:
                raise OSError(errno.ESTALE, "the file is gone")
            self._reserve(0, 1 if is_new else 0)
            with opened(last, os.O_WRONLY | os.O_CREAT | os.O_APPEND | FILE, folder) as file:
                self._count(0, 1 if is_new else 0)
                size = plain_facts(file).st_size
                if at not in (-1, size):
                    raise OSError(errno.ESTALE, f"the file has {size:,} bytes, not {at:,}")
                self._check_length(size + len(content))
                self._reserve(len(content), 0)
                try:
                    write_all(file, content)
                except BaseException:
                    os.ftruncate(file, size)
                    raise
                self._count(len(content), 0)
                return size + len(content)

    def remove(self, name: str) -> None:
        """Remove a file."""
        with self._above(name) as (_, folder, last):
            facts = os.stat(last, dir_fd=folder, follow_symlinks=False)
            if modes.S_ISDIR(facts.st_mode):
                raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
            os.unlink(last, dir_fd=folder)
            self._count(-facts.st_size if modes.S_ISREG(facts.st_mode) else 0, -1)

    def rename(self, name: str, to: str) -> None:
        """Give a file or folder another name; a file of that name is replaced."""
        target = parse_name(to)
        with self._above(name) as (top, folder, last), self._walked(target[:-1], top) as into:
            if not target:
                raise OSError(errno.EEXIST, os.strerror(errno.EEXIST))
            moved = os.stat(last, dir_fd=folder, follow_symlinks=False)
            is_folder = modes.S_ISDIR(moved.st_mode)
            if is_folder and len(target) > len(parse_name(name)):
                raise OSError(errno.EINVAL, "a folder cannot be moved further down: move its files")
            old = None if is_folder else found_file(target[-1], into)
            os.rename(last, target[-1], src_dir_fd=folder, dst_dir_fd=into)
            if old is not None and not os.path.samestat(old, moved):
                self._count(-old.st_size, -1)

    # -- folders ------------------------------------------------------------------------------------------------------

    def stat(self, name: str) -> Entry:
        """What is there."""
        if not parse_name(name):
            return Entry("", "folder", 0, 0.0)
        with self._above(name) as (_, folder, last):
            return _entry(last, os.stat(last, dir_fd=folder, follow_symlinks=False))

    def list(self, name: str) -> list[Entry]:
        """What a folder holds, sorted by name; links and the like are left out."""
        with self._inside() as top, self._walked(parse_name(name), top) as folder:
            found = []
            with os.scandir(folder) as items:
                for item in islice(items, 2 * self._max_entries):
                    facts = item.stat(follow_symlinks=False)
                    if modes.S_ISREG(facts.st_mode) or modes.S_ISDIR(facts.st_mode):
                        found.append(_entry(item.name, facts))
        return sorted(found, key=lambda entry: entry.name)

    def make_folder(self, name: str) -> None:
        """Make a folder; EEXIST when something is there."""
        if not parse_name(name):
            raise OSError(errno.EEXIST, os.strerror(errno.EEXIST))
        with self._above(name) as (_, folder, last):
            self._reserve(0, 1)
            os.mkdir(last, 0o700, dir_fd=folder)
            self._count(0, 1)

    def remove_folder(self, name: str) -> None:
        """Remove an empty folder."""
        with self._above(name) as (_, folder, last):
            os.rmdir(last, dir_fd=folder)
            self._count(0, -1)

    # -- the end ------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """The session has ended: refuse further use; a folder without files is removed, others stay for the person."""
        with self._lock:
            self._is_closed = True
            if not self._is_made:
                return
            try:
                self.path.rmdir()
                (self._place / MARKER).unlink()
                self._place.rmdir()
            except OSError:  # it holds something, or is gone
                self._disown()
            if self._total is not None:
                self._total.leave(self._place.name)

    def _disown(self) -> None:
        """Say that nobody uses these files any more: they may go when room is needed."""
        try:
            with opened(self._place, FOLDER) as place:
                write_marker(place, is_in_use=False)
        except OSError:
            return

    # -- places -------------------------------------------------------------------------------------------------------

    @contextmanager
    def _above(self, name: str) -> Iterator[tuple[int, int, str]]:
        """The descriptors of our folder and of the one that holds the name, and the name in it."""
        parts = parse_name(name)
        if not parts:
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
        with self._inside() as top, self._walked(parts[:-1], top) as folder:
            yield top, folder, parts[-1]

    @contextmanager
    def _inside(self) -> Iterator[int]:
        """Our turn, and the descriptor of our folder, made when there is none."""
        with self._lock:
            if self._is_closed:
                raise OSError(errno.EIO, "the session has ended")
            if not self._is_made or not self.path.is_dir():  # or somebody has cleared it away
                self._make()
            top = os.open(self._place, FOLDER)
            try:
                self._touch(top)
                yield top
            except OSError as error:
                raise OSError(error.errno or errno.EIO, error.strerror or "the file could not be used") from error
            finally:
                os.close(top)
                if self._total is not None:
                    self._total.settle(self._place.name, charge(self.used_bytes, self.entries))

    @contextmanager
    def _walked(self, parts: tuple[str, ...], top: int) -> Iterator[int]:
        """The descriptor of a folder below our files."""
        folder = os.open(FILES, FOLDER, dir_fd=top)
        try:
            for part in parts:
                above, folder = folder, os.open(part, FOLDER, dir_fd=folder)
                os.close(above)
            yield folder
        finally:
            os.close(folder)

    def _make(self) -> None:
        for folder in (self._place.parent, self._place, self.path):
            try:
                folder.mkdir(mode=0o700)
            except FileExistsError:
                pass
        top = os.open(self._place, FOLDER)
        try:
            write_marker(top)
            try:
                os.unlink(_NEW, dir_fd=top)  # left by a process that died while it wrote
            except FileNotFoundError:
                pass
            self._recount(top)
        finally:
            os.close(top)
        self._is_made = True

    def _touch(self, top: int) -> None:
        now = time.monotonic()
        if now - self._touched_s > _TOUCH_S:
            self._touched_s = now
            try:
                os.utime(MARKER, dir_fd=top, follow_symlinks=False)
            except FileNotFoundError:
                self._make()

    # -- the quota ----------------------------------------------------------------------------------------------------

    def _check_length(self, size: int) -> None:
        if size > self._max_file_bytes:
            raise OSError(errno.EFBIG, f"one file may have {self._max_file_bytes:,} bytes, this has {size:,}")

    def _reserve(self, more_bytes: int, more_entries: int) -> None:
        """Refuse what does not fit.

        Raises:
            OSError: ENOSPC, with what is used and what is allowed.
        """
        if not self._fits(more_bytes, more_entries) and time.monotonic() - self._counted_s > _RECOUNT_S:
            with opened(self._place, FOLDER) as top:
                self._recount(top)
        if not self._fits(more_bytes, more_entries):
            if more_bytes > 0 and self.used_bytes + more_bytes > self._quota_bytes:
                used = f"{self.used_bytes:,} of {self._quota_bytes:,} bytes are used, this needs {more_bytes:,} more"
            else:
                used = f"there are {self.entries:,} of {self._max_entries:,} files and folders"
            raise OSError(errno.ENOSPC, f"the workspace is full: {used}")
        if self._total is not None:
            then = charge(self.used_bytes + more_bytes, self.entries + more_entries)
            self._total.reserve(self._place.name, then)

    def _fits(self, more_bytes: int, more_entries: int) -> bool:
        fits_bytes = more_bytes <= 0 or self.used_bytes + more_bytes <= self._quota_bytes
        return fits_bytes and (more_entries <= 0 or self.entries + more_entries <= self._max_entries)

    def _count(self, more_bytes: int, more_entries: int) -> None:
        self.used_bytes = max(0, self.used_bytes + more_bytes)
        self.entries = max(0, self.entries + more_entries)

    def _recount(self, top: int) -> None:
        self._counted_s = time.monotonic()
        folder = os.open(FILES, FOLDER, dir_fd=top)
        try:
            self.used_bytes, self.entries = size_of(folder, MAX_DEPTH, 2 * self._max_entries)
        finally:
            os.close(folder)


def _entry(name: str, facts: os.stat_result) -> Entry:
    if modes.S_ISDIR(facts.st_mode):
        return Entry(name, "folder", 0, facts.st_mtime)
    if not modes.S_ISREG(facts.st_mode):
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
    return Entry(name, "file", facts.st_size, facts.st_mtime)
