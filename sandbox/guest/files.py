"""`open` of a program: files that live on the host, as streams with Python's own semantics.

Enters: names and modes of a program. Leaves: `file` frames, and streams of the `io` module over memory. Reading fetches
the whole file when it is opened; what is written goes to the host when it is flushed or closed, as a tail where only a
tail is new. A file that the program let go of without closing it is saved before the next file operation, one that is
still open when the run ends is saved then.

Safety: the guest opens nothing. Programs hold these objects: their state has names that start with `_cm_`, which the
dialect never hands out. The host judges every name again.
"""

from __future__ import annotations

import codecs
import errno
import io
import json
import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

from sandbox.guest.link import Link
from sandbox.guest.names import plain_name

_MAX_NOTES = 5


class Files:
    """The files of one run. `current()` is the one of this process."""

    def __init__(self) -> None:
        self._cm_link: Link
        self._cm_max_bytes = 0
        self._cm_open: WeakValueDictionary[int, Any] = WeakValueDictionary()
        self._cm_count = 0
        self._cm_orphans: deque[_Stream] = deque()
        self._cm_notes: list[str] = []

    def attach(self, link: Any) -> None:
        """Set the channel."""
        self._cm_link = link

    def set_limit(self, max_bytes: int) -> None:
        """Set how long one file may be."""
        self._cm_max_bytes = max_bytes

    def ask(self, operation: str, path: Any, *, to: str = "") -> bytes:
        """Do something that is no writing, once everything the program has let go of is saved.

        Raises:
            OSError: what the host says, with the program's own name for the file.
        """
        name = plain_name(path)
        self._cm_settle()
        return self._cm_send(operation, name, path, to=to)

    def _cm_send(
        self, operation: str, name: str, shown: Any, *, to: str = "", at: int = -1, data: bytes | memoryview = b""
    ) -> bytes:
        header = {"kind": "file", "operation": operation, "name": name, "to": to, "at": at}
        answer = self._cm_link.request(header, data)
        if answer.header["ok"]:
            return answer.payload
        fault = json.loads(answer.payload)
        raise OSError(fault["errno"], fault["message"], os.fspath(shown))

    def open(
        self,
        file: Any,
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        closefd: bool = True,
        opener: Any = None,
    ) -> Any:
        """`open` as Python has it, in the workspace of the session; UTF-8 unless an encoding is named."""
        kind = _parse_mode(mode)
        is_binary = "b" in kind
        _check_options(is_binary, buffering, encoding, errors, newline)
        if opener is not None or not closefd:
            raise ValueError("`opener` and `closefd` are for descriptors, and there are none here")
        stream = self._cm_stream(file, kind, mode)
        found = stream if is_binary else _Text.over(stream, encoding, errors, newline, buffering == 1)
        if not (kind <= {"r", "b", "t"}):
            self._cm_count += 1
            self._cm_open[self._cm_count] = found
        return found

    def _cm_stream(self, file: Any, kind: frozenset[str], mode: str) -> _Stream:
        name = plain_name(file)
        self._cm_settle()
        is_update = "+" in kind
        if "a" in kind and not is_update:
            size = int(self._cm_send("append", name, file))
            return _Appended(self, file, name, mode, base=size)
        if "r" in kind:
            content = self._cm_send("read", name, file)
        else:
            content = b""
            self._cm_send({"w": "write", "x": "create", "a": "append"}[next(iter(kind & {*"wxa"}))], name, file)
            if "a" in kind:
                content = self._cm_send("read", name, file)
        make = _Stream if is_update else _Reader if "r" in kind else _Writer
        stream = make(self, file, name, mode, content=content, appends="a" in kind)
        if "a" in kind:
            stream.seek(0, os.SEEK_END)
        return stream

    # -- what was not closed ----------------------------------------------------------------------------------------

    def _cm_settle(self) -> None:
        """Save what the program has let go of."""
        while self._cm_orphans:
            try:
                stream = self._cm_orphans.popleft()
            except IndexError:  # another thread was faster
                return
            self._cm_try(stream._cm_send_changes, stream.name)

    def _cm_try(self, save: Callable[[], None], name: Any) -> None:
        try:
            save()
        except Exception as error:  # noqa: BLE001 - nobody is there to catch it: the run's notes say it
            if len(self._cm_notes) < _MAX_NOTES:
                self._cm_notes.append(f"`{name}` was not closed, and could not be saved: {error}"[:500])

    def save_left(self) -> list[str]:
        """Save what is still open, at the end of a run; a line for each file that could not be saved."""
        self._cm_settle()
        for _, stream in sorted(self._cm_open.items()):
            self._cm_try(stream.close, stream.name)
        self._cm_settle()
        return self._cm_notes


