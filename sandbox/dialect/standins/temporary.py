"""`tempfile` in the workspace: files and folders with random names, removed when they are closed.

Enters: how a name begins and ends. Leaves: open files, and names of folders. `TemporaryFile` is in memory.
"""

from __future__ import annotations

import io
import posixpath
import secrets
from typing import Any

from sandbox.dialect.standins.copies import hide
from sandbox.dialect.standins.workspace import Workspace


class _Named:
    """What `NamedTemporaryFile` gives: the open file, and its name."""

    _cm_files: Workspace
    _cm_is_open = False

    def __init__(self, files: Workspace, file: Any, name: str, is_deleted: bool) -> None:
        hide(self, files=files, is_open=True)
        self.file, self.name, self.delete = file, name, is_deleted

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.file, name)

    def __enter__(self) -> _Named:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __iter__(self) -> Any:
        return iter(self.file)

    def close(self) -> None:
        """Close, and remove it unless it is to stay."""
        if self._cm_is_open:
            hide(self, is_open=False)
            self.file.close()
            if self.delete:
                self._cm_files.remove(self.name)


class _Folder:
    """What `TemporaryDirectory` gives."""

    _cm_files: Workspace

    def __init__(self, files: Workspace, name: str) -> None:
        hide(self, files=files)
        self.name = name

    def __repr__(self) -> str:
        return f"<TemporaryDirectory {self.name!r}>"

    def __enter__(self) -> str:
        return self.name

    def __exit__(self, *error: object) -> None:
        self.cleanup()

    def cleanup(self) -> None:
        """Remove it with what is in it."""
        self._cm_files.rmtree(self.name, ignore_errors=True)


def temporary_parts(files: Workspace) -> dict[str, object]:
    """`tempfile` for one run."""

    def new_name(suffix: Any, prefix: Any, folder: Any) -> str:
        name = f"{'tmp' if prefix is None else prefix}{secrets.token_hex(4)}{suffix or ''}"
        return name if folder is None else posixpath.join(str(folder), name)

    def mkdtemp(suffix: Any = None, prefix: Any = None, dir: Any = None) -> str:
        """`tempfile.mkdtemp`."""
        name = new_name(suffix, prefix, dir)
        files.makedirs(name)
        return name

    def make_folder(suffix: Any = None, prefix: Any = None, dir: Any = None, **options: Any) -> _Folder:
        """`tempfile.TemporaryDirectory`."""
        return _Folder(files, mkdtemp(suffix, prefix, dir))

    def make_named(
        mode: str = "w+b",
        buffering: int = -1,
        encoding: Any = None,
        newline: Any = None,
        suffix: Any = None,
        prefix: Any = None,
        dir: Any = None,
        delete: bool = True,
        **options: Any,
    ) -> _Named:
        """`tempfile.NamedTemporaryFile`."""
        name = new_name(suffix, prefix, dir)
        return _Named(files, files.open(name, mode, encoding=encoding, newline=newline), name, delete)

    def make_unnamed(
        mode: str = "w+b", buffering: int = -1, encoding: Any = None, newline: Any = None, **options: Any
    ) -> Any:
        """`tempfile.TemporaryFile`, `tempfile.SpooledTemporaryFile`: in memory."""
        return io.BytesIO() if "b" in mode else io.TextIOWrapper(io.BytesIO(), encoding or "utf-8", newline=newline)

    def make_spooled(max_size: int = 0, mode: str = "w+b", *args: Any, **options: Any) -> Any:
        """`tempfile.SpooledTemporaryFile`: in memory."""
        return make_unnamed(mode, *args, **options)

    return {
        "NamedTemporaryFile": make_named,
        "SpooledTemporaryFile": make_spooled,
        "TemporaryDirectory": make_folder,
        "TemporaryFile": make_unnamed,
        "gettempdir": lambda: ".",
        "mkdtemp": mkdtemp,
    }
