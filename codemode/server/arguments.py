"""The arguments of our two tools, parsed once: the protocol library does not check them.

Enters: the JSON object of a `tools/call`. Leaves: a request, or a `WrongArgumentsError` with one line of reason. What
is meant without doubt is taken (`"8"` for 8, a list of queries); everything else is refused in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from codemode.jsonvalue import Json
from codemode.prose.descriptions import DEFAULT_LIMIT, EXECUTE, SEARCH

_CODE_ALIASES = ("program", "script", "source", "python", "input")


class WrongArgumentsError(ValueError):
    """Arguments that cannot be used; the text says why, in one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """`tool_search`."""

    query: str
    limit: int = DEFAULT_LIMIT
    server: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecuteRequest:
    """`execute`."""

    code: str = ""
    resume: str = ""


def parse_request(name: str, arguments: Mapping[str, Json]) -> SearchRequest | ExecuteRequest | None:
    """The request of a call, or None when the tool is none of ours.

    Raises:
        WrongArgumentsError: a key is unknown, or a value cannot be meant.
    """
    if name == SEARCH:
        _refuse_unknown(name, arguments, ("query", "limit", "server"))
        return SearchRequest(
            query=_query(arguments.get("query", "")),
            limit=_whole("limit", arguments.get("limit", DEFAULT_LIMIT)),
            server=_text("server", arguments.get("server", "")),
        )
    if name == EXECUTE:
        _refuse_unknown(name, arguments, ("code", "resume"))
        return ExecuteRequest(
            code=_text("code", arguments.get("code", "")), resume=_text("resume", arguments.get("resume", ""))
        )
    return None


def _refuse_unknown(name: str, arguments: Mapping[str, Json], known: tuple[str, ...]) -> None:
    for key in arguments:
        if key in known:
            continue
        if name == EXECUTE and key.lower() in _CODE_ALIASES:
            raise WrongArgumentsError(f"`{name}` takes the program as `code`, not as `{key}`")
        listed = ", ".join(f"`{item}`" for item in known)
        raise WrongArgumentsError(f"`{name}` has no argument `{key[:60]}`; it takes {listed}")


def _text(key: str, value: Json) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    raise WrongArgumentsError(f"`{key}` must be a string, got {_kind(value)}")


def _query(value: Json) -> str:
    """A query; several in a list are several needs."""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "; ".join(str(item) for item in value)
    return _text("query", value)


def _whole(key: str, value: Json) -> int:
    if value is None:
        return DEFAULT_LIMIT
    if isinstance(value, bool):
        raise WrongArgumentsError(f"`{key}` must be a whole number, got a boolean")
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit() and len(value) < 10:
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, int):
        return value
    raise WrongArgumentsError(f"`{key}` must be a whole number, got {_kind(value)}")


def _kind(value: Json) -> str:
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "an object" if isinstance(value, Mapping) else "a list"
