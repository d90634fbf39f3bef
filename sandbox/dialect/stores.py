"""What a program may write attributes of: instances, and classes and functions of its own; never those of a library.

Enters: the object of `obj.name = value`, `del obj.name`, `setattr`, `obj.name += value`. Leaves: it, or an error.
Safety: a library's code calls its classes' methods with values of its own, and reads their attributes to make source
text (`dataclasses`). Proxies and aliases pass a write on to what is behind them, so that they count as that.
"""

from __future__ import annotations

import typing
from pathlib import PurePath
from types import FunctionType, MemberDescriptorType, ModuleType
from typing import Any

from sandbox.dialect.facades import Facade
from sandbox.dialect.own import MAIN, is_all_own, is_own_private, refused
from sandbox.dialect.rules import LIBRARY_PRIVATE, judge_store, own_private

_READ_ONLY = "library objects are read-only"
_FORWARDS: Any = typing._BaseGenericAlias  # type: ignore[attr-defined]  # `Annotated[C, 1].x = 1` sets `C.x`
_plain: set[type] = set()  # own classes whose instances hold nothing of a library's
_PLAIN_BOUND = 4_096


def writable(obj: Any, name: str) -> Any:
    """What `obj` in `obj.name = value` is rewritten to.

    Raises:
        RefusedAttributeError: the object is a library's class, function or module.
    """
    cls = type(obj)
    if cls in _plain:
        return obj
    # `isinstance` also looks at `__class__`, by which a weak proxy is what it stands for.
    if isinstance(obj, type) and obj.__module__ != MAIN:
        raise refused(name, "library classes are read-only", "make a subclass")
    is_library_function = isinstance(obj, FunctionType) and obj.__module__ != MAIN
    is_library_module = isinstance(obj, ModuleType) and cls.__module__ != MAIN
    if is_library_function or is_library_module or forwards(obj):
        raise refused(name, _READ_ONLY, "write a function or subclass")
    if len(_plain) < _PLAIN_BOUND and is_all_own(cls):
        _plain.add(cls)
    return obj


def forwards(obj: Any) -> bool:
    """Whether the object passes what is written to it on to a class that may be a library's."""
    return isinstance(obj, _FORWARDS)


def augmentable(obj: Any, name: str) -> Any:
    """What `obj` in `obj.name += value` is rewritten to for the checked names: the value sees the plain attribute.

    Raises:
        RefusedAttributeError: the object may hold something under that name that is checked when it is read.
    """
    if own_private(name):
        if not is_all_own(type(obj)) and (not is_own_private(obj, name) or name in LIBRARY_PRIVATE):
            raise refused(name, "the name is private to a library", "use the public name")
        return writable(obj, name)
    if type(obj).__module__ != MAIN or isinstance(obj, str | type | AttributeError | NameError | PurePath):
        raise refused(name, "it is checked when it is read", f"write `x.{name} = x.{name} + ...`")
    return writable(obj, name)


def judge_write(obj: Any, name: str) -> None:
    """`setattr` and `delattr` with a computed name; `obj` is None where it is not known and cannot be a class.

    Raises:
        RefusedAttributeError: the name or the object is not for writing.
        TypeError: the name is no plain text.
    """
    if type(name) is not str:
        raise TypeError(f"attribute name must be a str, got {type(name).__name__}")
    verdict = judge_store(name)
    if verdict.mode == "refused":
        raise refused(name, verdict.reason, verdict.hint)
    if isinstance(obj, Facade | MemberDescriptorType):
        raise refused(name, _READ_ONLY, "")
    writable(obj, name)


def write_attribute(obj: Any, name: str, value: Any, /) -> None:
    """`setattr` with a computed name."""
    judge_write(obj, name)
    setattr(obj, name, value)


def delete_attribute(obj: Any, name: str, /) -> None:
    """`delattr`."""
    judge_write(obj, name)
    delattr(obj, name)
