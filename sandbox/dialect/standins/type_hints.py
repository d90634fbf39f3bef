"""`typing.get_type_hints`: annotations that are text are evaluated as `eval` of the program would do it.

Enters: classes and functions. Leaves: a dict of hints. The original evaluates text that no rule has seen.
"""

from __future__ import annotations

import functools
import inspect
import operator
import typing
from types import FrameType, GenericAlias, NoneType, UnionType
from typing import Any, ForwardRef

from sandbox.dialect.guards import without_metaclass
from sandbox.dialect.own import EVALUATE_NAME, MAIN, classes_of, program_frame
from sandbox.dialect.rules import GUARD_PREFIX


def get_type_hints(obj: Any, globalns: Any = None, localns: Any = None, include_extras: bool = False) -> dict[str, Any]:
    """`typing.get_type_hints`; annotations of library objects that are text stay text.

    Raises:
        NameError: a name in the text is not defined.
        SyntaxError: the text is not Python or is refused.
    """
    frame = program_frame(1)
    if frame is None:
        raise TypeError("`get_type_hints` is called by the program itself, not as a callback of a library")
    hints: dict[str, Any] = {}
    for owner in reversed(classes_of(obj)) if isinstance(obj, type) else (obj,):
        names = _names(frame, owner, globalns, localns)
        for name, value in _annotations(owner).items():
            hints[name] = _resolved(value, frame, names) if _is_own(owner) else value
    if not include_extras:
        strip: Any = typing._strip_annotations  # type: ignore[attr-defined]  # takes `Annotated` apart, at every depth
        hints = {name: strip(value) for name, value in hints.items()}
    return {name: without_metaclass(value) for name, value in hints.items()}


def _is_own(owner: Any) -> bool:
    return getattr(owner, "__module__", None) == MAIN


def _annotations(owner: Any) -> dict[str, Any]:
    if isinstance(owner, type):
        found: Any = inspect.get_annotations(owner)
    elif callable(owner):
        found = getattr(owner, "__annotations__", {})
    else:
        raise TypeError(f"{owner!r:.100} is not a class, method, or function.")
    return dict(found) if isinstance(found, dict) else {}


def _names(frame: FrameType, owner: Any, globalns: Any, localns: Any) -> dict[str, Any]:
    """What text may name: parts of the class, then variables of the program, which win."""
    names = {item.__name__: item for item in getattr(owner, "__type_params__", ())}
    if isinstance(owner, type):
        names |= {key: value for key, value in owner.__dict__.items() if not key.startswith("_")}
    outer = frame.f_globals if globalns is None else globalns
    names |= {key: value for key, value in dict(outer).items() if not str(key).startswith(GUARD_PREFIX)}
    return names | dict(localns or {})


def _resolved(value: Any, frame: FrameType, names: dict[str, Any]) -> Any:
    if value is None:
        return NoneType
    if isinstance(value, ForwardRef):
        value = value.__forward_arg__
    if isinstance(value, str):
        evaluate = frame.f_builtins[EVALUATE_NAME]
        return _resolved(evaluate(str.__str__(value), frame, names), frame, names)
    old = getattr(value, "__args__", None)
    if not isinstance(value, UnionType | GenericAlias) and not hasattr(value, "copy_with"):
        return value
    is_plain = isinstance(value, GenericAlias)  # here text stands for a type; in `Literal` it stands for itself
    stays = NoneType if is_plain else (str, NoneType)
    new = tuple(arg if isinstance(arg, stays) else _resolved(arg, frame, names) for arg in old or ())
    if new == old:
        return value
    if isinstance(value, UnionType):
        return functools.reduce(operator.or_, new)
    if is_plain:
        origin: Any = value.__origin__
        return GenericAlias(origin, new)
    return value.copy_with(new)
