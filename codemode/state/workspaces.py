"""The folder of all workspaces: makes one for each session, and clears away those that nobody has used for a week.

Enters: session ids. Leaves: `Workspace`s. A workspace outlives its session, because a person may want what is in it;
it goes earlier when all together are full (`total.py`).

Safety: only folders that are called like a session and carry our own marker are removed, link by link and file by file
relative to descriptors, never through a link, and only so many at a time.
"""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

from codemode.state.beneath import FOLDER, Budget, remove_tree
from codemode.state.marker import MARKER, read_marker
from codemode.state.total import SESSION, WorkspaceTotal
from codemode.state.workspace import Workspace

KEPT_S = 7 * 86_400.0  # chosen: a report of last week is still there
_MAX_LOOKS = 2_000  # chosen: folders looked at in one sweep
_MAX_REMOVALS = 20_000  # chosen: files and folders removed in one sweep; the next goes on


class Workspaces:
    """All workspaces below one folder."""

    def __init__(self, folder: Path, *, quota_bytes: int, max_file_bytes: int, total_bytes: int) -> None:
        self._folder = folder
        self._quota_bytes = quota_bytes
        self._max_file_bytes = max_file_bytes
        self._total = WorkspaceTotal(folder, total_bytes)

    def of(self, session: str) -> Workspace | None:
        """The workspace of a session; None when none is allowed (a quota of 0)."""
        assert SESSION.fullmatch(session)
        if not self._quota_bytes:
            return None
        return Workspace(
            self._folder / session,
            quota_bytes=self._quota_bytes,
            max_file_bytes=self._max_file_bytes,
            total=self._total,
        )

    def sweep(self, now_s: float) -> int:
        """Remove workspaces of dead processes that were last used more than a week ago; returns how many."""
        try:
            root = os.open(self._folder, FOLDER)
        except OSError:  # nothing was ever kept, or it cannot be read
            return 0
        try:
            with os.scandir(root) as found:
                names = [item.name for item in islice(found, _MAX_LOOKS)]
            budget = Budget(_MAX_REMOVALS)
            old = [name for name in names if SESSION.fullmatch(name) and _is_old(root, name, now_s)]
            return sum(remove_tree(root, name, budget, last=MARKER) for name in old)
        finally:
            os.close(root)


def _is_old(root: int, name: str, now_s: float) -> bool:
    """Whether the folder carries our marker, of a session that has ended, last touched more than a week ago."""
    marker = read_marker(root, name)
    return marker is not None and not marker.is_in_use and now_s - marker.used_s > KEPT_S
