"""The guest's answer to `prepare`, read into values: what a program uses, and what is wrong with it.

Enters: the JSON object of a `prepared` frame, which is the guest's claim and may hold anything. Leaves: tuples of
`NameUse`, `CallUse` and `Diagnostic`, bounded in number and length. What does not fit is dropped: these facts steer
help, never access.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from sandbox.spec import UNKNOWN, CallUse, Diagnostic, NameUse

_MAX_ITEMS = 5_000
_T = TypeVar("_T")


def names(facts: dict[str, Any]) -> tuple[NameUse, ...]:
    """The names below the roots, and the free names."""
    return _read(facts.get("names"), _name)


def calls(facts: dict[str, Any]) -> tuple[CallUse, ...]:
    """The calls of such names."""
    return _read(facts.get("calls"), _call)


def diagnostics(facts: dict[str, Any]) -> tuple[Diagnostic, ...]:
    """What the preflight has to say."""
    return _read(facts.get("diagnostics"), _diagnostic)


def _read(raw: object, one: Callable[[dict[str, Any]], _T | None]) -> tuple[_T, ...]:
    if not isinstance(raw, list):
        return ()
    read = (one(item) for item in raw[:_MAX_ITEMS] if isinstance(item, dict))
    return tuple(item for item in read if item is not None)


def _name(item: dict[str, Any]) -> NameUse | None:
    path = _text(item.get("path"), 500)
    line = _whole(item.get("line"))
    return NameUse(path=path, line=line, column=_whole(item.get("column")), is_free=item.get("is_free") is True)


def _call(item: dict[str, Any]) -> CallUse | None:
    positional, keywords = item.get("positional"), item.get("keywords")
    if not isinstance(positional, list) or not isinstance(keywords, dict):
        return None
    return CallUse(
        path=_text(item.get("path"), 500),
        line=_whole(item.get("line")),
        positional=tuple(_literal(value) for value in positional[:100]),
        keywords={_text(key, 300): _literal(value) for key, value in list(keywords.items())[:200]},
        is_open=item.get("is_open") is True,
        is_free=item.get("is_free") is True,
    )


def _diagnostic(item: dict[str, Any]) -> Diagnostic | None:
    return Diagnostic(
        code=_text(item.get("code"), 60) or "dialect.refused",
        message=_text(item.get("message"), 1_000),
        line=_whole(item.get("line")),
        column=_whole(item.get("column")),
        hint=_text(item.get("hint"), 1_000),
        source_line=_text(item.get("source_line"), 300),
        severity="note" if item.get("severity") == "note" else "error",
    )


def _literal(raw: object) -> Any:
    if isinstance(raw, dict) and raw.get("is_known") is True:
        return raw.get("value")
    return UNKNOWN


def _text(value: object, limit: int) -> str:
    """A guest's text, bounded and always encodable."""
    return value[:limit].encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else 0
