"""Read-only stand-ins for modules of the standard library: public names only, no module inside, not to be patched.

Enters: a module name and the objects to show. Leaves: an object that reads like a module.
Safety: a program holds these objects and tries to walk to the real module or to change what others see. Values sit
in slots behind classes that refuse every assignment; the real module is never an attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


class _FacadeMeta(type):
    """Refuses changes of a facade's class, which `type(json)` would hand out."""

    def __setattr__(cls, name: str, value: Any) -> None:
        raise AttributeError(f"`{cls.__name__}` is read-only")

    def __delattr__(cls, name: str) -> None:
        raise AttributeError(f"`{cls.__name__}` is read-only")


class Facade(metaclass=_FacadeMeta):
    """Base of all facades. Slots, because CPython reads them as fast as a module's attributes."""

    __slots__ = ()

    __all__: tuple[str, ...] = ()
    _cm_path: str = ""
    _cm_explain: Callable[[str, str], str] | None = None

    def __getattr__(self, name: str) -> Any:
        cls = type(self)
        explain = cls._cm_explain
        text = explain(cls._cm_path, name) if explain is not None else ""
        raise AttributeError(text or f"module `{cls._cm_path}` has no attribute `{name}`")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"`{type(self)._cm_path}.{name}`: library objects are read-only")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"`{type(self)._cm_path}.{name}`: library objects are read-only")

    def __dir__(self) -> list[str]:
        return [name for name in type(self).__all__ if hasattr(self, name)]

    def __repr__(self) -> str:
        return f"<module '{type(self)._cm_path}'>"

    def __reduce__(self) -> str:
        raise TypeError("a module cannot be copied or pickled")


def make_facade(path: str, values: Mapping[str, Any], explain: Callable[[str, str], str] | None = None) -> Facade:
    """A read-only module-like object that shows exactly `values`.

    `explain(path, name)` gives the text of the AttributeError for a name that is not there.
    """
    names = tuple(sorted(values))
    body = {
        "__slots__": tuple(name for name in names if name not in ("__name__", "__doc__")),
        "__all__": tuple(name for name in names if not name.startswith("_")),
        "__name__": path,
        "__doc__": f"The part of `{path}` that programs may use.",
        "__module__": "sandbox.dialect",
        "_cm_path": path,
        "_cm_explain": staticmethod(explain) if explain is not None else None,
    }
    # __name__ in a class body would be overwritten by the class's own name for `cls.__name__`, not for instances.
    cls = _FacadeMeta(path.rpartition(".")[2], (Facade,), body)
    facade: Facade = cls()
    for name, value in values.items():
        object.__setattr__(facade, name, value)
    return facade
