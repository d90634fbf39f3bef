"""The parts of `asyncio` that would hand out or replace the event loop: a view of the running loop in their place.

Enters: coroutines of a program. Leaves: their values. The guest overrides these with its own, which drive its loop;
these serve where nobody does. The original loop opens sockets and starts processes.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any


class LoopView:
    """What a program may do with an event loop."""

    __slots__ = ("run_until_complete",)

    def __init__(self, run: Callable[..., Any]) -> None:
        self.run_until_complete = run

    def create_task(self, coro: Coroutine[Any, Any, Any], *, name: str | None = None, **options: Any) -> Any:
        return asyncio.create_task(coro, name=name)

    def create_future(self) -> Any:
        return asyncio.get_running_loop().create_future()

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:
        return asyncio.get_running_loop().run_in_executor(executor, func, *args)

    def call_soon(self, callback: Callable[..., Any], *args: Any) -> Any:
        return asyncio.get_running_loop().call_soon(callback, *args)

    def call_later(self, delay: float, callback: Callable[..., Any], *args: Any) -> Any:
        return asyncio.get_running_loop().call_later(delay, callback, *args)

    def time(self) -> float:
        return asyncio.get_running_loop().time()

    def is_running(self) -> bool:
        return _is_running()

    def is_closed(self) -> bool:
        return False

    def close(self) -> None:
        """Does nothing: the loop belongs to the run."""

    def stop(self) -> None:
        """Does nothing: the loop belongs to the run."""


class Runner:
    """`asyncio.Runner` over the `run` that drives coroutines here."""

    __slots__ = ("run",)

    def __init__(self, run: Callable[..., Any], *, debug: bool | None = None, loop_factory: Any = None) -> None:
        self.run = run

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *error: object) -> None:
        """Does nothing: the loop belongs to the run."""

    def close(self) -> None:
        """Does nothing: the loop belongs to the run."""


def _is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _await(value: Awaitable[Any]) -> Any:
    return await value


def run(main: Awaitable[Any], *, debug: bool | None = None, **options: Any) -> Any:
    """`asyncio.run`, also where a loop is running already: then on a thread of its own."""
    if not _is_running():
        return asyncio.run(_await(main))
    box: list[Any] = []
    errors: list[BaseException] = []
    context = contextvars.copy_context()

    def work() -> None:
        try:
            box.append(context.run(asyncio.run, _await(main)))
        except BaseException as error:  # noqa: BLE001  # handed to the caller below
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return box[0]


def loop_parts(run: Callable[..., Any] = run) -> dict[str, object]:
    """The stand-ins, over the `run` that drives coroutines here."""
    view = LoopView(run)

    def get_running_loop() -> LoopView:
        """`asyncio.get_running_loop`."""
        asyncio.get_running_loop()
        return view

    def get_event_loop() -> LoopView:
        """`asyncio.get_event_loop`."""
        return view

    def set_event_loop(loop: Any) -> None:
        """`asyncio.set_event_loop`: the loop belongs to the run."""

    return {
        "run": run,
        "get_event_loop": get_event_loop,
        "new_event_loop": get_event_loop,
        "get_running_loop": get_running_loop,
        "set_event_loop": set_event_loop,
        "Runner": functools.partial(Runner, run),
        "AbstractEventLoop": LoopView,
    }
