"""The guest's end of the channel: sends frames, waits for answers; one reader at a time, whoever it is.

Enters: a connected stream socket and the one event loop. Leaves: `request` (blocks a thread), `start` (gives a future
of the loop) and `post` (no answer). Any thread may use them, also while the loop runs.

Who reads: exactly one party holds the reader's role. A thread that is blocked for an answer comes first, and hands the
role on to another one when its own answer has come; when no thread is blocked, a running loop reads. The loop must not
come first: its thread may be busy, waiting for those very threads (`list(pool.map(f, xs))` in a program that also
awaits). Two readers would take each other's frames: facts of the first prototypes, which hung in one of five tries when
threads blocked beside a running loop.
"""

from __future__ import annotations

import _thread
import asyncio
import os
import select
import socket
import threading
from collections import deque
from collections.abc import Awaitable, Coroutine
from typing import Any, NamedTuple, NoReturn

from sandbox import wire


class Answer(NamedTuple):
    """A `reply` or `module` frame."""

    header: dict[str, Any]
    payload: bytes


class _Waiter:
    """A thread that waits for one answer, or for being asked to read."""

    __slots__ = ("answer", "gate", "is_open")

    def __init__(self) -> None:
        self.answer: Answer | None = None
        self.gate = _thread.allocate_lock()
        self.gate.acquire()
        self.is_open = False

    def wake(self) -> None:
        """Let the thread look again. Call with the link's state lock held."""
        if not self.is_open:
            self.is_open = True
            self.gate.release()


