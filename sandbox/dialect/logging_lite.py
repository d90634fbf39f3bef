"""A small `logging`: levels, names and `%` formats, written to the run's error stream.

Enters: log calls of a program. Leaves: lines of text. The real package opens files and sockets, builds classes by
name (`dictConfig`) and formats with `{`-style fields that read any attribute.
"""

from __future__ import annotations

import logging
import sys
import time
from typing import Any

from sandbox.dialect.printing import Stream, format_exception

_DEFAULT = "%(levelname)s:%(name)s:%(message)s"


class LogRecord:
    """`logging.LogRecord`: what a handler is given."""

    def __init__(self, level: int, name: str, message: str) -> None:
        self.levelno, self.name, self.msg, self.message = level, name, message, message
        self.levelname = logging.getLevelName(level)
        self.args, self.exc_info, self.exc_text = (), None, None
        self.created = time.time()
        self.msecs = self.created % 1 * 1000
        self.module, self.filename, self.pathname = "program", "<program>", "<program>"
        self.funcName, self.lineno = "", 0  # as the original spells it
        self.process, self.thread, self.threadName = 1, 1, "MainThread"

    def getMessage(self) -> str:  # noqa: N802
        """The text with its arguments."""
        return self.message


class Formatter:
    """`logging.Formatter` with `%` style."""

    def __init__(self, fmt: str | None = None, datefmt: str | None = None, style: str = "%", **options: Any) -> None:
        if style != "%":
            raise ValueError("only `%` style is part of the dialect; write `%(levelname)s %(message)s`")
        self.fmt = fmt or "%(message)s"
        self.datefmt = datefmt or "%Y-%m-%d %H:%M:%S"

    def format(self, record: LogRecord) -> str:
        """The line of a record."""
        values = dict(vars(record))
        values["asctime"] = time.strftime(self.datefmt, time.localtime(record.created)) if "asctime" in self.fmt else ""
        return self.fmt % values


class Handler:
    """`logging.Handler`: holds a formatter; a stream is a matter of `StreamHandler`."""

    def __init__(self, level: int | str = logging.NOTSET) -> None:
        self.level = _level(level)
        self.formatter = Formatter()
        self.stream: Any = None

    def setLevel(self, level: int | str) -> None:  # noqa: N802  # as the original spells it
        self.level = _level(level)

    def setFormatter(self, formatter: Formatter) -> None:  # noqa: N802
        self.formatter = formatter

    def format(self, record: LogRecord) -> str:
        """The line of a record, by the formatter."""
        return self.formatter.format(record)

    def emit(self, record: LogRecord) -> None:
        """Where a record goes; subclasses write their own."""
        if self.stream is not None:
            self.stream.write(self.format(record) + "\n")

    def handle(self, record: LogRecord) -> None:
        """A record that passed the level."""
        self.emit(record)

    def flush(self) -> None:
        """Does nothing: text is on its way once it is written."""

    def close(self) -> None:
        """Does nothing."""


class NullHandler(Handler):
    """`logging.NullHandler`."""


