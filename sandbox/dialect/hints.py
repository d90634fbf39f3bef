"""What to write instead, for errors that end a run: names that nothing binds, and what works another way here.

Enters: the exception and the program's line that it came from. Leaves: one line for a model, or nothing.
"""

from __future__ import annotations

import re

from sandbox.dialect.modules import ENTRIES
from sandbox.dialect.nearest import nearest
from sandbox.dialect.rules import words

_SHELL = "there is no shell here: call a tool, or write Python"
_TOOLS = "tools are functions here: `tools.SERVER.FUNCTION(name=value)`"
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
    **dict.fromkeys(words("call_tool use_tool run_tool execute_tool call_mcp_tool use_mcp_tool mcp client"), _TOOLS),
    **dict.fromkeys(words("display get_ipython"), "this is IPython: print the value, or end with it"),
}
# Where a name stands in several modules, the first of these is meant.
_USUAL = (
    *("collections", "datetime", "functools", "itertools", "concurrent.futures", "dataclasses", "decimal", "pathlib"),
    *("statistics", "math", "enum", "contextlib", "zoneinfo", "urllib.parse", "typing", "abc", "heapq", "bisect"),
    *("string", "io", "fractions", "operator", "copy", "pprint", "textwrap"),
)
_SHORT = {"np": "numpy", "pd": "pandas"}


# Type of the exception, pattern of its text, what to write.
_WORKS_ANOTHER_WAY = tuple(
    (kind, re.compile(pattern), line)
    for kind, pattern, line in (
        (
            TypeError,
            r"'mappingproxy' object does not support item",
            "the table of a class, and `locals()` in its body, are read-only here: assign the name, or use a dict",
        ),
        (TypeError, r"'async for' requires an object with __aiter__", "write `for`: results of tools are plain values"),
        (
            AttributeError,
            r"type object 'Path' has no attribute '(?:home|cwd|expanduser)'",
            "there is the session's workspace only: write `Path('name')`, relative to it",
        ),
        (
            AttributeError,
            r"'LoopFacade' object has no attribute",
            "there is one loop: write `await main()` at the top level, or `asyncio.run(main())`",
        ),
    )
)


def explain_error(error: BaseException, packages: tuple[str, ...] = (), source_line: str = "") -> tuple[str, ...]:
    """The line for an error, if there is one; `packages` are those that can be imported."""
    if isinstance(error, NameError):
        line = _unbound(error, packages, source_line)
        return (line,) if line else ()
    if type(error) is IndexError and "argv" in source_line:
        return ("there is no command line: write the value into the program",)
    if type(error) not in (TypeError, AttributeError):
        return ()
    text = str(error)
    return tuple(line for kind, pattern, line in _WORKS_ANOTHER_WAY if type(error) is kind and pattern.match(text))


def _unbound(error: NameError, packages: tuple[str, ...], source_line: str) -> str:
    name = error.name
    if type(name) is not str or isinstance(error, UnboundLocalError):
        return ""
    known = _INSTEAD.get(name) or _import_of(name, packages)
    if known:
        return known
    is_key = name.isidentifier() and re.search(rf"[{{,]\s*{name}\s*:", source_line) is not None
    return f"a key that is text needs quotes: `{{'{name}': ...}}`; a function takes `{name}=...`" if is_key else ""


def _import_of(name: str, packages: tuple[str, ...]) -> str:
    package = _SHORT.get(name)
    if package is not None:
        there = f"write `import {package} as {name}`" if package in packages else f"`{package}`: {nearest(package)}"
        return f"`{name}` is not imported: {there}"
    if name in ENTRIES:
        return f"`{name}` is not imported: write `import {name}`"
    module = next((module for module in _USUAL if module in ENTRIES and name in ENTRIES[module].all_names()), "")
    return f"`{name}` is not imported: write `from {module} import {name}`" if module else ""
