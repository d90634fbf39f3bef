"""Which process something on the disk belongs to, so that what a dead one left behind can be told apart.

Enters: process ids. Leaves: texts that name one process of one boot.
"""

from __future__ import annotations

import os
from pathlib import Path


def identity(pid: int) -> str:
    """A process that cannot be mistaken for a later one with the same number: pid, start time, boot."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return f"{pid}"
    return f"{pid}:{fields[19]}:{boot}"


def is_alive(owner: str) -> bool:
    """Whether the process that `identity` named still runs."""
    pid = owner.partition(":")[0]
    if not pid.isascii() or not pid.isdigit():
        return False
    if ":" in owner:
        return identity(int(pid)) == owner
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
