"""Grows programs at random from the facades and looks whether any step reaches what no program may hold.

`facade_fuzzer.py --seeds 1:100 --steps 2000 --seconds 600` prints one JSON object. Every seed runs in a process of its
own: each step is a statement that the dialect compiles and runs, over values that earlier steps made. Arguments are
such values, plain ones, and spies that look at whatever a library hands to them. Private names count as the
program's own. Besides values, an audit hook watches for files, processes, sockets and native code.
"""

from __future__ import annotations

import argparse
import asyncio
import inspect
import io
import json
import mimetypes
import os
import random
import re
import resource
import select
import signal
import socket
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from sandbox.dialect.builtins import Runtime, make_builtins, make_main
from sandbox.dialect.modules import build_facades, preload
from sandbox.dialect.program import compile_program
from sandbox.dialect.rules import own_private, words
from sandbox.guest.aio import AsyncRuntime, ToolThreads
from sandbox.guest.capture import Printer
from sandbox.guest.link import Link
from sandbox.guest.remote import Remote
from tests.support.facade_dangers import danger, files_of_a_program, inside, names_of
from tests.support.facade_objects import made_objects

STEP_S = 0.2  # one statement; then it is interrupted
SEED_S = 60  # one seed; then its process is killed
POOL = 300
PLAIN = ("0", "1", "-1", "2.5", "'a'", "'{0}'", "b'x'", "''", "[1]", "(1, 2)", "{'a': 1}", "{1}", "None", "True", "...")
NAMES = ("__class__", "__globals__", "__self__", "__dict__", "gi_frame", "format", "_x", "name", "obj", "__mro__")
WATCHED = words(
    """
    os.system os.exec os.fork os.forkpty os.posix_spawn os.spawn os.listdir os.scandir os.remove os.rename os.mkdir
    os.rmdir os.chmod os.putenv os.unsetenv subprocess.Popen socket.connect socket.bind socket.getaddrinfo
    ctypes.dlopen ctypes.dlsym pty.spawn webbrowser.open urllib.Request sqlite3.connect pickle.find_class
    mmap.__new__ code.__new__ tempfile.mkstemp shutil.rmtree shutil.copyfile
    """
)
ROOT = Path(__file__).resolve().parents[2]
LIBRARY = tuple({str(Path(os.__file__).parent), sys.prefix, sys.base_prefix, str(ROOT)})  # source lines, late imports


class LateError(BaseException):
    """A statement took too long."""


