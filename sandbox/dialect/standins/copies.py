"""Second copies of library modules written in Python, with other builtins and imports than the originals have.

Enters: a module name, and what takes the place of which builtin or import. Leaves: a module that only stand-ins hold.
Where a library class does its work by `open(name)` or `setattr(obj, name, value)`, a subclass is no stand-in, because
`super()` and `type(obj)` reach the original. In a copy even the base class has no more power than it is given.
"""

from __future__ import annotations

import builtins
import importlib.util
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from sandbox.dialect.rules import GUARD_PREFIX


def hide(obj: Any, **values: Any) -> None:
    """Keep values in an object under names that start with `_cm_`, which no rule hands out.

    Safety: a subclass of the program may define `__setattr__`; it does not hear of these.
    """
    for name, value in values.items():
        object.__setattr__(obj, f"{GUARD_PREFIX}{name}", value)


def no_paths(name: Any, *args: Any, **options: Any) -> Any:
    """The `open` of a copy: nothing is opened by name."""
    raise PermissionError(f"`{name!s:.60}` cannot be opened from here; open it with `open(name)` and pass the file")


def private_copy(
    name: str, *, imports: Mapping[str, object] | None = None, own_builtins: Mapping[str, object] | None = None
) -> ModuleType:
    """A copy of the module; `imports` maps module names to what its import statements get instead.

    Raises:
        ImportError: there is no such module, or it is not written in Python.
    """
    spec = importlib.util.find_spec(name)
    code = spec.loader.get_code(name) if spec is not None and spec.loader is not None else None  # type: ignore[attr-defined]  # loaders of Python source have it
    if code is None:
        raise ImportError(f"`{name}` has no Python source to copy", name=name)
    replaced = dict(imports or {})

    def import_(wanted: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        if level == 0 and wanted in replaced:
            return replaced[wanted]
        return builtins.__import__(wanted, globals, locals, fromlist, level)

    made = ModuleType(name)
    vars(made)["__builtins__"] = {
        **vars(builtins),
        "open": no_paths,
        **(own_builtins or {}),
        "__import__": import_,
    }
    exec(code, vars(made))  # noqa: S102  # the library's own source
    return made
