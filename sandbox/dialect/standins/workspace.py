"""What stand-ins use of the session's workspace: the functions that the guest supplies for `io`, `os` and `shutil`.

Enters: the overrides of one run. Leaves: one object to open, look at and change files with. Never opens anything
itself: where nobody supplies files, there are none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def is_name(value: object) -> bool:
    """Whether a value names a file, where the library takes a name or an open file."""
    return isinstance(value, str | bytes) or hasattr(type(value), "__fspath__")


def _no_files(*args: Any, **options: Any) -> Any:
    raise PermissionError("there are no files here; use `io.BytesIO` or `io.StringIO`")


class Workspace:
    """The files of one run.

    Attributes:
        open: as the builtin.
        stat, listdir, makedirs, remove: as in `os`.
        isdir: as in `os.path`.
        rmtree: as in `shutil`.
    """

    __slots__ = ("isdir", "listdir", "makedirs", "open", "remove", "rmtree", "stat")

    def __init__(self, given: Mapping[str, Mapping[str, Any]]) -> None:
        def part(module: str, name: str) -> Callable[..., Any]:
            found: Callable[..., Any] = given.get(module, {}).get(name, _no_files)
            return found

        self.open = part("io", "open")
        self.stat, self.listdir = part("os", "stat"), part("os", "listdir")
        self.makedirs, self.remove = part("os", "makedirs"), part("os", "remove")
        self.isdir, self.rmtree = part("os.path", "isdir"), part("shutil", "rmtree")
