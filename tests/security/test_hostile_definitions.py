"""Tool definitions that are written to become code, to be read from elsewhere, to collide or to stall.

Every definition goes the whole way: listing, catalog, bindings, import in a guest, a call of each function, a check of
its arguments. What must not happen is watched by an audit hook and by a local port that nobody may contact.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from codemode.bindings.function import Binding
from codemode.bindings.tree import BindingTree
from codemode.broker.arguments import ArgumentChecker
from codemode.catalog.build import build_listing
from codemode.catalog.snapshot import Catalog, build_catalog
from codemode.ids import ToolId
from tests.support.binding_guest import guest_for, structured

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "data" / "escapes"
MAX_CALLED = 300  # functions of one entry that are imported and called; the names are spread over the whole list
GOOD = {"name": "good", "description": "Works.", "inputSchema": {"type": "object", "properties": {}}}

_watching = False
_seen: list[str] = []
_HARMLESS = ("object.__getattr__", "sys._getframe", "gc.", "import", "marshal", "code.__new__", "builtins.id")


def _audit(event: str, args: tuple[Any, ...]) -> None:
    if not _watching or event.startswith(_HARMLESS):
        return
    if event == "compile" and str(args[1]).startswith(("<tools", "<unknown>")):
        return  # a binding being loaded, or parsed for review
    if event == "exec" and args[0].co_filename.startswith("<tools"):
        return
    _seen.append(f"{event} {args!r:.200}")


sys.addaudithook(_audit)


@contextmanager
def watched() -> Iterator[list[str]]:
    """Collects every audited effect: files, processes, sockets, code from elsewhere."""
    global _watching
    _seen.clear()
    _watching = True
    try:
        yield _seen
    finally:
        _watching = False


def entries() -> list[Any]:
    """The corpus with its macros expanded, or a stand-in that says that it is not there."""
    if not CORPUS.is_dir():
        return []
    spec = importlib.util.spec_from_file_location("corpus_reader", CORPUS / "load.py")
    assert spec is not None
    assert spec.loader is not None
    reader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reader)
    found: list[Any] = reader.read(CORPUS / "definitions.jsonl")
    return found


ENTRIES = entries()


def filled(value: Any, tokens: dict[str, str]) -> Any:
    if isinstance(value, str):
        for name, text in tokens.items():
            value = value.replace(f"@@{name}@@", text)
        return value
    if isinstance(value, list):
        return [filled(one, tokens) for one in value]
    if isinstance(value, dict):
        return {filled(key, tokens): filled(one, tokens) for key, one in value.items()}
    return value


def catalogs_of(entry: Any) -> list[Catalog]:
    """One catalog for each list that the entry's server gives."""
    out = []
    for tools in [entry["tools"], *entry.get("lists", [])]:
        if not isinstance(tools, list):
            continue
        listed = [*tools, GOOD] if entry.get("with_good_tool") else tools
        others = [build_listing(one["server"], one["tools"], state="ready") for one in entry.get("extra_servers", [])]
        server = entry["server"] if isinstance(entry["server"], str) and entry["server"].strip() else "unnamed"
        out.append(build_catalog([build_listing(server, listed, state="ready"), *others]))
    return out


def check_everything(catalog: Catalog, folder: Path) -> None:
    """Files stay in their folder and parse; importing and calling every binding does nothing but call its own tool."""
    tree = BindingTree(catalog)
    step = max(1, len(catalog.tools) // MAX_CALLED)
    chosen = catalog.tools[::step]
    if len(catalog.tools) <= MAX_CALLED:
        for path, text in tree.files().items():
            place = (folder / path).resolve()
            assert place.is_relative_to(folder.resolve())
            if path.endswith((".py", ".pyi")):
                ast.parse(text)
    for tool in chosen:  # made before the watch begins: parsing them is an audited effect of our own
        tree.module(tool.path)
    with guest_for(tree) as guest:
        guest.answer = lambda target, arguments: structured({"result": arguments})
        with watched() as seen:
            called = []
            for tool in chosen:
                bound = tree.binding(tool.module, tool.function)
                if not isinstance(bound, Binding):
                    continue
                function = getattr(getattr(import_module("tools"), tool.module), tool.function)
                given = {one.wire: "x" for one in bound.signature.parameters[:40]}
                assert function(**{name: value for name, value in given.items() if name != "self"}) is not None
                repr(function), function.__doc__
                called.append((tool, given))
        assert seen == []
        for (tool, given), (target, arguments) in zip(called, guest.calls, strict=True):
            assert ToolId.parse(target) == tool.spec.id
            assert arguments == {name: value for name, value in given.items() if name != "self"}


def check_arguments(catalog: Catalog) -> None:
    """Arguments of every kind are judged without an effect."""
    checker = ArgumentChecker()
    with watched() as seen:
        for tool in catalog.tools[:MAX_CALLED]:
            properties = tool.spec.input_schema.get("properties")
            names = list(properties)[:20] if isinstance(properties, dict) else []
            for arguments in ({}, {"no_such": 1}, dict.fromkeys(names, "x"), {key: [{"a": None}] for key in names}):
                checker.check_now(tool, arguments)
            checker.check_output(tool, b'{"result": [1, {"a": "x"}]}')
    assert seen == []


@pytest.fixture
def canary() -> Iterator[socket.socket]:
    """A local port that nothing may contact."""
    server = socket.create_server(("127.0.0.1", 0))
    server.setblocking(False)
    yield server
    server.close()


@pytest.mark.timeout(30)
@pytest.mark.skipif(not ENTRIES, reason="did not run: no corpus in `../shared/data/escapes`")
@pytest.mark.parametrize("entry", ENTRIES, ids=[entry["id"] for entry in ENTRIES])
def test_definition_of_the_corpus_has_no_effect_but_its_call(entry: Any, tmp_path: Path, canary: socket.socket) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    secret = tmp_path / "secret.json"
    secret.write_text('{"type": "string", "const": "SECRET-VALUE"}')
    tokens = {
        "OUTSIDE_DIR": str(outside),
        "SECRET_FILE": str(secret),
        "SECRET_DIR": str(tmp_path),
        "TCP_PORT": str(canary.getsockname()[1]),
        "HOST_IP": "127.0.0.1",
    }

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)  # for the reader of the corpus alone: some entries are 500 levels deep
    entry = filled(entry, tokens)
    sys.setrecursionlimit(limit)

    for catalog in catalogs_of(entry):
        check_everything(catalog, tmp_path / "tree")
        check_arguments(catalog)
        if entry.get("with_good_tool"):
            assert any(tool.spec.name == "good" for tool in catalog.tools)

    assert list(outside.iterdir()) == []
    with pytest.raises(BlockingIOError):
        canary.accept()


