"""The guest's half: names and positions of arguments, replies as values, refusals as exceptions."""

from __future__ import annotations

import gc
import json
import types
from collections.abc import Iterator
from typing import Any

import pytest

from codemode.bindings.runtime import RUNTIME_MODULES
from tests.support.binding_guest import Guest, content, failure, refused, sent, structured, text, web_guest


@pytest.fixture
def guest() -> Iterator[Guest]:
    with web_guest() as made:
        yield made


# -- names and positions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("search(query='a')", {"query": "a"}),
        ("search('a', 'b')", {"query": "a", "from": "b"}),
        ("search(query='a', from_='b')", {"query": "a", "from": "b"}),
        ("search(query='a', **{'from': 'b'})", {"query": "a", "from": "b"}),
        ("search({'query': 'a', 'from': 'b'})", {"query": "a", "from": "b"}),
        ("search({})", {}),
        ("search(query='a', nosuch=1)", {"query": "a", "nosuch": 1}),
        ("search()", {}),
        ("search(query='a', limit=0)", {"query": "a", "limit": 0}),
        ("search(query='', data=False)", {"query": "", "data": False}),
        ("search(query='a', limit=None)", {"query": "a"}),
        ("search(query='a', lang=None)", {"query": "a", "lang": None}),
        ("search(query='a', data=None)", {"query": "a", "data": None}),
        ("search(query=None)", {"query": None}),
        ("save({'a': 1}, 'n')", {"root": {"a": 1}, "name": "n"}),
        ("save({'root': {'a': 1}, 'name': 'n'})", {"root": {"a": 1}, "name": "n"}),
        ("save({'root': {'a': 1}})", {"root": {"root": {"a": 1}}}),
        ("put({'item': 1})", {"item": {"item": 1}}),
        ("ping({'x': 1})", {"x": 1}),
    ],
)
def test_call_sends_exactly_what_it_says(guest: Guest, call: str, arguments: Any) -> None:
    assert sent(guest, call) == arguments


def test_call_goes_to_the_tool_id(guest: Guest) -> None:
    guest.run("tools.web.ping()")

    assert guest.calls[0][0] == str(guest.tree.catalog.tools[0].spec.id)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("search('a', query='b')", "`query` is given twice, by position and by keyword"),
        ("search(from_='a', **{'from': 'b'})", "`from` is given twice"),
        ("ping(1)", "at most 0 arguments by position, 1 came"),
        ("search(*'abcdefgh')", "at most 6 arguments by position, 8 came"),
    ],
)
def test_call_that_contradicts_itself_is_refused_with_the_signature(guest: Guest, call: str, message: str) -> None:
    assert refused(guest, call) == message


# -- results ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        (structured({"result": [1, 2]}), [1, 2]),
        (structured({"result": None}), None),
        (structured({"result": 1, "next": 2}), {"result": 1, "next": 2}),
        (structured({"total": 5}), {"total": 5}),
        (structured([1]), [1]),
        (text('[{"id": 1}]'), [{"id": 1}]),
        (text("plain words"), "plain words"),
        (text('{"broken": '), '{"broken": '),
        (text('"gh"'), "gh"),
        (text(" true\n"), True),
        (text("null"), None),
        (text("42"), 42),
        (text("-1.5"), -1.5),
        (text("1.10"), "1.10"),
        (text("007"), "007"),
        (text("1e5"), "1e5"),
        (text("NaN"), "NaN"),
        (text("12:00"), "12:00"),
        (text(""), ""),
        (text("part one", "part two"), ["part one", "part two"]),
        (text("Found 1:", '{"a": 1}'), ["Found 1:", {"a": 1}]),
        (content(), None),
        (content({"type": "new_kind", "x": 1}), {"type": "new_kind", "x": 1}),
        (content({"type": "text"}), {"type": "text"}),
        (text("9007199254740993123"), 9007199254740993123),
        (text("a\x00b\u2028c\ud83d"), "a\x00b\u2028c\ud83d"),
    ],
)
def test_reply_becomes_a_value(guest: Guest, reply: Any, value: Any) -> None:
    guest.answer = lambda target, arguments: reply

    assert guest.value("tools.web.ping()") == value


def test_result_key_stays_where_the_schema_names_more(guest: Guest) -> None:
    guest.answer = lambda target, arguments: structured({"result": "a"})

    assert guest.value("tools.web.typed()") == {"result": "a"}


def test_number_in_a_text_that_prints_otherwise_stays_text(guest: Guest) -> None:
    guest.answer = lambda target, arguments: text("1234567890.12345678901")

    assert guest.value("tools.web.ping()") == "1234567890.12345678901"


def test_text_too_deep_or_with_too_many_digits_stays_text(guest: Guest) -> None:
    for raw in ("[" * 100_000 + "]" * 100_000, "[" + "9" * 10_000 + "]"):
        guest.answer = lambda target, arguments, raw=raw: text(raw)
        assert guest.value("tools.web.ping()") == raw


def test_structured_payload_that_cannot_be_read_stays_text(guest: Guest) -> None:
    guest.answer = lambda target, arguments: (True, "structured", b'{"v": ' + b"9" * 10_000 + b"}")

    assert guest.value("tools.web.ping()").startswith('{"v": 999')


