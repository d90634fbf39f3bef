"""Moves frames between one guest and the callbacks of its run, until the run has ended.

Enters: frames of a guest that may be hostile. Leaves: replies to it, and one `RunResult`. The first end wins: the
guest's last frame, its death, the deadline, or a broken rule. After that nothing the guest sends is read.
"""

from __future__ import annotations

import errno
import inspect
import json
import logging
import time
from collections.abc import Awaitable, Coroutine, Mapping
from typing import Any

import anyio
from anyio.abc import TaskGroup

from sandbox import outcome
from sandbox.backends.base import Guest
from sandbox.channel import Channel, ChannelError, GuestFrame, parse_frame
from sandbox.spec import (
    Call,
    CallHandler,
    FileHandler,
    FileRequest,
    Limits,
    ModuleLoader,
    Reply,
    RunResult,
    Usage,
)

logger = logging.getLogger(__name__)

_EXIT_S = 2.0  # chosen: a guest whose stream has ended is a process that is being torn down


class Pump:
    """One run of one guest."""

    def __init__(
        self,
        guest: Guest,
        channel: Channel,
        limits: Limits,
        *,
        call: CallHandler | None = None,
        load: ModuleLoader | None = None,
        files: FileHandler | None = None,
    ) -> None:
        self._guest = guest
        self._channel = channel
        self._limits = limits
        self._call: CallHandler = call or _no_calls
        self._load: ModuleLoader = load or _no_modules
        self._files: FileHandler = files or _no_files
        self._prints = outcome.Prints(limits.kept_print_bytes)
        self._seen: set[int] = set()
        self._calls = 0
        self._loads = 0
        self._file_operations = 0
        self._answering: dict[int, _Answering] = {}
        self._idle: list[_Hand] = []
        self._is_held = False
        self._slot_free = anyio.Event()
        self._started = time.monotonic()
        self._over = anyio.Event()
        self._fault: Exception | None = None
        self._result: RunResult | None = None
        self._tasks: TaskGroup

    async def run(self, order: Mapping[str, Any]) -> RunResult:
        """Send `go` with its order, then pump until the end, the deadline or a fault."""
        self._started = time.monotonic()
        wall = self._limits.wall_s
        try:
            with anyio.move_on_after(wall):
                async with anyio.create_task_group() as self._tasks:
                    try:
                        await self._pump(json.dumps(order).encode("ascii"))
                    finally:
                        self._guest.kill()  # at once: callbacks may take their time to be cancelled
                    if self._answering or self._idle or self._is_held:
                        self._tasks.cancel_scope.cancel()
        finally:
            for answering in self._answering.values():
                answering.close()
        if self._fault is not None:
            raise self._fault
        if self._result is None:
            self._end_with("limit.wall", f"the program still ran after {wall:g} s, `wall_s` allows no more")
        assert self._result is not None
        return self._result

    async def _pump(self, order: bytes) -> None:
        with self._channel.listening(self._take, self._stop):
            try:
                self._channel.send({"kind": "go"}, order)
            except ChannelError as error:
                self._stop(error)
            await self._over.wait()
        if self._result is None and self._fault is None:  # the stream has ended without an `end` frame
            ending = await self._guest.wait_exit(_EXIT_S)
            if not self._guest.has_ended:
                self._end_with("guest.protocol", "the guest closed its channel and went on")
                return
            self._result = outcome.from_exit(ending, self._limits, self._prints, self._usage())

    def _usage(self) -> Usage:
        return Usage(wall_s=time.monotonic() - self._started, calls=self._calls, printed_bytes=self._prints.total_bytes)

    def _end_with(self, code: str, message: str) -> None:
        """End the run from our side."""
        if self._result is None:
            self._guest.kill()
            self._result = outcome.from_code(code, message, self._prints, self._usage())

    def _stop(self, error: Exception | None) -> None:
        """No more frames will come, or none that count."""
        if isinstance(error, ChannelError):
            self._end_with(error.code, error.message)
        elif error is not None:
            self._fault = error
        self._over.set()

    # -- frames of the guest ----------------------------------------------------------------------------------------

    def _take(self, body: bytes) -> None:
        """Act on one frame.

        Raises:
            ChannelError: it breaks a rule; the run ends.
        """
        frame = parse_frame(body)
        match frame.kind:
            case "call":
                self._take_call(frame)
            case "load":
                self._take_load(frame)
            case "file":
                self._take_file(frame)
            case "print":
                self._prints.add(frame.payload, is_complaint=frame.header["stream"] == "err")
                self._check_output(0)
            case "cancel":
                answering = self._answering.get(frame.header["id"])
                if answering is not None:
                    answering.scope.cancel()
            case "end":
                self._check_output(len(frame.payload))
                self._result = outcome.from_end(frame.header, frame.payload, self._prints, self._usage())
                self._channel.pause()
                self._over.set()
            case _:
                raise ChannelError("guest.protocol", f"`{frame.kind}` came while the program runs")

    def _check_output(self, value_bytes: int) -> None:
        used, allowed = self._prints.total_bytes + value_bytes, self._limits.output_bytes
        if used > allowed:
            raise ChannelError(
                "limit.output", f"the program gave {used} bytes of output, `output_bytes` allows {allowed}"
            )

    def _claim_id(self, frame: GuestFrame) -> int:
        """Ids act once: one that was used before ends the run."""
        number: int = frame.header["id"]
        if number in self._seen:
            raise ChannelError("guest.protocol", f"the id {number} was used twice")
        self._seen.add(number)
        return number

    def _hold(self, work: Coroutine[Any, Any, None]) -> None:
        """Take no further frame until the work is done: a guest that is faster than its answers waits."""
        self._is_held = True
        self._channel.pause()
        self._tasks.start_soon(self._held, work)

    async def _held(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except ChannelError as error:
            self._stop(error)
        else:
            self._is_held = False
            self._channel.resume()
        finally:
            work.close()

    # -- calls --------------------------------------------------------------------------------------------------------

    def _take_call(self, frame: GuestFrame) -> None:
        number = self._claim_id(frame)
        self._calls += 1
        if self._calls > self._limits.calls:
            raise ChannelError(
                "limit.calls", f"the program makes call {self._calls}, `calls` allows {self._limits.calls}"
            )
        if len(frame.payload) > self._limits.argument_bytes:
            self._send_reply(number, _too_large(len(frame.payload), self._limits.argument_bytes))
            return
        call = Call(id=number, target=frame.header["target"], arguments=frame.payload)
        if self._may_begin:
            self._begin(call)
        else:
            self._hold(self._begin_later(call))

    @property
    def _may_begin(self) -> bool:
        return len(self._answering) < self._limits.in_flight and self._channel.has_room

    async def _begin_later(self, call: Call) -> None:
        while not self._may_begin:
            await self._channel.wait_for_room()
            if len(self._answering) >= self._limits.in_flight:
                self._slot_free = anyio.Event()
                await self._slot_free.wait()
        self._begin(call)

    def _begin(self, call: Call) -> None:
        """Answer a call at once when the answer is there, else by a task: one that has nothing to do, or a new one."""
        try:
            answer = self._call(call)
        except Exception as error:  # noqa: BLE001 - the rim of one call: its fault is the program's exception
            answer = _raised(error)
        if isinstance(answer, Reply):
            self._send_reply(call.id, answer)
            return
        work = self._answering[call.id] = _Answering(call.id, answer)
        if self._idle:
            self._idle.pop().give(work)
        else:
            self._tasks.start_soon(self._answer_for_ever, work)

    async def _answer_for_ever(self, work: _Answering) -> None:
        while True:
            await self._answer(work)
            hand = _Hand()
            self._idle.append(hand)
            work = await hand.wait()

    async def _answer(self, work: _Answering) -> None:
        try:
            with work.scope:
                try:
                    reply = await work.pending
                except Exception as error:  # noqa: BLE001 - the rim of one call
                    reply = _raised(error)
                await self._channel.wait_for_room()
                self._send_reply(work.number, reply)
        except ChannelError as error:
            self._stop(error)
        finally:
            work.close()
            del self._answering[work.number]
            self._slot_free.set()

    def _send_reply(self, number: int, reply: Reply) -> None:
        header = {"kind": "reply", "id": number, "ok": reply.ok, "form": reply.form}
        self._channel.send(header, reply.payload)

    # -- modules ------------------------------------------------------------------------------------------------------

    def _take_load(self, frame: GuestFrame) -> None:
        number = self._claim_id(frame)
        self._loads += 1
        if self._loads > self._limits.modules:
            allowed = self._limits.modules
            raise ChannelError("limit.calls", f"the program loads module {self._loads}, `modules` allows {allowed}")
        self._hold(self._load_module(number, frame.header["name"]))

    async def _load_module(self, number: int, name: str) -> None:
        await self._channel.wait_for_room()
        try:
            source = self._load(name)
            if inspect.isawaitable(source):
                source = await source
        except Exception:  # the rim of one import: the program sees that there is no such module
            logger.exception("the module loader failed")
            source = None
        header = {"kind": "module", "id": number, "found": source is not None}
        self._channel.send(header, (source or "").encode("utf-8"))

    # -- files --------------------------------------------------------------------------------------------------------

    def _take_file(self, frame: GuestFrame) -> None:
        number = self._claim_id(frame)
        self._file_operations += 1
        allowed = self._limits.file_operations
        if self._file_operations > allowed:
            raise ChannelError(
                "limit.calls",
                f"the program makes file operation {self._file_operations}, `file_operations` allows {allowed}",
            )
        header = frame.header
        request = FileRequest(
            operation=header["operation"],
            name=header["name"],
            to=header["to"],
            at=header["at"],
            data=frame.payload,
        )
        self._hold(self._serve_file(number, request))

    async def _serve_file(self, number: int, request: FileRequest) -> None:
        """One at a time, in the order in which they came: what was written is there for whatever comes next."""
        await self._channel.wait_for_room()
        try:
            content = self._files(request)
            if inspect.isawaitable(content):
                content = await content
            if len(content) > self._limits.file_bytes:
                raise OSError(
                    errno.EFBIG, f"{len(content):,} bytes do not fit into one message of {self._limits.file_bytes:,}"
                )
            reply = Reply(form="file", payload=content)
        except OSError as error:
            reply = _file_refused(error)
        except Exception:  # the rim of one file operation
            logger.exception("a file operation failed")
            reply = _file_refused(OSError(errno.EIO, "the file could not be used"))
        self._send_reply(number, reply)


class _Answering:
    """A call whose answer takes a while; leaving its scope gives it up."""

    __slots__ = ("number", "pending", "scope")

    def __init__(self, number: int, pending: Awaitable[Reply]) -> None:
        self.number = number
        self.pending = pending
        self.scope = anyio.CancelScope()

    def close(self) -> None:
        """Let go of a coroutine that was never awaited, or is done."""
        if inspect.iscoroutine(self.pending):
            self.pending.close()


class _Hand:
    """A task without work. Making a task costs four times as much as waking one."""

    __slots__ = ("_has_work", "_work")

    def __init__(self) -> None:
        self._has_work = anyio.Event()
        self._work: _Answering

    def give(self, work: _Answering) -> None:
        """Wake the task."""
        self._work = work
        self._has_work.set()

    async def wait(self) -> _Answering:
        """The next work."""
        await self._has_work.wait()
        return self._work


def _no_calls(call: Call) -> Reply:
    return Reply(ok=False, payload=b'{"code":"guest.raised","message":"this sandbox answers no calls"}')


def _no_modules(name: str) -> None:
    return None


def _no_files(request: FileRequest) -> bytes:
    raise PermissionError(
        errno.EACCES, "there are no files here: keep data in variables, or in `io.StringIO` and `io.BytesIO`"
    )


def _file_refused(error: OSError) -> Reply:
    """The error without its file name, which may be a path of this machine."""
    text = json.dumps({"errno": error.errno or errno.EIO, "message": error.strerror or type(error).__name__})
    return Reply(ok=False, form="file", payload=text.encode("ascii"))


def _too_large(size: int, allowed: int) -> Reply:
    message = f"the arguments have {size} bytes, `argument_bytes` allows {allowed}; nothing was sent"
    text = json.dumps({"code": "arguments.json", "message": message, "hint": "send less at once"})
    return Reply(ok=False, payload=text.encode("ascii"))


def _raised(error: Exception) -> Reply:
    logger.exception("answering a call failed", exc_info=error)
    text = json.dumps({"code": "run.internal", "message": f"answering the call failed: {type(error).__name__}"})
    return Reply(ok=False, payload=text.encode("ascii"))