def test_watch_sees_what_a_careless_binding_does(tmp_path: Path, canary: socket.socket) -> None:
    with watched() as seen:
        exec(compile("f = 1", "<description>", "exec"), {})
        (tmp_path / "pwn").write_text("")
        socket.create_connection(canary.getsockname()).close()
    kinds = {one.partition(" ")[0] for one in seen}

    assert kinds >= {"compile", "exec", "open", "socket.connect"}


PAYLOADS = [
    "__import__('os').system('true')",
    '"""\nimport os\nos.system("true")\n"""',
    "'''\nimport os\n'''",
    "\\\nimport os",
    "\\N{LATIN SMALL LETTER A}\\x41\\u0041\\",
    "{__import__('os')}",
    "%(x)s %s %d",
    "x: int = __import__('os').system('true')",
    "a, *, b",
    ") -> None: pass\nimport os\ndef f(",
    "# type: ignore\nimport os",
    "\x0cimport os",
    "\rimport os",
    "\u2028import os",
    "\u202eso tropmi",
    "\udc80",
    "\x00",
    "..",
    "../../etc/passwd",
    "/etc/passwd",
    "a/b",
    "con",
    "__init__",
    "_runtime",
    "__class__",
    "self",
    "None",
    "lambda",
    "match",
    "ｉｍｐｏｒｔ",
    "ﬁ",
    "tools",
    "typing",
    "json",
    "x" * 5_000,
    "",
    " ",
    "🦜",
]


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_text_in_every_place_of_a_definition_stays_text(payload: str, tmp_path: Path) -> None:
    schema: Any = {
        "type": "object",
        "title": payload,
        "description": payload,
        "properties": {
            payload: {"type": "string", "description": payload, "default": payload, "examples": [payload]},
            "choice": {"enum": [payload, "b"], "default": payload},
            "constant": {"const": payload},
            "nested": {"type": "object", "properties": {payload: {"type": payload}}, "required": [payload]},
            "referred": {"$ref": f"#/$defs/{payload}"},
            "matched": {"type": "string", "pattern": payload, "format": payload},
        },
        "required": [payload],
        "$defs": {payload: {"type": "integer", "title": payload}},
        payload: payload,
    }
    entry = {
        "server": payload if payload.strip() and payload.isprintable() else "s",
        "tools": [
            {
                "name": payload,
                "title": payload,
                "description": payload,
                "inputSchema": schema,
                "outputSchema": {**schema, "properties": {"result": {"enum": [payload]}}},
                "annotations": {"title": payload},
            },
            {"name": "plain", "description": payload, "inputSchema": {**schema, "properties": {}}},
            {"name": "titled", "inputSchema": {"type": "object", "properties": {"a": {"title": payload}}}},
        ],
    }

    for catalog in catalogs_of(entry):
        assert any(tool.spec.name == "titled" for tool in catalog.tools)
        check_everything(catalog, tmp_path / "tree")
        check_arguments(catalog)


def test_functions_and_servers_cannot_hide_the_runtime(tmp_path: Path) -> None:
    names = ["_runtime", "__getattr__", "__dir__", "__all__", "__path__", "_parts", "ToolError", "raw", "tools", "sys"]
    tools = [{**GOOD, "name": name} for name in names]

    catalog = build_catalog([build_listing(name, tools, state="ready") for name in names])

    check_everything(catalog, tmp_path / "tree")
    assert len(catalog.tools) == len(names) ** 2
    with guest_for(BindingTree(catalog)) as guest:
        assert guest.value("tools.ToolError") is guest.value("ToolError")
        assert guest.value("tools.raw") is guest.value("raw")
    assert len(guest.loads) == len(set(guest.loads))


def test_one_refused_tool_leaves_the_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    wide = {f"{'n' * 500}{i:04}-": {"type": "string"} for i in range(200)}
    tools = [GOOD, {"name": "wide", "inputSchema": {"type": "object", "properties": wide}}]

    catalog = build_catalog([build_listing("acme", tools, state="ready")])
    tree = BindingTree(catalog)

    assert [(one.tool, one.reason[:22]) for one in tree.quarantined] == [("wide", "its binding would have")]
    assert [bound.tool.function for bound in tree.bindings] == ["good"]
    assert json.loads(tree.manifest())["quarantined"][0]["tool"] == "wide"
    check_everything(catalog, tmp_path / "tree")
