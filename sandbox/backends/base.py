"""What every backend offers, and how one is chosen by name.

Enters: a backend's name and its options. Leaves: a `Backend`, which spawns guests. The pool and the supervisor see
only these contracts. Nothing here isolates anything.
"""

from __future__ import annotations

import math
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from sandbox.errors import IsolationError, SpecError
from sandbox.spec import Limits

LayerState = Literal["on", "extra", "missing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One layer of isolation on this machine.

    Attributes:
        name: stable, lower case: `seccomp`, `empty-root`.
        state: "on" (required and in force), "extra" (in force, not required) or "missing".
        required: the backend refuses to start without it.
        how_tested: what a throw-away guest tried, in one phrase.
        remedy: what to change when it is missing.
    """

    name: str
    state: LayerState
    required: bool
    how_tested: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolationReport:
    """What a backend isolates here, found by effect.

    `mode` says whose rights it had: "root" changes to a user id for each guest, "user" keeps the caller's.
    """

    backend: str
    mode: Literal["root", "user"]
    layers: tuple[Layer, ...]

    def layer(self, name: str) -> Layer:
        """The layer of that name. Raises KeyError when there is none."""
        for item in self.layers:
            if item.name == name:
                return item
        raise KeyError(name)

    def require(self) -> None:
        """Fail closed.

        Raises:
            IsolationError: a required layer is missing; names every such layer and the first remedy.
        """
        missing = [item for item in self.layers if item.required and item.state == "missing"]
        if missing:
            names = ", ".join(f"`{item.name}`" for item in missing)
            raise IsolationError(
                f"the {self.backend} backend needs {names}, missing on this machine",
                hint_operator=missing[0].remedy,
                details={"missing": [item.name for item in missing]},
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestExit:
    """How a guest ended, as the kernel tells it.

    Attributes:
        how: "exited" with an exit code, "signaled" with a signal number, or "unknown" (nobody is left to tell).
        code: exit code or signal number; 0 when unknown.
        cpu_s: processor time used, user and system.
        max_rss_bytes: peak resident size, including pages shared with other guests.
        is_out_of_memory: the kernel ended it because its control group, or one around that, was full.
    """

    how: Literal["exited", "signaled", "unknown"]
    code: int = 0
    cpu_s: float = 0.0
    max_rss_bytes: int = 0
    is_out_of_memory: bool = False


UNKNOWN_EXIT = GuestExit(how="unknown")


class Guest(Protocol):
    """One sealed process (or container process) that waits for one program on its channel."""

    @property
    def channel(self) -> socket.socket:
        """The host's end: a connected, non-blocking stream socket, owned by the guest and closed by `aclose`."""

    @property
    def has_ended(self) -> bool:
        """Whether it is known that the guest has ended."""

    async def lower(self, limits: Limits) -> None:
        """Lower the bounds that the host keeps for this guest to those of its run, before that runs.

        Raises:
            GuestError: the kernel refused.
        """

    def kill(self) -> None:
        """End the guest now; may be called again, and after its end."""

    async def wait_exit(self, timeout_s: float = math.inf) -> GuestExit:
        """How it ended. Waits at most `timeout_s`; an end that is not known by then is "unknown"."""

    async def aclose(self) -> None:
        """Kill it if it lives, wait a bounded time for its end, close what belongs to it. May be called again."""

    def drop(self) -> None:
        """Kill it and close what belongs to it, without waiting: for a guest whose backend ends anyway."""


class Backend(Protocol):
    """Makes guests. `start` and `aclose` must be called by one task; further methods by any task of its loop."""

    async def start(self) -> None:
        """Test the machine and make ready.

        Raises:
            IsolationError: a required layer is missing, or the platform is another one.
        """

    async def spawn(self, ceiling: Limits) -> Guest:
        """A fresh guest; `ceiling` bounds the memory, processor time and threads of every run it may get.

        Raises:
            GuestError: none could be started.
            ClosedError: the backend is not started or closed.
        """

    async def aclose(self) -> None:
        """End every guest and everything else that was started; bounded in time."""

    def describe(self) -> IsolationReport:
        """What was found at the last start, also when that failed for a missing layer."""


def _process(**options: Any) -> Backend:
    from sandbox.backends.process import ProcessBackend

    return ProcessBackend(**options)


def _docker(*, all_runs_bytes: int | None = None, **options: Any) -> Backend:
    del all_runs_bytes  # the engine bounds the container as a whole: `docker_engine.Box`
    try:
        from sandbox.backends.docker import DockerBackend
    except ImportError as error:  # the engine's client is a dependency that an installation may lack
        raise IsolationError(
            f"the docker backend cannot be loaded: {error}",
            hint_operator="install the package `docker`, or use the process backend",
            details={"missing": ["container"]},
        ) from error
    return DockerBackend(**options)


FACTORIES: dict[str, Callable[..., Backend]] = {"process": _process, "docker": _docker}
"""Name → function that imports the backend and makes one."""


def create_backend(name: str, **options: Any) -> Backend:
    """The backend of that name, not started.

    Every backend takes `all_runs_bytes`: what its guests together may hold of memory.

    Raises:
        SpecError: there is no backend of that name, or it has no such option.
    """
    if name not in FACTORIES:
        there = ", ".join(f"`{known}`" for known in sorted(FACTORIES))
        raise SpecError(f"no backend is called {name!r}; there are {there}")
    try:
        return FACTORIES[name](**options)
    except TypeError as error:
        raise SpecError(f"the {name} backend cannot take these options: {error}") from error
