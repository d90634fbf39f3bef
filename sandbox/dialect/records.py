"""Makers of classes: dataclasses, namedtuple, enums and abstract bases, with the names they are given checked.

Enters: classes and names of the program. Leaves: what the original makes, or a TypeError that names the reason.
Safety: `dataclasses` turns field names into source text; match patterns and the generated methods read fields
natively; `Enum("E", {...})` and a metaclass called by hand make classes of names that no compile-time check has
seen. Tables that come from the program are copied before they are checked: it may change them meanwhile.
"""

from __future__ import annotations

import abc
import builtins
import collections
import dataclasses
import enum
import inspect
import keyword
import re
import sys
import types
import typing
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

from sandbox.dialect.facades import Facade
from sandbox.dialect.own import MAIN, classes_of, has_library_base
from sandbox.dialect.rules import (
    CHECKED_ATTRIBUTES,
    DOCUMENTED_PRIVATE,
    GUARD_PREFIX,
    LIBRARY_PRIVATE,
    judge_attribute,
    judge_name,
    words,
)

# Instances of these hold something of their own under a checked name, such as `str.format`.
_HOLDERS = (str, AttributeError, NameError, PurePath)


def _check_field(name: object) -> None:
    if type(name) is not str or not name.isidentifier() or keyword.iskeyword(name):
        raise TypeError(f"field names must be identifiers, got {name if type(name) is str else type(name)!r:.60}")
    is_special = name.startswith("__") and name.endswith("__")
    if is_special or name.startswith(GUARD_PREFIX) or name in LIBRARY_PRIVATE:
        raise TypeError(f"`{name}` cannot be the name of a field")
    if not name.startswith("_") and judge_attribute(name, frozenset()).mode == "refused":
        raise TypeError(f"`{name}` cannot be the name of a field")


class Field(dataclasses.Field):  # type: ignore[type-arg]  # generic for type checkers alone
    """`dataclasses.Field` whose name cannot become anything else than the name of a field."""

    __slots__ = ("_cm_name",)

    def __init_subclass__(cls, **options: Any) -> None:
        raise TypeError("`dataclasses.Field` has no subclasses here: a field's name becomes source text")

    @property
    def name(self) -> Any:
        return self._cm_name

    @name.setter
    def name(self, value: Any) -> None:
        if value is not None:
            _check_field(value)
        self._cm_name = value


_FIELD_TYPES = (dataclasses.Field, Field)
_FIELD_PARTS = ("default", "default_factory", "init", "repr", "hash", "compare", "metadata", "kw_only")


def _checked(found: Any) -> Field:
    if type(found) not in _FIELD_TYPES:
        raise TypeError(f"a field is made by `field()`, got {type(found).__name__}")
    made = Field(*(getattr(found, part) for part in _FIELD_PARTS))
    made.name, made.type, made._field_type = found.name, found.type, found._field_type  # type: ignore[attr-defined]
    return made


def field(**options: Any) -> Any:
    """`dataclasses.field`."""
    return _checked(dataclasses.field(**options))


def fields(class_or_instance: Any) -> tuple[Field, ...]:
    """`dataclasses.fields`: copies, so that changing one changes no class."""
    return tuple(map(_checked, dataclasses.fields(class_or_instance)))


def dataclass(cls: Any = None, /, **options: Any) -> Any:
    """`dataclasses.dataclass`, after a look at the field names of the class and its bases."""

    def decorate(cls: Any) -> Any:
        if not isinstance(cls, type):
            raise TypeError(f"dataclass() should be used on a class, got {type(cls).__name__}")
        if cls.__module__ != MAIN:
            raise TypeError("library classes are read-only; make a subclass")
        # A copy takes the place of the table: what is checked here is what `dataclasses` reads.
        own = inspect.get_annotations(cls)
        for name in own:
            _check_field(name)
            default = cls.__dict__.get(name)
            if isinstance(default, dataclasses.Field) and type(default) is not Field:
                raise TypeError(f"`{name}`: a field is made by `field()`")
        if own:
            cls.__annotations__ = own
        names = [*own, *_field_names(cls)]
        _check_names(cls, names)
        if CHECKED_ATTRIBUTES.intersection(names):
            options["match_args"] = False
        return check_class(_make_dataclass(cls, options))

    return decorate if cls is None else decorate(cls)


def make_dataclass(
    cls_name: str, fields: Iterable[Any], *, bases: tuple[type, ...] = (), namespace: Any = None, **options: Any
) -> type:
    """`dataclasses.make_dataclass`, by way of the checked class and the checked `dataclass`."""
    options.pop("module", None)
    annotations: dict[str, Any] = {}
    table = dict(namespace or {})
    for item in fields:
        parts = (item,) if isinstance(item, str) else tuple(item)
        if not 1 <= len(parts) <= 3 or parts[0] in annotations:
            raise TypeError(f"Invalid field: {item!r:.100}")
        _check_field(parts[0])
        annotations[parts[0]] = parts[1] if len(parts) > 1 else "typing.Any"
        if len(parts) == 3:
            table[parts[0]] = parts[2]
    made: type = dataclass(make_class(cls_name, bases, {**table, "__annotations__": annotations}), **options)
    return made


