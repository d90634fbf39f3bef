"""`__dict__`, `vars`, `dir`, `globals` and `locals`: tables of the program's own, read-only where they are not.

Enters: objects and the calling frame. Leaves: dicts and snapshots without special names.
Safety: no raw table of a library class is handed out, and none of a frame that is not the program's: `|` with a
foreign object opens a mapping proxy, so the proxies here stand over copies.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import FrameType, MappingProxyType
from typing import Any

from sandbox.dialect.facades import Facade
from sandbox.dialect.own import MAIN, MARK, MARK_NAME, has_library_base, program_frame, refused
from sandbox.dialect.rules import GUARD_PREFIX, judge_attribute


def attributes_of(obj: Any) -> Any:
    """`obj.__dict__` and `vars(obj)`: the real table of an own instance, else a copy of its public part."""
    if isinstance(obj, type):
        if obj.__module__ != MAIN:
            raise refused("__dict__", "a library class's table is not handed out", "use `dir(cls)` and `getattr`")
        return MappingProxyType({key: value for key, value in obj.__dict__.items() if not _is_hidden(key)})
    if isinstance(obj, Facade):
        return MappingProxyType({key: getattr(obj, key) for key in dir(obj)})
    try:
        found = object.__getattribute__(obj, "__dict__")
    except AttributeError:
        raise TypeError(f"`{type(obj).__name__}` objects have no table of attributes") from None
    if type(found) is not dict or not has_library_base(type(obj)):
        return found
    return {key: value for key, value in found.items() if not key.startswith("_")}


def _is_hidden(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and judge_attribute(name, frozenset()).mode != "native"


def _snapshot(values: Mapping[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType(
        {key: value for key, value in values.items() if type(key) is str and not key.startswith(("__", GUARD_PREFIX))}
    )


def _locals_of(frame: FrameType | None) -> Mapping[str, Any]:
    return _snapshot(frame.f_locals if frame is not None else {})


def guarded_globals() -> Mapping[str, Any]:
    """`globals`: a read-only snapshot."""
    frame = program_frame(1)
    return _snapshot(frame.f_globals if frame is not None else {})


def guarded_locals() -> Mapping[str, Any]:
    """`locals`: a read-only snapshot."""
    return _locals_of(program_frame(1))


def guarded_vars(*obj: Any) -> Any:
    """`vars`."""
    return attributes_of(*obj) if obj else _locals_of(program_frame(1))


def guarded_dir(*obj: Any) -> list[str]:
    """`dir`; names are only text, and each is judged when it is read."""
    if obj:
        return dir(*obj)
    return sorted(_locals_of(program_frame(1)))


SCOPE_BUILTINS: dict[str, object] = {
    "globals": guarded_globals,
    "locals": guarded_locals,
    "vars": guarded_vars,
    "dir": guarded_dir,
    MARK_NAME: MARK,
}
