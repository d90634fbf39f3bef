"""Questions about the shape of syntax nodes.

Enters: nodes of a program. Leaves: yes, no, or a reason. No state.
"""

from __future__ import annotations

import ast

from sandbox.dialect.rules import judge_attribute

_OPTIONAL_ERRORS = frozenset(("ImportError", "ModuleNotFoundError", "Exception", "BaseException"))


def is_super(node: ast.expr) -> bool:
    """Whether a node is `super(...)`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def catches_import_error(node: ast.expr | None) -> bool:
    """Whether `except node:` catches a module that is not there."""
    if node is None:
        return True
    if isinstance(node, ast.Tuple):
        return any(catches_import_error(item) for item in node.elts)
    return isinstance(node, ast.Name) and node.id in _OPTIONAL_ERRORS


def outside_name(values: list[ast.expr]) -> str:
    """The first literal name among the values, or in a list of names, that leads out of the workspace; else ""."""
    for value in values:
        items = value.elts if isinstance(value, ast.Tuple | ast.List) else [value]
        for item in items:
            name = item.value if isinstance(item, ast.Constant) else ""
            is_absolute = isinstance(name, str) and name.startswith("/") and not name.startswith("/workspace")
            if isinstance(name, str) and (is_absolute or ".." in name.split("/")):
                return name
    return ""


def literal_names_problem(value: ast.expr | None, *, is_slots: bool) -> str:
    """Why the value of `__slots__` or `__match_args__` in a class body is refused, or ""."""
    items = value.elts if isinstance(value, ast.Tuple | ast.List | ast.Set) else [value]
    if is_slots and isinstance(value, ast.Dict):
        items = list(value.keys)
    for item in items:
        if not isinstance(item, ast.Constant) or not isinstance(item.value, str):
            return "it names attributes, so it must be literal"
        name = item.value
        if name.startswith("__") and name.endswith("__") and not (is_slots and name in ("__dict__", "__weakref__")):
            return f"`{name}` cannot be named here"
        if not is_slots and judge_attribute(name, frozenset((name,))).mode != "native":
            return f"`{name}` cannot be named here"
    return ""
