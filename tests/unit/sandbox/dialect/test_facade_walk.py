"""No chain of attributes from the facades leads to a module, frame, code object, file, loop or metaclass.

The walk plays an attacker who may write any name that the compile-time rules let through, and who defines every
private name in a class of its own, so that the rules for own private names apply to all objects.
"""

from __future__ import annotations

import asyncio
import bz2
import configparser
import gzip
import io
import lzma
import socket
import string
import tarfile
import zipfile
from collections import deque
from collections.abc import Iterator
from types import CodeType, FrameType, MappingProxyType, ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.dialect.builtins import Runtime, make_builtins
from sandbox.dialect.guards import GuardedType, checked_getattr
from sandbox.dialect.modules import build_facades
from sandbox.dialect.printing import Redirect
from sandbox.dialect.rules import CALLABLE_SPECIAL, READABLE, judge_attribute, words
from sandbox.guest import files, paths
from sandbox.guest.aio import AsyncRuntime, ToolThreads
from sandbox.guest.capture import Printer
from sandbox.guest.link import Answer, Link
from sandbox.guest.remote import Remote
from tests.support.facade_objects import is_loop, made_objects

DEPTH = 2
LIMIT = 40_000


class _Every(frozenset[str]):
    def __contains__(self, name: object) -> bool:
        return True


EVERY_NAME = _Every()


# Library classes that open any path, or read any attribute by name, and their objects.
PATH_OPENERS = (
    zipfile.ZipFile,
    zipfile.Path,
    zipfile.ZipInfo,
    tarfile.TarFile,
    tarfile.TarInfo,
    gzip.GzipFile,
    bz2.BZ2File,
    lzma.LZMAFile,
    configparser.RawConfigParser,
    string.Formatter,
)


def danger(value: Any) -> str:
    if isinstance(value, PATH_OPENERS) or (isinstance(value, type) and issubclass(value, PATH_OPENERS)):
        return "opens paths"
    if isinstance(value, ModuleType):
        return "module"
    if isinstance(value, FrameType | CodeType):
        return "frame or code"
    if isinstance(value, io.FileIO | io.TextIOWrapper | io.BufferedReader | io.BufferedWriter | socket.socket):
        return "file"
    if is_loop(value):
        return "event loop"
    if isinstance(value, type) and issubclass(value, type):
        return "metaclass"
    if type(value) is dict and ("__builtins__" in value or "__import__" in value):
        return "globals or builtins"
    return ""


def builtins_of_a_program() -> dict[str, object]:
    runtime = Runtime(
        await_=lambda value: value,
        start=lambda function, *args, **kwargs: function(*args, **kwargs),
        deliver=lambda value: None,
        import_=lambda *args: None,
        print_=lambda *args, **kwargs: None,
    )
    return {name: value for name, value in make_builtins(runtime).items() if not name.startswith("_")}


def read(obj: Any, name: str) -> Any:
    verdict = judge_attribute(name, EVERY_NAME)
    if verdict.mode == "refused":
        raise AttributeError(name)
    return checked_getattr(obj, name) if verdict.mode == "checked" else getattr(obj, name)


def readable(obj: Any) -> Iterator[tuple[str, Any]]:
    try:
        names = set(dir(obj)) | READABLE | CALLABLE_SPECIAL
    except Exception:
        return
    for name in sorted(names):
        try:
            value = read(obj, name)
        except Exception:
            continue
        yield f".{name}", value


def inside(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, list | tuple | set | frozenset):
        yield from ((f"[{index}]", item) for index, item in enumerate(list(value)[:20]))
    elif isinstance(value, dict | MappingProxyType):
        yield from ((f"[{key!r:.40}]", item) for key, item in list(value.items())[:100])


def walk(start: list[tuple[str, Any]], depth: int, limit: int) -> list[str]:
    seen: dict[int, Any] = {}
    found: list[str] = []
    todo = deque((path, value, 0) for path, value in start)
    while todo and len(seen) < limit:
        path, obj, level = todo.popleft()
        if id(obj) in seen or isinstance(obj, int | float | str | bytes | None):
            continue
        seen[id(obj)] = obj  # kept alive, so that ids stay unique
        for tail, value in (*readable(obj), *inside(obj)):
            kind = danger(value)
            if kind:
                found.append(f"{kind}: {path}{tail}")
            elif level + 1 < depth:
                todo.append((path + tail, value, level + 1))
    return found


