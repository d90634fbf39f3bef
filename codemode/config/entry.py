"""Reads one server entry, as it stands in files of this and other hosts, into a `ServerConfig`.

Enters: the object under one name. Leaves: a `ServerConfig`; a mistake becomes its `problem`, never an exception, so
that one bad entry costs one server. It never expands `${VAR}` and never shows a value in a message.
Sources of the keys: `.mcp.json` (Claude Code, Desktop, Cursor), `.vscode/mcp.json`, FastMCP `MCPConfig`, mcporter.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from codemode.config.model import IN_FLIGHT, ServerConfig, Transport
from codemode.config.positions import Path
from codemode.config.section import Places, Section
from codemode.errors import ConfigError
from codemode.jsonvalue import Json, is_object

_TYPES: dict[str, Transport] = {
    "stdio": "stdio",
    "local": "stdio",
    "http": "http",
    "streamable-http": "http",
    "streamablehttp": "http",
    "streamable_http": "http",
    "remote": "http",
}
_SECONDS = (0.001, 86_400.0)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAME_LIMIT = 100  # chosen: names stand in answers to the model


def read_entry(name: str, value: Json, path: Path, places: Places) -> tuple[ServerConfig, list[str]]:
    """One entry and the keys in it that are not known."""
    where = places.of(path)
    if not is_object(value):
        problem = f"{where}: the entry of a server must be an object"
        return ServerConfig(name=name, source=where, problem=problem), []
    section = Section(value, path, places, code="config.server")
    try:
        return _read(name, where, section), section.unread()
    except ConfigError as error:
        is_disabled = value.get("disabled") is True
        is_required = value.get("required") is True
        problem = error.message
        return (
            ServerConfig(name=name, source=where, is_disabled=is_disabled, is_required=is_required, problem=problem),
            [],
        )


def _read(name: str, where: str, section: Section) -> ServerConfig:
    if not name.strip() or len(name) > _NAME_LIMIT or not name.isprintable():
        raise section.error(f"is no server name: 1 to {_NAME_LIMIT} printable characters")
    command, args = _command(section)
    url = section.text("url")
    transport = _transport(section, has_command=bool(command), has_url=bool(url))
    if transport == "stdio" and not command:
        raise section.error("needs `command`")
    if transport == "http":
        _check_url(section, url)
    disabled_tools = section.texts("disabledTools") + section.texts("blockedTools")
    entry = ServerConfig(
        name=name,
        source=where,
        transport=transport,
        command=command,
        args=args,
        cwd=section.text("cwd"),
        env=section.text_map("env"),
        url=url if transport == "http" else "",
        headers=_headers(section) if transport == "http" else {},
        headers_helper=section.text("headersHelper") if transport == "http" else "",
        call_timeout_s=_call_timeout(section),
        idle_timeout_s=_optional_seconds(section, "idle_timeout_s"),
        start_timeout_s=_optional_seconds(section, "start_timeout_s"),
        stop_unused_s=_optional_seconds(section, "stop_unused_s", least=0.0),
        in_flight=_in_flight(section),
        always_load=section.flag("alwaysLoad"),
        is_disabled=section.flag("disabled"),
        is_required=section.flag("required"),
        may_ask=section.flag("elicitation", default=True),
        allowed_tools=section.texts("allowedTools"),
        disabled_tools=disabled_tools,
        description=section.text("description"),
    )
    for variable in entry.env:
        if not variable or "=" in variable or "\0" in variable:
            raise section.error("has a name that cannot be a variable", "env", variable)
    return entry


def _command(section: Section) -> tuple[str, tuple[str, ...]]:
    """`command` as a string with `args`, or as a list that holds both (opencode writes it so)."""
    if isinstance(section.value.get("command"), list):
        words = section.texts("command") + section.texts("args")
        return (words[0], words[1:]) if words else ("", ())
    return section.text("command"), section.texts("args")


def _transport(section: Section, *, has_command: bool, has_url: bool) -> Transport:
    kind = section.text("type") or section.text("transport")
    section.read.update(("type", "transport"))
    if not kind:
        if has_command and has_url:
            raise section.error("has both `command` and `url`; say which with `type`")
        if not has_command and not has_url:
            raise section.error("needs `command` or `url`")
        return "stdio" if has_command else "http"
    if kind.lower() == "sse":
        raise section.error(
            "is `sse`, the transport of 2024-11-05, which is not supported; ask the server for streamable HTTP",
            "type" if "type" in section.value else "transport",
        )
    transport = _TYPES.get(kind.lower())
    if transport is None:
        raise section.error(
            f"must be `stdio` or `http`, got `{kind[:40]}`", "type" if "type" in section.value else "transport"
        )
    return transport


def _check_url(section: Section, url: str) -> None:
    if not url:
        raise section.error("needs `url`")
    if "${" in url:
        return  # what it really is shows only when the variables are known
    try:
        parts = urlsplit(url)
    except ValueError:
        raise section.error("is no URL", "url") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise section.error("must be an `http://` or `https://` URL", "url")


def _headers(section: Section) -> dict[str, str]:
    headers = section.text_map("headers")
    for name, value in headers.items():
        is_token = bool(name) and all(char.isalnum() or char in "!#$%&'*+-.^_`|~" for char in name)
        if not is_token or not name.isascii():
            raise section.error("is no header name", "headers", name)
        if "\r" in value or "\n" in value:
            raise section.error("must not hold a line break", "headers", name)
    variable = section.text("bearerTokenEnv")
    if variable and not _VARIABLE.fullmatch(variable):
        raise section.error("must be the name of a variable", "bearerTokenEnv")
    if variable and not any(name.lower() == "authorization" for name in headers):
        headers["Authorization"] = f"Bearer ${{{variable}}}"
    return headers


def _call_timeout(section: Section) -> float | None:
    """`call_timeout_s` in seconds, else `timeout` in milliseconds (as Claude Code reads it: below 1000 is ignored)."""
    milliseconds = section.number("timeout", 0.0, (0.0, 86_400_000.0))
    seconds = _optional_seconds(section, "call_timeout_s")
    if seconds is not None:
        return seconds
    return milliseconds / 1000 if milliseconds >= 1000 else None


def _in_flight(section: Section) -> int | None:
    return section.whole("in_flight", 0, IN_FLIGHT) or None


def _optional_seconds(section: Section, key: str, *, least: float = _SECONDS[0]) -> float | None:
    if section.value.get(key) is None:
        section.read.add(key)
        return None
    return section.number(key, 0.0, (least, _SECONDS[1]))
