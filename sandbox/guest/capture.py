"""What comes out of a run besides its value: prints on their way, and an exception as text.

Enters: what the program prints and raises. Leaves: `print` frames, and a `RunError` as a JSON object. Error text is
formatted here, inside the boundary, and never on the host: a traceback reads source lines by file name.
"""

from __future__ import annotations

import io
import linecache
import threading
import time
import traceback
from types import TracebackType
from typing import Any, Protocol

_QUIET_S = 0.005  # chosen: prints further apart than this go out at once; bursts are gathered
_FLUSH_S = 0.02
_BUFFER_CHARS = 16_384
MESSAGE_CHARS = 4_000
TRACEBACK_CHARS = 8_000


class Sender(Protocol):
    """The part of the link that prints need."""

    def post(self, header: dict[str, Any], payload: bytes = b"") -> None:
        """Send a frame that has no answer."""


class Printer(io.TextIOBase):
    """A text stream whose text goes to the host: at once when prints are rare, gathered when they come in bursts.

    Gathered text is flushed by a thread of its own after 20 ms, so that what was printed before an endless loop is
    not lost. Usable as `file=` of `print` and from several threads.

    Safety: a program holds this object as `sys.stdout`. Its state has names that the dialect never hands out.
    """

    def __init__(self, stream: str = "out") -> None:
        self._cm_header = {"kind": "print", "stream": stream}
        self._cm_sender: Sender
        self._cm_lock = threading.Lock()
        self._cm_pieces: list[str] = []
        self._cm_chars = 0
        self._cm_last = 0.0
        self._cm_wake: threading.Event | None = None
        self._cm_targets: list[Any] = []  # where `contextlib.redirect_stdout` sends it, innermost last

    def attach(self, sender: Sender) -> None:
        """Set where the text goes.

        Raises:
            RuntimeError: it is set already; a program that holds the stream does not move it.
        """
        if hasattr(self, "_cm_sender"):
            raise RuntimeError("the stream is attached already")
        self._cm_sender = sender

    def write(self, text: str) -> int:
        """Take text; it is on its way within 20 ms as long as the interpreter switches threads."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if not text:
            return 0
        if self._cm_targets and self._cm_targets[-1] is not self:
            return int(self._cm_targets[-1].write(text))
        with self._cm_lock:
            self._cm_pieces.append(text)
            self._cm_chars += len(text)
            now = time.monotonic()
            is_rare = now - self._cm_last > _QUIET_S and text.endswith("\n")
            if is_rare or self._cm_chars >= _BUFFER_CHARS or not self._cm_wake_thread():
                self._cm_send()
        return len(text)

    def flush(self) -> None:
        """Send what is held."""
        with self._cm_lock:
            if self._cm_pieces:
                self._cm_send()

    def _cm_send(self) -> None:
        data = "".join(self._cm_pieces).encode("utf-8", "backslashreplace")
        self._cm_pieces.clear()
        self._cm_chars = 0
        self._cm_last = time.monotonic()
        for start in range(0, len(data), 1 << 20):
            self._cm_sender.post(self._cm_header, data[start : start + (1 << 20)])

    def _cm_wake_thread(self) -> bool:
        """Have the held text sent soon; False when there can be no thread for it."""
        if self._cm_wake is not None:
            self._cm_wake.set()
            return True
        self._cm_wake = threading.Event()
        self._cm_wake.set()
        try:
            threading.Thread(target=self._cm_flush_for_ever, name="printer", daemon=True).start()
        except RuntimeError:
            self._cm_wake = None
        return self._cm_wake is not None

    def _cm_flush_for_ever(self) -> None:
        while self._cm_wake is not None:
            self._cm_wake.wait()
            time.sleep(_FLUSH_S)
            with self._cm_lock:
                self._cm_wake.clear()
                if self._cm_pieces:
                    self._cm_send()


def remember_source(filename: str, lines: tuple[str, ...]) -> None:
    """Make the program's lines available to tracebacks without a file."""
    text = [line if line.endswith("\n") else line + "\n" for line in lines]
    linecache.cache[filename] = (sum(map(len, text)), None, text, filename)


def forget_source(filename: str) -> None:
    """Undo `remember_source`."""
    linecache.cache.pop(filename, None)


def describe(error: BaseException, filename: str, *, code: str, notes: tuple[str, ...] = ()) -> dict[str, Any]:
    """An exception as the `error` object of an `end` frame: the model's own frames only, bounded.

    Never raises: a foreign `__str__` that fails is reported as such.
    """
    line, source_line = _own_line(error, filename)
    own_notes = getattr(error, "__notes__", None)
    listed = tuple(str(note)[:1_000] for note in own_notes[:10]) if isinstance(own_notes, list) else ()
    return {
        "code": code,
        "type": type(error).__name__[:200],
        "message": _bounded(_message(error), MESSAGE_CHARS),
        "line": line,
        "source_line": source_line[:500],
        "traceback": _bounded(_format(error, filename), TRACEBACK_CHARS),
        "notes": [*listed, *notes],
    }


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException as second:  # noqa: BLE001 - a foreign __str__
        return f"<the text of this {type(error).__name__} raised {type(second).__name__}>"


def _own_line(error: BaseException, filename: str) -> tuple[int, str]:
    if isinstance(error, SyntaxError) and error.filename == filename and error.lineno:
        return error.lineno, (error.text or "").rstrip("\n")
    line = 0
    step: TracebackType | None = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == filename:
            line = step.tb_lineno
        step = step.tb_next
    return line, linecache.getline(filename, line).rstrip("\n") if line else ""


def _format(error: BaseException, filename: str) -> str:
    try:
        summary = traceback.TracebackException.from_exception(error, limit=-60, max_group_depth=4, max_group_width=4)
        _keep_own(summary, filename, 0)
        return "".join(summary.format())
    except BaseException as second:  # noqa: BLE001 - foreign objects take part in formatting
        return f"{type(error).__name__} (its traceback could not be shown: {type(second).__name__})"


def _keep_own(summary: traceback.TracebackException, filename: str, depth: int) -> None:
    """Drop every frame that is not the program's, in the whole chain."""
    summary.stack = traceback.StackSummary.from_list([f for f in summary.stack if f.filename == filename])
    if depth > 20:
        summary.__cause__ = summary.__context__ = None
    for other in (summary.__cause__, summary.__context__, *(summary.exceptions or ())):
        if other is not None:
            _keep_own(other, filename, depth + 1)


def _bounded(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {len(text) - limit} characters left out …\n{text[-half:]}"
