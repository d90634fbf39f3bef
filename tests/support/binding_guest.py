"""Runs generated bindings in this process as a guest would, with a scripted host instead of a wire.

The import hook and `Remote` are the guest's own; only the channel is replaced. For tests of the bindings alone: what
isolates a guest is tested elsewhere.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from codemode.bindings.tree import BindingTree
from sandbox.guest import remote
from sandbox.guest.importer import HostFinder
from sandbox.guest.link import Answer
from tests.support.catalogs import catalog_of, tool

Reply = tuple[bool, str, bytes]
Answerer = Callable[[str, Any], Reply]


def structured(value: object) -> Reply:
    """A reply with structuredContent."""
    return True, "structured", json.dumps(value).encode()


def content(*blocks: Mapping[str, object]) -> Reply:
    """A reply with content blocks."""
    return True, "content", json.dumps(blocks).encode()


def text(*texts: str) -> Reply:
    """A reply with text blocks."""
    return content(*({"type": "text", "text": one} for one in texts))


def failure(**facts: object) -> Reply:
    """A reply that is not well."""
    return False, "error", json.dumps(facts).encode()


class Guest:
    """Holds what was loaded and called.

    Attributes:
        calls: (target, arguments as parsed JSON) in order.
        loads: dotted names of modules that were fetched.
        answer: makes the reply of each call; None at first, when every call gets an empty content list.
    """

    def __init__(self, tree: BindingTree) -> None:
        self.tree = tree
        self.calls: list[tuple[str, Any]] = []
        self.loads: list[str] = []
        self.answer: Answerer | None = None

    def fetch(self, name: str) -> str | None:
        """What the host would send for a `load` frame."""
        self.loads.append(name)
        return self.tree.module(name)

    def request(self, header: Mapping[str, Any], payload: bytes) -> Answer:
        """Stands for the guest's end of the channel."""
        arguments = json.loads(payload)
        self.calls.append((header["target"], arguments))
        ok, form, data = self.answer(header["target"], arguments) if self.answer else (True, "content", b"[]")
        return Answer({"ok": ok, "form": form}, data)

    def run(self, program: str) -> dict[str, Any]:
        """Execute a program; gives its names."""
        names: dict[str, Any] = {"tools": import_module("tools")}
        exec(compile(program, "<program>", "exec"), names)
        return names

    def value(self, expression: str) -> Any:
        """The value of one expression."""
        return eval(expression, {"tools": import_module("tools"), **vars(import_module("tools._runtime"))})


@contextmanager
def guest_for(tree: BindingTree) -> Iterator[Guest]:
    """A guest whose `tools` is the tree; the interpreter is left as it was."""
    guest = Guest(tree)
    finder = HostFinder(guest.fetch)
    finder.ask_for(("tools",))
    before = remote._link
    _forget()
    finder.install({})
    remote._link = guest  # type: ignore[assignment]  # only `request` is used
    try:
        yield guest
    finally:
        remote._link = before
        sys.meta_path.remove(finder)
        _forget()


def _forget() -> None:
    for name in [name for name in sys.modules if name == "tools" or name.startswith("tools.")]:
        del sys.modules[name]


@contextmanager
def web_guest() -> Iterator[Guest]:
    """A guest with one server `web` whose functions take parameters of every sort."""
    words = {"type": "string"}
    properties = {
        "query": words,
        "from": words,
        "limit": {"type": "integer", "default": 20},
        "lang": {"type": ["string", "null"]},
        "blob": {**words, "contentEncoding": "base64"},
        "data": {},
    }
    two_results = {"type": "object", "properties": {"result": words, "next": words}}
    tools = [
        tool("search", properties, ("query",)),
        tool("save", {"root": {"type": "object"}, "name": words}, ("root", "name")),
        tool("put", {"item": {"type": "object"}, "name": words}, ("item",)),
        tool("ping"),
        tool("typed", outputSchema=two_results),
    ]
    with guest_for(BindingTree(catalog_of({"web": tools}))) as made:
        yield made


def sent(guest: Guest, call: str, **names: Any) -> Any:
    """The arguments that a call of `web` sends."""
    eval(f"tools.web.{call}", {"tools": import_module("tools"), **names})
    return guest.calls[-1][1]


def refused(guest: Guest, call: str, **names: Any) -> str:
    """The text of the TypeError that a call raises before anything is sent."""
    try:
        sent(guest, call, **names)
    except TypeError as error:
        assert guest.calls == []
        return str(error).partition("; tools.")[0]
    raise AssertionError(f"{call} was sent")
