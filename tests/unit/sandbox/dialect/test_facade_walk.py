"""No chain of attributes from the facades leads to a module, frame, code object, file, loop or metaclass.

The walk plays an attacker who may write any name that the compile-time rules let through, and who defines every
private name in a class of its own, so that the rules for own private names apply to all objects.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from typing import Any

import pytest

from sandbox.dialect.modules import build_facades
from sandbox.dialect.printing import Redirect
from sandbox.guest.aio import AsyncRuntime, ToolThreads
from sandbox.guest.capture import Printer
from sandbox.guest.link import Link
from sandbox.guest.remote import Remote
from tests.support.facade_dangers import builtins_of_a_program, danger, files_of_a_program, inside, readable
from tests.support.facade_objects import made_objects

DEPTH = 2
LIMIT = 40_000


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
    parts = files_of_a_program()
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
