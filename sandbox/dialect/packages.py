"""Packages that an operator may allow besides the standard library: what belongs to each, and what programs get of it.

Enters: names of packages, and their modules once the guest has imported them. Leaves: the checked list, and read-only
facades that show every public name of the parts in the table. No list of functions is kept here: a part is handed out
as it is, without its private names and without the modules that it happens to import.
Safety: this keeps chains of attributes short and messages clear, no more. Code of these packages evaluates text and
loads pickles (`DataFrame.eval`, `numpy.load`), so that with one of them the kernel walls alone are the boundary.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import ModuleType

from sandbox.dialect.facades import Facade, make_facade
from sandbox.errors import SpecError


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """One package that is known to work behind the seal.

    Attributes:
        parts: its documented submodules, relative to it; these can be imported, no others.
        brings: packages of this table that programs get with it.
        needs: top-level modules of other distributions that it imports, where they are installed.
    """

    parts: tuple[str, ...]
    brings: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


PACKAGES: Mapping[str, Package] = {
    "numpy": Package(
        parts=(
            "char",
            "dtypes",
            "exceptions",
            "fft",
            "lib",
            "lib.array_utils",
            "lib.format",
            "lib.introspect",
            "lib.mixins",
            "lib.npyio",
            "lib.recfunctions",
            "lib.scimath",
            "lib.stride_tricks",
            "linalg",
            "ma",
            "polynomial",
            "polynomial.chebyshev",
            "polynomial.hermite",
            "polynomial.hermite_e",
            "polynomial.laguerre",
            "polynomial.legendre",
            "polynomial.polynomial",
            "polynomial.polyutils",
            "random",
            "rec",
            "strings",
            "testing",
            "typing",
        ),
    ),
    "pandas": Package(
        parts=(
            "api",
            "api.extensions",
            "api.indexers",
            "api.types",
            "api.typing",
            "arrays",
            "errors",
            "io",
            "io.json",
            "testing",
            "tseries",
            "tseries.api",
            "tseries.frequencies",
            "tseries.holiday",
            "tseries.offsets",
            "util",
        ),
        brings=("numpy",),
        needs=("dateutil", "pytz", "six", "tzdata"),
    ),
}
"""Name → what belongs to it. Submodules left out reach into files, C types, compilers or the package's own inside."""

_TEXTS = ("__version__",)


def check_packages(names: Iterable[str]) -> tuple[str, ...]:
    """The allowed packages with those that they bring along, sorted.

    Raises:
        SpecError: `spec.package`, a name that is not in the table.
    """
    wanted = tuple(names)
    for name in wanted:
        if name not in PACKAGES:
            known = ", ".join(f"`{item}`" for item in sorted(PACKAGES))
            raise SpecError(
                f"the package {name!r} cannot be allowed: programs can be given {known} besides the standard library",
                code="spec.package",
                hint_operator=f"leave it out of `packages`; known there: {known}",
            )
    return tuple(sorted({*wanted, *(other for name in wanted for other in PACKAGES[name].brings)}))


def modules_of(names: Iterable[str]) -> frozenset[str]:
    """Dotted names of everything that a program can import of these packages. A name not in the table has no parts."""
    known = {name: PACKAGES[name].parts if name in PACKAGES else () for name in names}
    return frozenset(known) | {f"{name}.{part}" for name, parts in known.items() for part in parts}


def package_facades(names: Iterable[str]) -> dict[str, Facade]:
    """Facades of these packages and their parts, by dotted name; parts that an installed version lacks are left out.

    Raises:
        ImportError: a package itself is not installed.
    """
    facades: dict[str, Facade] = {}
    tops = frozenset(names)
    # Deepest first: a parent shows its parts as attributes.
    for path in sorted(modules_of(tops), key=lambda path: (-path.count("."), path)):
        try:
            module = importlib.import_module(path)
        except ImportError:
            if path in tops:
                raise
            continue
        facades[path] = make_facade(path, _public(module, facades), _explain)
    return facades


def _public(module: ModuleType, facades: Mapping[str, Facade]) -> dict[str, object]:
    """What a module shows; a module in it is shown as its facade, also under another name (`pandas.offsets`)."""
    shown: dict[str, object] = {}
    for name in (*_TEXTS, *dir(module)):
        if name.startswith("_") and name not in _TEXTS:
            continue
        try:
            value = getattr(module, name)
        except (AttributeError, ImportError):  # listed by the module, and gone
            continue
        if not isinstance(value, ModuleType):
            shown[name] = value
        elif value.__name__ in facades:
            shown[name] = facades[value.__name__]
    return shown


def _explain(path: str, name: str) -> str:
    """Why `path.name` is not there: the package's own words (`numpy.float` was removed), or ours."""
    try:
        value = getattr(importlib.import_module(path), name)
    except (AttributeError, ImportError) as error:
        return str(error)
    what = "a module that the package uses itself" if isinstance(value, ModuleType) else "private to the package"
    return f"`{path}.{name}` is {what}; use the public names of `{path}`"
