"""The host's end of one zygote: start it here, ask it for guests, hear how they ended, notice its own end.

Enters: packages to preload. Leaves: `Ready` facts, pidfds of guests, their exits. There is no task behind a link: from
the first spawn on, the event loop itself takes each packet as it comes.
The zygote is ours and runs no foreign code; a packet that makes no sense still counts as its end.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Protocol

import anyio
from anyio import to_thread

from sandbox.backends.base import UNKNOWN_EXIT, GuestExit
from sandbox.backends.launcher import launch
from sandbox.errors import GuestError, IsolationError, SpecError
from sandbox.guest import control
from sandbox.linux import pidfd
from sandbox.spec import Limits

REPLY_S = 10.0  # chosen: a fork takes milliseconds; a machine that needs longer cannot run programs either
STOP_S = 2.0  # chosen: between closing the control socket and SIGKILL
_STDERR_BYTES = 4_000
_PLATFORM_REMEDY = "use the docker backend"


class Holder(Protocol):
    """What a zygote lives in: a child process of this host, or a container that can be waited for like one."""

    @property
    def stderr(self) -> IO[bytes] | None:
        """The stream to close at the end."""

    def wait(self, timeout: float) -> int:
        """Block until it has ended. Raises `subprocess.TimeoutExpired`."""

    def kill(self) -> None:
        """End it now, with all that is in it."""


def command(packages: tuple[str, ...]) -> list[str]:
    """The argument list of a zygote: flags, the bootstrap file, the folders of what guests may import.

    -S: no site, so no .pth code runs. -s and -P: no user folder and no current folder on the path. The environment is
    `launcher.ENVIRONMENT`, so -E, which would also ignore the hash seed, has nothing to add.

    Raises:
        SpecError: a package is not installed.
    """
    own = Path(__file__).resolve().parents[1]
    folders = [own.parent, *(_folder_of(name) for name in ("RestrictedPython", *packages))]
    paths = dict.fromkeys(str(folder) for folder in folders)
    return [sys.executable, "-S", "-s", "-P", "-X", "utf8", str(own / "guest" / "bootstrap.py"), *paths]


def _folder_of(package: str) -> Path:
    spec = importlib.util.find_spec(package) if package.isidentifier() else None
    if spec is None or spec.origin is None:
        raise SpecError(
            f"the package {package!r} is not installed for the interpreter of this host, so programs cannot import it",
            code="spec.package",
            hint_operator=f"run `{sys.executable} -m pip install {package}`",
        )
    path = Path(spec.origin).resolve()
    return path.parent.parent if spec.submodule_search_locations else path.parent


class ZygoteLink:
    """One running zygote. `process` is ended by `aclose`."""

    def __init__(self, process: Holder, channel: socket.socket, ready: control.Ready) -> None:
        self.ready = ready
        self.is_lost = False
        self._process = process
        self._control = channel
        self._last_id = 0
        self._asked: dict[int, _Answer] = {}
        self._exits: dict[int, Callable[[GuestExit], None]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None  # the one that listens

    def _listen(self) -> None:
        """Take each packet as it comes, from now on."""
        if self._loop is None and not self.is_lost:
            self._loop = asyncio.get_running_loop()
            self._loop.add_reader(self._control, self._hear)

    async def spawn(
        self,
        channel: socket.socket,
        *,
        slot: int,
        ceiling: Limits,
        on_exit: Callable[[GuestExit], None],
        examine: bool = False,
        groups: Sequence[int] = (),
    ) -> int:
        """Fork a guest that holds `channel`; returns its pidfd, which the caller closes.

        `groups` are descriptors of control groups that it enters before anything else (`linux.cgroups.join`).
        `on_exit` is called exactly once, also when this raises: once nothing uses the slot any more.

        Raises:
            GuestError: no guest was forked, or the zygote does not answer.
        """
        self._listen()
        self._last_id += 1
        number = self._last_id
        request = control.Spawn(
            id=number,
            slot=slot,
            memory_bytes=ceiling.memory_bytes,
            cpu_s=ceiling.cpu_s,
            threads=ceiling.threads,
            examine=examine,
        )
        answer = self._asked[number] = _Answer(on_exit, lambda descriptor: self.end(descriptor, slot))
        try:
            with anyio.move_on_after(REPLY_S):
                await self._send(control.encode(request), channel.fileno(), *groups)
                await answer.event.wait()
            return answer.take()
        finally:
            answer.give_up()

    def end(self, descriptor: int, slot: int) -> None:
        """SIGKILL to the guest behind the pidfd, which has `slot`; without effect once it has ended.

        A host that may not signal the guest's user (a plain user, a container of another user) has the zygote do it.
        The caller still holds the slot: the control socket keeps order, so no later guest of that slot can be hit.
        """
        try:
            pidfd.kill(descriptor)
        except PermissionError:
            self._order_kill(slot)

    def _order_kill(self, slot: int) -> None:
        try:
            self._control.send(control.encode(control.Kill(slot=slot)))
        except BlockingIOError:  # a zygote that reads nothing any more: end it, and everything with it
            self._control.shutdown(socket.SHUT_RDWR)
        except OSError:  # it has ended
            pass

    async def _send(self, data: bytes, *passed: int) -> None:
        while not self.is_lost:
            try:
                socket.send_fds(self._control, [data], passed)
                return
            except BlockingIOError:
                await anyio.wait_writable(self._control)
            except OSError:  # its end is closed
                self._lose()

    def catch_up(self) -> None:
        """Take what has been said already; never waits."""
        self._hear()

    def _hear(self) -> None:
        flags = socket.MSG_DONTWAIT | socket.MSG_CMSG_CLOEXEC
        while not self.is_lost:
            received: list[int] = []
            try:
                data, received, _, _ = socket.recv_fds(self._control, control.PACKET_BYTES, 1, flags)
                self._take(control.decode(data), received)
            except BlockingIOError:
                return
            except (OSError, ValueError, LookupError):  # its end; or not what a zygote says
                for descriptor in received:
                    os.close(descriptor)
                self._lose()

    def _take(self, packet: control.Packet, received: list[int]) -> None:
        match packet:
            case control.Spawned(id=number):
                answer = self._asked[number]
                answer.grant(received.pop())
                self._exits[number] = self._asked.pop(number).on_exit
            case control.Refused(id=number, message=message):
                self._asked.pop(number).refuse(message)
            case control.Exited(id=number):
                self._exits.pop(number)(_exit_of(packet))
            case _:
                raise ValueError(f"a zygote does not send {type(packet).__name__}")

    def _lose(self) -> None:
        """The zygote has ended and every guest with it (parent-death signal, process namespace)."""
        self.is_lost = True
        if self._loop is not None:
            self._loop.remove_reader(self._control)
            self._loop = None
        asked, self._asked = self._asked, {}
        for answer in asked.values():
            answer.refuse("the zygote has ended")
        exits, self._exits = self._exits, {}
        for on_exit in exits.values():
            on_exit(UNKNOWN_EXIT)

    async def aclose(self) -> None:
        """End the zygote and with it every guest; bounded by `STOP_S` twice. May be called again."""
        self._lose()
        if self._control.fileno() >= 0:
            anyio.notify_closing(self._control)  # a sender that waits for room
            self._control.close()
        await to_thread.run_sync(_stop, self._process)


class _Answer:
    """What one `Spawn` waits for: a pidfd or a refusal. Taken once, or given up."""

    def __init__(self, on_exit: Callable[[GuestExit], None], kill: Callable[[int], None]) -> None:
        self.event = anyio.Event()
        self.on_exit = on_exit
        self._kill = kill
        self._pidfd = -1
        self._refusal = ""
        self._is_given_up = False

    def grant(self, descriptor: int) -> None:
        """The guest exists."""
        self._pidfd = descriptor
        self.event.set()
        if self._is_given_up:
            self._end()

    def refuse(self, message: str) -> None:
        """There is no guest."""
        self._refusal = message
        self.event.set()
        self.on_exit(UNKNOWN_EXIT)

    def take(self) -> int:
        """The pidfd, which is the caller's from now on.

        Raises:
            GuestError: refused, or not answered in time.
        """
        if self._pidfd < 0:
            raise GuestError(
                f"no guest could be started: {self._refusal or 'the zygote does not answer'}", code="guest.start"
            )
        descriptor, self._pidfd = self._pidfd, -1
        return descriptor

    def give_up(self) -> None:
        """Nobody will take the guest (any more): end it now, or as soon as it comes. Without effect once taken."""
        self._is_given_up = True
        if self._pidfd >= 0:
            self._end()

    def _end(self) -> None:
        descriptor, self._pidfd = self._pidfd, -1
        self._kill(descriptor)
        os.close(descriptor)


def _exit_of(packet: control.Exited) -> GuestExit:
    code = os.waitstatus_to_exitcode(packet.status)
    return GuestExit(
        how="signaled" if code < 0 else "exited",
        code=abs(code),
        cpu_s=packet.cpu_s,
        max_rss_bytes=packet.max_rss_bytes,
    )


async def open_link(packages: tuple[str, ...], timeout_s: float) -> ZygoteLink:
    """Start a zygote and wait until it has imported everything.

    Raises:
        SpecError: a package is not installed.
        IsolationError: a layer that every zygote needs could not be put on.
        GuestError: it did not start, or not within `timeout_s`.
    """
    arguments = await to_thread.run_sync(command, packages)  # looks for files
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    near.setblocking(False)
    process: subprocess.Popen[bytes] | None = None
    try:
        with far:
            process = await to_thread.run_sync(launch, arguments, far)
        return ZygoteLink(process, near, await greet(near, packages, timeout_s, lambda: _last_words(process)))
    except BaseException as error:
        near.close()
        if process is not None:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(_stop, process)
        if isinstance(error, TimeoutError):
            raise GuestError(f"the zygote was not ready after {timeout_s:g} s", code="guest.start") from error
        if isinstance(error, OSError):
            raise GuestError(f"the zygote could not be started: {error.strerror}", code="guest.start") from error
        raise


async def greet(
    control_socket: socket.socket, packages: tuple[str, ...], timeout_s: float, last_words: Callable[[], str]
) -> control.Ready:
    """Tell a zygote what to import and wait until it is ready. `last_words` is what one says that cannot report.

    Raises:
        IsolationError: a layer that every zygote needs could not be put on.
        GuestError: it ended before it was ready.
        TimeoutError: not ready within `timeout_s`.
    """
    data = await _first_packet(control_socket, packages, timeout_s)
    packet = control.decode(data) if data else None
    if isinstance(packet, control.Ready):
        return packet
    if isinstance(packet, control.Failed) and packet.layer != "zygote":
        raise IsolationError(
            f"the layer `{packet.layer}` could not be put on: {packet.message}",
            hint_operator=_PLATFORM_REMEDY,
            details={"missing": [packet.layer]},
        )
    said = packet.message if isinstance(packet, control.Failed) else await to_thread.run_sync(last_words)
    raise GuestError(f"the zygote ended before it was ready: {said}", code="guest.start")


async def _first_packet(control_socket: socket.socket, packages: tuple[str, ...], timeout_s: float) -> bytes:
    """What the zygote says once it is ready or has failed; nothing when it ended without a word.

    One that ends with our packet unread resets the connection: the kernel reports that once, ahead of what the
    zygote had said, which the next read still returns.
    """
    try:
        control_socket.send(control.encode(control.Start(packages=list(packages))))
    except ConnectionError:  # it has ended already, and may have said why
        pass
    with anyio.fail_after(timeout_s):
        await anyio.wait_readable(control_socket)
    try:
        return control_socket.recv(control.PACKET_BYTES)
    except ConnectionError:
        return control_socket.recv(control.PACKET_BYTES)


def _last_words(process: Holder) -> str:
    """What a zygote that could not even report wrote to its standard error; it has ended, so this does not block."""
    if process.stderr is None:
        return "it said nothing"
    os.set_blocking(process.stderr.fileno(), False)
    text = (process.stderr.read(_STDERR_BYTES) or b"").decode("utf-8", "replace").strip()
    return text.splitlines()[-1] if text else "it said nothing"


def _stop(process: Holder) -> None:
    """Wait for the end that closing the control socket brings about, else kill; blocks up to `STOP_S` twice."""
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:  # unkillable: stuck in the kernel
            pass
    if process.stderr is not None:
        process.stderr.close()
