"""One run inside the boundary, from the first frame to the last.

Enters: `prepare`, then `go`. Leaves: `prepared`, then calls and prints, then `end`. The order matters: limits are
lowered before the first foreign byte is parsed, and nothing of the program runs before `go`.

Safety: everything in this process after `prepare` must be taken to be the program's. What this module reports is
a claim that the host does not rely on.
"""

from __future__ import annotations

import asyncio
import concurrent.futures.thread as futures_thread
import gc
import importlib
import inspect
import json
import os
import random
import resource
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from sandbox.dialect import modules
from sandbox.dialect.builtins import Runtime, make_builtins, make_native_builtins
from sandbox.dialect.hints import explain_error
from sandbox.dialect.modules import build_facades, nearest
from sandbox.dialect.program import Compiled, compile_program
from sandbox.guest import facts, files, paths, remote, walls
from sandbox.guest import packages as guest_packages
from sandbox.guest.aio import AsyncRuntime, ToolThreads, as_coroutine
from sandbox.guest.capture import Printer, describe, remember_source
from sandbox.guest.importer import HostFinder
from sandbox.guest.link import Link
from sandbox.guest.loop import ForkedLoop
from sandbox.guest.rehearsal import Deaf, rehearse, settle
from sandbox.guest.results.errors import explain
from sandbox.guest.results.misses import missed
from sandbox.guest.seal import tighten
from sandbox.guest.values import Rendered, preview, render
from sandbox.linux import descriptors, rlimits
from sandbox.spec import Limits

_NO_THREAD = "can't start new thread"  # CPython, Modules/_threadmodule.c
_REMEMBERED_SHARE = 64  # measured: JSON grows about sixfold as Python values, so a tenth of the memory at most

_run: _Run | None = None


@dataclass(frozen=True, slots=True)
class Inherited:
    """What every guest has from the zygote and makes its own: the loop, and an object for the channel's number."""

    loop: ForkedLoop
    channel: socket.socket


def preload(packages: tuple[str, ...]) -> Inherited:
    """Import everything a program may need and make the run of every child; called once in the zygote.

    Raises:
        ImportError: an allowed package is not installed.
    """
    loop = ForkedLoop()  # first: nothing else may take the descriptors that it will have in guests
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=descriptors.CHANNEL)
    os.environ["TZ"] = "UTC0"  # a POSIX zone: no file is needed behind the seal
    time.tzset()
    modules.preload()
    guest_packages.load(packages)
    global _run
    _run = _Run(packages)
    _run.attach(Link(channel, loop.loop), loop.loop)
    warnings.simplefilter("ignore")
    warnings.filterwarnings("always", message="coroutine .* was never awaited", category=RuntimeWarning)
    warnings.showwarning = _run._note_warning
    settle(_run)
    return Inherited(loop, channel)


def serve(inherited: Inherited, *, baseline_data_bytes: int, nproc_counts: bool) -> NoReturn:
    """Wait for one program, run it, report, leave. The seal is already on."""
    run = _run
    assert run is not None
    link = run.link
    assert isinstance(link, Link)
    asyncio.set_event_loop(inherited.loop.loop)
    if not link.has_news():  # nobody waits yet: pay now for the copies of shared memory
        rehearse(run)
        gc.collect()
        gc.freeze()
    gc.enable()
    header, source = link.receive()
    if header["kind"] != "prepare":
        os._exit(0)
    limits = Limits(**header["limits"])
    tighten(limits, baseline_data_bytes=baseline_data_bytes, nproc_counts=nproc_counts)
    compiled = run.prepare(header, source)
    answer, payload = link.receive()
    if answer["kind"] == "go" and compiled.code is not None:
        run.go(compiled, json.loads(payload))
    os._exit(0)


