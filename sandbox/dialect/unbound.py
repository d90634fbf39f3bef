"""A name that nothing binds: the import that was forgotten, or what Python has in its place.

Enters: the NameError that ended a run. Leaves: one line for a model, or nothing.
"""

from __future__ import annotations

from sandbox.dialect.modules import ENTRIES
from sandbox.dialect.nearest import nearest
from sandbox.dialect.rules import words

_SHELL = "there is no shell here: call a tool, or write Python"
_INSTEAD: dict[str, str] = {
    "true": "write `True`",
    "false": "write `False`",
    **dict.fromkeys(words("null undefined nil NULL"), "write `None`"),
    "NaN": "write `float('nan')`",
    "Infinity": "write `float('inf')`",
    "console": "write `print(...)`",
    "JSON": "write `json.loads(text)` or `json.dumps(value)`",
    **dict.fromkeys(words("require document window"), "this is JavaScript: write Python"),
    **dict.fromkeys(words("fetch axios"), "there is no network: call a tool"),
    **dict.fromkeys(words("ls cd pwd cat pip pip3 curl wget grep echo sudo bash"), _SHELL),
    **dict.fromkeys(words("unicode basestring"), "this is Python 2: write `str`"),
    "raw_input": "nobody sits at a keyboard: write the value into the program",
    "xrange": "this is Python 2: write `range`",
    "unichr": "this is Python 2: write `chr`",
    "long": "this is Python 2: write `int`",
    "cmp": "this is Python 2: write `(a > b) - (a < b)`",
    **dict.fromkeys(words("display get_ipython"), "this is IPython: print the value, or end with it"),
}
# Where a name stands in several modules, the first of these is meant.
_USUAL = (
    *("collections", "datetime", "functools", "itertools", "concurrent.futures", "dataclasses", "decimal", "pathlib"),
    *("statistics", "math", "enum", "contextlib", "zoneinfo", "urllib.parse", "typing", "abc", "heapq", "bisect"),
    *("string", "io", "fractions", "operator", "copy", "pprint", "textwrap"),
)
_SHORT = {"np": "numpy", "pd": "pandas"}


def explain_unbound(error: BaseException, packages: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The line for an error, if it is about a name that has one; `packages` are those that can be imported."""
    name = error.name if isinstance(error, NameError) else None
    if type(name) is not str or isinstance(error, UnboundLocalError):
        return ()
    line = _INSTEAD.get(name) or _import_of(name, packages)
    return (line,) if line else ()


def _import_of(name: str, packages: tuple[str, ...]) -> str:
    package = _SHORT.get(name)
    if package is not None:
        there = f"write `import {package} as {name}`" if package in packages else f"`{package}`: {nearest(package)}"
        return f"`{name}` is not imported: {there}"
    if name in ENTRIES:
        return f"`{name}` is not imported: write `import {name}`"
    module = next((module for module in _USUAL if module in ENTRIES and name in ENTRIES[module].all_names()), "")
    return f"`{name}` is not imported: write `from {module} import {name}`" if module else ""
