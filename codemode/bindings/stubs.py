"""`.pyi` stubs of the tree, for editors and reviewers; nothing executes them.

Enters: bindings. Leaves: stub texts. Foreign text occurs only as ASCII-escaped literals, as in the bindings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from codemode.bindings.function import Binding, parse

_HEAD: Final = "from typing import Any, Literal\n"


def root_stub(modules: Sequence[str]) -> str:
    """The stub of `tools`."""
    return "".join(f"from tools import {module} as {module}\n" for module in modules)


def server_stub(bindings: Iterable[Binding]) -> str:
    """The stub of one server's module: every function with its annotations and text, as in its binding."""
    functions = []
    for bound in bindings:
        lines = bound.source.splitlines(keepends=True)
        # A binding's source ends with its function (checked when it was made).
        function = parse(bound.source).body[-1]
        functions.append("\n" + "".join(lines[function.lineno - 1 :]))
    return _HEAD + "".join(functions)
