"""What is the program's own: its classes, its private names, its frames; and how a refusal at run time reads.

Enters: objects and names. Leaves: claims about them, and `RefusedAttributeError`. No state.
"""

from __future__ import annotations

import asyncio
import functools
import io
import sys
from types import CodeType, FrameType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

from sandbox.dialect.rules import GUARD_PREFIX, LIBRARY_PRIVATE

MAIN = "__main__"
"""The module name of the program: classes that carry it are the program's own."""

PLAIN_MODULES = frozenset(
    (MAIN, "builtins", "abc", "typing", "enum", "collections", "collections.abc", "contextlib", "numbers")
)
"""Modules whose classes keep nothing private in instances of their subclasses."""

MARK_NAME = f"{GUARD_PREFIX}mark"
EVALUATE_NAME = f"{GUARD_PREFIX}evaluate"
"""Under this name the builtins of a program carry what evaluates an annotation that is text."""

_CACHED = type(functools.lru_cache(len))

MARK = object()
"""Sits in the builtins of every program; a frame whose builtins carry it is the program's own."""


class RefusedAttributeError(AttributeError):
    """An attribute that the dialect does not hand out; `hasattr` sees it as absent."""


def refused(name: str, reason: str, hint: str = "") -> RefusedAttributeError:
    """The error for one refused name. The object is not attached: `.obj` of the error must not carry anything."""
    return RefusedAttributeError(f"`{name}`: {reason}" + (f"; {hint}" if hint else ""))


def classes_of(cls: type) -> tuple[type, ...]:
    """The bases of a class, the class first, whatever it says about itself."""
    found: tuple[type, ...] = type.__dict__["__mro__"].__get__(cls)
    return found


def has_library_base(cls: type) -> bool:
    """Whether a class inherits from library code that may keep private state in its instances."""
    return not {base.__module__ for base in classes_of(cls)} <= PLAIN_MODULES


_all_own: dict[type, bool] = {}
_ALL_OWN_BOUND = 1_000  # classes remembered; a run has a few


def is_all_own(cls: type) -> bool:
    """Whether a class and all its bases are the program's own, or built in: nothing in its instances is a library's."""
    known = _all_own.get(cls)
    if known is None:
        modules = {base.__module__ for base in classes_of(cls)}
        known = MAIN in modules and modules <= {MAIN, "builtins", "abc", "typing"}
        if len(_all_own) < _ALL_OWN_BOUND:
            _all_own[cls] = known
    return known


def is_own_private(obj: Any, name: str) -> bool:
    """Whether a one-underscore name on this object belongs to the program and not to a library."""
    cls = obj if isinstance(obj, type) else type(obj)
    if cls is FunctionType or cls is _CACHED:
        return bool(obj.__module__ == MAIN)
    bases = classes_of(cls)
    if all(base.__module__ != MAIN for base in bases):
        return cls is SimpleNamespace or (issubclass(cls, BaseException) and cls.__module__ == "builtins")
    owner = next((base for base in bases if name in base.__dict__), None)
    if owner is not None and name in LIBRARY_PRIVATE:
        return bool(owner.__module__ == MAIN)
    return True


def is_power(value: Any) -> bool:
    """Whether a value leads out of the program: what the names in `LIBRARY_PRIVATE` hold on library objects."""
    kinds = (ModuleType, FrameType, CodeType, io.FileIO, io.TextIOWrapper, io.BufferedIOBase, asyncio.AbstractEventLoop)
    if any(value is stream for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__)):
        return True
    return isinstance(value, kinds) and not isinstance(value, io.BytesIO)


def program_frame(depth: int) -> FrameType | None:
    """The frame `depth` calls above the caller when it is the program's: a library may call a guard as a callback."""
    frame = sys._getframe(depth + 1)
    return frame if frame.f_builtins.get(MARK_NAME) is MARK else None
