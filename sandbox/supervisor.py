"""The life of a run on the host: take a guest, send the program, answer its calls, end it, say how it ended.

Enters: `RunSpec`s and callbacks. Leaves: `Prepared` programs and `RunResult`s. A guest is used once. Whatever happens
to a run happens to it alone: its guest is killed through a handle that cannot hit another process.
"""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from types import TracebackType

import anyio
from anyio.abc import TaskGroup

from sandbox import facts, outcome
from sandbox.backends.base import Guest, IsolationReport, create_backend
from sandbox.channel import Channel, ChannelError, parse_facts, parse_frame, unsealed_layer
from sandbox.dialect.packages import check_packages
from sandbox.errors import ClosedError, GuestError, IsolationError
from sandbox.memory import SHARE, MemoryBudget
from sandbox.pool import Pool
from sandbox.pump import Pump
from sandbox.spec import (
    CallHandler,
    CallUse,
    Diagnostic,
    FileHandler,
    Limits,
    ModuleLoader,
    NameUse,
    RunResult,
    RunSpec,
    Usage,
)

_PREPARE_S = 20.0  # chosen: compiling `source_bytes` takes well under a second; a loaded machine needs room
_EXIT_S = 2.0


@asynccontextmanager
async def open_sandbox(
    backend: str = "process",
    *,
    pool: int = 2,
    ceiling: Limits | None = None,
    memory_share: float = SHARE,
    packages: Sequence[str] = (),
) -> AsyncIterator[Sandbox]:
    """Open a sandbox: start its backend, prove the isolation, keep `pool` guests waiting.

    Args:
        backend: "process" (kernel walls on this machine) or "docker" (the same inside a hardened container).
        pool: how many guests wait, sealed and warm.
        ceiling: the most that a waiting guest may get; a run with higher limits gets a guest of its own, forked for it.
        memory_share: what all runs together may use of the machine's memory, from 0 to 1; further runs queue.
        packages: what programs may import besides the standard library, "numpy" and "pandas" (which brings numpy).
            With one of them the language layer stops nobody any more; the kernel walls are the same.

    Raises:
        SpecError: no such backend; a package that is not known, not installed, or not to be had with this backend.
        IsolationError: a required layer is missing; the error names it and the remedy.
        GuestError: guests could not be started.
    """
    allowed = check_packages(packages)
    memory = MemoryBudget(share=memory_share)
    engine = create_backend(backend, all_runs_bytes=memory.total_bytes, packages=allowed)
    await engine.start()
    failure: Exception | None = None
    try:
        async with Pool(engine, pool, ceiling=ceiling) as guests, anyio.create_task_group() as tasks:
            box = Sandbox(guests, engine.describe(), tasks, memory)
            try:
                yield box
            except Exception as error:  # noqa: BLE001 - the caller's, raised again below without a group around it
                failure = error
            finally:
                box.close()
                tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await engine.aclose()
    if failure is not None:
        raise failure


class Sandbox:
    """Runs programs, each in a fresh guest. Made by `open_sandbox`.

    Attributes:
        isolation: what isolates programs here, found by effect.
        memory: what all runs together may use.
    """

    def __init__(self, pool: Pool, isolation: IsolationReport, tasks: TaskGroup, memory: MemoryBudget) -> None:
        self._pool = pool
        self._tasks = tasks
        self._is_closed = False
        self.memory = memory
        self.isolation = isolation

    def close(self) -> None:
        """Refuse further programs; what runs is ended by whoever opened the sandbox."""
        self._is_closed = True

    async def prepare(self, spec: RunSpec) -> Prepared:
        """Have a guest compile the program and say what it uses; nothing of it has run.

        Raises:
            SpecError: the source is too large.
            GuestError: no guest could be had, or it broke the protocol.
            ClosedError: the sandbox is closed.
        """
        if self._is_closed:
            raise ClosedError("the sandbox is closed")
        source = spec.source_bytes()
        guest = await self._pool.take(spec.limits)
        prepared = Prepared(self, spec, guest)
        try:
            await prepared.compile(source)
        except BaseException:
            await prepared.discard()
            raise
        return prepared

    async def run(
        self,
        spec: RunSpec,
        *,
        call: CallHandler | None = None,
        load: ModuleLoader | None = None,
        files: FileHandler | None = None,
    ) -> RunResult:
        """`prepare` and `run` in one."""
        async with await self.prepare(spec) as prepared:
            return await prepared.run(call=call, load=load, files=files)

    def release(self, guest: Guest) -> None:
        """End a guest now and clean up after it in the background."""
        guest.kill()
        if self._is_closed:
            guest.drop()
        else:
            self._tasks.start_soon(guest.aclose)


