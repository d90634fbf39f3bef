"""The parts of `os`, `os.path` and `shutil` that look at files: over the host's workspace.

Enters: names of a program. Leaves: what the library's own functions give.

Safety: written by hand, function by function; nothing here holds a module, a descriptor or a path of the host.
"""

from __future__ import annotations

import json
import os
import posixpath
import shutil
import stat as modes
from collections.abc import Callable, Iterator
from typing import Any

from sandbox.guest.files import current
from sandbox.guest.names import FOLDER, plain_name


def stat(path: Any, **options: Any) -> os.stat_result:
    """`os.stat`: kind, size and time; everything else is zero."""
    kind, size, modified = json.loads(current().ask("stat", path))
    mode = modes.S_IFDIR | 0o700 if kind == "folder" else modes.S_IFREG | 0o600
    times = (int(modified),) * 3
    return os.stat_result((mode, 0, 0, 1, 0, 0, size, *times, modified, modified, modified))


def mode_of(path: Any) -> int:
    """The kind of what is there, 0 when nothing is."""
    try:
        return stat(path).st_mode
    except (OSError, ValueError):
        return 0


def exists(path: Any) -> bool:
    """`os.path.exists`."""
    return mode_of(path) != 0


def isfile(path: Any) -> bool:
    """`os.path.isfile`."""
    return modes.S_ISREG(mode_of(path))


def isdir(path: Any) -> bool:
    """`os.path.isdir`."""
    return modes.S_ISDIR(mode_of(path))


def getsize(path: Any) -> int:
    """`os.path.getsize`."""
    return stat(path).st_size


def getmtime(path: Any) -> float:
    """`os.path.getmtime`."""
    return stat(path).st_mtime


def getcwd() -> str:
    """`os.getcwd`: the one folder that there is."""
    return FOLDER


def abspath(path: Any) -> str:
    """`os.path.abspath`."""
    return posixpath.normpath(posixpath.join(FOLDER, os.fspath(path)))


def relpath(path: Any, start: Any = FOLDER) -> str:
    """`os.path.relpath`."""
    return posixpath.relpath(abspath(path), abspath(start))


