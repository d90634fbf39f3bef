"""Stand-ins for library functions that would read, set or evaluate names a program hands them as text.

Enters: what the real function takes. Leaves: what it gives, or an error that names the reason.
Safety: none of these inherits from the class it stands in for, because `super(cls, obj)` would reach the original.
"""

from __future__ import annotations

import abc
import builtins
import collections
import dataclasses
import enum
import functools
import inspect
import operator
import re
import sys
import timeit
import typing
from collections.abc import Callable, Iterable
from typing import Any

from sandbox.dialect.facades import Facade
from sandbox.dialect.guards import GuardedType, read_attribute, without_metaclass
from sandbox.dialect.own import MAIN, classes_of
from sandbox.dialect.rules import CHECKED_ATTRIBUTES, judge_attribute, judge_name, words

# dataclasses, collections, abc


def _check_field(name: object) -> None:
    """Field names become source text inside of `dataclasses`, and match patterns read them natively."""
    if type(name) is not str or not name.isidentifier():
        raise TypeError(f"field names must be identifiers, got {str(name)[:60]!r}")
    is_special = name.startswith("__") and name.endswith("__")
    if is_special or (not name.startswith("_") and judge_attribute(name, frozenset()).mode == "refused"):
        raise TypeError(f"`{name}` cannot be the name of a field")


def dataclass(cls: Any = None, /, **options: Any) -> Any:
    """`dataclasses.dataclass`, after a look at the field names of the class and its bases."""

    def decorate(cls: Any) -> Any:
        if not isinstance(cls, type):
            raise TypeError(f"dataclass() should be used on a class, got {type(cls).__name__}")
        names = list(inspect.get_annotations(cls))
        for base in classes_of(cls):
            names.extend(field.name for field in base.__dict__.get("__dataclass_fields__", {}).values())
        for name in names:
            _check_field(name)
        if CHECKED_ATTRIBUTES.intersection(names):
            options.setdefault("match_args", False)
        return _make_dataclass(cls, options)

    return decorate if cls is None else decorate(cls)


_QUALIFIED = re.compile(r"\s*(\w+)\.(ClassVar|InitVar|KW_ONLY)\b")


def _make_dataclass(cls: type, options: dict[str, Any]) -> type:
    """`dataclasses` tells `"typing.ClassVar[int]"` apart by the real module; for the call it gets the object itself."""
    annotations = cls.__dict__.get("__annotations__", {})  # noqa: RUF063  # the table itself is changed and restored
    texts = {key: value for key, value in annotations.items() if isinstance(value, str)}
    scope = vars(sys.modules[cls.__module__]) if cls.__module__ in sys.modules else {}
    for key, text in texts.items():
        found = _QUALIFIED.match(text)
        module = scope.get(found.group(1)) if found else None
        if found and isinstance(module, Facade) and module.__name__ in ("typing", "dataclasses"):
            annotations[key] = getattr(typing if found.group(2) == "ClassVar" else dataclasses, found.group(2))
    try:
        made: type = dataclasses.dataclass(cls, **options)
    finally:
        annotations.update(texts)
    return made


def namedtuple(typename: str, field_names: Any, **options: Any) -> Any:
    """`collections.namedtuple`, with the field names checked."""
    options.pop("module", None)
    make: Any = collections.namedtuple  # a computed name is nothing for a type checker
    made: Any = make(typename, field_names, **options, module="__main__")
    for name in made._fields:
        _check_field(name)
    if CHECKED_ATTRIBUTES.intersection(made._fields):
        setattr(made, "__match_args__", ())  # noqa: B010  # patterns would read these attributes unchecked
    return made


# What the compiler itself puts into a class namespace, up to Python 3.13.
_COMPILER_NAMES = words(
    """
    __module__ __qualname__ __annotations__ __classcell__ __doc__ __firstlineno__ __static_attributes__ __type_params__
    __orig_bases__ __slots__ __match_args__
    """
)


