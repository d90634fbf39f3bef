"""Opens, reads, measures and removes files relative to the descriptor of the folder above, never through a link.

Enters: descriptors and names. Leaves: facts and content, or OSErrors.

Safety: another process of the same user may plant links and exchange folders meanwhile: every name is opened relative
to a descriptor that is held (openat(2), O_NOFOLLOW), and every walk is bounded.
"""

from __future__ import annotations

import errno
import os
import stat as modes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_PIECE = 8 << 20
_MAX_DEPTH = 40  # far above what programs can make


@contextmanager
def opened(name: str | Path, flags: int, folder: int | None = None) -> Iterator[int]:
    """The descriptor of what is called so in a folder, or of a path; closed when the block ends."""
    file = os.open(name, flags, 0o600, dir_fd=folder)
    try:
        yield file
    finally:
        os.close(file)


def plain_facts(file: int) -> os.stat_result:
    """The facts of a plain file with one name: a second name may be a file of somebody else's."""
    facts = os.fstat(file)
    if modes.S_ISDIR(facts.st_mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not modes.S_ISREG(facts.st_mode) or facts.st_nlink != 1:
        raise OSError(errno.EACCES, "this is no plain file of the workspace")
    return facts


def found_file(name: str, folder: int) -> os.stat_result | None:
    """The facts of the plain file that is there, or None."""
    try:
        facts = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if modes.S_ISDIR(facts.st_mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not modes.S_ISREG(facts.st_mode):
        raise OSError(errno.EACCES, "this is no plain file of the workspace")
    return facts


def read_all(file: int, size: int) -> bytes:
    """At most so many bytes, to the end of the file."""
    out = bytearray()
    while len(out) < size and (piece := os.read(file, min(_PIECE, size - len(out)))):
        out += piece
    return bytes(out)


def write_all(file: int, content: bytes) -> None:
    """All of it, in pieces."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(file, rest[:_PIECE]) :]


def size_of(folder: int, depth: int, most: int) -> tuple[int, int]:
    """Bytes of plain files and number of entries below a folder; stops after `most` entries."""
    size = count = 0
    with os.scandir(folder) as items:
        for item in items:
            facts = item.stat(follow_symlinks=False)
            size, count = size + (facts.st_size if modes.S_ISREG(facts.st_mode) else 0), count + 1
            if count >= most:
                break
            if modes.S_ISDIR(facts.st_mode) and depth > 0:
                below = os.open(item.name, FOLDER, dir_fd=folder)
                try:
                    more, further = size_of(below, depth - 1, most - count)
                finally:
                    os.close(below)
                size, count = size + more, count + further
    return size, count


class Budget:
    """How much may still be removed."""

    def __init__(self, left: int) -> None:
        self.left = left

    def spend(self) -> bool:
        """Whether one more may go."""
        self.left -= 1
        return self.left >= 0


def remove_tree(above: int, name: str, budget: Budget, *, last: str = "", depth: int = 0) -> bool:
    """Remove a folder and what is in it, `last` at the end; whether all of it is gone."""
    return _quietly(lambda: _remove_all(above, name, budget, last, depth))


def _remove_all(above: int, name: str, budget: Budget, last: str, depth: int) -> bool:
    folder = os.open(name, FOLDER, dir_fd=above)
    try:
        with os.scandir(folder) as found:
            inside = [(item.name, item.is_dir(follow_symlinks=False)) for item in islice(found, budget.left + 1)]
        for inner, is_folder in sorted(inside, key=lambda item: item[0] == last):
            if is_folder:
                is_gone = depth < _MAX_DEPTH and remove_tree(folder, inner, budget, depth=depth + 1)
            else:
                is_gone = budget.spend() and _quietly(lambda inner=inner: _unlink(inner, folder))  # type: ignore[misc]  # a default binds the loop's name
            if not is_gone:
                return False
    finally:
        os.close(folder)
    if not budget.spend():
        return False
    os.rmdir(name, dir_fd=above)
    return True


def _unlink(name: str, folder: int) -> bool:
    os.unlink(name, dir_fd=folder)
    return True


def _quietly(work: Callable[[], bool]) -> bool:
    try:
        return work()
    except OSError:  # somebody else's hand is in it: the next sweep looks again
        return False
