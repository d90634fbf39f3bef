"""Starts zygote processes from a thread that lives as long as the host process.

Enters: an argument list and the zygote's end of its control socket. Leaves: a running child process.
The kernel's parent-death signal follows the *thread* that forked, not the process (prctl(2), PR_SET_PDEATHSIG): a
zygote forked from a worker thread would die with it. So all zygotes are forked from one daemon thread.
"""

from __future__ import annotations

import os
import queue
import socket
import subprocess
import threading
from collections.abc import Sequence
from concurrent.futures import Future

# The whole environment of a zygote. Nothing of the host's may reach it; the constant hash seed makes the order of
# sets, and so the order of a program's calls, the same in every run (replay needs it). Removed before any import.
ENVIRONMENT = {"PYTHONHASHSEED": "0"}

_Order = tuple[Sequence[str], socket.socket, "Future[subprocess.Popen[bytes]]"]


class _Launcher:
    """One queue and one thread; made again in a forked host, where the thread does not exist."""

    def __init__(self) -> None:
        self._orders: queue.SimpleQueue[_Order] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def submit(self, command: Sequence[str], control: socket.socket) -> Future[subprocess.Popen[bytes]]:
        """Have the thread start `command` with `control` as its standard input."""
        started: Future[subprocess.Popen[bytes]] = Future()
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="sandbox-launcher", daemon=True)
                self._thread.start()
        self._orders.put((command, control, started))
        return started

    def _work(self) -> None:
        while True:
            command, control, started = self._orders.get()
            try:
                started.set_result(_start(command, control))
            except OSError as error:
                started.set_exception(error)


def _start(command: Sequence[str], control: socket.socket) -> subprocess.Popen[bytes]:
    """Fork and execute. All descriptors but 0-2 are closed; an own session keeps a terminal's Ctrl-C away."""
    return subprocess.Popen(  # noqa: S603 - the command is our own
        command,
        stdin=control.fileno(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        cwd="/",
        close_fds=True,
        start_new_session=True,
    )


_launcher = _Launcher()


def _after_fork() -> None:
    """A forked host has no launcher thread: the next launch makes a new one."""
    global _launcher
    _launcher = _Launcher()


os.register_at_fork(after_in_child=_after_fork)


def launch(command: Sequence[str], control: socket.socket) -> subprocess.Popen[bytes]:
    """Start a process that dies with this host. Blocks for some milliseconds: call it in a worker thread.

    Raises:
        OSError: it could not be started.
    """
    return _launcher.submit(command, control).result()
