"""The sandbox of a host: opened in the background by a task of its own, waited for by runs.

Enters: settings. Leaves: an open sandbox, or the error that kept it from opening, again for every run. A front must
answer before the first guest is ready.
"""

from __future__ import annotations

import logging

import anyio

from codemode.config.model import Config, LimitSettings
from codemode.tokens import bytes_for
from sandbox.backends.base import IsolationReport
from sandbox.errors import SandboxError
from sandbox.spec import Limits
from sandbox.supervisor import Sandbox, open_sandbox

logger = logging.getLogger(__name__)

_SPARE_CALLS = 1_000  # the budget ends a run's calls with an error it can catch; the sandbox's bound comes after it


class Box:
    """A sandbox that is being opened, is open, or cannot be opened."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._ready = anyio.Event()
        self._close = anyio.Event()
        self._sandbox: Sandbox | None = None
        self._error: SandboxError | None = None

    async def own(self) -> None:
        """Open the sandbox and keep it open until `close`. Run this in a task that lives as long as the host."""
        try:
            config, limits = self._config, self._config.limits
            opening = open_sandbox(
                config.backend,
                pool=config.pool,
                ceiling=sandbox_limits(limits),
                memory_share=limits.memory_share,
                packages=config.packages,
            )
            async with opening as sandbox:
                self._sandbox = sandbox
                self._ready.set()
                await self._close.wait()
        except SandboxError as error:
            if self._sandbox is not None:
                raise
            hint = f"; {error.hint_operator}" if error.hint_operator else ""
            logger.error("the sandbox cannot be opened: %s%s", error, hint)
            self._error = error
        finally:
            self._sandbox = None
            self._ready.set()

    def close(self) -> None:
        """Let `own` end."""
        self._close.set()

    async def get(self) -> Sandbox:
        """The open sandbox.

        Raises:
            SandboxError: it cannot be opened (`isolation.*`), every time.
        """
        await self._ready.wait()
        if self._error is not None:
            raise self._error
        if self._sandbox is None:
            raise SandboxError("the sandbox is closed", code="sandbox.closed")
        return self._sandbox

    async def isolation(self) -> IsolationReport:
        """What isolates programs here.

        Raises:
            SandboxError: as `get`.
        """
        return (await self.get()).isolation


def file_bytes(settings: LimitSettings) -> int:
    """The longest file that a program can read or write."""
    return sandbox_limits(settings).file_bytes


def sandbox_limits(settings: LimitSettings) -> Limits:
    """The settings as the sandbox's own limits."""
    return Limits(
        wall_s=settings.wall_s,
        cpu_s=settings.cpu_s,
        memory_bytes=settings.memory_bytes,
        threads=settings.threads,
        calls=settings.calls + _SPARE_CALLS,
        in_flight=settings.in_flight,
        output_bytes=settings.output_bytes,
        kept_print_bytes=max(4_096, min(4 * bytes_for(settings.output_tokens), settings.output_bytes)),
        frame_bytes=settings.frame_bytes,
        queued_bytes=settings.queued_bytes,
        nesting=settings.nesting,
        source_bytes=settings.source_bytes,
    )
