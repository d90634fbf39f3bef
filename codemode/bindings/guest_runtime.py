"""Runs in the guest as `tools._runtime`: what every binding shares.

Enters: a program's arguments and the host's replies. Leaves: JSON bytes for the host; plain Python values, or a
`ToolError`. Knows no server and holds no secret. Shipped as text through `load`; standard library only.

Arguments. Names are looked up in the tool's parameters (keyword or wire name); others go to the host as they are,
which answers with the error that names them. Left out = not sent. `None` for an optional parameter that does not
allow null = left out. A single positional `dict` is the whole set of arguments when the first parameter cannot be an
object itself, or when only so all required ones are there.

Results. `structured`: the value, or `x` of `{"result": x}` where the binding says so. `content`: no block = None,
one block = its value, several = the list of their values. The value of a text block is the JSON it holds, else the
text; a bare number counts as JSON only when printing it gives the same text (`1.10` and `007` stay text). Images,
audio, resources and links are objects of `tools._media`.

Imported modules have private names here and in the other modules of `tools`, so that a program which gets hold of one
of these modules gets no other module with it; the dialect refuses private names.

What most programs never need is in `tools._values`, `tools._names` and `tools._media`, loaded at first use: this module
is compiled anew in every run.
"""

from __future__ import annotations

import gc as _gc
import json as _json
import sys as _sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module as _import_module
from typing import Any

from sandbox.guest.remote import Remote

_GC_PAUSE_BYTES = 64 * 1024  # below this a collection during parsing costs nothing worth saving
_RAW_PREFIX = "@raw/"
_dumps = _json.JSONEncoder(separators=(",", ":"), allow_nan=False, default=lambda value: _values().plain(value)).encode


class ToolError(Exception):
    """A call that failed: refused by the host, or reported as an error by the tool.

    Attributes:
        code: what happened, as `stage.reason`, for example `upstream.tool_error`.
        tool: the tool's id.
        text: the server's own words, else the host's.
        hint: what to do next, or "".
        signature: the tool's valid signature, or "".
        retryable: the same call may succeed later.
    """

    def __init__(
        self,
        text: str = "",
        *,
        code: str = "",
        tool: str = "",
        hint: str = "",
        signature: str = "",
        retryable: bool = False,
    ) -> None:
        super().__init__(text)
        self.code = code
        self.tool = tool
        self.text = text
        self.hint = hint
        self.signature = signature
        self.retryable = retryable

    def __str__(self) -> str:
        lines = [self.text or self.code]
        lines += [extra for extra in (self.hint, self.signature) if extra and extra not in self.text]
        return "\n".join(lines)


def error_from(payload: bytes, tool: str) -> ToolError:
    """The exception for a reply that is not well: the server's own text first, then the hint."""
    try:
        facts = _json.loads(payload)
    except (ValueError, RecursionError):
        facts = None
    if type(facts) is not dict:
        return ToolError(payload.decode("utf-8", "replace")[:2000], code="upstream.protocol", tool=tool)

    def text(key: str) -> str:
        value = facts.get(key)
        return value if type(value) is str else ""

    return ToolError(
        text("text") or text("message"),
        code=text("code"),
        tool=text("tool") or tool,
        hint=text("hint"),
        signature=text("signature"),
        retryable=facts.get("retryable") is True,
    )