class _Run:
    """One program's life. Made, and warmed up, before there is a program: what can be ready is."""

    def __init__(self, packages: tuple[str, ...] = ()) -> None:
        self.packages = packages
        self.link: Link | Deaf
        self.printer = Printer()
        self.complaints = Printer("err")
        self.aio = AsyncRuntime()
        self.value: Any = None
        self.has_value = False
        self.dialect = "restricted"
        self.filename = ""
        self.seed = 0
        self.memory_text = ""
        self.notes: list[str] = []
        self.lines: tuple[str, ...] = ()
        self.namespace: dict[str, Any] = {}
        self.files = files.current()
        self.finder = HostFinder(self._fetch)
        facades = build_facades(_own_parts(self.aio, self.printer, self.complaints), packages)
        self.runtime = Runtime(
            await_=as_coroutine,
            start=_start,
            deliver=self._deliver,
            import_=_Importer(self.finder, facades, packages),
            print_=self._print,
            extra={"open": self.files.open},
            packages=packages,
        )
        self.builtins = dict(make_builtins(self.runtime))
        self.started = time.monotonic()

    def attach(self, link: Link, loop: asyncio.AbstractEventLoop) -> None:
        """Connect what was made in the zygote to this guest's channel and loop."""
        self.link = link
        self.printer.attach(link)
        self.complaints.attach(link)
        self.aio.attach(loop, link)
        self.files.attach(link)
        remote.connect(link, self._flush)

    def prepare(self, header: Mapping[str, Any], source: bytes) -> Compiled:
        """Compile and tell the host what the program uses."""
        self.dialect, self.filename, self.seed = header["dialect"], header["filename"], header["seed"]
        self.finder.ask_for(header["roots"])
        self.link.set_window(header["limits"]["in_flight"])
        self.files.set_limit(Limits(**header["limits"]).file_bytes)
        allowed = header["limits"]["memory_bytes"]
        remote.results.begin(self.filename, allowed // _REMEMBERED_SHARE)
        self.memory_text = f"the program needs more memory than `memory_bytes` allows ({allowed >> 20} MiB)"
        roots = tuple(header["roots"])
        compiled = compile_program(
            source, dialect=self.dialect, filename=self.filename, roots=roots, packages=self.packages
        )
        self.lines = compiled.lines
        self.link.post({"kind": "prepared"}, facts.encode(compiled))
        return compiled

    def go(self, compiled: Compiled, order: Mapping[str, Any]) -> None:
        """Run the program and report its end."""
        remember_source(self.filename, compiled.lines)
        random.seed(self.seed)
        guest_packages.seed(self.seed)
        self.finder.install(order["modules"])
        sys.stdout, sys.stderr = self.printer, self.complaints  # for what the library prints
        builtins = self.builtins
        if self.dialect == "native":
            builtins = {**make_native_builtins(self.runtime), "__import__": __import__}
        main = _main_module(builtins, order["aliases"])
        self.namespace = main.__dict__
        self.started = time.monotonic()
        try:
            self._execute(compiled, main.__dict__)
            self._await_value()
            self._settle()
            end = self._rendered(compiled, main.__dict__)
        except SystemExit as error:
            end = self._left(error, compiled, main.__dict__)
        except MemoryError as error:
            rlimits.use_reserve()
            end = self._failed(_shed(error, main), "limit.memory", message=self.memory_text)
        except RuntimeError as error:
            end = self._failed(error, "limit.threads" if str(error) == _NO_THREAD else "guest.raised")
        except BaseException as error:  # noqa: BLE001 - the rim of a run: whatever ends it becomes its outcome
            end = self._failed(error, "guest.raised")
        self.notes.extend(self.files.save_left())
        self._flush()
        self.link.post(*end)

    def _execute(self, compiled: Compiled, namespace: dict[str, Any]) -> None:
        code = compiled.code
        assert code is not None
        if compiled.is_coroutine:
            self.aio.run_until_complete(self._in_loop(code, namespace))
        else:
            exec(code, namespace)  # noqa: S102 - this is what a guest is for

    async def _in_loop(self, code: Any, namespace: dict[str, Any]) -> None:
        try:
            await eval(code, namespace)  # noqa: S307 - code compiled with top-level await is a coroutine
        finally:
            await self.aio.finish_calls_inside()

    def _await_value(self) -> None:
        """A last expression that is a coroutine means its result: a forgotten `await`."""
        if inspect.iscoroutine(self.value):
            self.notes.append("the last expression was a coroutine; it was awaited")
            self.value = self.aio.run(self.value)

    def _note_warning(self, message: Any, category: type[Warning], *more: Any, **options: Any) -> None:
        text = str(message)
        if "was never awaited" in text and len(self.notes) < 5:
            self.notes.append(f"{text}: nothing of it ran; write `await` before the call")

    def _settle(self) -> None:
        """Finish what the program left running: calls that nobody awaited, threads that nobody joined."""
        futures_thread._python_exit()  # as at the interpreter's exit: idle workers of pools end, busy ones finish
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and not thread.daemon:
                thread.join()
        self.aio.cancel_left()

    # -- what the program calls -----------------------------------------------------------------------------------

    def _deliver(self, value: Any) -> None:
        self.value = value
        self.has_value = True

    def _print(
        self, *values: Any, sep: str | None = " ", end: str | None = "\n", file: Any = None, flush: bool = False
    ) -> None:
        print(*values, sep=sep, end=end, file=self.printer if file is None else file, flush=flush)

    def _flush(self) -> None:
        self.printer.flush()
        self.complaints.flush()

    def _fetch(self, name: str) -> str | None:
        answer = self.link.request({"kind": "load", "name": name})
        return answer.payload.decode("utf-8") if answer.header["found"] else None

    # -- the end --------------------------------------------------------------------------------------------------

    def _rendered(self, compiled: Compiled, namespace: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        value = Rendered("none", "", b"")
        if self.has_value:
            value = render(self.value)
        elif compiled.assigned_last:
            value = preview(compiled.assigned_last, namespace.get(compiled.assigned_last))
        header = {"kind": "end", "status": "ok", "form": value.form, "type": value.type, "error": None}
        self.notes += missed(self.lines, self.namespace, remote.results)
        return {**header, "notes": self.notes, "usage": self._usage()}, value.data

    def _left(self, error: SystemExit, compiled: Compiled, namespace: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        """`sys.exit()`: a clean end without an argument or with 0, else an error that says what was given."""
        if error.code in (None, 0):
            self._settle()
            return self._rendered(compiled, namespace)
        return self._failed(error, "guest.raised", message=f"the program left with sys.exit({error.code!r})"[:500])

    def _failed(self, error: BaseException, code: str, *, message: str = "") -> tuple[dict[str, Any], bytes]:
        status = "limit" if code.startswith("limit.") else "error"
        described = describe(error, self.filename, code=code, notes=walls.explain(error, self.packages))
        described["notes"] += explain_error(error, self.packages, described["source_line"])
        described["message"] = message or described["message"]
        described["shape"] = explain(error, self.filename, self.lines, remote.results)
        if not described["shape"] and code == "guest.raised":
            self.notes += missed(self.lines, self.namespace, remote.results)
        header = {"kind": "end", "status": status, "form": "none", "type": "", "error": described}
        return {**header, "notes": self.notes, "usage": self._usage()}, b""

    def _usage(self) -> dict[str, float]:
        used = resource.getrusage(resource.RUSAGE_SELF)
        return {
            "wall_s": time.monotonic() - self.started,
            "cpu_s": used.ru_utime + used.ru_stime,
            "memory_bytes": used.ru_maxrss * 1024,  # getrusage(2): kilobytes
        }


class _Importer:
    """`__import__` of a program: roots through Python's own import system, the rest from the facades."""

    __slots__ = ("_facades", "_finder", "_packages")

    def __init__(self, finder: HostFinder, facades: Mapping[str, object], packages: tuple[str, ...]) -> None:
        self._finder = finder
        self._facades = facades
        self._packages = packages

    def __call__(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: tuple[str, ...] = (),
        level: int = 0,
    ) -> Any:
        top = name.partition(".")[0]
        if top in self._finder.roots:
            return __import__(name, {}, {}, fromlist, 0)
        if name not in self._facades:
            raise ModuleNotFoundError(nearest(name, self._packages), name=name)
        return self._facades[name] if fromlist else self._facades[top]


def _own_parts(aio: AsyncRuntime, printer: Printer, complaints: Printer) -> dict[str, Mapping[str, object]]:
    """What the facades of the standard library take from this guest."""
    return {
        "asyncio": aio.names(),
        "concurrent.futures": {"ThreadPoolExecutor": ToolThreads},
        "sys": {"stdout": printer, "stderr": complaints},
        **paths.facade_parts(),
    }


def _start(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call in a position where the result is awaited: a remote call only begins, others run as usual."""
    begin = getattr(type(function), "__start__", None)
    return function(*args, **kwargs) if begin is None else begin(function, *args, **kwargs)


def _main_module(builtins: dict[str, Any], aliases: Mapping[str, str]) -> Any:
    """A fresh `__main__`, because dataclasses, enum and typing look their class's module up there."""
    main = type(sys)("__main__")
    main.__dict__.update({"__builtins__": builtins})
    for name, path in aliases.items():
        main.__dict__[name] = _resolve(path)
    sys.modules["__main__"] = main
    return main


def _resolve(path: str) -> Any:
    top, *rest = path.split(".")
    value: Any = importlib.import_module(top)
    for part in rest:
        value = getattr(value, part)
    return value


def _shed(error: MemoryError, main: Any) -> MemoryError:
    """Let go of the program's values, so that there is room to say what happened."""
    step = error.__traceback__
    while step is not None:
        try:
            step.tb_frame.clear()
        except RuntimeError:  # a frame that still runs: ours
            pass
        step = step.tb_next
    main.__dict__.clear()
    gc.collect()
    return error