class Fuzzer:
    """One seed: the program so far, and what it must not have reached."""

    def __init__(self, seed: int, start: list[tuple[str, Any]]) -> None:
        self.random = random.Random(seed)
        self.found: list[str] = []
        self.steps = self.refused = self.raised = 0
        self.source = ""
        runtime = Runtime(
            await_=lambda value: value if inspect.isawaitable(value) else asyncio.sleep(0, value),
            start=lambda function, *args, **kwargs: function(*args, **kwargs),
            deliver=lambda value: None,
            import_=lambda *args: None,
            print_=lambda *args, **kwargs: None,
        )
        self.names = vars(make_main(make_builtins(runtime)))
        self.paths: list[str] = []
        self.pool: list[str] = []
        for path, value in start:
            self._name(path, value)
        self.fixed = len(self.paths)

    def _name(self, path: str, value: Any) -> None:
        if len(self.paths) < POOL + 3_000:
            name = f"v{len(self.paths)}"
            self.paths.append(path)
        else:
            name = self.random.choice(self.pool[self.fixed :])
            self.paths[int(name[1:])] = path
            self.pool.remove(name)
        self.pool.append(name)
        self.names[name] = value

    def look(self, value: Any, how: str) -> None:
        """Record the value if it is one that no program may hold."""
        try:
            kind = danger(value) or next((danger(item) + how for how, item in inside(value) if danger(item)), "")
        except Exception:
            return
        if kind and len(self.found) < 20:
            self.found.append(f"{kind}: {self.told(how)}")

    def told(self, source: str, depth: int = 4) -> str:
        """The statement with what its values are, and where they came from."""
        used = dict.fromkeys(re.findall(r"\bv\d+\b", source))
        origins = {name: self.paths[int(name[1:])] for name in used if int(name[1:]) < len(self.paths)}
        lines = [f"{name} is {self.told(path, depth - 1) if depth else path}" for name, path in origins.items()]
        return "; ".join((" ⏎ ".join(source.splitlines()), *lines))[:2_000]

    def spy(self, *args: Any, **kwargs: Any) -> Any:
        """A callback: looks at what it is given, and gives some of it back."""
        for value in (*args, *kwargs.values()):
            self.look(value, f"given to a callback by {self.source}")
        return self.random.choice([*args, None, 0, "a", True]) if args else None

    async def run(self, steps: int) -> None:
        """Take the steps."""
        self._name("spy", self.spy)
        while self.steps < steps:
            try:
                self.source = self._statement()
                await self._step(self.source)
            except (LateError, Exception):
                continue  # between two statements; values take part in the choice of the next one

    async def _step(self, source: str) -> None:
        self.steps += 1
        made = compile_program(source.encode("utf-8", "replace"), dialect="restricted", filename="<program>", roots=())
        if made.code is None:
            self.refused += 1
            return
        self.names.pop("r", None)
        signal.setitimer(signal.ITIMER_REAL, STEP_S, STEP_S)
        try:
            running = eval(made.code, self.names)
            if made.is_coroutine:
                await asyncio.wait_for(running, 0.05)
            value = self.names.get("r")
        except BaseException as error:
            self.raised += 1
            value = error
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        self.look(value, source)
        if isinstance(value, BaseException) and self.random.random() < 0.8:
            return  # most are alike
        if not isinstance(value, int | float | bytes | None):
            self._name(source, value)

    # -- the grammar ----------------------------------------------------------------------------------------------

    def _value(self) -> str:
        if self.random.random() < 0.5:
            return self.random.choice(self.pool[-60:])
        return self.random.choice(self.pool)

    def _argument(self) -> str:
        chance = self.random.random()
        if chance < 0.35:
            return self.random.choice(PLAIN)
        if chance < 0.45:
            return repr(self.random.choice(NAMES))
        return self._spy() if chance < 0.6 else self._value()

    def _spy(self) -> str:
        return self.random.choice(("spy", "lambda *a, **k: spy(*a, **k)", "Spy()", "Spy"))

    def _attribute(self, value: str) -> str:
        names = names_of(self.names.get(value))
        if self.random.random() < 0.7:  # special names are many, and alike everywhere
            names = [name for name in names if not name.startswith("__")] or names
        return self.random.choice(names) if names else "name"

    def _call(self, value: str) -> str:
        given = [self._argument() for _ in range(self.random.randint(0, 3))]
        try:
            parameters = list(inspect.signature(self.names[value]).parameters)
        except Exception:
            parameters = []
        if parameters and self.random.random() < 0.4:
            given.append(f"{self.random.choice(parameters)}={self._argument()}")
        return f"{value}({', '.join(given)})"

    def _statement(self) -> str:
        value = self._value()
        name = self._attribute(value)
        own = f"class Own:\n    {name} = 1\n" if own_private(name) else ""
        forms = (
            (30, f"{own}r = {value}.{name}"),
            (30, f"r = {self._call(value)}"),
            (12, f"{own}r = {value}.{name}({', '.join(self._argument() for _ in range(self.random.randint(0, 3)))})"),
            (4, f"r = getattr({value}, {name!r}, {self._argument()})"),
            (4, f"r = {value}[{self._argument()}]"),
            (5, f"r = next(iter({value}))"),
            (2, f"r, *rest = {value}"),
            (3, f"with {value} as r:\n    pass"),
            (2, f"try:\n    with {value} as r:\n        1 / 0\nexcept BaseException as error:\n    r = error"),
            (
                3,
                f"r = {value} {self.random.choice(('+', '|', '%', '*', '@', '==', '&', '-', 'in'))} {self._argument()}",
            ),
            (3, f"{own}{value}.{name} += {self._argument()}"),
            (3, f"{own}{value}.{name} = {self._argument()}\nr = {value}.{name}"),
            (3, f"r = f'{{{value}!r}} {{{value}}}'"),
            (3, f"r = ('{{0.' + {name!r} + '}}').format({value})"),
            (3, f"{own}match {self._value()}:\n    case {value}({name}=r):\n        pass"),
            (3, f"match {self._value()}:\n    case {value}(r):\n        pass"),
            (4, f"{own}class S({value}):\n    def f(self, *a):\n        return super().{name}\nr = S"),
            (2, f"@{value}\ndef r(x={self._argument()}):\n    yield x"),
            (2, f"@{value}\nclass r:\n    x: {self._argument()} = {self._argument()}"),
            (3, f"r = await {value}"),
            (2, f"async for r in {value}:\n    break"),
            (
                2,
                f"try:\n    {self._call(value)}\nexcept BaseException as e:\n    r = e.__context__ or e.__traceback__",
            ),
            (2, f"raise {self._call(value)}"),
            (1, f"r = eval({f'{value}.{name}'!r})"),
            (1, f"exec({f'r = {value}.{name}'!r})"),
        )
        return self.random.choices([text for _, text in forms], [weight for weight, _ in forms])[0]


SPY_CLASS = """
class Spy:
    def __getattr__(self, name): return spy(self, name)
    def __call__(self, *a, **k): return spy(*a, **k)
    def __enter__(self): return self
    def __exit__(self, *e): spy(*e); return True
    def __iter__(self): return iter([self])
    def __len__(self): return 1
    def __getitem__(self, key): spy(key); return 1
    def __eq__(self, other): spy(other); return True
    def __hash__(self): return 1
    def __add__(self, other): return spy(other)
    def __radd__(self, other): return spy(other)
    def __or__(self, other): return spy(other)
    def __ror__(self, other): return spy(other)
    def __mod__(self, other): return spy(other)
    def __lt__(self, other): spy(other); return True
    def __format__(self, spec): spy(spec); return spec
    def __get__(self, owner, kind=None): spy(owner, kind); return self
    def __set_name__(self, owner, name): spy(owner, name)
    def __missing__(self, key): return spy(key)
    def __copy__(self): return self
    def __deepcopy__(self, memo): spy(memo); return self
    def write(self, text): spy(text); return 1
    def read(self, size=-1): return ''
"""