class Tool(Remote):
    """One function of a server. Made by `binding`; calling it calls the tool.

    Safety: programs hold it. Its state has names that start with `_cm_`, which the dialect never hands out.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        id: str,
        wire: Mapping[str, str] | None = None,
        nullable: Sequence[str] = (),
        base64: Sequence[str] = (),
        first_takes_object: bool = False,
        unwraps: bool = False,
    ) -> None:
        code = function.__code__
        self.__name__ = function.__name__
        self.__qualname__ = function.__qualname__
        self.__module__ = function.__module__
        self.__doc__ = function.__doc__ or ""
        self.__wrapped__ = function
        self._cm_id = id
        self._cm_names = code.co_varnames[: code.co_argcount]
        self._cm_wire = dict(wire or {})
        required = code.co_argcount - len(function.__defaults__ or ())
        wires = [self._cm_wire.get(name, name) for name in self._cm_names]
        self._cm_required = frozenset(wires[:required])
        self._cm_without_null = frozenset(wires[required:]).difference(nullable)
        self._cm_known = frozenset(wires).union(self._cm_names)
        self._cm_base64 = frozenset(base64)
        self._cm_first_takes_object = first_takes_object
        self._cm_unwraps = unwraps

    def __repr__(self) -> str:
        return f"<{self._cm_signature()}>"

    def _cm_signature(self) -> str:
        return (self.__doc__ or self.__name__).partition("\n")[0]

    def label(self) -> str:
        return self.__module__

    def encode(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, bytes]:
        if args:
            kwargs = self._cm_by_name(args, kwargs)
        sent: dict[str, Any] = {}
        for name, value in kwargs.items():
            wire = self._cm_wire.get(name, name)
            if value is None and wire in self._cm_without_null:
                continue
            if wire in sent:
                raise TypeError(f"`{wire}` is given twice; {self._cm_signature()}")
            if wire in self._cm_base64 and isinstance(value, (bytes, bytearray, memoryview)):
                value = _values().base64_text(value)
            sent[wire] = value
        try:
            return self._cm_id, _dumps(sent).encode("ascii")
        except (TypeError, ValueError, RecursionError) as error:
            return self._cm_id, _values().encode_again(sent, _dumps, error, self._cm_signature())

    def decode(self, form: str, payload: bytes) -> Any:
        try:
            value = parse(payload)
        except (ValueError, RecursionError):  # more digits or levels than Python reads: the data stays, as text
            return payload.decode("utf-8", "replace")
        if form == "structured":
            if self._cm_unwraps and type(value) is dict and len(value) == 1 and "result" in value:
                return value["result"]
            return value
        if form == "content" and type(value) is list:
            values = [_block_value(block, self._cm_id) for block in value]
            return values if len(values) > 1 else values[0] if values else None
        return value

    def fail(self, payload: bytes) -> BaseException:
        return error_from(payload, self._cm_id)

    def _cm_by_name(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        if len(args) == 1 and not kwargs and isinstance(args[0], Mapping) and self._cm_is_all_arguments(args[0]):
            return dict(args[0])
        if len(args) > len(self._cm_names):
            raise TypeError(
                f"at most {len(self._cm_names)} arguments by position, {len(args)} came; {self._cm_signature()}"
            )
        named = dict(zip(self._cm_names, args, strict=False))
        for name in kwargs:
            if name in named:
                raise TypeError(f"`{name}` is given twice, by position and by keyword; {self._cm_signature()}")
        return {**named, **kwargs}

    def _cm_is_all_arguments(self, given: Mapping[Any, Any]) -> bool:
        if not all(type(key) is str for key in given):
            return False
        if not self._cm_first_takes_object:
            return True
        wires = {self._cm_wire.get(key, key) for key in given}
        return len(self._cm_required) > 1 and self._cm_required <= wires and self._cm_known.issuperset(given)


def binding(**facts: Any) -> Callable[[Callable[..., Any]], Tool]:
    """Make a function that only has a signature and a text into the tool that it describes.

    The tool takes its module's place, so that `import tools.github.list_issues as f` gives the function too.
    """

    def make(function: Callable[..., Any]) -> Tool:
        tool = Tool(function, **facts)
        _sys.modules[function.__module__] = tool  # type: ignore[assignment]  # the import system allows any object
        return tool

    return make


def parse(payload: bytes | str) -> Any:
    """JSON as Python values; the garbage collector pauses while a large one is built and is on again after."""
    if len(payload) < _GC_PAUSE_BYTES or not _gc.isenabled():
        return _json.loads(payload)
    _gc.disable()
    try:
        return _json.loads(payload)
    finally:
        _gc.enable()


def text_value(text: str) -> Any:
    """The JSON that a text holds, else the text itself."""
    start = text[:64].lstrip()[:1]
    if start not in '{["-0123456789tfn' and text[:64].strip():
        return text
    try:
        value = parse(text)
    except (ValueError, RecursionError):
        return text
    if type(value) in (int, float) and str(value) != text.strip():
        return text
    return value


def _block_value(block: Any, tool: str) -> Any:
    if type(block) is dict and block.get("type") == "text" and type(block.get("text")) is str:
        return text_value(block["text"])
    return _import_module("tools._media").block_value(block, tool, error_from)


def _values() -> Any:
    return _import_module("tools._values")


# -- modules that load their parts when they are used -----------------------------------------------------------


def parts(package: str, names: Sequence[str], kind: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package whose parts are modules that the host has.

    A name that is not there raises an error that names the nearest ones.
    """
    if package.partition(".")[0] != "tools":
        raise ImportError(f"`{package}` is not below `tools`")
    known = frozenset(names)

    def get(name: str) -> Any:
        if name in known:
            return _import_module(f"{package}.{name}")
        if name in ("ToolError", "raw") and kind == "server":
            return globals()[name]
        if name.startswith("__"):
            raise AttributeError(f"module `{package}` has no `{name}`")
        text = _import_module("tools._names").missing(package, name, names, kind)
        # `from package import name` hides an AttributeError's text behind its own; the import system asks first.
        if _sys._getframe(1).f_globals.get("__name__") == "importlib._bootstrap":
            raise ImportError(text, name=f"{package}.{name}")
        raise AttributeError(text, name=name)

    return get, lambda: list(names)


def __getattr__(name: str) -> Any:
    if name == "store":  # few programs need it
        return _import_module("tools._store").store
    raise AttributeError(f"module `tools._runtime` has no `{name}`")


# -- builtins of a program --------------------------------------------------------------------------------------


class _Raw(Remote):
    """`raw(f, ...)`: call a tool and get its whole result: content, structuredContent, _meta."""

    def label(self) -> str:
        return "raw"

    def encode(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, bytes]:
        if not args or not isinstance(args[0], Tool):
            raise TypeError("raw(function, ...) wants a function of a server first: raw(tools.github.list_issues, ...)")
        target, payload = args[0].encode(args[1:], kwargs)
        return _RAW_PREFIX + target, payload

    def decode(self, form: str, payload: bytes) -> Any:
        return parse(payload)

    def fail(self, payload: bytes) -> BaseException:
        return error_from(payload, "")


raw = _Raw()


def describe(subject: Any = None) -> str:
    """What `help` shows of a function, a server's module, or (without a subject) of all servers."""
    signature = subject._cm_signature() if isinstance(subject, Tool) else None
    text: str = _import_module("tools._names").describe(subject, signature)
    return text


def show_help(subject: Any = None) -> None:
    """`help(f)`: prints what `describe` says."""
    print(describe(subject))
