"""Processes by descriptor instead of by number: no signal ever reaches a stranger that took over a number.

Enters: a pidfd. Leaves: whether the process lives. Source: pidfd_open(2), pidfd_send_signal(2), Linux 5.3.
"""

from __future__ import annotations

import select
import signal


def kill(pidfd: int) -> None:
    """End the process with SIGKILL; a process that has already ended is left alone."""
    try:
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    except ProcessLookupError:
        pass


def has_ended(pidfd: int) -> bool:
    """Whether the process has ended, reaped or not; never waits."""
    poller = select.poll()
    poller.register(pidfd, select.POLLIN)
    return bool(poller.poll(0))