def _field_names(cls: type) -> list[str]:
    """The fields of a class and its bases, each checked to be a field and named like one."""
    names = []
    for base in classes_of(cls):
        for found in list(base.__dict__.get("__dataclass_fields__", {}).values()):
            if type(found) not in _FIELD_TYPES:
                raise TypeError(f"a field is made by `field()`, got {type(found).__name__}")
            _check_field(found.name)
            names.append(found.name)
    return names


def _check_names(cls: type, names: Iterable[Any]) -> None:
    """Refuses names that patterns and generated methods would read natively on objects that hold a library's state."""
    # A protocol's instances are anything that has the right methods.
    has_library = has_library_base(cls) or typing.Protocol in classes_of(cls)
    for name in names:
        _check_field(name)
        is_held = name in CHECKED_ATTRIBUTES and issubclass(cls, _HOLDERS)
        is_private = name.startswith("_") and has_library and name not in DOCUMENTED_PRIVATE
        if is_held or is_private:
            raise TypeError(f"`{name}` cannot be a field of this class")


def check_class(cls: type) -> type:
    """The class, when no field or `__match_args__` of it or its bases names what its instances keep to themselves."""
    table = next((base.__dict__["__match_args__"] for base in classes_of(cls) if "__match_args__" in base.__dict__), ())
    if type(table) is not tuple and type(table) is not list:
        raise TypeError("`__match_args__` must be a literal tuple")
    if table or any("__dataclass_fields__" in base.__dict__ for base in classes_of(cls)):
        _check_names(cls, [*table, *_field_names(cls)])
    return cls


def build_class(function: Any, name: str, /, *bases: Any, **options: Any) -> Any:
    """What a class statement calls: makes the class and looks at what it inherits."""
    made = builtins.__build_class__(function, name, *bases, **options)
    return check_class(made) if isinstance(made, type) else made


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
    return check_class(abc.ABCMeta(name, bases, _checked_table(namespace), **options))


def make_class(name: Any, bases: Any, namespace: Any, /, **options: Any) -> type:
    """`type(name, bases, namespace)`: what a class statement with that body would make.

    Raises:
        TypeError: a name in the namespace is none that a class statement may bind, or a base is a metaclass.
    """
    if type(name) is not str or not name.isidentifier():
        raise TypeError(f"the name of a class must be an identifier, got {name!r:.60}")
    if type(bases) is not tuple:
        raise TypeError(f"the bases of a class are a tuple, got {type(bases).__name__}")
    if "metaclass" in options or any(isinstance(base, type) and issubclass(base, type) for base in bases):
        raise TypeError("metaclasses are not part of the dialect; use a class decorator or `__init_subclass__`")
    table = _checked_table(namespace)
    made = types.new_class(name, bases, options, lambda body: body.update(table))
    return check_class(made)


def _checked_table(namespace: Any) -> dict[str, Any]:
    """A copy of a class namespace, when a class statement could have made it."""
    if type(namespace) is not dict:
        raise TypeError("a class namespace is a dict")
    table = dict(namespace)
    for key, value in table.items():
        if type(key) is not str:
            raise TypeError("names in a class must be str")
        if key not in _COMPILER_NAMES and judge_name(key, is_store=True).mode == "refused":
            raise TypeError(f"`{key}` cannot be defined in a class")
        wanted = _LITERAL_TYPES.get(key)
        if wanted is not None and type(value) not in wanted:
            raise TypeError(f"`{key}` must be a plain {wanted[0].__name__}")
    for item in table.get("__match_args__", ()):
        _check_field(item)
    slots = table.get("__slots__", ())
    for item in [slots] if type(slots) is str else slots:
        if type(item) is not str or (item.startswith("__") and item not in ("__dict__", "__weakref__")):
            raise TypeError(f"`__slots__` cannot name {item if type(item) is str else type(item)!r:.60}")
    if "__annotations__" in table:
        table["__annotations__"] = dict(table["__annotations__"])
    return {**table, "__module__": MAIN}


_LITERAL_TYPES: dict[str, tuple[type, ...]] = {
    "__annotations__": (dict,),
    "__match_args__": (tuple,),
    "__slots__": (tuple, list, str, dict, set),
}


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


PARTS: dict[str, dict[str, object]] = {
    "dataclasses": {
        "dataclass": dataclass,
        "field": field,
        "fields": fields,
        "Field": Field,
        "make_dataclass": make_dataclass,
    },
    "collections": {"namedtuple": namedtuple},
    "abc": {"ABCMeta": ABCMeta},
    "enum": {"Enum": Enum, "IntEnum": IntEnum, "StrEnum": StrEnum, "Flag": Flag, "IntFlag": IntFlag},
}
"""Module → name → stand-in."""
