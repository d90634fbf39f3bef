"""Plays the guest's main in the test process: compiles, runs and delivers, with files and tools in memory.

Attacks run through `run_apart`, in a process that is thrown away.
"""

from __future__ import annotations

import asyncio
import io
import json
import posixpath
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any

from sandbox.dialect.builtins import Runtime, make_builtins, make_main, make_native_builtins
from sandbox.dialect.modules import build_facades, import_facade
from sandbox.dialect.printing import StandardStream
from sandbox.dialect.program import Compiled, compile_program

ROOT = Path(__file__).resolve().parents[2]


@dataclass(slots=True)
class Ran:
    """How a program ended."""

    compiled: Compiled
    printed: str = ""
    complaints: str = ""  # what went to sys.stderr
    value: Any = None
    delivered: bool = False
    error: BaseException | None = None
    variables: dict[str, Any] = field(default_factory=dict)

    @property
    def refusals(self) -> list[str]:
        return [item.message for item in self.compiled.diagnostics if item.severity == "error"]


class _Files:
    """A workspace in memory: `open` and `Path` over a dict."""

    def __init__(self) -> None:
        self.data: dict[str, bytes] = {}
        self.folders = {"."}

    def open(self, name: Any, mode: str = "r", **options: Any) -> Any:
        key = self.key(name)
        if "r" in mode and key not in self.data:
            raise FileNotFoundError(f"no file `{name}` in the workspace")
        files = self
        start = b"" if "w" in mode else self.data.get(key, b"")
        if "b" in mode:

            class Binary(io.BytesIO):
                def close(self) -> None:
                    files.data[key] = self.getvalue()
                    super().close()

            return Binary(start)

        class Text(io.StringIO):
            def close(self) -> None:
                if "r" not in mode:
                    files.data[key] = self.getvalue().encode()
                super().close()

        made = Text(start.decode())
        if "a" in mode:
            made.seek(0, 2)
        return made

    def key(self, name: Any) -> str:
        text = posixpath.normpath(str(name))
        if text.startswith(("/", "..")):
            raise PermissionError(f"`{name}` is outside of the workspace")
        return text

    def path_class(self) -> type:
        files = self

        class WorkspacePath(PurePosixPath):
            __slots__ = ()

            def exists(self) -> bool:
                key = files.key(self)
                return key in files.data or key in files.folders

            def mkdir(self, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:
                files.folders.add(files.key(self))

            def write_text(self, text: str, **options: Any) -> int:
                files.data[files.key(self)] = text.encode()
                return len(text)

            def read_text(self, **options: Any) -> str:
                with files.open(self) as handle:
                    return str(handle.read())

            def iterdir(self) -> Any:
                top = files.key(self)
                return iter([type(self)(name) for name in sorted(files.data) if posixpath.dirname(name) == top])

        WorkspacePath.__name__ = "Path"
        return WorkspacePath


class Tool:
    """A tool as the guest's Remote: a call blocks; `__start__` gives a task that is on its way."""

    def __init__(self, function: Callable[..., Any], log: list[str] | None = None) -> None:
        self.function = function
        self.log = log if log is not None else []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.log.append("call")
        return self.function(*args, **kwargs)

    def __start__(self, *args: Any, **kwargs: Any) -> Awaitable[Any]:
        self.log.append("start")

        async def later() -> Any:
            await asyncio.sleep(0)
            return self.function(*args, **kwargs)

        try:
            return asyncio.get_running_loop().create_task(later())
        except RuntimeError:
            return later()  # a program that has no loop yet


class _Value:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __await__(self) -> Any:
        yield from ()
        return self.value


def run(
    source: str | bytes,
    *,
    dialect: str = "restricted",
    tools: Mapping[str, Any] | None = None,
    extra: Mapping[str, object] | None = None,
    packages: tuple[str, ...] = (),
) -> Ran:
    """Compiles and runs one program; `tools` maps dotted names below `tools` to callables."""
    raw = source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass")
    compiled = compile_program(raw, dialect=dialect, filename="<program>", roots=("tools",), packages=packages)
    ran = Ran(compiled)
    if compiled.code is None:
        return ran
    printed, complaints = io.StringIO(), io.StringIO()
    main = _main(ran, printed, complaints, dialect, dict(tools or {}), dict(extra or {}), packages)
    before = {name: sys.modules.get(name) for name in ("__main__",)}
    out, err = sys.stdout, sys.stderr
    limit = sys.getrecursionlimit()
    sys.modules["__main__"] = main
    sys.stdout, sys.stderr = printed, complaints
    try:
        made = eval(compiled.code, vars(main))
        if compiled.is_coroutine:
            asyncio.run(made)
    except BaseException as error:
        ran.error = error
    finally:
        sys.stdout, sys.stderr = out, err
        sys.setrecursionlimit(limit)
        for name, module in before.items():
            if module is not None:
                sys.modules[name] = module
    ran.printed, ran.complaints = printed.getvalue(), complaints.getvalue()
    ran.variables = {key: value for key, value in vars(main).items() if not key.startswith("__")}
    return ran


def _main(
    ran: Ran,
    printed: io.StringIO,
    complaints: io.StringIO,
    dialect: str,
    tools: dict[str, Any],
    extra: dict[str, object],
    packages: tuple[str, ...],
) -> ModuleType:
    files = _Files()
    tree = _tools(tools)
    facades = build_facades(
        {"pathlib": {"Path": files.path_class()}, "asyncio": _asyncio_parts(), "io": {"open": files.open}}
    )

    def import_(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        top = name.partition(".")[0]
        if top == "tools":
            found: Any = tree
            for part in name.split(".")[1:] if fromlist else ():
                found = getattr(found, part)
            return found
        if dialect == "native" or top in packages:
            return __import__(name, None, None, fromlist, level)
        facade = import_facade(facades, name, fromlist)
        if facade is None:
            raise ImportError(f"`{name}` cannot be imported")
        return facade

    def start(function: Any, *args: Any, **kwargs: Any) -> Any:
        starter = getattr(function, "__start__", None)
        return starter(*args, **kwargs) if starter is not None else function(*args, **kwargs)

    def deliver(value: Any) -> None:
        ran.value, ran.delivered = value, True

    def print_(*args: Any, file: Any = None, **options: Any) -> None:
        stream = facades["sys"].stdout if file is None else file
        if isinstance(stream, StandardStream) and not stream._cm_targets:
            stream = complaints if stream.name == "<stderr>" else printed  # also after the run, from a thread
        print(*args, file=stream, **options)

    runtime = Runtime(
        await_=lambda value: value if hasattr(value, "__await__") else _Value(value),
        start=start,
        deliver=deliver,
        import_=import_,
        print_=print_,
        extra={"open": files.open, "tools": tree, **extra},
    )
    table = make_native_builtins(runtime) if dialect == "native" else make_builtins(runtime)
    return make_main(table)


async def _as_coroutine(value: Any) -> Any:
    return await value if hasattr(value, "__await__") else value


def _asyncio_parts() -> dict[str, object]:
    """What the guest overrides: helpers that take calls already started, and plain values."""

    def create_task(value: Any, **options: Any) -> Any:
        return asyncio.get_running_loop().create_task(_as_coroutine(value))

    def gather(*values: Any, **options: Any) -> Any:
        return asyncio.gather(*map(create_task, values), **options)

    class TaskGroup(asyncio.TaskGroup):
        def create_task(self, coro: Any, **options: Any) -> Any:
            return super().create_task(_as_coroutine(coro), **options)

    return {"create_task": create_task, "gather": gather, "TaskGroup": TaskGroup, "ensure_future": create_task}


def _tools(tools: dict[str, Any]) -> ModuleType:
    root = ModuleType("tools")
    for path, function in tools.items():
        node = root
        *folders, name = path.split(".")
        for folder in folders:
            if not hasattr(node, folder):
                setattr(node, folder, ModuleType(folder))
            node = getattr(node, folder)
        setattr(node, name, function)
    return root


_APART = """
import json, sys
sys.path.insert(0, {root!r})
from tests.support.dialect_driver import run
dumps, out = json.dumps, sys.__stdout__  # an attack on plain Python may patch the module
for source, dialect in json.loads(sys.stdin.read()):
    ran = run(source.encode("latin-1"), dialect=dialect)
    out.write(dumps({{
        "printed": ran.printed, "refusals": ran.refusals, "value": repr(ran.value)[:2000],
        "error": None if ran.error is None else type(ran.error).__name__ + ": " + str(ran.error)[:2000],
    }}) + "\\n")
    out.flush()
"""


def run_apart(
    sources: Sequence[str], *, dialect: str = "restricted", env: Mapping[str, str] | None = None, timeout_s: float = 60
) -> list[dict[str, Any]]:
    """Runs programs one after another in one throw-away process; a missing answer means that it died there."""
    asked = json.dumps([(source.encode("utf-8", "surrogatepass").decode("latin-1"), dialect) for source in sources])
    done = subprocess.run(
        [sys.executable, "-c", _APART.format(root=str(ROOT))],
        input=asked,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        env=dict(env) if env is not None else None,
        check=False,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]
