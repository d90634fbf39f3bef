"""A small `logging`: levels, names, filters and formats, written to the run's streams and to files of the workspace.

Enters: log calls of a program. Leaves: records for handlers. The real package opens files and sockets, and builds
classes by name (`dictConfig`).
"""

from __future__ import annotations

import logging
import sys
from types import FrameType
from typing import Any

from sandbox.dialect.own import MARK, MARK_NAME
from sandbox.dialect.printing import Stream
from sandbox.dialect.standins.log_records import (
    DEFAULT_FORMATS,
    Filter,
    Filterer,
    Formatter,
    Handler,
    LogRecord,
    NullHandler,
    level_of,
)
from sandbox.dialect.standins.workspace import Workspace


class Leveled:
    """The methods that name a level, over `log`."""

    def log(self, level: int, msg: object, *args: Any, **options: Any) -> None:
        raise NotImplementedError

    def debug(self, msg: object, *args: Any, **options: Any) -> None:
        self.log(logging.DEBUG, msg, *args, **options)

    def info(self, msg: object, *args: Any, **options: Any) -> None:
        self.log(logging.INFO, msg, *args, **options)

    def warning(self, msg: object, *args: Any, **options: Any) -> None:
        self.log(logging.WARNING, msg, *args, **options)

    warn = warning

    def error(self, msg: object, *args: Any, **options: Any) -> None:
        self.log(logging.ERROR, msg, *args, **options)

    def exception(self, msg: object, *args: Any, **options: Any) -> None:
        self.log(logging.ERROR, msg, *args, **{"exc_info": True, **options})

    def critical(self, msg: object, *args: Any, **options: Any) -> None:
        self.log(logging.CRITICAL, msg, *args, **options)

    fatal = critical


class Loggers:
    """The loggers of one run, by name, and the names of its levels."""

    def __init__(self) -> None:
        self.made: dict[str, Logger] = {}
        self.level_names: dict[int, str] = {}
        self.disabled_below = 0
        self.last_resort: Handler = NullHandler()
        self.root = Logger("root", self)
        self.root.level = logging.WARNING

    def get(self, name: str | None = None) -> Logger:
        """`logging.getLogger`."""
        if not name or name == "root":
            return self.root
        if name not in self.made:
            self.made[name] = Logger(name, self)
        return self.made[name]

    def above(self, logger: Logger) -> Logger | None:
        """The nearest logger that a dotted name is below of."""
        if logger is self.root:
            return None
        name = logger.name
        while name := name.rpartition(".")[0]:
            if name in self.made:
                return self.made[name]
        return self.root

    def level_name(self, level: Any) -> Any:
        """`logging.getLevelName`."""
        return self.level_names.get(level) or logging.getLevelName(level)

    def disable(self, level: int = logging.CRITICAL) -> None:
        """`logging.disable`."""
        self.disabled_below = level_of(level)

    def add_level_name(self, level: int, name: str) -> None:
        """`logging.addLevelName`."""
        self.level_names[level] = name


class Logger(Filterer, Leveled):
    """`logging.Logger`."""

    def __init__(self, name: str, loggers: Loggers) -> None:
        super().__init__()
        self.name = name
        self.level = logging.NOTSET
        self.handlers: list[Any] = []
        self.propagate = True
        self.disabled = False
        self._cm_loggers = loggers

    def __repr__(self) -> str:
        return f"<Logger {self.name} ({self._cm_loggers.level_name(self.getEffectiveLevel())})>"

    @property
    def parent(self) -> Logger | None:
        """The logger above."""
        return self._cm_loggers.above(self)

    @property
    def root(self) -> Logger:
        """The logger above all."""
        return self._cm_loggers.root

    def getChild(self, suffix: str) -> Logger:  # noqa: N802
        """A logger below."""
        return self._cm_loggers.get(suffix if self is self.root else f"{self.name}.{suffix}")

    def setLevel(self, level: int | str) -> None:  # noqa: N802
        self.level = level_of(level)

    def getEffectiveLevel(self) -> int:  # noqa: N802
        logger: Logger | None = self
        while logger is not None:
            if logger.level:
                return logger.level
            logger = logger.parent
        return logging.NOTSET

    def isEnabledFor(self, level: int) -> bool:  # noqa: N802
        is_on = not self.disabled and level > self._cm_loggers.disabled_below
        return is_on and level >= self.getEffectiveLevel()

    def addHandler(self, handler: Any) -> None:  # noqa: N802
        if handler not in self.handlers:
            self.handlers.append(handler)

    def removeHandler(self, handler: Any) -> None:  # noqa: N802
        if handler in self.handlers:
            self.handlers.remove(handler)

    def hasHandlers(self) -> bool:  # noqa: N802
        return bool(self._cm_handlers())

    def _cm_handlers(self) -> list[Any]:
        found: list[Any] = []
        logger: Logger | None = self
        while logger is not None:
            found += logger.handlers
            logger = logger.parent if logger.propagate else None
        return found

    def log(self, level: int, msg: object, *args: Any, exc_info: Any = None, extra: Any = None, **options: Any) -> None:
        if not self.isEnabledFor(level):
            return
        error = exc_info if isinstance(exc_info, BaseException) else sys.exception() if exc_info else None
        facts = (type(error), error, None) if error is not None else None
        place, line = _caller()
        record = LogRecord(self.name, level, "<program>", line, msg, args, facts, place)
        record.levelname = self._cm_loggers.level_name(level)
        for key, value in dict(extra or {}).items():
            if key in vars(record) or type(key) is not str or key.startswith("_"):
                raise KeyError(f"Attempt to overwrite {key!r} in LogRecord")
            setattr(record, key, value)
        self.handle(record)

    def handle(self, record: Any) -> None:
        """Give a record to the handlers, from here upwards."""
        if self.filter(record):
            for handler in self._cm_handlers() or [self._cm_loggers.last_resort]:
                if record.levelno >= handler.level:
                    handler.handle(record)


