"""What a file of a workspace may be called.

Enters: a program's text, which may be hostile. Leaves: the parts of a relative path, or an OSError without any path.
"""

from __future__ import annotations

import errno
import unicodedata

MAX_PART_BYTES = 255  # given: NAME_MAX of Linux file systems
MAX_DEPTH = 8  # chosen: programs make one or two folders; bounds every walk
_REFUSED = frozenset({"Cc", "Cs", "Zl", "Zp"})  # controls, halves of surrogate pairs, line separators


def parse_name(name: str) -> tuple[str, ...]:
    """The parts of a relative POSIX path; none for "", the workspace itself.

    Raises:
        OSError: EACCES for an absolute name or one with `..`, EINVAL for an empty part, `.` or a control character,
            ENAMETOOLONG for a part of more than 255 bytes or more than 8 parts.
    """
    if not name:
        return ()
    if name.startswith("/"):
        raise OSError(errno.EACCES, "a file's name must be relative, as in `report.csv`")
    parts = tuple(name.split("/"))
    for part in parts:
        if part == "..":
            raise OSError(errno.EACCES, "a file's name must not hold `..`")
        if part in ("", ".") or any(unicodedata.category(char) in _REFUSED for char in part):
            raise OSError(errno.EINVAL, "a file's name must not hold empty parts, `.` or control characters")
        if len(part.encode("utf-8")) > MAX_PART_BYTES:
            raise OSError(errno.ENAMETOOLONG, f"a file's name may have {MAX_PART_BYTES} bytes between two slashes")
    if len(parts) > MAX_DEPTH:
        raise OSError(errno.ENAMETOOLONG, f"folders may be nested {MAX_DEPTH} deep, got {len(parts)}")
    return parts
