"""Tells a client that asked for it that its program still runs, and what the servers say about calls under way.

Enters: a request's context and the work. Leaves: the work's result, and one progress notification every two seconds.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

import anyio

from codemode.broker.record import CallRecord
from codemode.server.sessions import Context

_FIRST_S: Final = 1.0  # chosen: most programs end before; they need no report
_EVERY_S: Final = 2.0

_T = TypeVar("_T")


async def reporting(
    context: Context, work: Callable[[], Awaitable[_T]], calls: Callable[[], Sequence[CallRecord]]
) -> _T:
    """Do the work, with reports when the client asked for them. `calls` gives the calls made so far."""
    if (context.meta or {}).get("progress_token") is None:
        return await work()
    result: list[_T] = []
    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_report, context, calls)
        try:
            result.append(await work())
        except Exception as error:  # noqa: BLE001 (raised again below: a task group would wrap it)
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure
    return result[0]


async def _report(context: Context, calls: Callable[[], Sequence[CallRecord]]) -> None:
    started = time.monotonic()
    await anyio.sleep(_FIRST_S)
    while True:
        spent_s = time.monotonic() - started
        text = progress_text(calls(), spent_s)
        try:
            await context.session.report_progress(round(spent_s, 1), None, text)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return
        await anyio.sleep(_EVERY_S)


def progress_text(calls: Sequence[CallRecord], spent_s: float) -> str:
    """How far a program is, with the latest report of a server on a call that is under way."""
    text = f"the program runs: {len(calls)} call{'' if len(calls) == 1 else 's'}, {spent_s:.0f} s"
    heard = next((call for call in reversed(calls) if call.status == "running" and call.progress), None)
    return f"{text}; {heard.tool}: {heard.progress}" if heard is not None else text
