"""What the workspaces of all sessions may take on the disk together, those of ended sessions and other processes too.

Enters: reservations of open workspaces. Leaves: room, made by removing the workspaces of ended sessions, the longest
unused first, or an OSError that names the setting. A workspace that may be in use is never removed.

Each file and folder counts 4 KiB beside its bytes, as it does on most disks. The folder is looked through at the first
write, once a minute, and when room is short: what other processes write in between shows then.
"""

from __future__ import annotations

import errno
import os
import re
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from codemode.state.beneath import FOLDER, Budget, opened, remove_tree, size_of
from codemode.state.marker import FILES, MARKER, read_marker

SESSION = re.compile(r"[0-9a-f]{32}")
SETTING = "limits.all_workspaces_bytes"
_ENTRY_BYTES = 4_096
_LOOK_S = 60.0  # chosen: several processes on one folder are rare, and a look costs 10 us a file
_SOON_S = 1.0  # chosen: a full folder may have been cleared by hand
_MOST_ENTRIES = 1 << 20  # of one workspace: far above what programs can make
_DEPTH = 40  # the same


def charge(size_bytes: int, entries: int) -> int:
    """What a workspace counts: its bytes, its files and folders, and the three that are there from the start."""
    return size_bytes + (entries + 3) * _ENTRY_BYTES


@dataclass(frozen=True, slots=True)
class _Unused:
    """A workspace of an ended session."""

    used_s: float
    name: str
    charge: int


class WorkspaceTotal:
    """The sum of all workspaces below one folder. Methods block on the disk and may be called from any thread."""

    def __init__(self, folder: Path, allowed_bytes: int) -> None:
        self.allowed_bytes = allowed_bytes
        self._folder = folder
        self._lock = threading.Lock()
        self._held: dict[str, int] = {}  # open workspaces of this process: what they count, or will in a moment
        self._others = 0
        self._unused: list[_Unused] = []
        self._looked_s = float("-inf")

    @property
    def used_bytes(self) -> int:
        """What all workspaces count, as far as this process knows."""
        return self._others + sum(self._held.values())

    def reserve(self, session: str, then: int) -> None:
        """Make sure that a workspace may count so much; an operation that has reserved ends with `settle`.

        Raises:
            OSError: ENOSPC: it does not fit although everything unused is removed.
        """
        with self._lock:
            before = self._held.setdefault(session, 0)
            more = then - before
            if time.monotonic() - self._looked_s > _LOOK_S:
                self._look()
            if not self._has_room(more) and time.monotonic() - self._looked_s > _SOON_S:
                self._look()
            if not self._has_room(more):
                self._evict(more)
            if not self._has_room(more):
                raise OSError(
                    errno.ENOSPC,
                    f"the files of all sessions together have no room: {self.used_bytes:,} of "
                    f"{self.allowed_bytes:,} bytes are used, this needs {more:,} more (`{SETTING}`)",
                )
            self._held[session] = max(before, then)

    def settle(self, session: str, now: int) -> None:
        """An operation of a workspace is over, and this is what it counts now."""
        with self._lock:
            self._held[session] = now

    def leave(self, session: str) -> None:
        """A workspace of this process is closed: what is left of it counts among the others."""
        with self._lock:
            left = self._held.pop(session, 0)
            if left and (self._folder / session).is_dir():
                self._others += left
                self._unused.append(_Unused(time.time(), session, left))

    def _has_room(self, more: int) -> bool:
        return more <= 0 or self.used_bytes + more <= self.allowed_bytes

    def _look(self) -> None:
        """Measure every workspace that is not an open one of ours."""
        self._looked_s = time.monotonic()
        self._others, self._unused = 0, []
        try:
            with opened(self._folder, FOLDER) as root:
                for name in sorted(os.listdir(root)):  # noqa: PTH208 - pathlib does not list descriptors
                    if SESSION.fullmatch(name) and name not in self._held:
                        self._measure(root, name)
        except OSError:  # nothing is there yet
            return

    def _measure(self, root: int, name: str) -> None:
        marker = read_marker(root, name)
        if marker is None:
            return
        try:
            with opened(name, FOLDER, root) as place, opened(FILES, FOLDER, place) as files:
                size = charge(*size_of(files, _DEPTH, _MOST_ENTRIES))
        except OSError:  # it is being removed
            return
        self._others += size
        if not marker.is_in_use:
            self._unused.append(_Unused(marker.used_s, name, size))

    def _evict(self, more: int) -> None:
        """Remove workspaces of ended sessions, the longest unused first, until there is room."""
        try:
            with opened(self._folder, FOLDER) as root:
                for item in sorted(self._unused, key=lambda item: (item.used_s, item.name)):
                    if self._has_room(more):
                        return
                    self._remove(root, item)
        except OSError:  # nothing is there any more
            return

    def _remove(self, root: int, item: _Unused) -> None:
        marker = read_marker(root, item.name)
        is_free = marker is not None and not marker.is_in_use  # or another process was faster
        if is_free and remove_tree(root, item.name, Budget(_MOST_ENTRIES), last=MARKER):
            self._others -= item.charge
            self._unused.remove(item)
