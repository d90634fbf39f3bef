"""The stdio transport: a server's three pipes on one side, the SDK's message streams on the other.

Enters: an expanded `Launch`. Leaves: (read, write) for `mcp.Client`. Lines are split at LF alone and in linear time; a
line that is no message is counted, not fatal; an answer that cannot be read fails its own call at once. On leaving, the
whole process group is ended within bounds, also when the caller was cancelled.
Used instead of `mcp.client.stdio`, whose line buffer is quadratic, which ends or hangs on invalid UTF-8 and lets
grandchildren live.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError

from codemode.upstream.child import Child
from codemode.upstream.credentials import Launch
from codemode.upstream.exchange import Fault
from codemode.upstream.filter import Filter
from codemode.upstream.lines import LineSplitter
from codemode.upstream.logfile import ServerLog
from codemode.upstream.process import Grace, Guard, ServerProcess, start_process

_LAST_WORDS_S = 0.5  # chosen: stderr of a dead process is read at once, unless something still holds the pipe
_OUTBOX = 1024  # chosen: requests that wait for a server which does not read; far above `in_flight`


@dataclass(slots=True, eq=False)
class StdioLine:
    """What the owner of a connection may watch: the filter, the process, and when the server's stdout ended."""

    filter: Filter
    log: ServerLog
    max_line_bytes: int
    grace: Grace = field(default_factory=Grace)
    ended: anyio.Event = field(default_factory=anyio.Event)
    process: ServerProcess | None = None

    @property
    def pid(self) -> int:
        """The server's process id, 0 before it started."""
        return self.process.group if self.process else 0

    def exit_text(self) -> str:
        """How the server ended, for a message; "" while it runs or when nobody knows."""
        code = self.process.process.returncode if self.process else None
        if code is None:
            return ""
        return f"signal {-code}" if code < 0 else f"exit code {code}"


@asynccontextmanager
async def open_stdio(
    line: StdioLine, launch: Launch, environment: dict[str, str], guard: Guard
) -> AsyncIterator[
    tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]
]:
    """Start the server and connect its pipes.

    Raises:
        OSError: the server's command cannot be run.
    """
    server = await start_process(launch, environment, guard)
    line.process = server
    to_session, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, from_session = anyio.create_memory_object_stream[SessionMessage](_OUTBOX)
    said = anyio.Event()
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_read_stdout, line, server.process, to_session)
            tasks.start_soon(_read_stderr, line, server.process, said)
            tasks.start_soon(_write_stdin, line, server.process, from_session, to_session)
            try:
                yield read, write
            finally:
                with anyio.CancelScope(shield=True):
                    read.close()
                    write.close()
                    await server.end(line.grace)
                    with anyio.move_on_after(_LAST_WORDS_S):
                        await said.wait()
                tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            for stream in (read, write, to_session, from_session):
                stream.close()
            server.process.close()


async def _read_stdout(
    line: StdioLine,
    process: Child,
    to_session: MemoryObjectSendStream[SessionMessage | Exception],
) -> None:
    """Lines → messages. Goes on draining when the session is gone, so that a flushing server can exit."""
    assert process.stdout is not None
    splitter = LineSplitter(line.max_line_bytes)
    is_open = True
    with to_session:
        try:
            while True:
                chunk = await process.stdout.receive()
                for raw in splitter.feed(chunk):
                    for message in line.filter.incoming(raw) if is_open else ():
                        try:
                            await to_session.send(SessionMessage(message))
                        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                            is_open = False
        except (anyio.EndOfStream, anyio.ClosedResourceError, OSError):
            pass
        finally:
            line.ended.set()


async def _read_stderr(line: StdioLine, process: Child, said: anyio.Event) -> None:
    assert process.stderr is not None
    try:
        while True:
            await line.log.write(await process.stderr.receive())
    except (anyio.EndOfStream, anyio.ClosedResourceError, OSError):
        await line.log.close()
    finally:
        said.set()


async def _write_stdin(
    line: StdioLine,
    process: Child,
    from_session: MemoryObjectReceiveStream[SessionMessage],
    to_session: MemoryObjectSendStream[SessionMessage | Exception],
) -> None:
    assert process.stdin is not None
    with from_session:
        async for item in from_session:
            message = line.filter.outgoing(item.message)
            if message is None:
                continue
            try:
                data = message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
            except ValueError:
                fault = Fault(code="arguments.json", message="the arguments are no JSON text", may_have_happened=False)
                await _reply(to_session, line.filter.unsent(message, fault))
                continue
            try:
                await process.stdin.send(data)
            except (anyio.ClosedResourceError, OSError):
                # The pipe broke under the write: how much of it the server has read is not known.
                fault = Fault(code="upstream.died", message="the server closed its input")
                reply = line.filter.unsent(message, fault)
                line.ended.set()
                await _reply(to_session, reply)


async def _reply(to_session: MemoryObjectSendStream[SessionMessage | Exception], reply: JSONRPCError | None) -> None:
    """Answer a request of ours ourselves; a session that is gone has been told by the end of its stream."""
    if reply is not None:
        try:
            await to_session.send(SessionMessage(reply))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return
