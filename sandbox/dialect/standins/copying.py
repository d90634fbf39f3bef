"""`copy`: what an object keeps to itself is copied without being shown to the program.

Enters: objects. Leaves: copies. The original hands the whole state of an object to a `__setstate__` that a class may
answer by `__getattr__`, and every intermediate copy to the `memo` of a caller or of a `__deepcopy__`. Much of the
library copies objects of a program (`dataclasses.asdict`, `weakref`, `xml.etree`), so the module itself is changed, in
the process that runs programs.
"""

from __future__ import annotations

import copy
from typing import Any

from sandbox.dialect.own import MAIN, classes_of, has_library_base
from sandbox.dialect.standins.copies import hide

_MISSING = object()


class Memo:
    """What a `__deepcopy__` of the program gets as `memo`: it holds what was put in by hand, and passes it on."""

    __slots__ = ("_cm_inner", "_cm_shown")
    _cm_inner: dict[Any, Any]
    _cm_shown: dict[Any, Any]

    def __init__(self, given: Any = None) -> None:
        shown = dict(given or {})
        hide(self, inner=dict(shown), shown=shown)

    def __init_subclass__(cls, **options: Any) -> None:
        raise TypeError("the memo of `copy` has no subclasses here")

    def __getitem__(self, key: Any) -> Any:
        return self._cm_shown[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._cm_shown[key] = self._cm_inner[key] = value

    def __contains__(self, key: Any) -> bool:
        return key in self._cm_shown

    def get(self, key: Any, default: Any = None) -> Any:
        """The value that was put in under the key."""
        return self._cm_shown.get(key, default)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """The value that was put in under the key, now if not before."""
        if key not in self._cm_shown:
            self[key] = default
        return self._cm_shown[key]


def _get(obj: Any, name: str, *default: Any) -> Any:
    """`getattr` of the module."""
    found = getattr(obj, name, *default)
    if name != "__deepcopy__" or found is None:
        return found
    owner = next((base for base in classes_of(type(obj)) if name in base.__dict__), None)
    if owner is not None and owner.__module__ != MAIN:
        return found
    return lambda memo: found(_shown(memo))


def _shown(inner: dict[Any, Any]) -> Memo:
    made = inner.get(_MISSING)
    if made is None:
        made = Memo()
        hide(made, inner=inner)
        inner[_MISSING] = made
    return made


def _has(obj: Any, name: str) -> bool:
    """`hasattr` of the module, which asks for `__setstate__` alone: the class's own, never a `__getattr__`'s."""
    return hasattr(type(obj), name)


def _put(obj: Any, name: str, value: Any) -> None:
    """`setattr` of the module, for slots: a `__setattr__` of the program does not hear of what is a library's."""
    if name.startswith("_") and has_library_base(type(obj)):
        object.__setattr__(obj, name, value)
    else:
        setattr(obj, name, value)


def _deepcopy(x: Any, memo: Any = None) -> Any:
    """`copy.deepcopy`."""
    if not isinstance(memo, Memo):
        memo = Memo(memo)
    inner = memo._cm_inner
    inner.setdefault(_MISSING, memo)
    return copy.deepcopy(x, inner)


def copying_parts() -> dict[str, object]:
    """`copy` and `deepcopy`; from now on the module of this process keeps hidden what is hidden."""
    vars(copy).update({"getattr": _get, "hasattr": _has, "setattr": _put})
    return {"copy": copy.copy, "deepcopy": _deepcopy}
