"""The small `logging`'s records, formats, filters and handlers.

Enters: what a logger was told. Leaves: lines of text. The original formats with `{`-style fields that read any
attribute.
"""

from __future__ import annotations

import logging
import threading
import time
from string import Template
from typing import Any

from sandbox.dialect.guards import read_attribute
from sandbox.dialect.printing import format_exception

DEFAULT_FORMATS = {
    "%": "%(levelname)s:%(name)s:%(message)s",
    "{": "{levelname}:{name}:{message}",
    "$": "${levelname}:${name}:${message}",
}
_MESSAGE_ALONE = {"%": "%(message)s", "{": "{message}", "$": "${message}"}


class LogRecord:
    """`logging.LogRecord`: what a handler is given."""

    def __init__(
        self,
        name: str,
        level: int,
        pathname: str,
        lineno: int,
        msg: object,
        args: Any,
        exc_info: Any = None,
        func: str | None = None,
        sinfo: str | None = None,
    ) -> None:
        self.name, self.levelno, self.levelname = name, level, logging.getLevelName(level)
        self.msg = msg
        self.args = args[0] if args and len(args) == 1 and isinstance(args[0], dict) and args[0] else args
        self.exc_info, self.exc_text, self.stack_info = exc_info, None, sinfo
        self.created = time.time()
        self.msecs = self.created % 1 * 1000
        self.relativeCreated = time.process_time() * 1000  # as the original spells it
        self.module, self.filename, self.pathname = "program", pathname, pathname
        self.funcName, self.lineno = func or "<module>", lineno
        thread = threading.current_thread()
        self.process, self.processName, self.thread, self.threadName = 1, "MainProcess", 1, thread.name

    def getMessage(self) -> str:  # noqa: N802
        """The text with its arguments."""
        text = str(self.msg)
        return text % self.args if self.args else text

    def __repr__(self) -> str:
        return f"<LogRecord: {self.name}, {self.levelno}, {self.filename}, {self.lineno}, {str(self.msg)!r}>"


class Formatter:
    """`logging.Formatter`; `{` templates read what `str.format` may here."""

    default_time_format = "%Y-%m-%d %H:%M:%S"

    def __init__(
        self, fmt: str | None = None, datefmt: str | None = None, style: str = "%", *args: Any, **options: Any
    ) -> None:
        if style not in DEFAULT_FORMATS:
            raise ValueError(f"Style must be one of: {','.join(DEFAULT_FORMATS)}")
        self.fmt = fmt or _MESSAGE_ALONE[style]
        self.datefmt = datefmt
        self.style = style
        self.defaults = dict(options.get("defaults") or {})

    def formatTime(self, record: LogRecord, datefmt: str | None = None) -> str:  # noqa: N802
        """When the record was made."""
        text = time.strftime(datefmt or self.default_time_format, time.localtime(record.created))
        return text if datefmt else f"{text},{int(record.msecs):03d}"

    def formatException(self, exc_info: Any) -> str:  # noqa: N802
        """The traceback."""
        error = exc_info[1] if isinstance(exc_info, tuple) else exc_info
        return "".join(format_exception(error)).rstrip("\n")

    def formatMessage(self, record: Any) -> str:  # noqa: N802
        """The line by the template."""
        values = {**self.defaults, **vars(record)}
        if self.style == "%":
            return self.fmt % values
        if self.style == "$":
            return Template(self.fmt).substitute(values)
        text: str = read_attribute(self.fmt, "format")(**values)
        return text

    def format(self, record: Any) -> str:
        """The line of a record."""
        record.message = record.getMessage()
        if "asctime" in self.fmt:
            record.asctime = self.formatTime(record, self.datefmt)
        text = self.formatMessage(record)
        return text if not record.exc_info else f"{text}\n{self.formatException(record.exc_info)}"


class Filter:
    """`logging.Filter`: records of one logger and those below it."""

    def __init__(self, name: str = "") -> None:
        self.name = name

    def filter(self, record: Any) -> Any:
        """Whether the record goes on."""
        return not self.name or record.name == self.name or record.name.startswith(f"{self.name}.")


class Filterer:
    """`logging.Filterer`: what loggers and handlers have in common."""

    def __init__(self) -> None:
        self.filters: list[Any] = []

    def addFilter(self, filter: Any) -> None:  # noqa: N802
        if filter not in self.filters:
            self.filters.append(filter)

    def removeFilter(self, filter: Any) -> None:  # noqa: N802
        if filter in self.filters:
            self.filters.remove(filter)

    def filter(self, record: Any) -> bool:
        """Whether every filter lets the record pass."""
        return all((one.filter if hasattr(one, "filter") else one)(record) for one in list(self.filters))


class Handler(Filterer):
    """`logging.Handler`: holds a formatter; a stream is a matter of `StreamHandler`."""

    def __init__(self, level: int | str = logging.NOTSET) -> None:
        super().__init__()
        self.level = level_of(level)
        self.formatter: Any = None
        self.stream: Any = None

    def setLevel(self, level: int | str) -> None:  # noqa: N802  # as the original spells it
        self.level = level_of(level)

    def setFormatter(self, formatter: Any) -> None:  # noqa: N802
        self.formatter = formatter

    def format(self, record: Any) -> str:
        """The line of a record, by the formatter."""
        text: str = (self.formatter or Formatter()).format(record)
        return text

    def emit(self, record: Any) -> None:
        """Where a record goes; subclasses write their own."""
        if self.stream is not None:
            self.stream.write(self.format(record) + "\n")

    def handle(self, record: Any) -> bool:
        """A record that passed the level."""
        is_passed = self.filter(record)
        if is_passed:
            self.emit(record)
        return is_passed

    def flush(self) -> None:
        """Does nothing: text is on its way once it is written."""

    def close(self) -> None:
        """Does nothing."""


class NullHandler(Handler):
    """`logging.NullHandler`."""

    def emit(self, record: Any) -> None:
        """Nothing."""


def level_of(level: int | str) -> int:
    """The number of a level.

    Raises:
        ValueError: there is no such level.
    """
    found = logging.getLevelName(level.upper()) if isinstance(level, str) else level
    if not isinstance(found, int):
        raise ValueError(f"unknown level: {level!r}")
    return found