class Logger:
    """`logging.Logger`."""

    def __init__(self, name: str, root: Logger | None) -> None:
        self.name = name
        self.level = logging.WARNING if root is None else logging.NOTSET
        self.handlers: list[Handler] = []
        self.propagate = True
        self.root = root

    def setLevel(self, level: int | str) -> None:  # noqa: N802
        self.level = _level(level)

    def getEffectiveLevel(self) -> int:  # noqa: N802
        return self.level or (self.root.level if self.root is not None else logging.WARNING)

    def isEnabledFor(self, level: int) -> bool:  # noqa: N802
        return level >= self.getEffectiveLevel()

    def addHandler(self, handler: Handler) -> None:  # noqa: N802
        self.handlers.append(handler)

    def removeHandler(self, handler: Handler) -> None:  # noqa: N802
        if handler in self.handlers:
            self.handlers.remove(handler)

    def hasHandlers(self) -> bool:  # noqa: N802
        return bool(self.handlers or (self.root is not None and self.root.handlers))

    def log(self, level: int, message: object, *args: Any, exc_info: Any = None, **options: Any) -> None:
        if not self.isEnabledFor(level):
            return
        text = str(message)
        if args:
            text %= args[0] if len(args) == 1 and isinstance(args[0], dict) and args[0] else args
        if exc_info:
            error = exc_info if isinstance(exc_info, BaseException) else sys.exception()
            if error is not None:
                text += "\n" + "".join(format_exception(error)).rstrip("\n")
        handlers = list(self.handlers)
        if self.root is not None and self.propagate:
            handlers += self.root.handlers or self.root.fallback()
        elif self.root is None:
            handlers = handlers or self.fallback()
        record = LogRecord(level, self.name, text)
        for handler in handlers:
            if level >= handler.level:
                handler.handle(record)

    def fallback(self) -> list[Handler]:
        """Handlers of last resort; the root of a run has one."""
        return []

    def debug(self, message: object, *args: Any, **options: Any) -> None:
        self.log(logging.DEBUG, message, *args, **options)

    def info(self, message: object, *args: Any, **options: Any) -> None:
        self.log(logging.INFO, message, *args, **options)

    def warning(self, message: object, *args: Any, **options: Any) -> None:
        self.log(logging.WARNING, message, *args, **options)

    warn = warning

    def error(self, message: object, *args: Any, **options: Any) -> None:
        self.log(logging.ERROR, message, *args, **options)

    def exception(self, message: object, *args: Any, **options: Any) -> None:
        options.setdefault("exc_info", True)
        self.log(logging.ERROR, message, *args, **options)

    def critical(self, message: object, *args: Any, **options: Any) -> None:
        self.log(logging.CRITICAL, message, *args, **options)

    fatal = critical


def _level(level: int | str) -> int:
    found = logging.getLevelName(level.upper()) if isinstance(level, str) else level
    if not isinstance(found, int):
        raise ValueError(f"unknown level: {level!r}")
    return found


def logging_parts(stderr: Stream) -> dict[str, object]:
    """The functions and classes of the small `logging`, with one root for the run."""

    class StreamHandler(Handler):
        """`logging.StreamHandler`."""

        def __init__(self, stream: Any = None) -> None:
            super().__init__()
            self.stream = stream or stderr

    class Root(Logger):
        def fallback(self) -> list[Handler]:
            return [StreamHandler()]

    root = Root("root", None)
    loggers: dict[str, Logger] = {}

    def get_logger(name: str | None = None) -> Logger:
        """`logging.getLogger`."""
        if not name or name == "root":
            return root
        return loggers.setdefault(name, Logger(name, root))

    def basic_config(**options: Any) -> None:
        """`logging.basicConfig`; `filename` is refused."""
        if options.get("filename"):
            raise ValueError("log files are not part of the dialect; records go to the prints of the run")
        if root.handlers and not options.get("force"):
            return
        handlers = list(options.get("handlers") or [StreamHandler(options.get("stream"))])
        formatter = Formatter(options.get("format") or _DEFAULT, options.get("datefmt"), options.get("style", "%"))
        for handler in handlers:
            handler.setFormatter(formatter)
        root.handlers[:] = handlers
        if options.get("level") is not None:
            root.setLevel(options["level"])

    def disable(level: int = logging.CRITICAL) -> None:
        """`logging.disable`."""
        root.setLevel(level + 1)

    names = ("debug", "info", "warning", "error", "exception", "critical", "log")
    return {
        **{name: getattr(root, name) for name in names},
        "basicConfig": basic_config,
        "disable": disable,
        "getLogger": get_logger,
        "getLevelName": logging.getLevelName,
        "Formatter": Formatter,
        "Handler": Handler,
        "LogRecord": LogRecord,
        "Logger": Logger,
        "NullHandler": NullHandler,
        "StreamHandler": StreamHandler,
    }
