"""Guests in a hardened container: a second wall, of another make, around the same inner seal.

Enters: limits. Leaves: guests forked from a zygote in one container, each sealed by `sandbox.guest.seal`. The zygote
connects once to a socket of the host; everything after that (channels, pidfds, control packets) travels on that one
connection, as with the process backend.

Safety: nobody can pose as the container or as another guest. The socket lies in a folder that only this user enters,
is taken away after the first connection, and before that nothing foreign runs anywhere. A guest gets its channel as an
open descriptor from the host by way of the zygote; there is no name that it could connect to, and the filter refuses
`socket` and `connect`. The container ends when the host closes the connection or dies; the engine then removes it.
"""

from __future__ import annotations

import shutil
import socket
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

import anyio
from anyio import to_thread

from sandbox.backends import docker_engine, docker_layers
from sandbox.backends.base import IsolationReport
from sandbox.backends.docker_engine import Box, Container, Engine
from sandbox.backends.forks import ForkedGuest, Forks, Origin
from sandbox.backends.zygote import ZygoteLink, greet
from sandbox.errors import ClosedError, GuestError, IsolationError, SpecError
from sandbox.guest.control import Ready
from sandbox.linux.syscalls import MACHINE, MACHINES
from sandbox.spec import Limits

START_S = 30.0  # chosen: 0.6 s measured here; cold disks and loaded engines need longer
_REMEDY = "use another engine or runtime, or the process backend"


class DockerBackend:
    """The docker backend, for one event loop.

    Args:
        box: what the container as a whole may have.
        image: another image's name; the default is the one that `sandbox.backends.docker_image` builds.
        packages: must be empty: the image has the standard library only.

    Raises:
        SpecError: `spec.package`, packages were asked for.
    """

    def __init__(self, *, box: Box | None = None, image: str = "", packages: Sequence[str] = ()) -> None:
        if packages:
            named = ", ".join(f"`{name}`" for name in packages)
            raise SpecError(
                f"the docker backend cannot offer {named}: its image has the standard library only",
                code="spec.package",
                hint_operator="use the process backend, or allow no packages",
            )
        self._box = box or Box()
        self._image = image
        self._engine: Engine | None = None
        self._forks = Forks(
            Origin(backend="docker", open_link=self._open_link, report=self._judge, remedy=_REMEDY),
        )

    async def __aenter__(self) -> DockerBackend:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def start(self) -> None:
        """Find the engine, start a container with a zygote and test the isolation.

        Raises:
            IsolationError: no usable engine or image, another platform, or a missing layer; with the remedy.
            GuestError: the zygote could not be started.
        """
        if sys.platform != "linux" or MACHINE not in MACHINES:
            raise IsolationError(
                f"the docker backend needs Linux on {' or '.join(MACHINES)}, this is {sys.platform} on {MACHINE}",
                code="isolation.platform",
                hint_operator="run this host inside of the Linux machine that the engine runs on",
            )
        self._engine = await to_thread.run_sync(docker_engine.connect, self._image)
        try:
            await to_thread.run_sync(self._engine.sweep)
            await self._forks.start()
        except BaseException as error:
            await self.aclose()
            if isinstance(error, GuestError):
                error.hint_operator = error.hint_operator or docker_engine.KERNEL
            raise

    def describe(self) -> IsolationReport:
        """What the last start found, also when it failed for a missing layer.

        Raises:
            ClosedError: nothing was found yet.
        """
        return self._forks.describe()

    async def spawn(self, ceiling: Limits) -> ForkedGuest:
        """Fork a guest from the zygote; starts a new container when the last one has ended.

        Raises:
            GuestError: `guest.start`.
            IsolationError: a new container lacks a required layer.
            ClosedError: not started, or closed.
        """
        return await self._forks.spawn(ceiling)

    async def aclose(self) -> None:
        """End the container and with it every guest. May be called again."""
        await self._forks.aclose()
        engine, self._engine = self._engine, None
        if engine is not None:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(engine.close)

    def _judge(self, ready: Ready, claims: Mapping[str, bool], is_killed: bool) -> IsolationReport:
        assert self._engine is not None
        return docker_layers.report(
            ready,
            claims,
            is_killed=is_killed,
            has_limits=self._engine.has_limits,
            has_profile=self._engine.has_profile,
        )

    async def _open_link(self) -> ZygoteLink:
        engine = self._engine
        if engine is None:
            raise ClosedError("the docker backend is not started")
        with _Door() as door:
            container = await to_thread.run_sync(engine.start, door.inside, self._box)
            control: socket.socket | None = None
            try:
                control = await door.admit(container)
                ready = await greet(control, (), START_S, container.last_words)
            except BaseException as error:
                if control is not None:
                    control.close()
                with anyio.CancelScope(shield=True):
                    await to_thread.run_sync(container.kill)
                if isinstance(error, TimeoutError):
                    raise GuestError(f"the zygote was not ready after {START_S:g} s", code="guest.start") from error
                raise
            finally:
                container.output.close()
            return ZygoteLink(container, control, ready)


class _Door:
    """The socket that a container connects to once. `inside` is the folder that the container sees.

    The outer folder keeps other users of this machine away; the inner one is open, because the container's user is
    another one and sees nothing above it.
    """

    def __enter__(self) -> _Door:
        self._outer = Path(tempfile.mkdtemp(prefix="codemode-"))
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self.inside = self._outer / "door"
            self.inside.mkdir()
            self.inside.chmod(0o755)
            place = self.inside / docker_engine.SOCKET
            self._listener.bind(str(place))
            place.chmod(0o666)
            self._listener.listen(1)
            self._listener.setblocking(False)
        except OSError as error:
            self.__exit__()
            raise GuestError(f"the socket for the container could not be made: {error}", code="guest.start") from error
        return self

    def __exit__(self, *exception: object) -> None:
        self._listener.close()
        shutil.rmtree(self._outer, ignore_errors=True)

    async def admit(self, container: Container) -> socket.socket:
        """The container's connection.

        Raises:
            GuestError: it ended before it connected, with its last words.
            TimeoutError: it did neither within `START_S`.
        """
        with anyio.fail_after(START_S):
            async with anyio.create_task_group() as tasks:

                async def until(source: socket.socket) -> None:
                    await anyio.wait_readable(source)
                    tasks.cancel_scope.cancel()

                tasks.start_soon(until, self._listener)
                tasks.start_soon(until, container.output)
        try:
            connection, _ = self._listener.accept()
        except BlockingIOError:
            raise await to_thread.run_sync(docker_engine.unready, container) from None
        connection.setblocking(False)
        return connection
