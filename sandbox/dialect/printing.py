"""Library functions that print: they write to the run's own streams and never read a file.

Enters: the two streams of a run. Leaves: the parts of `sys`, `pprint`, `traceback` and `logging` that use them.
"""

from __future__ import annotations

import functools
import pprint
import sys
import traceback
from types import TracebackType
from typing import Any, Protocol

MAX_RECURSION = 50_000  # chosen: deep enough for algorithms, far from the end of the C stack


class Stream(Protocol):
    """Where text goes: what `sys.stdout` is to a program."""

    def write(self, text: str, /) -> int: ...


class Redirect:
    """`contextlib.redirect_stdout` and `redirect_stderr`: what the run prints goes to another stream for a while.

    Entered again while it is entered, it goes back one step at a time, as the original does. The real ones replace
    `sys.stdout`, which a facade does not allow.
    """

    __slots__ = ("_cm_stream", "_cm_target")

    def __init__(self, stream: Any, target: Any) -> None:
        self._cm_stream, self._cm_target = stream, target

    def __enter__(self) -> Any:
        # Two streams that were sent to each other would write for ever: a target stands for where it leads now.
        found, targets = self._cm_target, getattr(self._cm_target, "_cm_targets", None)
        self._cm_stream._cm_targets.append(targets[-1] if targets else found)
        return found

    def __exit__(self, *error: object) -> None:
        self._cm_stream._cm_targets.pop()


class StandardStream:
    """`sys.stdout` or `sys.stderr` as a program sees it: text only, no descriptor behind it."""

    __slots__ = ("_cm_targets", "name")
    encoding = "utf-8"
    errors = "replace"
    closed = False

    def __init__(self, name: str) -> None:
        self.name = name
        self._cm_targets: list[Any] = []

    def write(self, text: str, /) -> int:
        if self._cm_targets and self._cm_targets[-1] is not self:
            return int(self._cm_targets[-1].write(text))
        stream = sys.stdout if self.name == "<stdout>" else sys.stderr
        stream.write(text)
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Does nothing: text is on its way once it is written."""

    def isatty(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def __repr__(self) -> str:
        return f"<stream {self.name}>"


def _own_frames(error: BaseException, tb: TracebackType | None) -> list[str]:
    """A traceback that starts at the program's own first frame."""
    while tb is not None and tb.tb_frame.f_globals.get("__name__") != "__main__":
        tb = tb.tb_next
    return traceback.format_exception(type(error), error, tb)


def _pick(error: Any, value: Any) -> BaseException:
    found = value if isinstance(value, BaseException) else error
    if not isinstance(found, BaseException):
        raise TypeError(f"expected an exception, got {type(found).__name__}")
    return found


def format_exc(limit: int | None = None, chain: bool = True) -> str:
    """`traceback.format_exc`."""
    error = sys.exception()
    return "".join(_own_frames(error, error.__traceback__)) if error is not None else "NoneType: None\n"


def format_exception(error: Any, /, value: Any = None, tb: Any = None, **options: Any) -> list[str]:
    """`traceback.format_exception`; the traceback is always the exception's own."""
    found = _pick(error, value)
    return _own_frames(found, found.__traceback__)


def format_exception_only(error: Any, /, value: Any = None, **options: Any) -> list[str]:
    """`traceback.format_exception_only`."""
    found = _pick(error, value)
    return traceback.format_exception_only(type(found), found)


def set_recursion_limit(limit: int) -> None:
    """`sys.setrecursionlimit` up to a bound."""
    sys.setrecursionlimit(min(limit, MAX_RECURSION))


def leave(status: object = None, /) -> None:
    """`sys.exit`."""
    raise SystemExit(status)


def printing_parts(stdout: Stream, stderr: Stream) -> dict[str, dict[str, object]]:
    """The stand-ins that print, bound to the streams of one run."""

    class PrettyPrinter(pprint.PrettyPrinter):
        """`pprint.PrettyPrinter`."""

        def __init__(self, *args: Any, **options: Any) -> None:
            if len(args) < 4:  # the stream is the fourth
                options["stream"] = options.get("stream") or stdout
            super().__init__(*args, **options)

    def pp(obj: Any, stream: Any = None, *args: Any, **options: Any) -> None:
        """`pprint.pprint`."""
        (stream or stdout).write(pprint.pformat(obj, *args, **options) + "\n")

    def pp_unsorted(obj: Any, *args: Any, sort_dicts: bool = False, **options: Any) -> None:
        """`pprint.pp`."""
        pp(obj, *args, sort_dicts=sort_dicts, **options)

    def print_exc(limit: int | None = None, file: Any = None, chain: bool = True) -> None:
        """`traceback.print_exc`."""
        (file or stderr).write(format_exc())

    def print_exception(error: Any, /, value: Any = None, tb: Any = None, *, file: Any = None, **options: Any) -> None:
        """`traceback.print_exception`."""
        (file or stderr).write("".join(format_exception(error, value, tb)))

    return {
        "contextlib": {
            "redirect_stdout": functools.partial(Redirect, stdout),
            "redirect_stderr": functools.partial(Redirect, stderr),
        },
        "pprint": {"PrettyPrinter": PrettyPrinter, "pprint": pp, "pp": pp_unsorted},
        "traceback": {
            "format_exc": format_exc,
            "format_exception": format_exception,
            "format_exception_only": format_exception_only,
            "print_exc": print_exc,
            "print_exception": print_exception,
        },
        "sys": {
            "stdout": stdout,
            "stderr": stderr,
            "exit": leave,
            "setrecursionlimit": set_recursion_limit,
        },
    }
