"""The folder of all workspaces: makes one for each session, and clears away those that nobody has used for a week.

Enters: session ids. Leaves: `Workspace`s. A workspace outlives its session, because a person may want what is in it.

Safety: only folders that are called like a session and carry our own marker are removed, link by link and file by file
relative to descriptors, never through a link, and only so many at a time.
"""

from __future__ import annotations

import json
import os
import re
import stat as modes
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from codemode.jsonvalue import as_object, as_text
from codemode.state.owner import is_alive
from codemode.state.workspace import FORMAT, MARKER, Workspace

KEPT_S = 7 * 86_400.0  # chosen: a report of last week is still there
_MAX_LOOKS = 2_000  # chosen: folders looked at in one sweep
_MAX_REMOVALS = 20_000  # chosen: files and folders removed in one sweep; the next goes on
_MAX_DEPTH = 40  # far above what programs can make
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_SESSION = re.compile(r"[0-9a-f]{32}")


class Workspaces:
    """All workspaces below one folder."""

    def __init__(self, folder: Path, *, quota_bytes: int, max_file_bytes: int) -> None:
        self._folder = folder
        self._quota_bytes = quota_bytes
        self._max_file_bytes = max_file_bytes

    def of(self, session: str) -> Workspace | None:
        """The workspace of a session; None when none is allowed (a quota of 0)."""
        assert _SESSION.fullmatch(session)
        if not self._quota_bytes:
            return None
        return Workspace(self._folder / session, quota_bytes=self._quota_bytes, max_file_bytes=self._max_file_bytes)

    def sweep(self, now_s: float) -> int:
        """Remove workspaces of dead processes that were last used more than a week ago; returns how many."""
        try:
            root = os.open(self._folder, _FOLDER)
        except OSError:  # nothing was ever kept, or it cannot be read
            return 0
        try:
            with os.scandir(root) as found:
                names = [item.name for item in islice(found, _MAX_LOOKS)]
            budget = _Budget(_MAX_REMOVALS)
            old = [name for name in names if _SESSION.fullmatch(name) and _is_old(root, name, now_s)]
            return sum(_remove(root, name, budget, last=MARKER) for name in old)
        finally:
            os.close(root)


class _Budget:
    """How much may still be removed."""

    def __init__(self, left: int) -> None:
        self.left = left

    def spend(self) -> bool:
        """Whether one more may go."""
        self.left -= 1
        return self.left >= 0


def _is_old(root: int, name: str, now_s: float) -> bool:
    """Whether the folder carries our marker, of a process that is gone, last touched more than a week ago."""
    try:
        folder = os.open(name, _FOLDER, dir_fd=root)
        try:
            marker = os.open(MARKER, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        finally:
            os.close(folder)
        try:
            facts = os.fstat(marker)
            text = os.read(marker, 4_096) if modes.S_ISREG(facts.st_mode) else b""
        finally:
            os.close(marker)
        said = as_object(json.loads(text))
    except (OSError, ValueError, RecursionError):
        return False
    if said.get("format") != FORMAT or now_s - facts.st_mtime <= KEPT_S:
        return False
    return not is_alive(as_text(said.get("owner")))


def _remove(above: int, name: str, budget: _Budget, *, last: str = "", depth: int = 0) -> bool:
    """Remove a folder and what is in it, `last` at the end; False when something stays for the next time."""
    return _quietly(lambda: _remove_all(above, name, budget, last, depth))


def _remove_all(above: int, name: str, budget: _Budget, last: str, depth: int) -> bool:
    folder = os.open(name, _FOLDER, dir_fd=above)
    try:
        with os.scandir(folder) as found:
            inside = [(item.name, item.is_dir(follow_symlinks=False)) for item in islice(found, budget.left + 1)]
        for inner, is_folder in sorted(inside, key=lambda item: item[0] == last):
            if is_folder:
                is_gone = depth < _MAX_DEPTH and _remove(folder, inner, budget, depth=depth + 1)
            else:
                is_gone = budget.spend() and _quietly(lambda inner=inner: _unlink(inner, folder))  # type: ignore[misc]  # a default binds the loop's name
            if not is_gone:
                return False
    finally:
        os.close(folder)
    if not budget.spend():
        return False
    os.rmdir(name, dir_fd=above)
    return True


def _unlink(name: str, folder: int) -> bool:
    os.unlink(name, dir_fd=folder)
    return True


def _quietly(work: Callable[[], bool]) -> bool:
    try:
        return work()
    except OSError:  # somebody else's hand is in it: the next sweep looks again
        return False