Made = list[tuple[str, Any]]


def start_values(loop: asyncio.AbstractEventLoop, channel: socket.socket, objects: Made) -> Made:
    """Everything a program begins with: facades, what the guest supplies, and objects of every kind."""
    aio, link = AsyncRuntime(), Link(channel, loop)
    aio.attach(loop, link)
    aio._cm_is_running = True
    stdout = Printer()
    stdout.attach(link)
    facades = build_facades({**files_of_a_program(), "asyncio": aio.names()})
    return [
        *facades.items(),
        *((f"{module}.{name}", getattr(facade, name)) for module, facade in facades.items() for name in dir(facade)),
        *((name, value) for name, value in make_builtins(_NO_RUNTIME).items() if not name.startswith("_")),
        *objects,
        *(("loop", aio.get_loop()), ("pool", ToolThreads(2)), ("remote", Remote()), ("stdout", stdout)),
    ]


_NO_RUNTIME = Runtime(
    await_=lambda value: value,
    start=lambda function, *args, **kwargs: None,
    deliver=lambda value: None,
    import_=lambda *args: None,
    print_=lambda *args, **kwargs: None,
)


def _late(number: int, frame: FrameType | None) -> None:
    raise LateError


def _child(seed: int, steps: int) -> dict[str, Any]:
    preload()  # as a zygote does, so that no step imports anything
    mimetypes.init(())
    warnings.simplefilter("ignore")
    sys.stdout = sys.stderr = io.StringIO()
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    signal.signal(signal.SIGALRM, _late)
    ours, theirs = socket.socketpair()
    objects = list(made_objects())  # in a loop of their own
    events: list[str] = []

    async def main() -> Fuzzer:
        fuzzer = Fuzzer(seed, start_values(asyncio.get_running_loop(), ours, objects))
        await fuzzer._step(SPY_CLASS)

        def audit(event: str, args: tuple[Any, ...]) -> None:
            # The library imports late, and CPython looks for the file of a text that does not compile, by its name.
            if event in ("open", "os.listdir") and str(args[0]).startswith((*LIBRARY, "<")):
                return
            is_file = event == "open"
            # The pair that a new event loop wakes itself with stays inside of asyncio; in a guest there is one loop.
            is_socket = event == "socket.__new__" and args[1] != socket.AF_UNIX
            if (is_file or is_socket or event in WATCHED) and len(events) < 20:
                events.append(f"{event} {args!r:.100}: {fuzzer.told(fuzzer.source)}")

        sys.addaudithook(audit)
        await fuzzer.run(steps)
        return fuzzer

    fuzzer = asyncio.run(main())
    theirs.close()
    counts = {"steps": fuzzer.steps, "refused": fuzzer.refused, "raised": fuzzer.raised}
    return {"found": [*fuzzer.found, *events], **counts}


def fuzz(seed: int, steps: int) -> dict[str, Any] | None:
    """What one seed found, or None when its process died or hung."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reader)
            os.write(writer, json.dumps(_child(seed, steps)).encode()[:60_000])
        except BaseException as error:  # the parent hears of it as of a seed that died
            os.write(2, f"seed {seed}: {type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(0)
    os.close(writer)
    ready, _, _ = select.select([reader], [], [], SEED_S)
    answer = os.read(reader, 65_536) if ready else b""
    os.close(reader)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return dict(json.loads(answer)) if answer else None


def main() -> None:
    """Run the seeds and print what came of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="1:4", help="first and last")
    parser.add_argument("--steps", type=int, default=2_000, help="of each seed")
    parser.add_argument("--seconds", type=float, default=600, help="no seed is begun later")
    asked = parser.parse_args()
    first, _, last = asked.seeds.partition(":")
    total: dict[str, Any] = {"seeds": 0, "died": [], "found": {}, "steps": 0, "refused": 0, "raised": 0}
    end = time.monotonic() + asked.seconds
    for seed in _seeds(int(first), int(last or first), end):
        outcome = fuzz(seed, asked.steps)
        total["seeds"] += 1
        if outcome is None:
            total["died"].append(seed)
            continue
        for count in ("steps", "refused", "raised"):
            total[count] += outcome[count]
        if outcome["found"]:
            total["found"][seed] = outcome["found"]
    print(json.dumps(total))


def _seeds(first: int, last: int, end: float) -> Iterator[int]:
    for seed in range(first, last + 1):
        if time.monotonic() > end:
            return
        yield seed


if __name__ == "__main__":
    main()
