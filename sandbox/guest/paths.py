"""`pathlib.Path` over the host's workspace, and everything about files that takes the place of library names.

Enters: names of a program. Leaves: what the library's own class gives.

Safety: written by hand, method by method; a path holds its own text and nothing else.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from sandbox.guest import folders
from sandbox.guest.files import current
from sandbox.guest.folders import entries
from sandbox.guest.names import FOLDER, plain_name
from sandbox.guest.patterns import GLOB, Pattern


class Path(PurePosixPath):
    """`pathlib.Path` of the workspace."""

    __slots__ = ()

    @classmethod
    def cwd(cls) -> Path:
        """The one folder that there is."""
        return cls(FOLDER)

    def absolute(self) -> Path:
        """The path below the one folder."""
        return self if self.is_absolute() else type(self)(FOLDER, self)

    def resolve(self, strict: bool = False) -> Path:
        """The path without `..`."""
        if strict:
            self.stat()
        return type(self)(folders.abspath(self))

    def expanduser(self) -> Path:
        """The path itself: nobody is at home."""
        return self

    def open(self, mode: str = "r", *args: Any, **options: Any) -> Any:
        """As `open`."""
        return current().open(self, mode, *args, **options)

    def read_text(self, encoding: str | None = None, errors: str | None = None, newline: str | None = None) -> str:
        """The whole text."""
        with self.open("r", encoding=encoding, errors=errors, newline=newline) as file:
            text: str = file.read()
            return text

    def read_bytes(self) -> bytes:
        """All bytes."""
        return current().ask("read", self)

    def write_text(
        self, data: str, encoding: str | None = None, errors: str | None = None, newline: str | None = None
    ) -> int:
        """Replace the text."""
        if not isinstance(data, str):
            raise TypeError(f"data must be str, not {type(data).__name__}")
        with self.open("w", encoding=encoding, errors=errors, newline=newline) as file:
            count: int = file.write(data)
            return count

    def write_bytes(self, data: Any) -> int:
        """Replace the content."""
        view = memoryview(data)
        with self.open("wb") as file:
            count: int = file.write(view)
            return count

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """As `os.stat`."""
        return folders.stat(self)

    lstat = stat

    def exists(self, *, follow_symlinks: bool = True) -> bool:
        """Whether anything is there."""
        return folders.exists(self)

    def is_file(self) -> bool:
        """Whether it is a file."""
        return folders.isfile(self)

    def is_dir(self) -> bool:
        """Whether it is a folder."""
        return folders.isdir(self)

    def is_symlink(self) -> bool:
        """There are no links."""
        return False

    def samefile(self, other: Any) -> bool:
        """Whether both names mean the same."""
        return plain_name(self) == plain_name(other)

    def iterdir(self) -> Iterator[Path]:
        """What is in the folder, sorted."""
        return iter([self / entry.name for entry in entries(self)])

    def glob(self, pattern: Any, **options: Any) -> Iterator[Path]:
        """Paths below this one that fit a pattern."""
        parts = [part for part in os.fspath(pattern).split("/") if part not in ("", ".")]
        if not parts:
            raise ValueError(f"Unacceptable pattern: {os.fspath(pattern)!r}")
        if parts[0] == ".." or os.fspath(pattern).startswith("/"):
            raise NotImplementedError("Non-relative patterns are unsupported")
        above = "" if str(self) == "." else f"{self}/"
        folders_only = parts[-1] == "**" or os.fspath(pattern).endswith("/")
        found = Pattern(shows_hidden=True, folders_only=folders_only).matches(above, parts)
        if parts == ["**"] and not above:
            yield self
        for place in dict.fromkeys(found):
            yield type(self)(place)

    def rglob(self, pattern: Any, **options: Any) -> Iterator[Path]:
        """Paths anywhere below this one that fit a pattern."""
        return self.glob(f"**/{os.fspath(pattern)}")

    def walk(
        self, top_down: bool = True, on_error: Any = None, follow_symlinks: bool = False
    ) -> Iterator[tuple[Path, list[str], list[str]]]:
        """As `os.walk`."""
        for place, below, files in folders.walk(self, top_down, on_error):
            yield type(self)(place), below, files

    def mkdir(self, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:
        """Make the folder."""
        if parents:
            folders.makedirs(self, exist_ok=exist_ok)
            return
        try:
            folders.mkdir(self)
        except OSError:
            if not exist_ok or not self.is_dir():
                raise

    def rmdir(self) -> None:
        """Remove the empty folder."""
        folders.rmdir(self)

    def unlink(self, missing_ok: bool = False) -> None:
        """Remove the file."""
        try:
            folders.remove(self)
        except FileNotFoundError:
            if not missing_ok:
                raise

    def touch(self, mode: int = 0o666, exist_ok: bool = True) -> None:
        """Make an empty file when there is none."""
        if not exist_ok and self.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(self))
        with self.open("ab"):
            pass

    def rename(self, target: Any) -> Path:
        """Give the file another name; a file of that name is replaced."""
        folders.rename(self, target)
        return type(self)(target)

    replace = rename


def facade_parts() -> dict[str, dict[str, object]]:
    """What takes the place of the library's own names, by module."""
    return {
        "io": {"open": current().open},
        "pathlib": {"Path": Path, "PosixPath": Path},
        "os": folders.OS,
        "os.path": folders.OS_PATH,
        "glob": GLOB,
        "shutil": folders.SHUTIL,
    }
