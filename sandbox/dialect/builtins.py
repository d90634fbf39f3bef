"""The builtins of a program: Python's own where they are harmless, guarded ones where a name is computed.

Enters: the callables that the guest supplies. Leaves: the dict that becomes `__builtins__` of the program.
"""

from __future__ import annotations

import builtins
import functools
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from sandbox.dialect.evaluate import EVALUATORS, PACKAGES_NAME
from sandbox.dialect.facades import Facade
from sandbox.dialect.guards import BY_NAME, MET, GuardedType, checked_getattr, meet, refuse_builtin
from sandbox.dialect.own import MAIN
from sandbox.dialect.records import build_class
from sandbox.dialect.rules import REFUSED_BUILTINS, words
from sandbox.dialect.snapshots import SCOPE_BUILTINS
from sandbox.dialect.stores import augmentable, writable


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """What the guest supplies to a program.

    Attributes:
        await_: `_cm_await(x)`: an awaitable for any value.
        start: `_cm_start(f, *a, **k)`: a tool call on its way, or the plain call of anything else.
        deliver: takes the value of the run; called again, the last value counts.
        import_: `__import__` with its usual five arguments.
        print_: `print`.
        extra: further builtins such as `open`, `store`, `tool_search`.
        packages: what text for `eval` and `exec` may import beside the library, as the program itself.
    """

    await_: Callable[[Any], Awaitable[Any]]
    start: Callable[..., Any]
    deliver: Callable[[Any], object]
    import_: Callable[..., Any]
    print_: Callable[..., None]
    extra: Mapping[str, object] = field(default_factory=dict)
    packages: tuple[str, ...] = ()


_NATIVE = words(
    """
abs aiter all anext any ascii bin bool bytearray bytes callable chr classmethod complex dict divmod enumerate filter
float format frozenset hash hex id int isinstance issubclass iter len list map max memoryview min next object oct ord
pow property range repr reversed round set slice sorted staticmethod str sum super tuple zip None True False Ellipsis
NotImplemented __debug__
    """
)


def make_builtins(runtime: Runtime) -> dict[str, object]:
    """The builtins of a program in the restricted dialect."""
    table: dict[str, object] = {name: getattr(builtins, name) for name in _NATIVE}
    table.update(
        (name, value)
        for name, value in vars(builtins).items()
        if isinstance(value, type) and issubclass(value, BaseException)
    )
    table.update({name: refuse_builtin(name, *why) for name, why in REFUSED_BUILTINS.items() if name[0] != "_"})
    table.update(SCOPE_BUILTINS)
    table.update(EVALUATORS)
    table.update(BY_NAME)
    table.update(
        {
            "type": GuardedType,
            "exit": _leave,
            "quit": _leave,
            "_cm_getattr": checked_getattr,
            "_cm_augmentable": augmentable,
            "_cm_met": MET,
            "_cm_writable": writable,
            "_cm_type": type,
            "_cm_meet": meet,
            "__build_class__": build_class,
            "__name__": MAIN,
        }
    )
    table.update(_supplied(runtime))
    return table


def make_native_builtins(runtime: Runtime) -> dict[str, object]:
    """The builtins of a program with the language layer off: Python's own and what the guest supplies."""
    return {**vars(builtins), "exit": _leave, "quit": _leave, **_supplied(runtime), "__import__": runtime.import_}


def _supplied(runtime: Runtime) -> dict[str, object]:
    return {
        "print": runtime.print_,
        "__import__": _importer(runtime.import_),
        **runtime.extra,
        "_cm_await": runtime.await_,
        "_cm_start": runtime.start,
        "_cm_starter": lambda function: functools.partial(runtime.start, function),
        "_cm_value": runtime.deliver,
        PACKAGES_NAME: runtime.packages,
    }


def _importer(import_: Callable[..., Any]) -> Callable[..., Any]:
    """`__import__` of a program.

    C code imports through the builtins of the calling frame (`datetime.strptime` loads `_strptime`). It passes a list
    where statements pass a tuple or None, and takes the module from `sys.modules` itself, so it is given none.
    """

    def guarded_import(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        if type(fromlist) is list:
            if name not in sys.modules:
                builtins.__import__(name, None, None, fromlist, level)
            return None
        found = import_(name, globals, locals, fromlist, level)
        if fromlist and isinstance(found, Facade):
            _check_names(found, fromlist)
        return found

    return guarded_import


def _check_names(facade: Facade, names: tuple[str, ...]) -> None:
    """Says why a name is not there; `from x import y` itself would drop the reason that the facade gives."""
    for name in names:
        try:
            name == "*" or getattr(facade, name)  # the read is the check
        except AttributeError as error:
            raise ImportError(str(error), name=facade.__name__) from None


def _leave(status: object = None, /) -> None:
    """`exit` and `quit`."""
    raise SystemExit(status)


def make_main(table: dict[str, object]) -> ModuleType:
    """The module that a program runs as: its `__dict__` is the program's globals.

    It belongs into `sys.modules["__main__"]`, where `dataclasses`, `typing` and `enum` look classes up.
    """
    main = ModuleType(MAIN)
    vars(main).update({"__builtins__": table, "__name__": MAIN, "__doc__": None, "__annotations__": {}})
    return main
