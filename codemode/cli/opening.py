"""Opens what every command needs: the configuration with its flags, logging, an event loop.

Enters: options. Leaves: a `Config`, a coroutine's result. Log lines go to standard error.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeVar, cast

import anyio
from anyio.abc import TaskStatus

from codemode.cli.output import warn
from codemode.config.load import load_config
from codemode.config.model import Approve, Config, Gate

_T = TypeVar("_T")
LOG_VARIABLE: Final = "CODEMODE_LOG"
_ENDING: Final = (signal.SIGINT, signal.SIGTERM)


def read_config(
    files: Sequence[Path] | None, catalogs: Sequence[Path] | None = None, *, gate: str = "", approve: str = ""
) -> Config:
    """The configuration in force; its warnings are told. `gate` and `approve`: "" keeps what is configured.

    Raises:
        ConfigError: a file cannot be used.
    """
    config = load_config(*(files or ()))
    if config.files or not catalogs:
        warn(config.warnings)
    # The command line accepts exactly the words of these types.
    if gate:
        config = replace(config, gate=cast("Gate", gate))
    return replace(config, approve=cast("Approve", approve)) if approve else config


def log_to_stderr() -> None:
    """Send log lines to standard error: warnings, or what `CODEMODE_LOG` says (debug, info, warning, error)."""
    level = logging.getLevelName(os.environ.get(LOG_VARIABLE, "warning").upper())
    logging.basicConfig(
        stream=sys.stderr,
        level=level if isinstance(level, int) else logging.WARNING,
        format="%(levelname)s %(name)s: %(message)s",
    )


def run_async(work: Callable[[], Awaitable[_T]]) -> _T:
    """Run a coroutine function to its end; an exception that task groups wrapped comes out by itself.

    Raises:
        KeyboardInterrupt: SIGINT or SIGTERM came. The work was cancelled and has cleaned up; a second signal meanwhile
            ends the process at once. A signal that was ignored at the start (SIGINT of a shell's background job)
            stays ignored.
    """
    log_to_stderr()
    try:
        results = anyio.run(_until_signal, work)
    except BaseExceptionGroup as group:
        raise _single(group) from group
    if not results:
        raise KeyboardInterrupt
    return results[0]


async def _until_signal(work: Callable[[], Awaitable[_T]]) -> list[_T]:
    """The work's result, or nothing when a signal came first."""
    heeded = [number for number in _ENDING if signal.getsignal(number) is not signal.SIG_IGN]
    results: list[_T] = []
    async with anyio.create_task_group() as group:
        await group.start(_cancel_at_signal, group.cancel_scope, heeded)
        results.append(await work())
        group.cancel_scope.cancel()
    return results


async def _cancel_at_signal(
    scope: anyio.CancelScope, numbers: Sequence[signal.Signals], *, task_status: TaskStatus[None]
) -> None:
    with anyio.open_signal_receiver(*numbers) as received:
        task_status.started()
        async for _ in received:
            scope.cancel()
            return


def _single(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
