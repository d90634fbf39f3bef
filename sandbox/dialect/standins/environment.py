"""`os.environ` and what else `os`, `platform`, `shutil` and `gc` tell about the machine: nothing real.

Enters: names. Leaves: what the program itself has set, and constants.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, MutableMapping
from typing import Any


class MissingVariableError(KeyError):
    """A variable that the program has not set itself; the text says what to write."""

    def __str__(self) -> str:
        return str(self.args[0])


_MISSING = object()


class Environment(MutableMapping[str, str]):
    """`os.environ` of a run: the program's own, empty at first.

    A name that is not there is an error also for `get`, unless a default is named: a program that reads the
    environment of nobody goes on with `None` and fails far from the cause.
    """

    __slots__ = ("_cm_values",)

    def __init__(self) -> None:
        self._cm_values: dict[str, str] = {}

    def __getitem__(self, key: str) -> str:
        found: str = self.get(key)
        return found

    def get(self, key: str, default: Any = _MISSING) -> Any:
        """The value that the program has set, or the default.

        Raises:
            MissingVariableError: there is neither.
        """
        found = self._cm_values.get(_text(key), default)
        if found is _MISSING:
            raise MissingVariableError(
                f"{key}: programs get no environment variables; write the value into the program, or name a default: "
                f"`os.environ.get({key!r}, default)`"
            )
        return found

    def __setitem__(self, key: str, value: str) -> None:
        self._cm_values[_text(key)] = _text(value)

    def __delitem__(self, key: str) -> None:
        del self._cm_values[_text(key)]

    def __contains__(self, key: object) -> bool:
        return key in self._cm_values

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._cm_values))

    def __len__(self) -> int:
        return len(self._cm_values)

    def __repr__(self) -> str:
        return f"environ({self._cm_values!r})"

    def copy(self) -> dict[str, str]:
        """A plain dict."""
        return dict(self._cm_values)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"str expected, not {type(value).__name__}")
    return str.__str__(value)


def get_terminal_size(fallback: tuple[int, int] = (80, 24)) -> os.terminal_size:
    """`shutil.get_terminal_size`: there is no terminal."""
    return os.terminal_size(fallback)


def which(cmd: Any, mode: int = 1, path: Any = None) -> None:
    """`shutil.which`: there are no commands."""


def environment_parts() -> dict[str, dict[str, object]]:
    """The parts of `os`, `platform`, `shutil` and `gc`, for one run."""
    environ = Environment()

    return {
        "os": {"environ": environ, "getenv": environ.get, "cpu_count": lambda: 1},
        "platform": {"system": lambda: "Linux"},
        "shutil": {"get_terminal_size": get_terminal_size, "which": which},
        "gc": {"collect": lambda generation=2: gc.collect(generation)},
    }
