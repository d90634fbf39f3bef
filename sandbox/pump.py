"""Moves frames between one guest and the callbacks of its run, until the run has ended.

Enters: frames of a guest that may be hostile. Leaves: replies to it, and one `RunResult`. The first end wins: the
guest's last frame, its death, the deadline, or a broken rule. After that nothing the guest sends is read.
"""

from __future__ import annotations

import inspect
import json
import logging
import time
from collections.abc import Awaitable, Mapping
from typing import Any

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup

from sandbox import outcome
from sandbox.backends.base import Guest
from sandbox.channel import Channel, ChannelError, GuestFrame, parse_frame
from sandbox.spec import Call, CallHandler, Limits, ModuleLoader, Reply, RunResult, Usage

logger = logging.getLogger(__name__)

_TURN_S = 0.005  # chosen: other runs and the deadline get their turn this often
_EXIT_S = 2.0  # chosen: a guest whose stream has ended is a process that is being torn down


class Pump:
    """One run of one guest."""

    def __init__(
        self, guest: Guest, channel: Channel, limits: Limits, call: CallHandler | None, load: ModuleLoader | None
    ) -> None:
        self._guest = guest
        self._channel = channel
        self._limits = limits
        self._call: CallHandler = call or _no_calls
        self._load: ModuleLoader = load or _no_modules
        self._prints = outcome.Prints(limits.kept_print_bytes)
        self._seen: set[int] = set()
        self._calls = 0
        self._loads = 0
        self._answering: dict[int, anyio.CancelScope] = {}
        self._slot_free = anyio.Event()
        self._started = time.monotonic()
        self._result: RunResult | None = None
        self._tasks: TaskGroup

    async def run(self, order: Mapping[str, Any]) -> RunResult:
        """Send `go` with its order, then pump until the end, the deadline or a fault."""
        self._started = time.monotonic()
        wall = self._limits.wall_s
        with anyio.move_on_after(wall):
            async with anyio.create_task_group() as self._tasks:
                self._tasks.start_soon(self._channel.write_for_ever)
                try:
                    self._channel.send({"kind": "go"}, json.dumps(order).encode("ascii"))
                    await self._read()
                except ChannelError as error:
                    self._end_with(error.code, error.message)
                self._tasks.cancel_scope.cancel()
        if self._result is None:
            self._end_with("limit.wall", f"the program still ran after {wall:g} s, `wall_s` allows no more")
        assert self._result is not None
        return self._result

    def _usage(self) -> Usage:
        return Usage(wall_s=time.monotonic() - self._started, calls=self._calls, printed_bytes=self._prints.total_bytes)

    def _end_with(self, code: str, message: str) -> None:
        """End the run from our side."""
        if self._result is None:
            self._guest.kill()
            self._result = outcome.from_code(code, message, self._prints, self._usage())

    def _fault(self, error: ChannelError) -> None:
        """A task that answers a call met a fault: end the run and stop the reader."""
        self._end_with(error.code, error.message)
        self._tasks.cancel_scope.cancel()

    # -- frames of the guest ----------------------------------------------------------------------------------------

    async def _read(self) -> None:
        while True:
            bodies = await self._channel.receive()
            if bodies is None:
                ending = await self._guest.wait_exit(_EXIT_S)
                self._result = outcome.from_exit(ending, self._limits, self._prints, self._usage())
                return
            turn = time.monotonic()
            for body in bodies:
                if await self._take(parse_frame(body)):
                    return
                if time.monotonic() - turn > _TURN_S:  # a flood of small frames must not keep the loop to itself
                    await anyio.lowlevel.checkpoint()
                    turn = time.monotonic()

    async def _take(self, frame: GuestFrame) -> bool:
        """Act on one frame; True when it was the last."""
        match frame.kind:
            case "call":
                await self._take_call(frame)
            case "load":
                await self._take_load(frame)
            case "print":
                self._prints.add(frame.payload, is_complaint=frame.header["stream"] == "err")
                self._check_output(0)
            case "cancel":
                scope = self._answering.get(frame.header["id"])
                if scope is not None:
                    scope.cancel()
            case "end":
                self._check_output(len(frame.payload))
                self._result = outcome.from_end(frame.header, frame.payload, self._prints, self._usage())
                return True
            case _:
                raise ChannelError("guest.protocol", f"`{frame.kind}` came while the program runs")
        return False

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

    # -- calls --------------------------------------------------------------------------------------------------------

    async def _take_call(self, frame: GuestFrame) -> None:
        number = self._claim_id(frame)
        self._calls += 1
        if self._calls > self._limits.calls:
            raise ChannelError(
                "limit.calls", f"the program makes call {self._calls}, `calls` allows {self._limits.calls}"
            )
        if len(frame.payload) > self._limits.argument_bytes:
            self._send_reply(number, _too_large(len(frame.payload), self._limits.argument_bytes))
            return
        while len(self._answering) >= self._limits.in_flight:
            self._slot_free = anyio.Event()
            await self._slot_free.wait()
        await self._channel.wait_for_room()
        answer = self._ask(Call(id=number, target=frame.header["target"], arguments=frame.payload))
        if isinstance(answer, Reply):
            self._send_reply(number, answer)
            return
        scope = anyio.CancelScope()
        self._answering[number] = scope
        self._tasks.start_soon(self._answer, number, answer, scope)

    def _ask(self, call: Call) -> Reply | Awaitable[Reply]:
        try:
            return self._call(call)
        except Exception as error:  # noqa: BLE001 - the rim of one call: its fault is the program's exception
            return _raised(error)

    async def _answer(self, number: int, pending: Awaitable[Reply], scope: anyio.CancelScope) -> None:
        try:
            with scope:
                try:
                    reply = await pending
                except Exception as error:  # noqa: BLE001 - the rim of one call
                    reply = _raised(error)
                await self._channel.wait_for_room()
                self._send_reply(number, reply)
        except ChannelError as error:
            self._fault(error)
        finally:
            if inspect.iscoroutine(pending):
                pending.close()
            del self._answering[number]
            self._slot_free.set()

    def _send_reply(self, number: int, reply: Reply) -> None:
        header = {"kind": "reply", "id": number, "ok": reply.ok, "form": reply.form}
        self._channel.send(header, reply.payload)

    # -- modules ------------------------------------------------------------------------------------------------------

    async def _take_load(self, frame: GuestFrame) -> None:
        number = self._claim_id(frame)
        self._loads += 1
        if self._loads > self._limits.modules:
            allowed = self._limits.modules
            raise ChannelError("limit.calls", f"the program loads module {self._loads}, `modules` allows {allowed}")
        await self._channel.wait_for_room()
        try:
            source = self._load(frame.header["name"])
            if inspect.isawaitable(source):
                source = await source
        except Exception:  # the rim of one import: the program sees that there is no such module
            logger.exception("the module loader failed")
            source = None
        header = {"kind": "module", "id": number, "found": source is not None}
        self._channel.send(header, (source or "").encode("utf-8"))


def _no_calls(call: Call) -> Reply:
    return Reply(ok=False, payload=b'{"code":"guest.raised","message":"this sandbox answers no calls"}')


def _no_modules(name: str) -> None:
    return None


def _too_large(size: int, allowed: int) -> Reply:
    message = f"the arguments have {size} bytes, `argument_bytes` allows {allowed}; nothing was sent"
    text = json.dumps({"code": "arguments.json", "message": message, "hint": "send less at once"})
    return Reply(ok=False, payload=text.encode("ascii"))


def _raised(error: Exception) -> Reply:
    logger.exception("answering a call failed", exc_info=error)
    text = json.dumps({"code": "run.internal", "message": f"answering the call failed: {type(error).__name__}"})
    return Reply(ok=False, payload=text.encode("ascii"))