class Entry:
    """One line of `os.scandir`."""

    __slots__ = ("_cm_mode", "name", "path")

    def __init__(self, folder: str, name: str, kind: str) -> None:
        self.name = name
        self.path = posixpath.join(folder, name)
        self._cm_mode = kind

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """Whether it is a file."""
        return self._cm_mode == "file"

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Whether it is a folder."""
        return self._cm_mode == "folder"

    def is_symlink(self) -> bool:
        """There are no links."""
        return False

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """As `os.stat`."""
        return stat(self.path)

    def __fspath__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return f"<DirEntry {self.name!r}>"


def entries(path: Any) -> list[Entry]:
    folder = os.fspath(path)
    return [Entry(folder, name, kind) for name, kind, _, _ in json.loads(current().ask("list", path))]


def listdir(path: Any = ".") -> list[str]:
    """`os.listdir`, sorted."""
    return [entry.name for entry in entries(path)]


class _Scan:
    """What `os.scandir` gives: an iterator that is also a context manager."""

    def __init__(self, entries: list[Entry]) -> None:
        self._cm_entries = iter(entries)

    def __iter__(self) -> _Scan:
        return self

    def __next__(self) -> Entry:
        return next(self._cm_entries)

    def __enter__(self) -> _Scan:
        return self

    def __exit__(self, *ignored: object) -> None:
        self.close()

    def close(self) -> None:
        """Nothing is held."""


def scandir(path: Any = ".") -> _Scan:
    """`os.scandir`."""
    return _Scan(entries(path))


def walk(
    top: Any, topdown: bool = True, onerror: Callable[[OSError], object] | None = None, followlinks: bool = False
) -> Iterator[tuple[Any, list[str], list[str]]]:
    """`os.walk`."""
    try:
        found = entries(top)
    except OSError as error:
        if onerror is not None:
            onerror(error)
        return
    folders = [entry.name for entry in found if entry.is_dir()]
    files = [entry.name for entry in found if entry.is_file()]
    if topdown:
        yield os.fspath(top), folders, files
    for name in folders:
        yield from walk(posixpath.join(os.fspath(top), name), topdown, onerror, followlinks)
    if not topdown:
        yield os.fspath(top), folders, files


# -- changing -------------------------------------------------------------------------------------------------------


def mkdir(path: Any, mode: int = 0o777) -> None:
    """`os.mkdir`."""
    current().ask("make_folder", path)


def makedirs(name: Any, mode: int = 0o777, exist_ok: bool = False) -> None:
    """`os.makedirs`."""
    parts = plain_name(name).split("/")
    for length in range(1, len(parts)):
        above = "/".join(parts[:length])
        if not isdir(above):
            mkdir(above)
    try:
        mkdir(name)
    except OSError:
        if not exist_ok or not isdir(name):
            raise


def remove(path: Any) -> None:
    """`os.remove`."""
    current().ask("remove", path)


def rmdir(path: Any) -> None:
    """`os.rmdir`."""
    current().ask("remove_folder", path)


def rename(src: Any, dst: Any) -> None:
    """`os.rename`, `os.replace`: a file that is there is replaced."""
    current().ask("rename", src, to=plain_name(dst))


def _into(src: Any, dst: Any) -> Any:
    """Where a copy goes: below `dst` when that is a folder."""
    name = posixpath.basename(os.fspath(src).rstrip("/"))
    return posixpath.join(os.fspath(dst), name) if isdir(dst) else dst


def copyfile(src: Any, dst: Any, *, follow_symlinks: bool = True) -> Any:
    """`shutil.copyfile`."""
    if plain_name(src) == plain_name(dst):
        raise shutil.SameFileError(f"{os.fspath(src)!r} and {os.fspath(dst)!r} are the same file")
    with current().open(src, "rb") as source, current().open(dst, "wb") as target:
        target.write(source.read())
    return dst


def copy(src: Any, dst: Any, *, follow_symlinks: bool = True) -> Any:
    """`shutil.copy`, `shutil.copy2`."""
    return copyfile(src, _into(src, dst))


def copytree(src: Any, dst: Any, *, dirs_exist_ok: bool = False) -> Any:
    """`shutil.copytree`."""
    found = entries(src)
    makedirs(dst, exist_ok=dirs_exist_ok)
    for entry in found:
        target = posixpath.join(os.fspath(dst), entry.name)
        if entry.is_dir():
            copytree(entry.path, target, dirs_exist_ok=dirs_exist_ok)
        else:
            copyfile(entry.path, target)
    return dst


def move(src: Any, dst: Any) -> Any:
    """`shutil.move`."""
    target = _into(src, dst)
    rename(src, target)
    return target


def rmtree(path: Any, ignore_errors: bool = False, onerror: object = None, **options: Any) -> None:
    """`shutil.rmtree`."""
    try:
        for folder, folders, files in walk(path, topdown=False, onerror=None if ignore_errors else _raise):
            for name in files:
                remove(posixpath.join(folder, name))
            for name in folders:
                rmdir(posixpath.join(folder, name))
        if plain_name(path):
            rmdir(path)
    except OSError:
        if not ignore_errors:
            raise


def _raise(error: OSError) -> None:
    raise error


OS: dict[str, object] = {
    "getcwd": getcwd,
    "listdir": listdir,
    "makedirs": makedirs,
    "mkdir": mkdir,
    "remove": remove,
    "rename": rename,
    "replace": rename,
    "rmdir": rmdir,
    "scandir": scandir,
    "stat": stat,
    "unlink": remove,
    "walk": walk,
}
OS_PATH: dict[str, object] = {
    "abspath": abspath,
    "exists": exists,
    "getmtime": getmtime,
    "getsize": getsize,
    "isdir": isdir,
    "isfile": isfile,
    "lexists": exists,
    "realpath": abspath,
    "relpath": relpath,
}
SHUTIL: dict[str, object] = {
    "SameFileError": shutil.SameFileError,
    "copy": copy,
    "copy2": copy,
    "copyfile": copyfile,
    "copyfileobj": shutil.copyfileobj,
    "copytree": copytree,
    "move": move,
    "rmtree": rmtree,
}