def test_collector_is_on_again_after_a_large_result(guest: Guest) -> None:
    large = json.dumps([{"i": i} for i in range(20_000)])
    for raw in (large, large[:-1]):
        guest.answer = lambda target, arguments, raw=raw: text(raw)
        guest.value("tools.web.ping()")
        assert gc.isenabled()


def test_collector_that_was_off_stays_off(guest: Guest) -> None:
    guest.answer = lambda target, arguments: text(json.dumps(["x" * 100_000]))
    gc.disable()
    try:
        guest.value("tools.web.ping()")
        assert not gc.isenabled()
    finally:
        gc.enable()


# -- failures ---------------------------------------------------------------------------------------------------------


def test_failure_raises_the_servers_own_text_first(guest: Guest) -> None:
    guest.answer = lambda target, arguments: failure(
        code="upstream.tool_error",
        message="Not Found",
        text="Not Found",
        hint="look at the name",
        tool="web.ping",
        signature="tools.web.ping() -> ?",
        retryable=True,
    )

    names = guest.run(
        "from tools import ToolError\ntry:\n    tools.web.ping()\nexcept ToolError as error:\n    caught = error"
    )

    error = names["caught"]
    assert str(error) == "Not Found\nlook at the name\ntools.web.ping() -> ?"
    assert (error.code, error.tool, error.text) == ("upstream.tool_error", "web.ping", "Not Found")
    assert (error.signature, error.retryable) == ("tools.web.ping() -> ?", True)


def test_failure_without_a_text_shows_the_hosts_message(guest: Guest) -> None:
    guest.answer = lambda target, arguments: failure(code="policy.denied", message="not allowed", text="")

    names = guest.run("try:\n    tools.web.ping()\nexcept Exception as error:\n    caught = error")

    assert str(names["caught"]) == "not allowed"
    assert names["caught"].retryable is False


@pytest.mark.parametrize("payload", [b"", b"[]", b"\xff", b'{"code": 5, "text": []}', b"[" * 5_000])
def test_failure_of_any_form_is_a_tool_error(guest: Guest, payload: bytes) -> None:
    guest.answer = lambda target, arguments: (False, "error", payload)

    names = guest.run("try:\n    tools.web.ping()\nexcept Exception as error:\n    caught = error")

    assert type(names["caught"]).__name__ == "ToolError"
    str(names["caught"])


# -- builtins ---------------------------------------------------------------------------------------------------------


def test_raw_asks_for_the_whole_result(guest: Guest) -> None:
    whole = {"content": [{"type": "text", "text": "a"}], "structuredContent": {"result": 1}, "_meta": {"x": 1}}
    guest.answer = lambda target, arguments: (True, "result", json.dumps(whole).encode())

    assert guest.value("raw(tools.web.search, query='a')") == whole
    target, arguments = guest.calls[0]
    assert target.startswith("@raw/web:search@")
    assert arguments == {"query": "a"}


def test_raw_wants_a_function_first(guest: Guest) -> None:
    with pytest.raises(TypeError, match="wants a function of a server first"):
        guest.value("raw('web.search')")


def test_describe_shows_a_function_a_server_and_all_servers(guest: Guest) -> None:
    shown = guest.value("describe(tools.web.search)")

    assert shown.startswith("tools.web.search(query: str, from_: str = ..., limit: int = 20, ")
    assert "`from_` stands for the key 'from'" in shown
    assert guest.value("describe(tools.web)").splitlines()[:2] == ["tools.web: 5 functions", "tools.web.ping"]
    assert guest.value("describe()") == "tools: 1 servers\ntools.web"
    assert guest.value("describe(5)").startswith("int(")


def test_function_shows_its_signature_as_text(guest: Guest) -> None:
    assert guest.value("repr(tools.web.ping)") == "<tools.web.ping() -> ?>"


def test_help_prints_what_describe_says(guest: Guest, capsys: pytest.CaptureFixture[str]) -> None:
    guest.value("show_help(tools.web.ping)")

    assert capsys.readouterr().out == "tools.web.ping() -> ?\n\nDoes ping.\n"


def test_what_most_programs_never_need_is_not_loaded(guest: Guest) -> None:
    guest.answer = lambda target, arguments: structured({"result": 1})
    guest.run("tools.web.search(query='a', data={'k': [1, 'x', None]})")

    assert guest.loads == ["tools", "tools._runtime", "tools.web", "tools.web.search"]


@pytest.mark.parametrize("name", RUNTIME_MODULES)
def test_runtime_modules_give_away_no_other_module(guest: Guest, name: str) -> None:
    module = guest.run(f"import tools.{name} as module")["module"]

    public = {key: value for key, value in vars(module).items() if not key.startswith("_")}
    assert public
    assert not [key for key, value in public.items() if isinstance(value, types.ModuleType)]
    assert "import_module" not in public


def test_lazy_parts_exist_only_below_the_root(guest: Guest) -> None:
    with pytest.raises(ImportError, match="not below `tools`"):
        guest.value("parts('os', ('path',), 'server')")


# -- what a program cannot reach --------------------------------------------------------------------------------------


def test_state_of_a_tool_has_reserved_names(guest: Guest) -> None:
    tool = guest.value("tools.web.search")
    assert [name for name in vars(tool) if not name.startswith(("_cm_", "__"))] == []