@pytest.mark.filterwarnings("ignore")
def test_no_attribute_chain_leads_out() -> None:
    start: list[tuple[str, Any]] = [*build_facades({}).items(), *builtins_of_a_program().items(), *made_objects()]
    assert walk(start, DEPTH, LIMIT) == []


@pytest.mark.filterwarnings("ignore")
def test_no_attribute_chain_leads_out_of_what_the_guest_supplies() -> None:
    ours, theirs = socket.socketpair()
    loop = asyncio.new_event_loop()
    with ours, theirs:
        link, aio, streams = Link(ours, loop), AsyncRuntime(), (Printer(), Printer("err"))
        aio.attach(loop, link)
        for stream in streams:
            stream.attach(link)
        task, view = Remote(), aio.get_loop()
        parts = [*aio.names().items(), ("loop", view), ("pool", ToolThreads()), ("remote", task)]
        parts += [("future", view.create_future()), ("handle", view.call_soon(len)), ("timer", view.call_later(9, len))]
        parts += [("redirect", Redirect(streams[0], streams[1]))]
        start = [*parts, *zip(("stdout", "stderr"), streams, strict=True)]
        found = walk(start, DEPTH + 1, 4_000)
        reached = [path for path, obj in start for tail, value in readable(obj) if value is link for path in (tail,)]
        loop.close()
    assert found == []
    assert reached == []


@pytest.mark.filterwarnings("ignore")
def test_no_attribute_chain_leads_out_of_files_and_paths() -> None:
    class Host:
        def request(self, header: dict[str, Any], payload: object = b"") -> Answer:
            facts = {"list": b'[["a","file",1,2.0]]', "stat": b'["file",1,2.0]', "append": b"3"}
            return Answer({"ok": True}, facts.get(header["operation"], b"text"))

    files.current().attach(Host())
    parts = paths.facade_parts()
    facades = build_facades(parts)
    opened = [(mode, facades["io"].open("a", mode)) for mode in ("r", "rb", "w", "wb", "a", "ab", "r+", "a+b", "x")]
    path = facades["pathlib"].Path("a")
    made = [("path", path), ("paths", list(path.iterdir())), ("stat", path.stat()), ("text", path.read_text)]
    made += [
        ("scan", facades["os"].scandir()),
        ("entry", next(facades["os"].scandir())),
        ("walk", list(facades["os"].walk("."))),
    ]
    start = [*((name, facades[name]) for name in parts), *opened, *made]
    assert walk(start, DEPTH + 1, 8_000) == []
    for _, stream in opened:
        stream.close()


def test_the_walk_finds_what_it_looks_for() -> None:
    import json
    import threading

    class Careless:
        module = json
        table = {"k": [threading]}

    found = walk([("c", Careless())], 3, 1_000)
    assert "module: c.module" in found
    assert "module: c.table['k'][0]" in found
    assert "metaclass: t.kind" in walk([("t", type("T", (), {"kind": type})())], 1, 10)


FACADES = build_facades({})
ARGUMENTS = st.sampled_from(
    [0, 1, "a", "{0}", b"x", [1], (1, 2), {"a": 1}, len, str, object, GuardedType, "__globals__", lambda *a: a, None]
)


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=300, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_random_chain_of_reads_and_calls_leads_out(data: st.DataObject) -> None:
    # Left out: what waits, ends the process, or changes it for the tests that follow.
    unsafe = words(
        """threading concurrent concurrent.futures concurrent.futures.thread asyncio sched queue time sys logging
        warnings random timeit secrets calendar decimal contextvars lzma csv itertools codecs mimetypes zoneinfo locale
        bz2 hashlib math statistics"""
    )
    name = data.draw(st.sampled_from(sorted(set(FACADES) - unsafe)))
    value: Any = FACADES[name]
    path = name
    for _ in range(data.draw(st.integers(1, 6))):
        if callable(value) and data.draw(st.booleans()):
            arguments = data.draw(st.lists(ARGUMENTS, max_size=3))
            try:
                value = value(*arguments)
            except BaseException:
                return
            path += "()"
        else:
            names = [tail[1:] for tail, _ in readable(value)]
            if not names:
                return
            chosen = data.draw(st.sampled_from(names))
            value = read(value, chosen)
            path += f".{chosen}"
        assert danger(value) == "", path
        if type(value) in (int, str, bytes):
            return
