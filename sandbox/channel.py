"""The host's half of one run's channel: takes every frame of the guest as hostile, and never holds more than it may.

Enters: a non-blocking stream socket to one guest. Leaves: checked frames in order, or a `ChannelError` that names the
code the run ends with. Identity is the stream: nothing a frame says can make it another run's.

Safety: an attacker controls every byte that is read here. Lengths are checked before anything is stored, headers are
bounded and flat, ids act once, and what waits towards a guest that does not read is counted (ARCHITECTURE 4.5).
"""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import anyio

from sandbox import wire
from sandbox.spec import Limits

_TURN_S = 0.005  # chosen: other runs and the deadline get their turn this often
_OVERDRAFT = 2  # chosen: one frame more than `queued_bytes` may wait; senders wait for room before the next


class ChannelError(Exception):
    """The run must end with `code` (`guest.protocol`, `limit.frame`, `limit.queued`)."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class GuestFrame:
    """A frame of a known kind whose header fields have the right types."""

    kind: str
    header: dict[str, Any]
    payload: bytes


_FIELDS: dict[str, dict[str, type]] = {
    "prepared": {},
    "call": {"id": int, "target": str},
    "load": {"id": int, "name": str},
    "file": {"id": int, "operation": str, "name": str, "to": str, "at": int},
    "cancel": {"id": int},
    "print": {"stream": str},
    "end": {"status": str, "form": str, "type": str, "notes": list, "usage": dict},
}
_STREAMS = ("out", "err")
# Our own guest sends no more: prints in pieces of 1 MiB, 5,000 names and calls of usual length, nothing beside a
# `load` or `cancel`. Facts are read as JSON, which of many small values takes 25 times its length.
_PAYLOAD_BYTES = {"print": 2 << 20, "prepared": 3 << 20, "load": 0, "cancel": 0}


def parse_frame(body: bytes) -> GuestFrame:
    """A frame's body → a checked frame.

    Raises:
        ChannelError: `guest.protocol`: no frame, an unknown kind, a missing field or a wrong type.
    """
    try:
        header, payload = wire.decode(body)
    except wire.WireError as error:
        raise ChannelError("guest.protocol", str(error)) from error
    kind = header["kind"]
    wanted = _FIELDS.get(kind)
    if wanted is None:
        raise ChannelError("guest.protocol", f"a frame of the unknown kind {kind[:40]!r}")
    for name, expected in wanted.items():
        value = header.get(name)
        if type(value) is not expected:
            raise ChannelError("guest.protocol", f"`{name}` of a `{kind}` frame is no {expected.__name__}")
        if type(value) is str and len(value) > wire.MAX_NAME_CHARS:
            raise ChannelError("guest.protocol", f"`{name}` of a `{kind}` frame is too long")
    if kind == "print" and header["stream"] not in _STREAMS:
        raise ChannelError("guest.protocol", f"`print` names the unknown stream {header['stream'][:40]!r}")
    if "id" in wanted and not 0 < header["id"] <= wire.MAX_ID:
        raise ChannelError("guest.protocol", f"the id {str(header['id'])[:20]} of a `{kind}` frame is out of range")
    if kind == "file":
        _check_operation(header["operation"], len(payload))
    if len(payload) > _PAYLOAD_BYTES.get(kind, len(payload)):
        raise ChannelError("limit.frame", f"a `{kind}` frame with {len(payload)} bytes")
    return GuestFrame(kind, header, payload)


def _check_operation(operation: str, size: int) -> None:
    if operation not in wire.FILE_OPERATIONS:
        raise ChannelError("guest.protocol", f"a `file` frame with the unknown operation {operation[:40]!r}")
    if size and operation not in wire.FILE_CONTENT:
        raise ChannelError("guest.protocol", f"a `file` frame for `{operation}` with {size} bytes")


def unsealed_layer(body: bytes) -> str:
    """The layer that a guest could not put on itself, when that is what it says instead of `prepared`; else ""."""
    try:
        header, _ = wire.decode(body)
    except wire.WireError:
        return ""
    if header["kind"] != "end" or header.get("status") != "unsealed":
        return ""
    return f"{header.get('layer')}: {header.get('message')}"[:300]


def parse_facts(payload: bytes) -> dict[str, Any]:
    """The JSON object of a `prepared` frame.

    Raises:
        ChannelError: `guest.protocol`: not a JSON object.
    """
    try:
        facts = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise ChannelError("guest.protocol", "`prepared` holds no JSON") from error
    if type(facts) is not dict:
        raise ChannelError("guest.protocol", "`prepared` holds no JSON object")
    return facts


class Channel:
    """One guest's stream: `receive` before the run, `listening` during it; any task of its loop sends.

    While it listens, the socket stays registered with the event loop and each frame is handed over from there: a task
    that waits for the socket anew each time costs four times as much (measured, `tests/bench/bench_sandbox.py`).
    """

    def __init__(self, stream: socket.socket, limits: Limits) -> None:
        self._socket = stream
        self._descriptor = stream.fileno()
        self._loop = asyncio.get_running_loop()
        self._limits = limits
        self._splitter = wire.Splitter(limits.frame_bytes)
        self._outbox: deque[memoryview] = deque()
        self._queued = 0
        self._has_room = anyio.Event()
        self._bodies: deque[bytes] = deque()
        self._take: Callable[[bytes], None] | None = None  # None: nobody listens
        self._end: Callable[[Exception | None], None]
        self._is_paused = False

    # -- receiving ------------------------------------------------------------------------------------------------

    async def receive(self) -> list[bytes] | None:
        """The bodies of the frames that came next; None when the guest has closed its end.

        Raises:
            ChannelError: `limit.frame`: a frame is announced that is longer than `frame_bytes`.
        """
        while True:
            data = self._receive_now()
            if data is None:
                await anyio.wait_readable(self._socket)
                continue
            if not data:
                return None
            bodies = self._split(data)
            if bodies:
                return bodies

    @contextmanager
    def listening(self, take: Callable[[bytes], None], end: Callable[[Exception | None], None]) -> Iterator[None]:
        """Call `take` with the body of each frame that comes, in order, and `end` once when no more will.

        `end` gets None when the guest has closed its end, else what was wrong (`ChannelError`), or what `take` raised.
        """
        self._take, self._end = take, end
        self._loop.add_reader(self._descriptor, self._on_readable)
        try:
            yield
        finally:
            self.close()

    def close(self) -> None:
        """Take and send nothing more. Before the socket is closed: its number may then be another one's."""
        self._stop()
        self._loop.remove_writer(self._descriptor)

    @property
    def is_paused(self) -> bool:
        """Whether frames wait for `resume`."""
        return self._is_paused

    def pause(self) -> None:
        """Take no further frame until `resume`; what the guest sends meanwhile stays in the socket."""
        self._is_paused = True
        self._loop.remove_reader(self._descriptor)

    def resume(self) -> None:
        """Go on after `pause`."""
        self._is_paused = False
        if self._take is not None:
            self._loop.add_reader(self._descriptor, self._on_readable)
            self._hand_over()

    def _stop(self) -> None:
        if self._take is not None:
            self._take = None
            self._bodies.clear()
            self._loop.remove_reader(self._descriptor)

    def _on_readable(self) -> None:
        if not self._bodies:
            try:
                data = self._receive_now()
                if data is None:
                    return
                self._bodies.extend(self._split(data) if data else ())
            except ChannelError as error:
                self._finish(error)
                return
            if not data:
                self._finish(None)
                return
        self._hand_over()

    def _hand_over(self) -> None:
        """Hand over what has come, for a turn: a flood of small frames must not keep the loop to itself."""
        turn = time.monotonic()
        while self._bodies and self._take is not None and not self._is_paused:
            try:
                self._take(self._bodies.popleft())
            except Exception as error:  # noqa: BLE001 - the rim of a run: told to whoever waits for its end
                self._finish(error)
                return
            if time.monotonic() - turn > _TURN_S and self._bodies:
                self._loop.call_soon(self._hand_over)
                return

    def _finish(self, error: Exception | None) -> None:
        self._stop()
        self._end(error)

    def _receive_now(self) -> bytes | None:
        """What is there; None when nothing is, nothing (`b""`) at the end of the stream."""
        try:
            return self._socket.recv(self._splitter.appetite_bytes)
        except BlockingIOError:
            return None
        except ConnectionError:
            return b""

    def _split(self, data: bytes) -> list[bytes]:
        try:
            return self._splitter.feed(data)
        except wire.WireError as error:
            raise ChannelError("limit.frame", str(error)) from error

    # -- sending --------------------------------------------------------------------------------------------------

    @property
    def queued_bytes(self) -> int:
        """Bytes that wait for the guest to read them."""
        return self._queued

    def send(self, header: dict[str, Any], payload: bytes = b"") -> None:
        """Send a frame, or queue what the socket does not take now.

        Raises:
            ChannelError: `limit.frame` when the frame is too long, `limit.queued` when too much is waiting.
        """
        if len(payload) > self._limits.frame_bytes:
            raise ChannelError(
                "limit.frame", f"an answer of {len(payload)} bytes, `frame_bytes` allows {self._limits.frame_bytes}"
            )
        frame = memoryview(wire.encode(header, payload))
        if not self._outbox:
            frame = frame[self._send_now(frame) :]
        if frame:
            if not self._outbox:
                self._loop.add_writer(self._descriptor, self._write)
            self._outbox.append(frame)
            self._queued += len(frame)
            if self._queued > self._limits.queued_bytes * _OVERDRAFT:
                raise ChannelError(
                    "limit.queued",
                    f"{self._queued} bytes wait for a guest that does not read, "
                    f"`queued_bytes` allows {self._limits.queued_bytes}",
                )

    def _send_now(self, frame: memoryview) -> int:
        try:
            return self._socket.send(frame)
        except BlockingIOError:
            return 0
        except OSError:  # the guest is gone; the reader will notice
            return len(frame)

    @property
    def has_room(self) -> bool:
        """Whether less than `queued_bytes` is waiting."""
        return self._queued < self._limits.queued_bytes

    async def wait_for_room(self) -> None:
        """Return when less than `queued_bytes` is waiting."""
        while not self.has_room:
            self._has_room = anyio.Event()
            await self._has_room.wait()

    def _write(self) -> None:
        """The guest takes more: send what is queued."""
        while self._outbox:
            frame = self._outbox[0]
            sent = self._send_now(frame)
            self._queued -= sent
            if sent < len(frame):
                self._outbox[0] = frame[sent:]
                break
            self._outbox.popleft()
        else:
            self._loop.remove_writer(self._descriptor)
        if self.has_room:
            self._has_room.set()
