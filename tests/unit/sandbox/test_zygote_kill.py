"""How a guest is killed that the host itself may not signal."""

import contextlib
import os
import signal
import socket
import subprocess
import sys

import pytest

from sandbox.backends import zygote
from sandbox.backends.base import UNKNOWN_EXIT
from sandbox.backends.forks import ForkedGuest
from sandbox.backends.seat import Seat
from sandbox.backends.zygote import ZygoteLink
from sandbox.guest import control
from sandbox.linux.cgroups import Bound, Groups

READY = control.Ready(
    mode="user", namespaces=False, empty_root=False, landlock_abi=7, slots=0, nproc_counts=False, data_bytes=1
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="did not run: needs Linux")


class Finished:
    """Holds a zygote that has ended."""

    stderr = None

    def wait(self, timeout):
        return 0

    def kill(self):
        pass


@pytest.fixture
def ends(monkeypatch):
    """The two ends of a control socket of a host that may not signal guests."""

    def refuse(descriptor):
        raise PermissionError

    monkeypatch.setattr(zygote.pidfd, "kill", refuse)
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    near.setblocking(False)
    far.settimeout(5)
    with near, far:
        yield near, far


def test_the_zygote_is_told_to_kill_what_the_host_may_not_signal(ends):
    near, far = ends
    ZygoteLink(Finished(), near, READY).end(5, 7)
    assert control.decode(far.recv(control.PACKET_BYTES)) == control.Kill(slot=7)


def test_a_zygote_that_takes_no_more_orders_is_cut_off(ends):
    near, _ = ends
    with contextlib.suppress(BlockingIOError):
        while True:
            near.send(b"x" * 1_024)
    link = ZygoteLink(Finished(), near, READY)
    link.end(5, 7)
    link.catch_up()
    assert link.is_lost


def test_killing_after_the_end_of_the_zygote_is_harmless(ends):
    near, far = ends
    far.close()
    ZygoteLink(Finished(), near, READY).end(5, 7)


def test_a_guest_that_outlives_its_zygote_is_killed_by_its_own_handle():
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    channel, other = socket.socketpair()
    with near, far, channel, other, subprocess.Popen(["/bin/sleep", "60"]) as survivor:
        seat = Seat(Groups(), 0, Bound(memory_bytes=1, tasks=1), 0)
        guest = ForkedGuest(channel, ZygoteLink(Finished(), near, READY), seat, release=lambda: None)
        descriptor = os.pidfd_open(survivor.pid)
        guest.adopt(descriptor)
        guest.ended(UNKNOWN_EXIT)
        guest.kill()
        assert survivor.wait(10) == -signal.SIGKILL
        os.close(descriptor)
