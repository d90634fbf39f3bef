"""Ends the servers of a host that died without a goodbye (kill -9, out of memory).

Runs as its own program, standard library only: `python -I -S guard.py`. The host writes `+GROUP MARK` when it starts a
server and `-GROUP` when it has ended one. When the pipe closes, every group still noted, and every process that
carries one of the marks in its environment, gets SIGTERM and two seconds later SIGKILL.
It replaces PR_SET_PDEATHSIG, which acts on the death of a thread instead of the process and needs a foreign call.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator

MARK = "CODEMODE_SERVER_MARK"
"""Variable that every server process of ours carries; its value is random and belongs to one start."""

_GRACE_S = 2.0


def marked_processes(mark: str) -> Iterator[int]:
    """Ids of processes that were started with this mark, on systems that have `/proc`."""
    wanted = f"{MARK}={mark}".encode()
    try:
        names = os.listdir("/proc")  # noqa: PTH208 (the program starts without pathlib)
    except OSError:
        return
    for name in names:
        if name.isdigit() and int(name) != os.getpid():
            try:
                with open(f"/proc/{name}/environ", "rb") as stream:
                    if wanted in stream.read().split(b"\0"):
                        yield int(name)
            except OSError:
                continue  # gone, or not ours to read


def send(groups: dict[int, str], number: int) -> int:
    """Signal every group and every marked process; how many signals arrived."""
    sent = 0
    for group, mark in groups.items():
        try:
            os.killpg(group, number)
            sent += 1
        except OSError:
            pass
        for process in marked_processes(mark):
            try:
                os.kill(process, number)
                sent += 1
            except OSError:
                pass
    return sent


def main() -> None:
    """Follow the host's notes until the pipe closes, then clean up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    groups: dict[int, str] = {}
    for line in sys.stdin:
        sign, rest = line[:1], line[1:].split()
        if sign == "+" and len(rest) == 2 and rest[0].isdigit():
            groups[int(rest[0])] = rest[1]
        elif sign == "-" and rest and rest[0].isdigit():
            groups.pop(int(rest[0]), None)
    if groups and send(groups, signal.SIGTERM):
        time.sleep(_GRACE_S)
        send(groups, signal.SIGKILL)


if __name__ == "__main__":
    main()
