"""`__dict__`, `vars`, `dir`, `globals` and `locals`: tables of the program's own, views and copies of all others.

Enters: objects and the calling frame. Leaves: dicts and snapshots without special names.
Safety: a table shows no key that the attribute itself would not be handed out under. No raw table of a library
object, module or class is handed out, and none of a frame that is not the program's: `|` with a foreign object opens
a mapping proxy, so the proxies here stand over copies.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, MutableMapping
from reprlib import recursive_repr
from types import FrameType, FunctionType, MappingProxyType, ModuleType, SimpleNamespace
from typing import Any

from sandbox.dialect.facades import Facade
from sandbox.dialect.own import MAIN, MARK, MARK_NAME, is_all_own, is_power, program_frame, refused
from sandbox.dialect.rules import GUARD_PREFIX, judge_attribute, judge_name


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
    if type(found) is dict and _holds_only_its_own(obj):
        return found
    return {key: value for key, value in list(found.items()) if _is_public(key) and not _is_foreign(obj, value)}


def _holds_only_its_own(obj: Any) -> bool:
    """Whether everything in the table of an instance was put there by the program."""
    if isinstance(obj, ModuleType):
        return False
    if isinstance(obj, FunctionType):
        return getattr(obj, "__builtins__", {}).get(MARK_NAME) is MARK
    return type(obj) is SimpleNamespace or is_all_own(type(obj))


def _is_public(name: object) -> bool:
    return type(name) is str and not name.startswith("_") and judge_attribute(name, frozenset()).mode != "refused"


def _is_foreign(obj: Any, value: Any) -> bool:
    """Whether a value leads further than the object: anything of power, but not a package's own parts."""
    if isinstance(obj, ModuleType) and isinstance(value, ModuleType):
        return not value.__name__.startswith(f"{obj.__name__}.")
    return is_power(value)


def _is_hidden(name: str) -> bool:
    if name.startswith(GUARD_PREFIX):
        return True
    return name.startswith("__") and name.endswith("__") and judge_attribute(name, frozenset()).mode != "native"


class Globals(MutableMapping[str, Any]):
    """`globals()`: the variables of the program, without special names.

    Safety: what it writes is what an assignment at top level could; the table itself is never handed out.
    """

    __slots__ = ("_cm_scope",)

    def __init__(self, scope: dict[str, Any]) -> None:
        self._cm_scope = scope

    def __getitem__(self, name: str) -> Any:
        if not _is_shown(name) and name != "__name__":
            raise KeyError(name)
        return self._cm_scope[name]

    def __setitem__(self, name: str, value: Any) -> None:
        _check_variable(name)
        self._cm_scope[name] = value

    def __delitem__(self, name: str) -> None:
        _check_variable(name)
        del self._cm_scope[name]

    def __iter__(self) -> Iterator[str]:
        return iter([name for name in list(self._cm_scope) if _is_shown(name)])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @recursive_repr("{...}")  # a variable may hold the mapping itself
    def __repr__(self) -> str:
        return repr(dict(self))

    def copy(self) -> dict[str, Any]:
        """A plain dict."""
        return dict(self)


def _is_shown(name: object) -> bool:
    return type(name) is str and not name.startswith(("__", GUARD_PREFIX))


def _check_variable(name: object) -> None:
    if type(name) is not str:
        raise TypeError(f"the name of a variable must be a str, got {type(name).__name__}")
    verdict = judge_name(name, is_store=True)
    if verdict.mode == "refused":
        raise refused(name, verdict.reason, verdict.hint)


def _snapshot(values: Mapping[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType({key: value for key, value in values.items() if _is_shown(key)})


def _locals_of(frame: FrameType | None) -> Mapping[str, Any]:
    if frame is None:
        return {}
    if frame.f_locals is frame.f_globals:
        return Globals(frame.f_globals)
    found = _snapshot(frame.f_locals)
    # A function's are a copy in Python too; in a class body they would be the class's names, and are read-only here.
    return dict(found) if frame.f_code.co_flags & inspect.CO_OPTIMIZED else found


def guarded_globals() -> Mapping[str, Any]:
    """`globals`."""
    frame = program_frame(1)
    return Globals(frame.f_globals) if frame is not None else {}


def guarded_locals() -> Mapping[str, Any]:
    """`locals`."""
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