def ABCMeta(name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> Any:  # noqa: N802
    """`metaclass=ABCMeta` in a class statement; a call by hand is checked as the statement would be."""
    for key in namespace:
        if type(key) is not str:
            raise TypeError("names in a class must be str")
        if key not in _COMPILER_NAMES and judge_name(key, is_store=True).mode == "refused":
            raise TypeError(f"`{key}` cannot be defined in a class")
        if key == "__match_args__":
            for item in namespace[key]:
                _check_field(item)
    return abc.ABCMeta(name, bases, namespace, **options)


# functools

_COPIED = ("__module__", "__name__", "__qualname__", "__doc__")


def update_wrapper(wrapper: Any, wrapped: Any, assigned: Iterable[str] = (), updated: Iterable[str] = ()) -> Any:
    """`functools.update_wrapper` with its usual attributes; others are not copied.

    Safety: the original copies any attribute it is told to, and the whole table of a class, into reach.
    """
    if isinstance(wrapper, type) and wrapper.__module__ != MAIN:
        raise TypeError("library classes are read-only; make a subclass")
    for name in (*_COPIED, "__type_params__"):
        try:
            setattr(wrapper, name, getattr(wrapped, name))
        except AttributeError:
            pass
    table = getattr(wrapped, "__dict__", None)
    if isinstance(table, dict) and not isinstance(wrapped, type):
        for key, value in table.items():
            if type(key) is str and not key.startswith("_"):
                setattr(wrapper, key, value)
    wrapper.__wrapped__ = wrapped
    return wrapper


def wraps(wrapped: Any, assigned: Iterable[str] = (), updated: Iterable[str] = ()) -> Callable[[Any], Any]:
    """`functools.wraps` with its usual attributes."""

    def decorate(wrapper: Any) -> Any:
        return update_wrapper(wrapper, wrapped)

    return decorate


def _annotated_class(function: Any) -> Any:
    annotation = next(iter(getattr(function, "__annotations__", {}).values()), None)
    if isinstance(annotation, str):
        # The original evaluates the text; here only the name of a class is looked up.
        scope = getattr(function, "__globals__", {})
        annotation = scope.get(annotation, getattr(builtins, annotation, None)) if annotation.isidentifier() else None
    if annotation is None:
        raise TypeError("name the class: write `@f.register(int)`")
    return annotation


def singledispatch(function: Callable[..., Any]) -> Any:
    """`functools.singledispatch`; annotations that are text are not evaluated."""
    dispatcher: Any = functools.singledispatch(function)
    original = dispatcher.register

    def register(cls: Any, function: Any = None) -> Any:
        if function is None and not isinstance(cls, type) and callable(cls) and hasattr(cls, "__annotations__"):
            original(_annotated_class(cls), cls)
            return cls
        return original(cls, function) if function is not None else lambda later: original(cls, later)

    dispatcher.register = register
    return dispatcher


class singledispatchmethod:  # noqa: N801  # stands in for a class of this name
    """`functools.singledispatchmethod` over the checked `singledispatch`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.dispatcher = singledispatch(function)
        self.func = function

    def register(self, cls: Any, method: Any = None) -> Any:
        return self.dispatcher.register(cls, method)

    def __get__(self, obj: Any, cls: Any = None) -> Any:
        def method(*args: Any, **kwargs: Any) -> Any:
            found = self.dispatcher.dispatch(type(args[0]))
            return found.__get__(obj, cls)(*args, **kwargs)

        method.register = self.register  # type: ignore[attr-defined]  # as the original does
        return update_wrapper(method, self.func)


# operator


def attrgetter(*names: str) -> Any:
    """`operator.attrgetter`; each part of each dotted name is judged as if it stood in the program."""
    if not names:
        raise TypeError("attrgetter expected 1 argument, got 0")
    parts = []
    for name in names:
        if type(name) is not str:
            raise TypeError("attribute name must be a string")
        parts.append(name.split("."))
    is_plain = all(
        not part.startswith("_") and judge_attribute(part, frozenset()).mode == "native"
        for path in parts
        for part in path
    )
    if is_plain:
        return operator.attrgetter(*names)

    def getter(obj: Any) -> Any:
        found = tuple(functools.reduce(read_attribute, path, obj) for path in parts)
        return found[0] if len(found) == 1 else found

    return getter


def methodcaller(name: str, /, *args: Any, **kwargs: Any) -> Any:
    """`operator.methodcaller`; the name is judged as if it stood in the program."""
    if type(name) is not str:
        raise TypeError("method name must be a string")
    if not name.startswith("_") and judge_attribute(name, frozenset()).mode == "native":
        return operator.methodcaller(name, *args, **kwargs)

    def caller(obj: Any) -> Any:
        return read_attribute(obj, name)(*args, **kwargs)

    return caller


# enum, typing


class _CheckedEnumType(enum.EnumType):
    """Checks the names of the functional form: `Enum("Color", {"RED": 1})` takes any name as a class attribute."""

    def __call__(cls, value: Any, *args: Any, **options: Any) -> Any:
        names = args[0] if args else options.get("names")
        if names is not None and not cls.__members__:
            for name in _member_names(names):
                if name.startswith("_") or judge_attribute(name, frozenset()).mode == "refused":
                    raise TypeError(f"`{name}` cannot be the name of a member")
            options.pop("module", None)
            options["module"] = "__main__"
        return super().__call__(value, *args, **options)


def _member_names(names: Any) -> list[str]:
    if isinstance(names, str):
        return names.replace(",", " ").split()
    found = [item if isinstance(item, str) else item[0] for item in names]
    if any(type(name) is not str for name in found):
        raise TypeError("member names must be str")
    return found


class Enum(enum.Enum, metaclass=_CheckedEnumType):
    """`enum.Enum`."""


class IntEnum(enum.IntEnum, metaclass=_CheckedEnumType):
    """`enum.IntEnum`."""


class StrEnum(enum.StrEnum, metaclass=_CheckedEnumType):
    """`enum.StrEnum`."""


class Flag(enum.Flag, metaclass=_CheckedEnumType):
    """`enum.Flag`."""


class IntFlag(enum.IntFlag, metaclass=_CheckedEnumType):
    """`enum.IntFlag`."""


def get_origin(tp: Any) -> Any:
    """`typing.get_origin`."""
    return without_metaclass(typing.get_origin(tp))


# inspect, timeit


class Signature:
    """What `inspect.signature` gives here: parameters, the return annotation, and the text.

    The original class evaluates annotations on request (`from_callable(eval_str=True)`).
    """

    __slots__ = ("parameters", "return_annotation", "text")

    def __init__(self, found: inspect.Signature) -> None:
        self.parameters = dict(found.parameters)
        self.return_annotation = found.return_annotation
        self.text = str(found)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Signature {self.text}>"


def signature(function: Callable[..., Any]) -> Signature:
    """`inspect.signature`, annotations as written."""
    return Signature(inspect.signature(function))


def time_it(stmt: Any = None, setup: Any = None, *, number: int = 1_000_000, **options: Any) -> float:
    """`timeit.timeit` for callables."""
    return timeit.timeit(_callable(stmt), _callable(setup) if setup is not None else "pass", number=number)


def time_repeat(stmt: Any = None, setup: Any = None, *, repeat: int = 5, number: int = 1_000_000) -> list[float]:
    """`timeit.repeat` for callables."""
    start = _callable(setup) if setup is not None else "pass"
    return timeit.repeat(_callable(stmt), start, repeat=repeat, number=number)


def _callable(stmt: Any) -> Any:
    if not callable(stmt):
        raise TypeError("code given as text is not run; pass a function: `timeit.timeit(lambda: f(x), number=1000)`")
    return stmt


REPLACEMENTS: dict[str, dict[str, object]] = {
    "dataclasses": {"dataclass": dataclass},
    "collections": {"namedtuple": namedtuple},
    "abc": {"ABCMeta": ABCMeta},
    "functools": {
        "singledispatch": singledispatch,
        "singledispatchmethod": singledispatchmethod,
        "update_wrapper": update_wrapper,
        "wraps": wraps,
        "WRAPPER_ASSIGNMENTS": functools.WRAPPER_ASSIGNMENTS,
        "WRAPPER_UPDATES": functools.WRAPPER_UPDATES,
    },
    "operator": {"attrgetter": attrgetter, "methodcaller": methodcaller},
    "enum": {"Enum": Enum, "IntEnum": IntEnum, "StrEnum": StrEnum, "Flag": Flag, "IntFlag": IntFlag},
    "typing": {"Type": GuardedType, "get_origin": get_origin},
    "inspect": {"signature": signature},
    "timeit": {"timeit": time_it, "repeat": time_repeat},
}
"""Module → name → stand-in; `supplied` in the tables names the same."""