class Prepared:
    """A compiled program that has not run. Run it once or discard it; as a context manager it is discarded at the end.

    Attributes:
        names: what the program uses below the roots, and free names.
        calls: its calls of such names.
        diagnostics: refusals and notes; with an `error` among them, `run` gives a result with status `refused`.
    """

    def __init__(self, box: Sandbox, spec: RunSpec, guest: Guest) -> None:
        self._box = box
        self._spec = spec
        self._guest: Guest | None = guest
        self._channel = Channel(guest.channel, spec.limits)
        self.names: tuple[NameUse, ...] = ()
        self.calls: tuple[CallUse, ...] = ()
        self.diagnostics: tuple[Diagnostic, ...] = ()

    async def __aenter__(self) -> Prepared:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.discard()

    @property
    def is_refused(self) -> bool:
        """Whether the program will not run."""
        return any(item.severity == "error" for item in self.diagnostics)

    async def discard(self) -> None:
        """End the guest; harmless when that has happened."""
        guest, self._guest = self._guest, None
        if guest is not None:
            self._release(guest)

    def _release(self, guest: Guest) -> None:
        self._channel.close()
        self._box.release(guest)

    async def compile(self, source: bytes) -> None:
        """Send `prepare` and read the answer. Called once, by `Sandbox.prepare`."""
        spec, guest = self._spec, self._guest
        assert guest is not None
        header = {
            "kind": "prepare",
            "dialect": spec.dialect,
            "roots": list(spec.roots),
            "limits": spec.limits.to_wire(),
            "seed": spec.seed,
            "filename": spec.filename,
        }
        try:
            with anyio.fail_after(_PREPARE_S):
                self._channel.send(header, source)
                await guest.lower(spec.limits)
                bodies = await self._channel.receive()
        except TimeoutError:
            self._refuse("limit.compile", f"the program did not compile within {_PREPARE_S:g} s")
            return
        except ChannelError as error:
            raise GuestError(error.message, code=error.code) from error
        if bodies is None:
            await self._explain_death()
            return
        self._read_facts(bodies)

    def _read_facts(self, bodies: list[bytes]) -> None:
        missing = unsealed_layer(bodies[0])
        if missing:
            raise IsolationError(f"a guest could not be sealed: {missing}")
        try:
            frame = parse_frame(bodies[0])
            if frame.kind != "prepared" or len(bodies) != 1:
                raise ChannelError("guest.protocol", f"`{frame.kind}` came where `prepared` alone was due")
            known = parse_facts(frame.payload)
        except ChannelError as error:
            raise GuestError(error.message, code=error.code) from error
        self.names = facts.names(known)
        self.calls = facts.calls(known)
        self.diagnostics = facts.diagnostics(known)

    async def _explain_death(self) -> None:
        assert self._guest is not None
        ending = await self._guest.wait_exit(_EXIT_S)
        if ending.how == "unknown":
            raise GuestError("the guest and its zygote ended before the program was compiled; send it again")
        ended = outcome.from_exit(ending, self._spec.limits, outcome.Prints(1_024), Usage())
        assert ended.error is not None
        if (
            ending.code == signal.SIGKILL and ended.error.code == "guest.died"
        ):  # by someone else: not the program's doing
            raise GuestError(f"{ended.error.message}; it had not been compiled, send it again")
        self._refuse("limit.compile", f"the program could not be compiled: {ended.error.message}")

    def _refuse(self, code: str, message: str) -> None:
        self.diagnostics = (Diagnostic(code=code, message=message),)

    async def run(
        self,
        *,
        call: CallHandler | None = None,
        load: ModuleLoader | None = None,
        files: FileHandler | None = None,
        modules: Mapping[str, str] | None = None,
        aliases: Mapping[str, str] | None = None,
    ) -> RunResult:
        """Let the program run; answer its calls with `call`, its imports below the roots with `load`, its use
        of files with `files`; without that there are no files.

        Args:
            modules: further sources that the guest has from the start, beside those of the spec.
            aliases: names that the program finds defined, and the dotted path below a root that each stands for.

        Raises:
            GuestError: the program was run or discarded before.
        """
        guest, self._guest = self._guest, None
        if guest is None:
            raise GuestError("this program has been run or discarded", code="guest.killed")
        try:
            if self.is_refused:
                return outcome.from_diagnostics(self.diagnostics)
            async with self._box.memory.reserve(self._spec.limits.memory_bytes):
                pump = Pump(guest, self._channel, self._spec.limits, call=call, load=load, files=files)
                return await pump.run({"modules": {**self._spec.modules, **(modules or {})}, "aliases": aliases or {}})
        finally:
            self._release(guest)
