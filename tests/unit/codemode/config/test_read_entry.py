"""One server entry: every key and spelling that is read, and how each mistake is named without its value."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codemode.config.load import load_config

Write = Callable[..., Path]


def problem_of(write: Write, entry: Any) -> str:
    entry_config = load_config(write({"mcpServers": {"a": entry, "fine": {"command": "x"}}})).server("a")
    assert entry_config is not None
    return entry_config.problem


def test_a_stdio_and_an_http_server_are_read_with_all_their_keys(write: Write) -> None:
    path = write(
        {
            "mcpServers": {
                "files": {
                    "type": "stdio",
                    "command": "npx",
                    "args": ["-y", "files"],
                    "env": {"TOKEN": "${TOKEN}", "PORT": 8080, "DEBUG": True, "GONE": None},
                    "cwd": "/srv",
                    "timeout": 30_000,
                    "alwaysLoad": True,
                    "required": True,
                    "elicitation": False,
                    "allowedTools": ["read_*"],
                    "disabledTools": ["read_all"],
                    "blockedTools": ["read_x"],
                    "stop_unused_s": 0,
                    "in_flight": 1,
                    "description": "the files",
                },
                "web": {"url": "https://h/mcp", "headers": {"Authorization": "Bearer ${KEY}"}, "disabled": True},
            }
        }
    )
    config = load_config(path)
    files, web = config.servers
    assert (files.transport, files.command, files.args, files.cwd) == ("stdio", "npx", ("-y", "files"), "/srv")
    assert files.env == {"TOKEN": "${TOKEN}", "PORT": "8080", "DEBUG": "true"}
    assert (files.call_timeout_s, files.always_load, files.is_required) == (30.0, True, True)
    assert (files.may_ask, web.may_ask) == (False, True)
    assert (files.allowed_tools, files.disabled_tools) == (("read_*",), ("read_all", "read_x"))
    assert (files.description, files.stop_unused_s, files.in_flight) == ("the files", 0.0, 1)
    assert (web.stop_unused_s, web.in_flight) == (None, None)
    assert (web.transport, web.url, web.is_disabled) == ("http", "https://h/mcp", True)
    assert web.headers == {"Authorization": "Bearer ${KEY}"}
    assert config.warnings == ()


@pytest.mark.parametrize(
    ("entry", "headers"),
    [
        ({"bearerTokenEnv": "WEB_TOKEN"}, {"Authorization": "Bearer ${WEB_TOKEN}"}),
        ({"bearerTokenEnv": "WEB_TOKEN", "headers": {"authorization": "Basic x"}}, {"authorization": "Basic x"}),
        ({"headersHelper": "print-headers --json"}, {}),
    ],
)
def test_a_bearer_token_or_all_headers_may_come_from_elsewhere(
    write: Write, entry: dict[str, Any], headers: dict[str, str]
) -> None:
    config = load_config(write({"mcpServers": {"web": {"url": "https://h/mcp", **entry}}}))
    (web,) = config.servers
    assert (web.headers, web.headers_helper) == (headers, entry.get("headersHelper", ""))
    assert (web.problem, config.warnings) == ("", ())


def test_servers_are_read_under_servers_too(write: Write) -> None:
    config = load_config(write({"servers": {"a": {"command": "x"}}, "mcpServers": {"b": {"command": "y"}}}))
    assert [server.name for server in config.servers] == ["b", "a"]


@pytest.mark.parametrize("kind", ["http", "streamable-http", "streamableHttp", "streamable_http"])
def test_every_spelling_of_streamable_http_is_the_same(write: Write, kind: str) -> None:
    server = load_config(write({"mcpServers": {"a": {"type": kind, "url": "http://h/mcp"}}})).servers[0]
    assert (server.transport, server.problem) == ("http", "")


def test_the_key_transport_is_taken_for_type(write: Write) -> None:
    assert (
        load_config(write({"mcpServers": {"a": {"transport": "http", "url": "http://h"}}})).servers[0].transport
        == "http"
    )


def test_a_command_may_be_a_list(write: Write) -> None:
    server = load_config(write({"mcpServers": {"a": {"command": ["npx", "-y", "x"]}}})).servers[0]
    assert (server.command, server.args) == ("npx", ("-y", "x"))


def test_a_timeout_below_one_second_is_taken_for_a_slip_and_ignored(write: Write) -> None:
    assert load_config(write({"mcpServers": {"a": {"command": "x", "timeout": 60}}})).servers[0].call_timeout_s is None


def test_seconds_win_over_milliseconds(write: Write) -> None:
    entry = {"command": "x", "timeout": 30_000, "call_timeout_s": 5, "start_timeout_s": 6, "idle_timeout_s": 7}
    server = load_config(write({"mcpServers": {"a": entry}})).servers[0]
    assert (server.call_timeout_s, server.start_timeout_s, server.idle_timeout_s) == (5.0, 6.0, 7.0)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"type": "sse", "url": "http://h"}, "`mcpServers.a.type` is `sse`"),
        ({"type": "pigeon", "url": "http://h"}, "`mcpServers.a.type` must be `stdio` or `http`, got `pigeon`"),
        ({}, "`mcpServers.a` needs `command` or `url`"),
        ({"command": "x", "url": "http://h"}, "has both `command` and `url`"),
        ({"type": "stdio"}, "needs `command`"),
        ({"type": "http"}, "needs `url`"),
        ({"url": "ftp://h"}, "`mcpServers.a.url` must be an `http://` or `https://` URL"),
        ({"command": "x", "args": "-y"}, "`mcpServers.a.args` must be a list of strings, got a string"),
        ({"command": "x", "args": ["a", 1]}, "`mcpServers.a.args[1]` must be a string, got a number"),
        ({"command": "x", "env": {"A": []}}, "`mcpServers.a.env.A` must be a string, got a list"),
        ({"command": "x", "env": {"A=B": "1"}}, "cannot be a variable"),
        ({"command": "x", "call_timeout_s": "60s"}, "`mcpServers.a.call_timeout_s` must be a number"),
        ({"command": "x", "disabled": "no"}, "`mcpServers.a.disabled` must be true or false, got a string"),
        ({"url": "http://h", "headers": {"a b": "c"}}, "`mcpServers.a.headers.a b` is no header name"),
        ({"url": "http://h", "headers": {"a": "b\r\nc: d"}}, "must not hold a line break"),
        ({"url": "http://h", "bearerTokenEnv": "a b"}, "`mcpServers.a.bearerTokenEnv` must be the name of a variable"),
        ({"url": "http://h", "headersHelper": ["x"]}, "`mcpServers.a.headersHelper` must be a string, got a list"),
        ({"command": "x", "in_flight": 0}, "`mcpServers.a.in_flight` must be a whole number between 1 and 4096"),
        ({"command": "x\0y"}, "must not hold a NUL character"),
        ("npx", "the entry of a server must be an object"),
    ],
)
def test_a_bad_entry_is_a_problem_of_that_server_only(write: Write, entry: Any, expected: str) -> None:
    problem = problem_of(write, entry)
    assert expected in problem
    assert "mcp.json, line " in problem


def test_a_problem_never_shows_the_value(write: Write) -> None:
    assert "s3cret" not in problem_of(write, {"command": "x", "env": "s3cret"})


def test_the_line_of_a_mistake_is_the_line_of_its_key(write: Write) -> None:
    text = '{"mcpServers": {\n  "a": {\n    "command": "x",\n    "args": [\n      "fine",\n      7\n    ]}}}'
    assert ", line 6: `mcpServers.a.args[1]`" in load_config(write(text)).servers[0].problem


def test_a_server_name_that_cannot_be_printed_is_refused(write: Write) -> None:
    config = load_config(write({"mcpServers": {"a\u202eb": {"command": "x"}, "": {"command": "x"}}}))
    assert all("is no server name" in server.problem for server in config.servers)
