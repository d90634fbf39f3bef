"""Landlock: no file, no TCP, no signal and no abstract socket beyond this process.

Enters: nothing. Leaves: the ABI in force. A ruleset that handles every right and has no rule refuses them all.
Source: include/uapi/linux/landlock.h, Documentation/userspace-api/landlock.rst (ABI history).
Does not cover: UDP, named unix sockets, stat, what is already open; the seccomp filter does.
"""

from __future__ import annotations

import os
import struct

from sandbox.linux.syscalls import call

CREATE_RULESET_VERSION = 1  # LANDLOCK_CREATE_RULESET_VERSION
ABI_TCP = 4  # LANDLOCK_ACCESS_NET_BIND_TCP | _CONNECT_TCP
ABI_SCOPES = 6  # LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | _SIGNAL

# Highest file right of each ABI: 1 EXECUTE..MAKE_SYM (13 bits), 2 REFER, 3 TRUNCATE, 5 IOCTL_DEV.
_FILE_RIGHT_COUNT = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_LATEST_KNOWN = 5
_NET_RIGHTS = 0b11
_SCOPES = 0b11


def abi() -> int:
    """The kernel's Landlock ABI; 0 when there is none (not built in, not enabled at boot, gVisor)."""
    try:
        return call("landlock_create_ruleset", None, 0, CREATE_RULESET_VERSION)
    except OSError:
        return 0


def ruleset(version: int) -> bytes:
    """`struct landlock_ruleset_attr` for an ABI: every right that it knows, nothing allowed.

    A later ABI gets the rights known here; the structure only has the members that the ABI has.
    """
    if version < 1:
        raise ValueError(f"Landlock ABI must be at least 1, got {version}")
    files = (1 << _FILE_RIGHT_COUNT[min(version, _LATEST_KNOWN)]) - 1
    if version < ABI_TCP:
        return struct.pack("=Q", files)
    if version < ABI_SCOPES:
        return struct.pack("=QQ", files, _NET_RIGHTS)
    return struct.pack("=QQQ", files, _NET_RIGHTS, _SCOPES)


def restrict(attributes: bytes) -> None:
    """Put the calling thread and what it forks under the ruleset for good. Needs no_new_privs."""
    descriptor = call("landlock_create_ruleset", attributes, len(attributes), 0)
    try:
        call("landlock_restrict_self", descriptor, 0)
    finally:
        os.close(descriptor)
