"""Stand-ins for library functions that would read, set or evaluate names a program hands them as text.

Enters: what the real function takes. Leaves: what it gives, or an error that names the reason.
Safety: none of these inherits from the class it stands in for, because `super(cls, obj)` would reach the original.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import operator
import timeit
import typing
from collections.abc import Callable, Iterable
from types import FunctionType, GenericAlias
from typing import Any

from sandbox.dialect.guards import GuardedType, read_attribute, without_metaclass
from sandbox.dialect.own import MAIN, classes_of
from sandbox.dialect.rules import LIBRARY_PRIVATE, judge_attribute, judge_store
from sandbox.dialect.stores import writable

# functools

_COPIED = ("__module__", "__name__", "__qualname__", "__doc__")


def update_wrapper(wrapper: Any, wrapped: Any, assigned: Iterable[str] = (), updated: Iterable[str] = ()) -> Any:
    """`functools.update_wrapper` with its usual attributes; others are not copied.

    Safety: the original copies any attribute it is told to, and the whole table of a class, into reach.
    """
    return _marked(writable(wrapper, "__wrapped__"), wrapped)


def _marked(wrapper: Any, wrapped: Any) -> Any:
    for name in (*_COPIED, "__type_params__"):
        try:
            setattr(wrapper, name, getattr(wrapped, name))
        except AttributeError:
            pass
    annotations = getattr(wrapped, "__annotations__", None)
    if isinstance(wrapper, FunctionType) and isinstance(annotations, dict):
        wrapper.__annotations__ = dict(annotations)  # of a class they would become source text in `dataclass`
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
        return _marked(method, self.func)


class cached_property:  # noqa: N801  # stands in for a class of this name
    """`functools.cached_property`.

    Safety: the original reads and writes any key of an object's table, and a subclass may hand it a module.
    """

    def __init__(self, func: Callable[[Any], Any]) -> None:
        self.func = func
        self._cm_name: str | None = None
        self.__doc__ = func.__doc__

    @property
    def attrname(self) -> str | None:
        """The name that the value is kept under."""
        return self._cm_name

    def __set_name__(self, owner: type, name: str) -> None:
        if self._cm_name is None and type(name) is str and judge_store(name).mode != "refused":
            self._cm_name = name
        elif name != self._cm_name:
            raise TypeError(f"cannot assign the same cached_property to `{self._cm_name}` and {name!r:.60}")

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        name = self._cm_name
        if name is None:
            raise TypeError("cannot use cached_property without calling `__set_name__` on it")
        if all(base.__module__ != MAIN for base in classes_of(type(instance))):
            raise TypeError("a cached_property belongs into a class of this program")
        table = instance.__dict__
        if name not in table or name in LIBRARY_PRIVATE:  # what is there may be the library's
            table[name] = self.func(instance)
        return table[name]

    def __class_getitem__(cls, item: Any) -> GenericAlias:
        return GenericAlias(cls, item)


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


# typing


def get_origin(tp: Any) -> Any:
    """`typing.get_origin`."""
    return without_metaclass(typing.get_origin(tp))


# inspect, timeit


class BoundArguments:
    """`inspect.BoundArguments`, without the way back to the original signature."""

    __slots__ = ("_cm_found",)

    def __init__(self, found: inspect.BoundArguments) -> None:
        self._cm_found = found

    @property
    def arguments(self) -> dict[str, Any]:
        """Parameter → value."""
        return self._cm_found.arguments

    @property
    def args(self) -> tuple[Any, ...]:
        """What goes by position."""
        return self._cm_found.args

    @property
    def kwargs(self) -> dict[str, Any]:
        """What goes by keyword."""
        return self._cm_found.kwargs

    def apply_defaults(self) -> None:
        """Fill in what was left out."""
        self._cm_found.apply_defaults()


class Signature:
    """What `inspect.signature` gives here: parameters, the return annotation, the text, and `bind`.

    Safety: the original class evaluates annotations on request (`from_callable(eval_str=True)`), in text that no
    rule has seen.
    """

    __slots__ = ("_cm_found",)

    empty = inspect.Signature.empty

    def __init__(self, found: inspect.Signature) -> None:
        if type(found) is not inspect.Signature:
            raise TypeError("signatures are made by `inspect.signature(function)`")
        self._cm_found = found

    @property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """Name → parameter, in order."""
        return dict(self._cm_found.parameters)

    @property
    def return_annotation(self) -> Any:
        """As written."""
        return self._cm_found.return_annotation

    def bind(self, *args: Any, **kwargs: Any) -> BoundArguments:
        """The arguments by parameter; TypeError when they do not fit."""
        return BoundArguments(self._cm_found.bind(*args, **kwargs))

    def bind_partial(self, *args: Any, **kwargs: Any) -> BoundArguments:
        """`bind` that lets required arguments be missing."""
        return BoundArguments(self._cm_found.bind_partial(*args, **kwargs))

    def __str__(self) -> str:
        return str(self._cm_found)

    def __repr__(self) -> str:
        return f"<Signature {self}>"


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
    "functools": {
        "cached_property": cached_property,
        "singledispatch": singledispatch,
        "singledispatchmethod": singledispatchmethod,
        "update_wrapper": update_wrapper,
        "wraps": wraps,
        "WRAPPER_ASSIGNMENTS": functools.WRAPPER_ASSIGNMENTS,
        "WRAPPER_UPDATES": functools.WRAPPER_UPDATES,
    },
    "operator": {"attrgetter": attrgetter, "methodcaller": methodcaller},
    "typing": {"Type": GuardedType, "get_origin": get_origin},
    "inspect": {"BoundArguments": BoundArguments, "Signature": Signature, "signature": signature},
    "timeit": {"timeit": time_it, "repeat": time_repeat},
}
"""Module → name → stand-in; `supplied` in the tables names the same."""
