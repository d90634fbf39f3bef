"""A guest that is no process: the test holds the other end of its channel and speaks for it."""

import math
import socket

import anyio

from sandbox.backends.base import GuestExit


class FakeGuest:
    """Looks like a `Guest`; `far` is the guest's end. Ends when it is killed or when `far` is closed."""

    def __init__(self):
        self.channel, self.far = socket.socketpair()
        self.channel.setblocking(False)
        self.killed = anyio.Event()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.channel.close()
        self.far.close()

    @property
    def has_ended(self):
        return self.killed.is_set() or self.far.fileno() < 0

    def kill(self):
        self.killed.set()

    async def wait_exit(self, timeout_s=math.inf):
        return GuestExit(how="exited", code=7)

    async def aclose(self):
        self.kill()

    def drop(self):
        self.kill()