class Link:
    """One channel to the host.

    Safety: what arrives comes from the trusted host, so a frame that is no frame ends the guest at once.
    """

    def __init__(self, channel: socket.socket, loop: asyncio.AbstractEventLoop) -> None:
        self._socket = channel
        self._loop = loop
        self._splitter = wire.Splitter(wire.MAX_ID)
        self._send_lock = _thread.allocate_lock()
        self._state = _thread.allocate_lock()
        self._next_id = 0
        self._waiting: dict[int, _Waiter | asyncio.Future[Answer]] = {}
        self._held: deque[tuple[int, bytes]] = deque()
        self._open_futures = 0
        self._window = 32
        self._early: deque[Answer] = deque()
        self._blocked = 0  # threads without an answer
        self._reader: int | None = None  # thread id of whoever reads; the loop's thread id while the loop does
        self._loop_thread = 0  # 0 while no loop runs
        self._is_loop_reading = False  # its thread is at it now: the role cannot be taken from it
        self._is_attached = False  # the loop watches the socket; changed by the loop's thread alone

    # -- before the run -------------------------------------------------------------------------------------------

    def has_news(self) -> bool:
        """Whether a frame has begun to arrive; never waits."""
        return bool(select.select([self._socket], [], [], 0)[0])

    def receive(self) -> Answer:
        """The next frame, in order; only before the program runs (one thread, nothing outstanding)."""
        while not self._early:
            for body in self._splitter.feed(self._receive_bytes(0)):
                self._early.append(Answer(*wire.decode(body)))
        return self._early.popleft()

    def set_window(self, in_flight: int) -> None:
        """How many futures may be on their way at once; further ones wait here and not in the host."""
        self._window = in_flight

    # -- sending --------------------------------------------------------------------------------------------------

    def post(self, header: dict[str, Any], payload: bytes = b"") -> None:
        """Send a frame that has no answer."""
        self._send(wire.encode(header, payload))

    def _send(self, frame: bytes) -> None:
        with self._send_lock:
            try:
                self._socket.sendall(frame)
            except OSError:
                _leave()

    def _enter(self, waiter: _Waiter | asyncio.Future[Answer]) -> int:
        with self._state:
            self._next_id += 1
            self._blocked += isinstance(waiter, _Waiter)
            self._waiting[self._next_id] = waiter
            return self._next_id

    def request(self, header: dict[str, Any], payload: bytes | memoryview = b"") -> Answer:
        """Send a frame and block this thread until its answer is there."""
        waiter = _Waiter()
        number = header["id"] = self._enter(waiter)
        self._send(wire.encode(header, payload))
        try:
            self._wait(waiter)
        finally:
            if waiter.answer is None:  # interrupted: nobody is to be woken for this any more
                self._forget(number)
        assert waiter.answer is not None
        return waiter.answer

    def _wait(self, waiter: _Waiter) -> None:
        while waiter.answer is None:
            if self._may_read(waiter):
                try:
                    self._read_until(waiter)
                finally:
                    self._pass_on()
            else:
                waiter.gate.acquire()
                with self._state:
                    waiter.is_open = False

    def _forget(self, number: int) -> None:
        with self._state:
            if self._waiting.pop(number, None) is not None:
                self._blocked -= 1
            if self._reader is None:
                self._wake_one()

    def start(self, header: dict[str, Any], payload: bytes = b"") -> asyncio.Future[Answer]:
        """Send a frame now (or as soon as the window allows); the loop's future of its answer.

        Cancelling the future tells the host that the call is given up.
        """
        future: asyncio.Future[Answer] = self._loop.create_future()
        number = self._enter(future)
        header["id"] = number
        frame = wire.encode(header, payload)
        future.add_done_callback(lambda done: self._settled(number, done))
        with self._state:
            self._open_futures += 1
            wait = self._open_futures > self._window
            if wait:
                self._held.append((number, frame))
        if not wait:
            self._send(frame)
        return future

    def task(self, work: Coroutine[Any, Any, Any]) -> Awaitable[Any]:
        """The work as a task of the loop; as it is when this is not the main thread, where no task can be made."""
        if threading.current_thread() is not threading.main_thread():
            return work
        return self._loop.create_task(work)

    def _settled(self, number: int, future: asyncio.Future[Answer]) -> None:
        """A future is done: drop a cancelled call, let the next held one go."""
        following = None
        given_up = False
        with self._state:
            if self._waiting.pop(number, None) is not None:
                given_up = future.cancelled()
                for index, (held, _) in enumerate(self._held):
                    if held == number:
                        del self._held[index]
                        given_up = False
                        break
            self._open_futures -= 1
            if self._held and self._open_futures - len(self._held) < self._window:
                following = self._held.popleft()[1]
        if given_up:
            self.post({"kind": "cancel", "id": number})
        if following is not None:
            self._send(following)

    @property
    def outstanding(self) -> list[asyncio.Future[Answer]]:
        """Futures whose answers have not come yet."""
        with self._state:
            return [item for item in self._waiting.values() if isinstance(item, asyncio.Future)]

    # -- the reader's role ----------------------------------------------------------------------------------------

    def enter_loop(self) -> None:
        """This thread's loop is about to run: it becomes the reader as soon as nobody else is."""
        with self._state:
            self._loop_thread = threading.get_ident()
            if self._reader is None:
                self._reader = self._loop_thread
        self._watch()

    def leave_loop(self) -> None:
        """The loop has stopped: a blocked thread takes over the reading."""
        with self._state:
            if self._reader == self._loop_thread:
                self._reader = None
            self._loop_thread = 0
            self._wake_one()
        self._watch()

    def _may_read(self, waiter: _Waiter) -> bool:
        me = threading.get_ident()
        with self._state:
            if waiter.answer is not None:
                return False
            is_idle = self._reader == self._loop_thread and not self._is_loop_reading
            if self._reader is None:
                self._reader = me
            elif is_idle and self._reader != me:
                self._reader = me
                self._loop.call_soon_threadsafe(self._watch)
            if self._reader != me:
                return False
            self._is_loop_reading = me == self._loop_thread
            return True

    def _pass_on(self) -> None:
        """This thread has read enough: hand the reader's role to a blocked thread, else to the loop."""
        me = threading.get_ident()
        with self._state:
            if self._reader != me:
                return
            self._is_loop_reading = False
            self._reader = None
            if self._blocked:
                self._wake_one()
            elif self._loop_thread:
                self._reader = self._loop_thread
            loop_thread = self._loop_thread
        if me == loop_thread:
            self._watch()
        elif loop_thread:
            self._loop.call_soon_threadsafe(self._watch)

    def _watch(self) -> None:
        """Have the loop watch the socket while it is the reader. Called in the loop's thread."""
        is_reader = self._loop_thread != 0 and self._reader == self._loop_thread
        if is_reader and not self._is_attached:
            self._loop.add_reader(self._socket, self._on_readable)
        elif self._is_attached and not is_reader:
            self._loop.remove_reader(self._socket)
        self._is_attached = is_reader

    def _wake_one(self) -> None:
        for waiter in self._waiting.values():
            if isinstance(waiter, _Waiter):
                waiter.wake()
                return

    # -- reading --------------------------------------------------------------------------------------------------

    def _read_until(self, waiter: _Waiter) -> None:
        while waiter.answer is None:
            self._take(self._receive_bytes(0))

    def _on_readable(self) -> None:
        with self._state:
            if self._reader != self._loop_thread:
                return
            self._is_loop_reading = True
        try:
            self._take(self._receive_bytes(socket.MSG_DONTWAIT))
        except BlockingIOError:
            pass
        finally:
            self._pass_on()

    def _receive_bytes(self, flags: int) -> bytes:
        try:
            data = self._socket.recv(self._splitter.appetite_bytes, flags)
        except BlockingIOError:
            raise
        except OSError:
            _leave()
        if not data:
            _leave()
        return data

    def _take(self, data: bytes) -> None:
        on_loop = threading.get_ident() == self._loop_thread
        for body in self._splitter.feed(data):
            answer = Answer(*wire.decode(body))
            if answer.header["kind"] == "cancel":
                _thread.interrupt_main()
                continue
            with self._state:
                waiting = self._waiting.pop(answer.header["id"], None)
                if isinstance(waiting, _Waiter):
                    self._blocked -= 1
                    waiting.answer = answer
                    waiting.wake()
            if isinstance(waiting, asyncio.Future):
                if on_loop:
                    _settle(waiting, answer)
                else:
                    self._loop.call_soon_threadsafe(_settle, waiting, answer)


def _settle(future: asyncio.Future[Answer], answer: Answer) -> None:
    if not future.done():
        future.set_result(answer)


def _leave() -> NoReturn:
    """The host is gone: nothing that could be said would be heard."""
    os._exit(3)
