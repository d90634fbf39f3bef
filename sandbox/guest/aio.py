"""`asyncio` as a program sees it: the one loop that was made before the seal, and helpers that take plain values.

Enters: coroutines, tasks, futures, or values of calls that were already made. Leaves: replacements for the functions of
the `asyncio` facade. A new event loop cannot be made behind the system-call filter (it needs a socket pair), so
`run` and friends use the one there is; mixing plain calls and awaited ones therefore needs helpers that accept both.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from sandbox.guest.link import Link

_WORKERS = 32  # chosen: half of the thread limit; CPython's own default is the number of cores and four
_NESTED = (
    "asyncio.run() cannot be used while the program's own event loop runs (it runs because the program uses "
    "`await` at the top level): write `await main()` instead"
)
_THREAD = "asyncio.run() works in the main thread only: call functions plainly in threads, or use asyncio.gather"


def is_awaitable(value: object) -> bool:
    """Whether `await` accepts the value."""
    return inspect.isawaitable(value)


async def as_coroutine(value: Any) -> Any:
    """A coroutine that gives the value, awaiting it first when it can be awaited."""
    return await value if inspect.isawaitable(value) else value


class AsyncRuntime:
    """The event loop of a guest and the functions that replace asyncio's own.

    Safety: programs hold its bound methods. Its state has names that the dialect never hands out.
    """

    def __init__(self) -> None:
        self._cm_loop: asyncio.AbstractEventLoop
        self._cm_link: Link
        self._cm_is_running = False

    def attach(self, loop: asyncio.AbstractEventLoop, link: Link) -> None:
        """Set the loop and the channel."""
        self._cm_loop = loop
        self._cm_link = link
        loop.set_default_executor(ToolThreads())
        loop.set_exception_handler(_forget)

    # -- running --------------------------------------------------------------------------------------------------

    def run_until_complete(self, awaitable: Awaitable[Any]) -> Any:
        """Run the loop until the awaitable is done.

        Raises:
            RuntimeError: the loop runs already, or this is not the main thread.
        """
        self._cm_check_may_run(awaitable)
        self._cm_is_running = True
        self._cm_link.enter_loop()
        try:
            return self._cm_loop.run_until_complete(awaitable)
        finally:
            self._cm_link.leave_loop()
            self._cm_is_running = False

    def _cm_check_may_run(self, awaitable: object) -> None:
        problem = _NESTED if self._cm_is_running else ""
        if threading.current_thread() is not threading.main_thread():
            problem = _THREAD
        if problem:
            if inspect.iscoroutine(awaitable):
                awaitable.close()
            raise RuntimeError(problem)

    def run(self, main: Any, *, debug: bool | None = None, loop_factory: object = None) -> Any:
        """`asyncio.run`: as documented there, on the one loop."""
        if not inspect.isawaitable(main):
            return main
        self._cm_check_may_run(main)
        try:
            return self.run_until_complete(as_coroutine(main))
        finally:
            if not self._cm_is_running:
                self.cancel_left()

    def cancel_left(self) -> None:
        """Cancel the tasks that nobody waits for, after giving calls that are under way the chance to finish."""
        self.finish_calls()
        left = [task for task in asyncio.all_tasks(self._cm_loop) if not task.done()]
        for task in left:
            task.cancel()
        if left:
            self.run_until_complete(asyncio.gather(*left, return_exceptions=True))

    def finish_calls(self) -> None:
        """Wait until every call that was sent has been answered: a forgotten `await` loses no call."""
        while True:
            futures = self._cm_link.outstanding
            if not futures:
                return
            self.run_until_complete(asyncio.wait(futures))

    async def finish_calls_inside(self) -> None:
        """The same, for a program that itself runs in the loop."""
        while futures := self._cm_link.outstanding:
            await asyncio.wait(futures)

    # -- the facade -----------------------------------------------------------------------------------------------

    def names(self) -> dict[str, Any]:
        """What replaces names of the `asyncio` facade."""
        return {
            "run": self.run,
            "gather": self.gather,
            "create_task": self.create_task,
            "ensure_future": self.ensure_future,
            "wait_for": self.wait_for,
            "shield": self.shield,
            "wait": self.wait,
            "as_completed": self.as_completed,
            "TaskGroup": TaskGroup,
            "get_event_loop": self.get_loop,
            "get_running_loop": self.get_running_loop,
            "new_event_loop": self.get_loop,
            "set_event_loop": _ignore,
        }

    def gather(self, *awaitables: Any, return_exceptions: bool = False) -> Any:
        """`asyncio.gather`; values stand for themselves."""
        futures = [self.ensure_future(item) for item in awaitables]
        if not futures:
            done = self._cm_loop.create_future()
            done.set_result([])
            return done
        return asyncio.gather(*futures, return_exceptions=return_exceptions)

    def ensure_future(self, value: Any, *, loop: object = None) -> asyncio.Future[Any]:
        """`asyncio.ensure_future`; a value becomes a task that gives it."""
        if isinstance(value, asyncio.Future):
            return value
        return self._cm_loop.create_task(as_coroutine(value))

    def create_task(self, value: Any, *, name: str | None = None, context: Any = None) -> asyncio.Task[Any]:
        """`asyncio.create_task`; futures and values are accepted too.

        Raises:
            RuntimeError: no loop runs.
        """
        self.get_running_loop()
        return self._cm_loop.create_task(as_coroutine(value), name=name)

    async def wait_for(self, value: Any, timeout: float | None = None) -> Any:
        """`asyncio.wait_for`; a time-out cancels the call on its server."""
        return await asyncio.wait_for(self.ensure_future(value), timeout)

    def shield(self, value: Any) -> Any:
        """`asyncio.shield`."""
        return asyncio.shield(self.ensure_future(value))

    async def wait(self, values: Iterable[Any], **options: Any) -> Any:
        """`asyncio.wait`; coroutines are accepted too."""
        return await asyncio.wait([self.ensure_future(item) for item in values], **options)

    def as_completed(self, values: Iterable[Any], **options: Any) -> Iterator[Any]:
        """`asyncio.as_completed`."""
        return iter(asyncio.as_completed([self.ensure_future(item) for item in values], **options))

    def get_loop(self) -> LoopFacade:
        """The one loop, as an object with the common methods."""
        return LoopFacade(self)

    def get_running_loop(self) -> LoopFacade:
        """The running loop.

        Raises:
            RuntimeError: no loop runs.
        """
        if not self._cm_is_running or threading.current_thread() is not threading.main_thread():
            raise RuntimeError("no running event loop")
        return LoopFacade(self)

    @property
    def is_running(self) -> bool:
        """Whether the loop runs now."""
        return self._cm_is_running

    def run_in_executor(self, pool: Any, function: Callable[..., Any], *args: Any) -> Any:
        """`loop.run_in_executor`."""
        return self._cm_loop.run_in_executor(pool, function, *args)

    def task_of(self, value: Any, *, name: str | None = None, context: Any = None) -> asyncio.Task[Any]:
        """`loop.create_task`; as there, the loop need not run yet."""
        return self._cm_loop.create_task(as_coroutine(value), name=name)

    def create_future(self) -> asyncio.Future[Any]:
        """`loop.create_future`."""
        return self._cm_loop.create_future()

    def call_soon(self, callback: Callable[..., Any], *args: Any, context: Any = None) -> asyncio.Handle:
        """`loop.call_soon`."""
        return self._cm_loop.call_soon(callback, *args, context=context)

    def call_soon_threadsafe(self, callback: Callable[..., Any], *args: Any, context: Any = None) -> asyncio.Handle:
        """`loop.call_soon_threadsafe`."""
        return self._cm_loop.call_soon_threadsafe(callback, *args, context=context)

    def call_later(self, delay: float, callback: Callable[..., Any], *args: Any, context: Any = None) -> Any:
        """`loop.call_later`; `delay` in seconds."""
        return self._cm_loop.call_later(delay, callback, *args, context=context)

    def time(self) -> float:
        """`loop.time`."""
        return self._cm_loop.time()


class ToolThreads(ThreadPoolExecutor):
    """A thread pool for calls that wait: without `max_workers` it has as many threads as fit, not as cores do."""

    def __init__(self, max_workers: int | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(_WORKERS if max_workers is None else max_workers, *args, **kwargs)


class LoopFacade:
    """An event loop's everyday methods; closing it does nothing, since the guest has one loop only."""

    __slots__ = (
        "call_later",
        "call_soon",
        "call_soon_threadsafe",
        "create_future",
        "create_task",
        "is_running",
        "run_in_executor",
        "run_until_complete",
        "time",
    )

    def __init__(self, runtime: AsyncRuntime) -> None:
        self.run_until_complete = runtime.run
        self.create_task = runtime.task_of
        self.create_future = runtime.create_future
        self.call_soon = runtime.call_soon
        self.call_soon_threadsafe = runtime.call_soon_threadsafe
        self.call_later = runtime.call_later
        self.run_in_executor = runtime.run_in_executor
        self.time = runtime.time
        self.is_running = lambda: runtime.is_running

    def close(self) -> None:
        """Does nothing."""

    def stop(self) -> None:
        """Does nothing."""

    def is_closed(self) -> bool:
        """Never closed."""
        return False

    async def shutdown_asyncgens(self) -> None:
        """Does nothing: the loop belongs to the run."""

    async def shutdown_default_executor(self) -> None:
        """Does nothing: idle threads end with the run."""


class TaskGroup(asyncio.TaskGroup):
    """`asyncio.TaskGroup` whose `create_task` takes values and futures too."""

    def create_task(self, coro: Any, *, name: str | None = None, context: Any = None) -> asyncio.Task[Any]:
        """Start a task of the group."""
        wrapped: Coroutine[Any, Any, Any] = as_coroutine(coro)
        return super().create_task(wrapped, name=name)


def _forget(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """A failure that nobody awaited is no text of the program's; the broker has its record."""


def _ignore(*args: object) -> None:
    """`asyncio.set_event_loop`: there is one loop."""