class LoggerAdapter(Leveled):
    """`logging.LoggerAdapter`."""

    def __init__(self, logger: Any, extra: Any = None) -> None:
        self.logger, self.extra = logger, extra

    def process(self, msg: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """What is logged in the place of message and options."""
        return msg, {**kwargs, "extra": self.extra}

    def log(self, level: int, msg: object, *args: Any, **options: Any) -> None:
        if self.logger.isEnabledFor(level):
            text, found = self.process(msg, options)
            self.logger.log(level, text, *args, **found)


def _caller() -> tuple[str, int]:
    """The function and the line of the program that logs."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_builtins.get(MARK_NAME) is not MARK:
        frame = frame.f_back
    return (frame.f_code.co_name, frame.f_lineno) if frame is not None else ("", 0)


def logging_parts(stderr: Stream, files: Workspace) -> dict[str, object]:
    """The functions and classes of the small `logging`, with one root for the run."""
    loggers = Loggers()
    root = loggers.root

    class StreamHandler(Handler):
        """`logging.StreamHandler`."""

        def __init__(self, stream: Any = None) -> None:
            super().__init__()
            self.stream = stream or stderr

    class FileHandler(StreamHandler):
        """`logging.FileHandler`: a file of the workspace."""

        def __init__(self, filename: Any, mode: str = "a", encoding: Any = None, *args: Any, **options: Any) -> None:
            super().__init__(files.open(filename, mode, encoding=encoding))

        def flush(self) -> None:
            self.stream.flush()

        def close(self) -> None:
            self.stream.close()

    loggers.last_resort = StreamHandler()
    loggers.last_resort.level = logging.WARNING

    def basic_config(**options: Any) -> None:
        """`logging.basicConfig`."""
        if root.handlers and not options.get("force"):
            return
        handlers = list(options.get("handlers") or ())
        if not handlers and options.get("filename"):
            handlers = [FileHandler(options["filename"], options.get("filemode", "a"), options.get("encoding"))]
        style = options.get("style", "%")
        formatter = Formatter(options.get("format") or DEFAULT_FORMATS.get(style), options.get("datefmt"), style)
        for handler in handlers or [StreamHandler(options.get("stream"))]:
            if handler.formatter is None:
                handler.setFormatter(formatter)
            root.handlers[:] = [*([] if options.get("force") else root.handlers), handler]
            options["force"] = False
        if options.get("level") is not None:
            root.setLevel(options["level"])

    names = ("debug", "info", "warning", "warn", "error", "exception", "critical", "log")
    same = (Filter, Formatter, Handler, LogRecord, Logger, LoggerAdapter, NullHandler, StreamHandler, FileHandler)
    return {
        **{name: getattr(root, name) for name in names},
        **{cls.__name__: cls for cls in same},
        "addLevelName": loggers.add_level_name,
        "basicConfig": basic_config,
        "disable": loggers.disable,
        "getLogger": loggers.get,
        "getLevelName": loggers.level_name,
        "root": root,
        "shutdown": lambda handlers=None: None,
    }
