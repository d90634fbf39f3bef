"""What a program calls its files, and what the host knows them as.

Enters: a name, a path object, bytes. Leaves: a relative name without `.` and `..`. The host judges it again.
"""

from __future__ import annotations

import errno
import os
from typing import Any

from sandbox import wire

FOLDER = "/workspace"
"""What programs see as their working folder; names below it and relative names mean the same."""

_OUTSIDE = "only files of the workspace can be used: give a relative name, for example `report.csv`"


def plain_name(path: Any) -> str:
    """A program's name for a file as the host knows it; "" is the workspace itself.

    Raises:
        TypeError, ValueError: as `open` raises them for what is no name.
        OSError: a descriptor's number, an empty or too long name, a place outside of the workspace.
    """
    if isinstance(path, int):
        raise OSError(errno.EBADF, "there are no descriptors here: give a name", str(path))
    given = os.fspath(path)
    text = given.decode("utf-8", "surrogateescape") if isinstance(given, bytes) else str(given)
    if not text:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), text)
    if "\0" in text:
        raise ValueError("embedded null byte")
    inside = text
    if text.startswith("/"):
        if text != FOLDER and not text.startswith(f"{FOLDER}/"):
            raise PermissionError(errno.EACCES, _OUTSIDE, text)
        inside = text[len(FOLDER) :]
    parts: list[str] = []
    for part in inside.split("/"):
        if part == "..":
            if not parts:
                raise PermissionError(errno.EACCES, _OUTSIDE, text)
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    name = "/".join(parts)
    if len(name) > wire.MAX_NAME_CHARS:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), text[:100])
    return name
