"""`gzip`, `bz2` and `lzma` files: over open files, and over files of the workspace by name.

Enters: names and open files of a program. Leaves: streams. The originals open any path they are given, and their
objects hand out the class that does. What is decompressed is bounded by the memory limit of the run.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable, Iterator
from typing import Any

from sandbox.dialect.standins.copies import hide
from sandbox.dialect.standins.workspace import Workspace, is_name

_MODES = ("r", "rb", "w", "wb", "a", "ab", "x", "xb")


class CompressedFile(io.BufferedIOBase):
    """A stream of bytes that is compressed or decompressed on the way.

    Attributes:
        name: that of the file, "" when it has none.
        mode: as it was opened.
    """

    _cm_made: Any = None  # until it is opened
    _cm_beneath: Any = None

    def __init__(self, made: Any, beneath: Any, name: str, mode: str) -> None:
        hide(self, made=made, beneath=beneath)
        self.name, self.mode = name, mode

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r} mode {self.mode!r}>"

    def read(self, size: int | None = -1, /) -> bytes:
        """Bytes, decompressed."""
        data: bytes = self._cm_made.read(-1 if size is None else size)
        return data

    def read1(self, size: int = -1, /) -> bytes:
        """Bytes, as many as are at hand."""
        data: bytes = self._cm_made.read1(size)
        return data

    def peek(self, size: int = 0, /) -> bytes:
        """Bytes that stay to be read."""
        data: bytes = self._cm_made.peek(size)
        return data

    def readline(self, size: int | None = -1, /) -> bytes:
        """A line."""
        data: bytes = self._cm_made.readline(-1 if size is None else size)
        return data

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._cm_made)

    def __next__(self) -> bytes:
        line: bytes = next(self._cm_made)
        return line

    def readinto(self, buffer: Any, /) -> int:
        """As `io.BufferedIOBase.readinto`."""
        count: int = self._cm_made.readinto(buffer)
        return count

    def write(self, data: Any, /) -> int:
        """Compress; the number of bytes given."""
        count: int = self._cm_made.write(data)
        return count

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """As `io.IOBase.seek`; going back means to decompress from the start."""
        place: int = self._cm_made.seek(offset, whence)
        return place

    def tell(self) -> int:
        """The place in what is decompressed."""
        place: int = self._cm_made.tell()
        return place

    def readable(self) -> bool:
        """Whether it was opened for reading."""
        return bool(self._cm_made.readable())

    def writable(self) -> bool:
        """Whether it was opened for writing."""
        return bool(self._cm_made.writable())

    def seekable(self) -> bool:
        """Whether the place can be changed."""
        return bool(self._cm_made.seekable())

    def flush(self) -> None:
        """Send on what was compressed."""
        if not self.closed and hasattr(self._cm_made, "flush"):
            self._cm_made.flush()

    @property
    def closed(self) -> bool:
        """Whether it is closed."""
        return self._cm_made is None or bool(self._cm_made.closed)

    @property
    def mtime(self) -> Any:
        """The time in the header of a gzip file, once it was read."""
        return getattr(self._cm_made, "mtime", None)

    def close(self) -> None:
        """Close; a file that was given open stays open."""
        if self.closed:
            return
        try:
            self._cm_made.close()
        finally:
            if self._cm_beneath is not None:
                self._cm_beneath.close()


def _opened(files: Workspace, source: Any, mode: str) -> tuple[Any, Any, str]:
    """The stream beneath, the same again when it is ours to close, and its name."""
    if is_name(source):
        stream = files.open(source, mode.replace("b", "") + "b")
        return stream, stream, str(source)
    if source is None or not (hasattr(source, "read") or hasattr(source, "write")):
        raise TypeError("filename must be a str, bytes, file or PathLike object")
    name = getattr(source, "name", "")
    return source, None, name if isinstance(name, str) else ""


def _text_or_bytes(
    make: Callable[..., CompressedFile], source: Any, mode: str, text: dict[str, Any], **options: Any
) -> Any:
    """What the `open` of the three modules does: text over bytes where the mode asks for it."""
    if "t" not in mode:
        if any(value is not None for value in text.values()):
            raise ValueError("Argument 'encoding', 'errors' and 'newline' not supported in binary mode")
        return make(source, mode, **options)
    if "b" in mode:
        raise ValueError(f"Invalid mode: {mode!r}")
    found = make(source, mode.replace("t", ""), **options)
    return io.TextIOWrapper(found, text["encoding"] or "utf-8", text["errors"], text["newline"])


def _check_mode(mode: Any) -> None:
    if mode not in _MODES:
        raise ValueError(f"Invalid mode: {mode!r}")


def _gzip_parts(files: Workspace) -> dict[str, object]:
    class GzipFile(CompressedFile):
        """`gzip.GzipFile`."""

        def __init__(
            self,
            filename: Any = None,
            mode: str | None = None,
            compresslevel: int = 9,
            fileobj: Any = None,
            mtime: float | None = None,
        ) -> None:
            mode = mode or getattr(fileobj, "mode", None)
            mode = (mode if isinstance(mode, str) else "rb").replace("+", "")
            _check_mode(mode)
            beneath, owned, name = _opened(files, fileobj if fileobj is not None else filename, mode)
            kind = "rb" if "r" in mode else "wb"
            name = str(filename or name)
            super().__init__(gzip.GzipFile(name, kind, compresslevel, beneath, mtime), owned, name, mode)

    def open_gzip(
        filename: Any,
        mode: str = "rb",
        compresslevel: int = 9,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
    ) -> Any:
        """`gzip.open`."""

        def make(source: Any, mode: str) -> CompressedFile:
            return GzipFile(
                source if is_name(source) else None, mode, compresslevel, None if is_name(source) else source
            )

        return _text_or_bytes(make, filename, mode, {"encoding": encoding, "errors": errors, "newline": newline})

    GzipFile.__module__, GzipFile.__qualname__ = "gzip", "GzipFile"
    return {"GzipFile": GzipFile, "open": open_gzip}


def _plain_parts(files: Workspace, module: str, name: str, library: Any) -> dict[str, object]:
    """`bz2` and `lzma`, whose files take the open file in the place of its name."""

    class File(CompressedFile):
        def __init__(self, filename: Any = None, mode: str = "r", **options: Any) -> None:
            _check_mode(mode)
            beneath, owned, known = _opened(files, filename, mode)
            super().__init__(library(beneath, "r" if "r" in mode else "w", **options), owned, known, mode)

    def open_file(
        filename: Any,
        mode: str = "rb",
        *args: Any,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        **options: Any,
    ) -> Any:
        """The `open` of the module."""
        if args:
            options["compresslevel"] = args[0]
        text = {"encoding": encoding, "errors": errors, "newline": newline}
        return _text_or_bytes(File, filename, mode, text, **options)

    File.__name__ = File.__qualname__ = name
    File.__module__, File.__doc__ = module, f"`{module}.{name}`."
    return {name: File, "open": open_file}


def compressed_parts(files: Workspace) -> dict[str, dict[str, object]]:
    """What takes files in `gzip`, `bz2` and `lzma`, for one run."""
    return {
        "gzip": _gzip_parts(files),
        "bz2": _plain_parts(files, "bz2", "BZ2File", bz2.BZ2File),
        "lzma": _plain_parts(files, "lzma", "LZMAFile", lzma.LZMAFile),
    }
