"""What stays open in a process that foreign code will run in.

Enters: descriptor numbers. Leaves: nothing; in a guest, 0, 1 and 2 are the null device, and nothing else but the
channel is open. This is the only layer against an inherited descriptor: no filter can tell it from an own one.
"""

from __future__ import annotations

import os
import struct

from sandbox.linux.syscalls import buffer, call

CHANNEL = 3
"""Number of the one descriptor that a zygote (control socket) or a guest (channel) holds besides 0-2."""

SOL_SOCKET, SO_PEERCRED = 1, 17  # asm-generic/socket.h
NULL_DEVICE = (1, 3)  # Documentation/admin-guide/devices.txt: 1 char, minor 3 = /dev/null
_LAST = 0xFFFFFFFF  # close_range(2): up to the last possible descriptor


def put_null_on(*numbers: int) -> None:
    """Make the given descriptors the null device, for reading and writing.

    A host that speaks a protocol on its own standard output must never share it with a guest.
    """
    null = os.open("/dev/null", os.O_RDWR)
    for number in numbers:
        if number != null:
            os.dup2(null, number, inheritable=False)
    if null not in numbers:
        os.close(null)


def is_null(number: int) -> bool:
    """Whether the descriptor is the null device."""
    device = os.fstat(number).st_rdev
    return (os.major(device), os.minor(device)) == NULL_DEVICE


def close_from(first: int) -> None:
    """Close every descriptor with the number `first` or above.

    Safety: by range and not by a list, so that a descriptor nobody knows of is closed as well.
    """
    try:
        call("close_range", first, _LAST, 0)
    except OSError:  # Linux before 5.9, or a filter of an outer container
        os.closerange(first, os.sysconf("SC_OPEN_MAX"))


def peer_pid(descriptor: int) -> int:
    """Process id of whoever made the unix socket pair that `descriptor` is one end of; 0 outside our pid namespace."""
    credentials = buffer(12)  # struct ucred: pid, uid, gid (socket(7))
    size = buffer(4)
    size.raw = struct.pack("=I", 12)
    call("getsockopt", descriptor, SOL_SOCKET, SO_PEERCRED, credentials, size)
    pid: int = struct.unpack("=iII", credentials.raw)[0]
    return pid
