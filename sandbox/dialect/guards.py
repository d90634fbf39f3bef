"""The run-time half of the dialect: what compile-time checks cannot see, because a name is computed.

Enters: objects and names of the program. Leaves: what the plain builtin would give, or an error that says why not.
Safety: the attacker controls every argument. Names must be exact `str`; subclasses that lie about themselves are
refused. `type` never hands out a metaclass, because a metaclass makes classes whose bodies nobody has checked.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import (
    BuiltinFunctionType,
    FunctionType,
    GenericAlias,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any

from sandbox.dialect.facades import Facade
from sandbox.dialect.own import (
    MAIN,
    RefusedAttributeError,
    classes_of,
    is_all_own,
    is_own_private,
    is_power,
    refused,
)
from sandbox.dialect.records import fields, make_class
from sandbox.dialect.rules import (
    CHECKED_ATTRIBUTES,
    DOCUMENTED_PRIVATE,
    LIBRARY_PRIVATE,
    judge_attribute,
    own_private,
)
from sandbox.dialect.snapshots import attributes_of
from sandbox.dialect.stores import delete_attribute, forwards, judge_write, write_attribute
from sandbox.dialect.templates import format_problem

_MISSING = object()
_free: set[str] = set()  # names judged before: free on every object
_FREE_BOUND = 4_096


def _exact_name(name: object) -> str:
    if type(name) is not str:
        raise TypeError(f"attribute name must be a str, got {type(name).__name__}")
    return name


# Reading


def checked_getattr(obj: Any, name: str) -> Any:
    """What `obj.name` is rewritten to for the names that depend on the object."""
    if name not in _SPECIAL and is_all_own(type(obj)):
        return getattr(obj, name)  # a private name, judged before the program ran
    return read_attribute(obj, name)


def read_attribute(obj: Any, name: str, default: Any = _MISSING) -> Any:
    """`getattr` for a name that no compile-time check has seen.

    Raises:
        RefusedAttributeError: the name is not part of the dialect; a default does not hide that.
    """
    _exact_name(name)
    if name in _free:
        return _get(obj, name, default)
    if name in _SPECIAL:
        return _read_special(obj, name, default)
    if own_private(name) and name not in DOCUMENTED_PRIVATE:
        return _read_private(obj, name, default)
    verdict = judge_attribute(name, frozenset())
    if verdict.mode == "refused":
        raise refused(name, verdict.reason, verdict.hint)
    if len(_free) < _FREE_BOUND:
        _free.add(name)
    return _get(obj, name, default)


def _get(obj: Any, name: str, default: Any) -> Any:
    return getattr(obj, name) if default is _MISSING else getattr(obj, name, default)


def _read_special(obj: Any, name: str, default: Any) -> Any:
    try:
        return _SPECIAL[name](obj, name)
    except RefusedAttributeError:
        raise
    except AttributeError:
        if default is _MISSING:
            raise
        return default


def _read_private(obj: Any, name: str, default: Any) -> Any:
    if is_all_own(type(obj)):
        return _get(obj, name, default)
    if not is_own_private(obj, name):
        # Absent is absent, also on a library object; present and private is refused.
        if default is not _MISSING and not _has(obj, name):
            return default
        raise refused(name, "the name is private to a library", "use the public name")
    found = _get(obj, name, default)
    if name in LIBRARY_PRIVATE and is_power(found):
        raise refused(name, "the name is private to a library", "use the public name")
    return found


def _has(obj: Any, name: str) -> bool:
    try:
        getattr(obj, name)
    except AttributeError:
        return False
    return True


def _read_format(obj: Any, name: str) -> Any:
    found = getattr(obj, name)
    if isinstance(found, BuiltinFunctionType) and isinstance(found.__self__, str):
        return _template(found.__self__, name)
    if isinstance(found, MethodDescriptorType) and found.__objclass__ is str:
        return _unbound_format if name == "format" else _unbound_format_map
    return found


def _template(text: str, name: str) -> Callable[..., str]:
    exact = str.__str__(text)
    problem = _known_problem(exact) if len(exact) <= _CACHED_TEMPLATE else format_problem(exact)
    if problem is not None:
        raise refused(name, *problem)
    return exact.format if name == "format" else exact.format_map


_CACHED_TEMPLATE = 1_000  # characters; longer ones are not formatted in loops
_known_problem = lru_cache(maxsize=256)(format_problem)


def _unbound_format(text: str, /, *args: Any, **kwargs: Any) -> str:
    return _template(text, "format")(*args, **kwargs)


def _unbound_format_map(text: str, mapping: Mapping[str, Any], /) -> str:
    return _template(text, "format_map")(mapping)


def _read_obj(obj: Any, name: str) -> Any:
    """Few types may answer: bound methods, aliases, proxies and `super` pass the name on, perhaps to an error."""
    if not isinstance(obj, _ANSWER_THEMSELVES) and not _is_plain_own(type(obj)):
        raise refused(name, "the object behind an attribute error is not handed out", "read `err.name`")
    return getattr(obj, name)


_ANSWER_THEMSELVES = (Facade, FunctionType, ModuleType, SimpleNamespace, memoryview, type)


def _is_plain_own(cls: type) -> bool:
    if issubclass(cls, AttributeError | NameError | GenericAlias):
        return False
    bases = classes_of(cls)
    is_own = any(base.__module__ == MAIN for base in bases)
    return is_own and not any("__getattr__" in base.__dict__ for base in bases if base.__module__ != MAIN)


def _read_parser(obj: Any, name: str) -> Any:
    found = getattr(obj, name)
    if isinstance(found, ModuleType):
        raise refused(name, "modules are not handed out", "write `import name`")
    return found


def _read_register(obj: Any, name: str) -> Any:
    found = getattr(obj, name)
    if not (isinstance(found, MethodType) and found.__func__ is abc.ABCMeta.register):
        return found

    def register(subclass: Any) -> Any:
        if not isinstance(subclass, type) or subclass.__module__ != MAIN:
            raise refused(name, "only classes of this program can be registered", "use `isinstance(x, (A, B))`")
        return found(subclass)

    return register


def _read_origin(obj: Any, name: str) -> Any:
    return without_metaclass(getattr(obj, name))


def without_metaclass(found: Any) -> Any:
    """The object, or the guarded `type` in place of any metaclass."""
    return GuardedType if isinstance(found, type) and issubclass(found, type) else found


def _read_class(obj: Any, name: str) -> Any:
    return class_of(obj)


def _read_dict(obj: Any, name: str) -> Any:
    try:
        return attributes_of(obj)
    except TypeError as error:
        raise AttributeError(str(error)) from None


def _read_annotations(obj: Any, name: str) -> Any:
    found = getattr(obj, name)
    return dict(found) if isinstance(found, dict) else found


def _read_fields(obj: Any, name: str) -> Any:
    try:
        return {field.name: field for field in fields(obj)}  # copies: changing one changes no class
    except TypeError:
        raise AttributeError(f"`{type(obj).__name__}` object has no attribute `{name}`") from None


def _read_setter(obj: Any, name: str) -> Any:
    found = getattr(obj, name)
    is_unbound = isinstance(obj, type)

    def checked(*args: Any) -> None:
        target = args[0] if is_unbound else None
        judge_write(target, args[1] if is_unbound else args[0])
        found(*args)

    return checked


_SPECIAL: dict[str, Callable[[Any, str], Any]] = {
    "format": _read_format,
    "format_map": _read_format,
    "obj": _read_obj,
    "parser": _read_parser,
    "register": _read_register,
    "__origin__": _read_origin,
    "__dataclass_fields__": _read_fields,
    "__class__": _read_class,
    "__dict__": _read_dict,
    "__annotations__": _read_annotations,
    "__setattr__": _read_setter,
    "__delattr__": _read_setter,
}
assert set(_SPECIAL) == CHECKED_ATTRIBUTES


MET: set[type] = set()
"""Classes whose methods have been entered, all of them the program's own; the rewritten code asks before it calls."""
_MET_BOUND = 4_096


