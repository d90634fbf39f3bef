"""The one event loop of a guest: made before the fork, with descriptors of the guest's own after it.

Enters: nothing. Leaves: an `asyncio` loop that runs here. Making one takes a millisecond and copies a hundred pages of
shared memory, so the zygote makes it once. Its three descriptors would be shared by all guests; each guest closes them
with everything else and puts new ones under the same numbers, which is all that the objects of the loop hold.
"""

from __future__ import annotations

import asyncio
import os
import select
import selectors
import socket
from typing import Any


class ForkedLoop:
    """An event loop for every child of this process.

    Attributes:
        loop: not to be run before `reopen`.
    """

    def __init__(self) -> None:
        self._selector = selectors.EpollSelector()
        self.loop = asyncio.SelectorEventLoop(self._selector)
        parts: Any = self.loop  # the pair by which threads wake the loop has no public name
        self._numbers = (self._selector.fileno(), parts._ssock.fileno(), parts._csock.fileno())
        self._watched = parts._ssock.fileno()
        self._kept: tuple[object, ...] = ()

    def reopen(self) -> None:
        """Put new descriptors in the place of the inherited ones, also where those are still open."""
        watch = select.epoll()
        pair = socket.socketpair()
        made = [watch.fileno(), *(own.fileno() for own in pair)]
        for own, number in zip(made, self._numbers, strict=True):
            if own != number:  # never lower: the zygote had the lowest there are
                os.dup2(own, number, inheritable=False)
        for own in set(made).difference(self._numbers):
            os.close(own)
        for number in self._numbers[1:]:
            os.set_blocking(number, False)
        placed = select.epoll.fromfd(self._numbers[0])
        placed.register(self._watched, select.EPOLLIN)
        self._kept = (watch, pair, placed)  # as long as the loop: their end would close its descriptors
