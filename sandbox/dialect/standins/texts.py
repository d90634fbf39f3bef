"""`string.Formatter` and `collections.UserString`: templates of both may read only what `str.format` may here.

Enters: templates and values. Leaves: text. The originals read any attribute of their arguments (CVE-2023-41039,
CVE-2026-76825).
"""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

from sandbox.dialect.guards import read_attribute
from sandbox.dialect.own import refused
from sandbox.dialect.standins.copies import private_copy
from sandbox.dialect.templates import HINT, may_dig


def _dig(obj: Any, name: str, *default: Any) -> Any:
    if not may_dig(name):
        raise refused(name, "a template may not read it", HINT)
    return getattr(obj, name, *default)


@functools.cache
def formatter() -> type:
    """`string.Formatter`; its subclasses reach no more than it."""
    made: type = private_copy("string", own_builtins={"getattr": _dig}).Formatter
    return made


def _format(self: Any, /, *args: Any, **kwargs: Any) -> str:
    text: str = read_attribute(str(self.data), "format")(*args, **kwargs)
    return text


def _format_map(self: Any, mapping: Mapping[str, Any], /) -> str:
    text: str = read_attribute(str(self.data), "format_map")(mapping)
    return text


@functools.cache
def user_string() -> type:
    """`collections.UserString`, made of the original's methods but for those that format."""
    scope = {**collections.UserString.__str__.__globals__}
    table: dict[str, Any] = {}
    for name, value in vars(collections.UserString).items():
        if isinstance(value, FunctionType):
            table[name] = _with_globals(value, scope)
    table |= {"format": _format, "format_map": _format_map, "maketrans": staticmethod(str.maketrans)}
    table |= {"__module__": "collections", "__doc__": collections.UserString.__doc__}
    made = type("UserString", (Sequence,), table)
    scope["UserString"] = made
    return made


def _with_globals(function: Any, scope: dict[str, Any]) -> Callable[..., Any]:
    """The same function over other globals."""
    made = FunctionType(function.__code__, scope, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made