def meet(obj: Any) -> None:
    """Runs at the start of a method that uses `self` natively (`receivers`): only an own object may be `self` there.

    Raises:
        RefusedAttributeError: the method is called by hand, with a library object in the place of `self`.
    """
    cls = type(obj)
    if cls in MET:
        return
    if isinstance(obj, type):
        cls = obj
    if all(base.__module__ != MAIN for base in classes_of(cls)) or forwards(obj):
        raise refused(cls.__name__, "a method of this program takes an object of its own class", "pass such an object")
    if cls is not obj and len(MET) < _MET_BOUND:
        MET.add(cls)


# Builtins that take a name


def guarded_getattr(obj: Any, name: str, default: Any = _MISSING, /) -> Any:
    """`getattr`: the name is judged as if it stood in the program."""
    return read_attribute(obj, name, default)


def guarded_hasattr(obj: Any, name: str, /) -> bool:
    """`hasattr`: False for names that the dialect does not hand out."""
    try:
        read_attribute(obj, name)
    except AttributeError:
        return False
    return True


BY_NAME: dict[str, Callable[..., Any]] = {
    "getattr": guarded_getattr,
    "hasattr": guarded_hasattr,
    "setattr": write_attribute,
    "delattr": delete_attribute,
}
for _key, _function in BY_NAME.items():
    _function.__name__ = _function.__qualname__ = _key  # as tracebacks and `repr` show it


# type


def class_of(obj: Any) -> Any:
    """The class of an object; the class of a class is the guarded `type`, whatever its metaclass."""
    found = type(obj)
    return GuardedType if issubclass(found, type) else found


class _GuardedTypeMeta(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs:
            return class_of(args[0])
        if len(args) != 3:
            raise TypeError("type() takes 1 or 3 arguments")
        return make_class(*args, **kwargs)

    def __instancecheck__(cls, obj: Any) -> bool:
        return isinstance(obj, type)

    def __subclasscheck__(cls, sub: Any) -> bool:
        return sub is cls or issubclass(sub, type)

    def __getitem__(cls, item: Any) -> Any:
        return GenericAlias(cls, item)

    def __setattr__(cls, name: str, value: Any) -> None:
        raise TypeError("`type` is read-only")

    def __delattr__(cls, name: str) -> None:
        raise TypeError("`type` is read-only")

    def __repr__(cls) -> str:
        return "<class 'type'>"


class GuardedType(metaclass=_GuardedTypeMeta):
    """What a program knows as `type`."""

    __slots__ = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        raise TypeError("metaclasses are not part of the dialect; use a class decorator or `__init_subclass__`")


_GUARDED_NAMES = {"__name__": "type", "__qualname__": "type", "__module__": "builtins"}
for _key, _value in _GUARDED_NAMES.items():
    type.__setattr__(GuardedType, _key, _value)


def refuse_builtin(name: str, reason: str, hint: str) -> Callable[..., Any]:
    """A builtin that is not there: calling it says why."""

    def refused(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"`{name}`: {reason}" + (f"; {hint}" if hint else ""))

    refused.__name__ = refused.__qualname__ = name
    return refused
