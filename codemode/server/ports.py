"""What the front needs of a host, as contracts: the front must answer before the host's parts are even imported.

Enters: nothing. Leaves: `FrontHost`, `FrontHostSession`, `HostSlot`. `codemode.host.Host` fulfils them; whoever starts
a front hands in how to open one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

import anyio

from codemode.catalog.snapshot import Catalog
from codemode.catalog.spec import Tool
from codemode.config.model import Config
from codemode.discover import Answer
from codemode.policy.desk import Reply
from codemode.runs.outcome import RunOutcome
from codemode.session import Session


class FrontHostSession(Protocol):
    """The use cases of one client; see `codemode.host.HostSession`."""

    @property
    def session(self) -> Session:
        """The client's state."""

    async def tool_search(self, query: str, limit: int, server: str, *, mark: bool) -> Answer:
        """Search."""

    def mark_shown(self, tools: Sequence[Tool]) -> None:
        """Remember what was shown."""

    async def execute(self, code: str = "", resume: str = "", *, wait_s: float) -> RunOutcome:
        """Run a program, or go on with a run."""

    def peek(self, run: str) -> RunOutcome:
        """How a run stands."""

    def answer(self, run: str, is_yes: bool, *, question: str = "") -> bool:
        """Answer the approval that a run waits for."""

    def reply(self, run: str, question: str, reply: Reply) -> bool:
        """Answer the server's question that a run waits for."""

    async def settled(self, run: str, question: str) -> None:
        """Wait until a question is not open any more."""

    def marks(self, tool: Tool) -> tuple[str, ...]:
        """What stands behind `#` in a signature."""

    def close(self) -> None:
        """The client is gone."""


class FrontHost(Protocol):
    """The host; see `codemode.host.Host`."""

    @property
    def config(self) -> Config:
        """The settings in force."""

    @property
    def catalog(self) -> Catalog:
        """The catalog in force."""

    async def wait_ready(self, servers: Collection[str] | None, timeout_s: float) -> None:
        """Wait for servers."""

    def session(self, *, is_local: bool) -> FrontHostSession:
        """A new client's session; a local one may learn where its files are."""


OpenHost = Callable[[], AbstractAsyncContextManager[FrontHost]]


class HostSlot:
    """A host that is being opened, is open, or could not be opened."""

    def __init__(self, open_host: OpenHost) -> None:
        self._open_host = open_host
        self._ready = anyio.Event()
        self._close = anyio.Event()
        self._host: FrontHost | None = None

    async def own(self) -> None:
        """Open the host and keep it open until `close`. Run this in a task that lives as long as the front.

        Raises:
            CodemodeError: the host cannot be opened: there is nothing to serve.
        """
        async with self._open_host() as host:
            self._host = host
            self._ready.set()
            await self._close.wait()

    async def get(self) -> FrontHost:
        """The open host; waits for it."""
        await self._ready.wait()
        assert self._host is not None
        return self._host

    def close(self) -> None:
        """Let `own` end."""
        self._close.set()