class _Stream(io.BytesIO):
    """The bytes of one file, and which of them the host has not got."""

    def __init__(
        self, files: Files, path: Any, name: str, mode: str, *, content: bytes = b"", appends: bool = False
    ) -> None:
        super().__init__(content)
        self.name = os.fspath(path)
        self.mode = mode  # type: ignore[misc]  # read-only in the stubs alone
        self._cm_files = files
        self._cm_name = name
        self._cm_appends = appends
        self._cm_saved = len(content)  # so many bytes are on the host
        self._cm_low = len(content)  # and below this they are the same there
        self._cm_is_changed = False
        self._cm_is_orphan = False
        self._cm_has_failed = False
        self._cm_lock = threading.RLock()

    def __repr__(self) -> str:
        return f"<file {self.name!r} mode {self.mode!r}>"

    def write(self, data: Any, /) -> int:
        """As `io.BufferedIOBase.write`."""
        with self._cm_lock:
            if self._cm_appends:
                self.seek(0, os.SEEK_END)
            self._cm_low = min(self._cm_low, super().tell())
            self._cm_is_changed = True
            return super().write(data)

    def writelines(self, lines: Any, /) -> None:
        """As `io.IOBase.writelines`."""
        for line in lines:
            self.write(line)

    def truncate(self, size: int | None = None, /) -> int:
        """As `io.IOBase.truncate`; a longer size fills with zeros."""
        with self._cm_lock:
            wanted = super().tell() if size is None else size
            length = len(self.getbuffer())
            self._cm_low = min(self._cm_low, wanted, length)
            self._cm_is_changed = True
            if wanted > length:
                place = super().tell()
                super().seek(0, os.SEEK_END)
                super().write(bytes(wanted - length))
                super().seek(place)
                return wanted
            return super().truncate(size)

    def flush(self) -> None:
        """Send what the host has not got.

        Raises:
            OSError: the host refuses it; ENOSPC when the workspace is full.
        """
        super().flush()
        if not self._cm_is_orphan:
            self._cm_files._cm_settle()
            self._cm_send_changes()

    def _cm_send_changes(self) -> None:
        with self._cm_lock:
            if self._cm_is_changed:
                self._cm_has_failed = True
                self._cm_save()
                self._cm_has_failed = self._cm_is_changed = False

    def _cm_save(self) -> None:
        with self.getbuffer() as whole:
            size = len(whole)
            self._cm_check(size)
            if not (0 < self._cm_saved <= self._cm_low and self._cm_send_tail(whole)):
                self._cm_files._cm_send("write", self._cm_name, self.name, data=whole)
        self._cm_saved = self._cm_low = size

    def _cm_send_tail(self, whole: memoryview) -> bool:
        """Send only what is new at the end; False when the file there is no longer the one that this began with."""
        with whole[self._cm_saved :] as tail:
            try:
                self._cm_files._cm_send("append", self._cm_name, self.name, at=self._cm_saved, data=tail)
            except OSError as error:
                if error.errno != errno.ESTALE:
                    raise
                return False
        return True

    def _cm_check(self, size: int) -> None:
        allowed = self._cm_files._cm_max_bytes
        if size > allowed:
            raise OSError(errno.EFBIG, f"one file may have at most {allowed:,} bytes, this has {size:,}", self.name)

    def close(self) -> None:
        """Send what the host has not got, and close."""
        if self.closed:
            return
        try:
            if not self._cm_has_failed:  # what a flush was refused is not sent again behind its back
                self.flush()
        finally:
            super().close()

    def __del__(self) -> None:
        # Any thread, at any moment: nothing may be sent from here.
        if not self.closed and getattr(self, "_cm_is_changed", False):
            self._cm_files._cm_orphans.append(self)


