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
        raise ConfigError(
            f"the state folder `{folder}` cannot be used: {error.strerror}",
            hint_operator="set CODEMODE_STATE_DIR to a folder of yours on a local disk",
        ) from error
    kind = _file_system_of(folder)
    if kind in _NETWORK_FILE_SYSTEMS:
        raise ConfigError(
            f"the state folder `{folder}` is on a network file system ({kind})",
            hint_operator="set CODEMODE_STATE_DIR to a folder on a local disk",
        )
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=_BUSY_MS / 1_000)
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = normal")
    version = connection.execute("pragma user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        connection.close()
        raise ConfigError(
            f"`{path}` was written by a newer version (schema {version}, this one knows {SCHEMA_VERSION})"
        )
    connection.executescript(_SCHEMA)
    connection.execute(f"pragma user_version = {SCHEMA_VERSION}")
    return connection


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
