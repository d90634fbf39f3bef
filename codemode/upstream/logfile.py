"""Keeps what a server writes to stderr: a bounded file on disk and the last lines in memory.

Enters: chunks of bytes. Leaves: `NAME.log` and `NAME.log.1` in the log folder, both private to the user, and a tail for
error messages. Known secret values are masked before anything is kept. A full or read-only disk costs the file, never
the server.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import anyio.to_thread

from codemode.upstream.credentials import Redactor

_log = logging.getLogger(__name__)

_FILE_BYTES = 1 << 20  # chosen: two files of this size per server
_TAIL_LINES = 20
_LINE_BYTES = 4_096  # chosen: a longer line is cut; it is text for people
_SHOWN_LENGTH = 300
_WORDS_LINES = 4
_WORDS_LENGTH = 300  # chosen: together with command and exit code still one readable line


@dataclass(slots=True)
class ServerLog:
    """One server's stderr. `open_folder` must have been called on the folder; without a path only the tail is kept."""

    path: Path | None
    redactor: Redactor = field(default_factory=Redactor)
    _tail: deque[str] = field(default_factory=lambda: deque(maxlen=_TAIL_LINES))
    _rest: bytes = b""
    _skips: bool = False
    _is_broken: bool = False

    async def write(self, chunk: bytes) -> None:
        """Keep a chunk; whole lines go to the file, an unfinished one waits."""
        lines = (self._rest + chunk).split(b"\n")
        self._rest = lines.pop()
        out = [text for line in lines if (text := self._finish(line)) is not None]
        if len(self._rest) > _LINE_BYTES:
            if not self._skips:
                out.append(self._clean(self._rest))
            self._rest, self._skips = b"", True
        await self._store(out)

    async def close(self) -> None:
        """Keep the unfinished last line."""
        text = self._finish(self._rest) if self._rest else None
        self._rest = b""
        await self._store([text] if text else [])

    def tail(self, clean: Callable[[str], str] = str) -> tuple[str, ...]:
        """The last lines, each printable, cleaned once more and then cut."""
        return tuple(clean(line)[:_SHOWN_LENGTH] for line in self._tail)

    def last_words(self, clean: Callable[[str], str] = str) -> str:
        """The last few lines that say something, joined and bounded, the very last one always whole; or "".

        Frames of a JavaScript traceback and lines of brackets are left out: the line that tells stands before them.
        """
        kept: list[str] = []
        for line in reversed(self.tail(clean)):
            text = line.strip()
            if not any(char.isalnum() for char in text) or text.startswith("at "):
                continue
            if kept and (len(kept) == _WORDS_LINES or sum(map(len, kept)) + len(text) > _WORDS_LENGTH):
                break
            kept.append(text)
        return " | ".join(reversed(kept))

    def _finish(self, line: bytes) -> str | None:
        if self._skips:  # the end of a line whose beginning is already kept
            self._skips = False
            return None
        return self._clean(line)

    def _clean(self, line: bytes) -> str:
        text = self.redactor.clean(line[:_LINE_BYTES].decode("utf-8", "replace"))
        return "".join(char if char.isprintable() or char == "\t" else "\N{REPLACEMENT CHARACTER}" for char in text)

    async def _store(self, lines: list[str]) -> None:
        if not lines:
            return
        self._tail.extend(lines[-_TAIL_LINES:])
        if self.path is not None and not self._is_broken:
            await anyio.to_thread.run_sync(self._append, self.path, lines)

    def _append(self, path: Path, lines: list[str]) -> None:
        data = "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")
        try:
            if path.exists() and path.stat().st_size + len(data) > _FILE_BYTES:
                path.replace(path.with_name(path.name + ".1"))
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
            try:
                os.write(handle, data[-_FILE_BYTES:])
            finally:
                os.close(handle)
        except OSError as error:
            self._is_broken = True
            _log.warning("the log of a server cannot be written: %s", error.strerror)


def log_path(folder: Path, server: str) -> Path:
    """Where a server's log is; readable, and one file per server whatever its name holds."""
    readable = re.sub(r"[^A-Za-z0-9._-]+", "_", server).strip("._")[:60]
    if readable != server:
        readable += "-" + hashlib.sha256(server.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return folder / f"{readable or 'server'}.log"


def open_folder(folder: Path) -> None:
    """Make a folder that only the user can enter; an existing one is closed to others.

    Raises:
        OSError: it cannot be made.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.chmod(0o700)
