"""The small file in each workspace that says whose it is, and by its time when it was last used.

Enters: the descriptor of a workspace's folder. Leaves: `Marker`s; what is no marker of ours is None. A folder without
one is never removed. Without an owner a workspace belongs to a session that has ended.
"""

from __future__ import annotations

import json
import os
import stat as modes
from dataclasses import dataclass

from codemode.jsonvalue import as_object, as_text
from codemode.state.beneath import FILE, FOLDER, opened, write_all
from codemode.state.owner import identity, is_alive

MARKER = "workspace.json"
FILES = "files"  # what stands beside it in a workspace
_FORMAT = 1
_MAX_BYTES = 4_096


@dataclass(frozen=True, slots=True)
class Marker:
    """Whether the workspace's session may still be open, and when it was last used (Unix time in seconds)."""

    is_in_use: bool
    used_s: float


def write_marker(place: int, *, is_in_use: bool = True) -> None:
    """Mark a workspace as one of a session of this process, or of one that has ended."""
    owner = identity(os.getpid()) if is_in_use else ""
    with opened(MARKER, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | FILE, place) as file:
        write_all(file, json.dumps({"format": _FORMAT, "owner": owner}).encode("ascii"))


def read_marker(root: int, name: str) -> Marker | None:
    """The marker of the workspace that is called so below `root`."""
    try:
        with opened(name, FOLDER, root) as place, opened(MARKER, os.O_RDONLY | FILE, place) as file:
            facts = os.fstat(file)
            text = os.read(file, _MAX_BYTES) if modes.S_ISREG(facts.st_mode) else b""
        said = as_object(json.loads(text))
    except (OSError, ValueError, RecursionError):
        return None
    if said.get("format") != _FORMAT:
        return None
    return Marker(is_alive(as_text(said.get("owner"))), facts.st_mtime)