class _Reader(_Stream):
    """A file that was opened for reading."""

    def writable(self) -> bool:
        """False."""
        return False

    def write(self, data: Any, /) -> int:
        """Refused."""
        raise io.UnsupportedOperation("write")

    def truncate(self, size: int | None = None, /) -> int:
        """Refused."""
        raise io.UnsupportedOperation("truncate")


class _Writer(_Stream):
    """A file that was opened for writing."""

    def readable(self) -> bool:
        """False."""
        return False

    def read(self, size: int | None = -1, /) -> bytes:
        """Refused."""
        raise io.UnsupportedOperation("read")

    read1 = readline = readlines = readinto = readinto1 = __next__ = read  # type: ignore[assignment]  # all refused


class _Appended(_Writer):
    """A file that was opened for appending: what was in it stays on the host, only what is new is held here."""

    def __init__(self, files: Files, path: Any, name: str, mode: str, *, base: int) -> None:
        super().__init__(files, path, name, mode)
        self._cm_base = base

    def tell(self) -> int:
        """The end of the file, as far as it is known here."""
        return self._cm_base + len(self.getbuffer())

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Does not matter to what is written: that goes to the end."""
        start = 0 if whence == os.SEEK_SET else self.tell()
        super().seek(0, os.SEEK_END)
        return start + offset

    def truncate(self, size: int | None = None, /) -> int:
        """Refused."""
        raise io.UnsupportedOperation("truncate: open the file with `r+`")

    def _cm_save(self) -> None:
        with self.getbuffer() as whole:
            self._cm_check(self._cm_base + len(whole))
            self._cm_base = int(self._cm_files._cm_send("append", self._cm_name, self.name, data=whole))
        io.BytesIO.seek(self, 0)
        io.BytesIO.truncate(self)


class _Text(io.TextIOWrapper):
    """A text file."""

    @classmethod
    def over(
        cls, stream: _Stream, encoding: str | None, errors: str | None, newline: str | None, is_line_buffered: bool
    ) -> Any:
        """The text of a stream."""
        made = cls(stream, encoding or "utf-8", errors, newline, line_buffering=is_line_buffered)
        made.mode = stream.mode  # type: ignore[misc]  # as above
        return made

    def __del__(self) -> None:
        # As in `_Stream`: what is held goes to the stream below, which is saved by the next file operation.
        try:
            if not self.closed and self.buffer.writable():
                stream: Any = self.buffer
                stream._cm_is_orphan = True
                self.flush()
                if stream._cm_is_changed:
                    stream._cm_files._cm_orphans.append(stream)
        except Exception:  # noqa: BLE001,S110 - detached, or half made: there is nothing to save
            pass


def _parse_mode(mode: str) -> frozenset[str]:
    if not isinstance(mode, str):
        raise TypeError(f"open() argument 'mode' must be str, not {type(mode).__name__}")
    kind = frozenset(mode)
    if kind - set("rwxab+t") or len(mode) > len(kind):
        raise ValueError(f"invalid mode: {mode!r}")
    if not kind & set("rwxa"):
        raise ValueError("Must have exactly one of create/read/write/append mode and at most one plus")
    if len(kind & set("rwxa")) > 1:
        raise ValueError("must have exactly one of create/read/write/append mode")
    if {"b", "t"} <= kind:
        raise ValueError("can't have text and binary mode at once")
    return kind


def _check_options(
    is_binary: bool, buffering: int, encoding: str | None, errors: str | None, newline: str | None
) -> None:
    """Before anything happens to the file."""
    if is_binary:
        for name, value in (("encoding", encoding), ("errors", errors), ("newline", newline)):
            if value is not None:
                raise ValueError(f"binary mode doesn't take {'an' if name != 'newline' else 'a'} {name} argument")
        return
    if buffering == 0:
        raise ValueError("can't have unbuffered text I/O")
    if newline not in (None, "", "\n", "\r", "\r\n"):
        raise ValueError(f"illegal newline value: {newline}")
    codecs.lookup(encoding or "utf-8")


_current = Files()


def current() -> Files:
    """The files of this process: for libraries that open files by name."""
    return _current
