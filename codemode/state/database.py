"""Opens the one SQLite file: folder 0700, file 0600, write-ahead log, schema version.

Enters: the state folder. Leaves: a connection for one thread at a time. Network file systems are refused: write-ahead
logging needs shared memory between processes of one machine (sqlite.org/wal.html).
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from codemode.errors import ConfigError

FILE_NAME = "codemode.sqlite3"
SCHEMA_VERSION = 1
_BUSY_MS = 5_000  # chosen: another process of the same user writes a row in well under a millisecond
_NETWORK_FILE_SYSTEMS = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "ceph", "glusterfs"})

_SCHEMA = """
create table if not exists runs (
    key text primary key,
    session text not null,
    principal text not null,
    label text not null,
    started real not null,
    status text not null,
    code text not null default '',
    owner text not null,
    record text not null
);
create index if not exists runs_by_time on runs (started desc);
"""


def open_database(folder: Path) -> sqlite3.Connection:
    """Open (and create) the state file.

    Raises:
        ConfigError: the folder cannot be used, is on a network file system, or was written by a newer version.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        path = folder / FILE_NAME
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        path.chmod(0o600)
    except OSError as error:
        raise _unusable(folder, error.strerror or type(error).__name__) from error
    if fault := _network_fault(folder):
        raise fault
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=_BUSY_MS / 1_000)
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = normal")
    version = connection.execute("pragma user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        connection.close()
        raise _too_new(path, version)
    connection.executescript(_SCHEMA)
    connection.execute(f"pragma user_version = {SCHEMA_VERSION}")
    return connection


def find_fault(folder: Path) -> ConfigError | None:
    """What would keep `open_database` from working, found by looking: nothing is made, opened or changed."""
    if reason := why_not_writable(folder):
        return _unusable(folder, reason)
    try:
        path = folder / FILE_NAME
        for item in (folder, path):  # the permissions of both are set, which only their owner may do
            if item.exists() and os.geteuid() not in (0, item.stat().st_uid):
                return _unusable(folder, f"`{item}` belongs to another user")
        if fault := _network_fault(folder):
            return fault
        with open(path, "rb") as stream:
            return _header_fault(path, stream.read(100))
    except FileNotFoundError:
        return None
    except OSError as error:
        return _unusable(folder, error.strerror or type(error).__name__)


def why_not_writable(folder: Path) -> str:
    """Why files cannot be made in a folder, or the folder itself not made, in a few words; "" when they can."""
    try:
        place = folder
        while not place.exists() and place != place.parent:
            place = place.parent
        what = "is no folder" if not place.is_dir() else "may not be written"
        is_fine = place.is_dir() and os.access(place, os.W_OK | os.X_OK)
    except OSError as error:
        return (error.strerror or type(error).__name__).lower()
    return "" if is_fine else what if place == folder else f"`{place}` {what}"


def _header_fault(path: Path, header: bytes) -> ConfigError | None:
    """What the first 100 bytes tell; an empty file is a new one. Source: sqlite.org/fileformat2.html, section 1.3."""
    if header and not header.startswith(b"SQLite format 3\0"):
        return ConfigError(f"`{path}` is no SQLite file", hint_operator="move it away; a new one is made")
    version = int.from_bytes(header[60:64], "big")
    return _too_new(path, version) if version > SCHEMA_VERSION else None


def _unusable(folder: Path, reason: str) -> ConfigError:
    return ConfigError(
        f"the state folder `{folder}` cannot be used: {reason}",
        hint_operator="set CODEMODE_STATE_DIR to a folder of yours on a local disk",
    )


def _network_fault(folder: Path) -> ConfigError | None:
    kind = _file_system_of(folder)
    if kind not in _NETWORK_FILE_SYSTEMS:
        return None
    return ConfigError(
        f"the state folder `{folder}` is on a network file system ({kind})",
        hint_operator="set CODEMODE_STATE_DIR to a folder on a local disk",
    )


def _too_new(path: Path, version: int) -> ConfigError:
    return ConfigError(f"`{path}` was written by a newer version (schema {version}, this one knows {SCHEMA_VERSION})")


def _file_system_of(folder: Path) -> str:
    """The file system's type from /proc/mounts, "" when that cannot be read (not Linux)."""
    try:
        text = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    place = str(folder.resolve())
    best, kind = "", ""
    for line in text.splitlines():
        parts = line.split(" ")
        if len(parts) < 3:
            continue
        point = parts[1].replace("\\040", " ")
        if (place == point or place.startswith(point.rstrip("/") + "/")) and len(point) >= len(best):
            best, kind = point, parts[2]
    return kind
