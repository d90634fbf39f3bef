"""Size limits of a listed definition, checked before anything else looks at it.

Enters: a Python value that came out of a JSON parser, or should have. Leaves: why it is too much, or that it is
fine. Walks with a list of its own, so nothing a server sends can exhaust Python's stack.
"""

from __future__ import annotations

from codemode.catalog.text import has_surrogate

MAX_DEPTH = 64  # chosen: the deepest of 1,858 public tools has 23 levels of JSON
MAX_NODES = 20_000
MAX_CHARS = 512 * 1024  # chosen: of texts and names together; the largest public definition has about 60,000
MAX_EXPANSION = 10_000  # nodes after every reference is written out once
MAX_REFERENCE_DEPTH = 64  # references in a row
MAX_NAME_CHARS = 256
MAX_PROPERTY_CHARS = 512
MAX_TOOLS = 25_000  # of one server


def fault(value: object) -> str:
    """Why the value is no JSON of a bearable size, in a few words; "" when it is.

    NaN and infinities pass: a parser lets them through and one default must not cost a tool; `schemas.py` drops them.
    """
    nodes = 0
    chars = 0
    level: list[object] = [value]
    for _ in range(MAX_DEPTH + 1):
        if not level:
            return ""
        nodes += len(level)
        if nodes > MAX_NODES:
            return f"more than {MAX_NODES} values"
        below: list[object] = []
        for item in level:
            if isinstance(item, str):
                chars += len(item)
            elif isinstance(item, dict):
                below.extend(item.values())
                chars += sum(len(key) if isinstance(key, str) else MAX_CHARS + 1 for key in item)
            elif isinstance(item, (list, tuple)):
                below.extend(item)
            elif item is not None and not isinstance(item, (bool, int, float)):
                return f"a {type(item).__name__}, which JSON does not have"
        if chars > MAX_CHARS:
            return f"more than {MAX_CHARS // 1024} kB"
        level = below
    return f"levels nested deeper than {MAX_DEPTH}" if level else ""


def name_fault(name: object) -> str:
    """Why a listed tool name cannot be used, or ""."""
    if not isinstance(name, str):
        return f"its name is {kind_of(name)}, not a string"
    if not name.strip():
        return "its name is empty"
    if len(name) > MAX_NAME_CHARS:
        return f"its name has {len(name)} characters, the limit is {MAX_NAME_CHARS}"
    return ""


def property_fault(name: str) -> str:
    """Why a property name cannot be sent, or ""."""
    if len(name) > MAX_PROPERTY_CHARS:
        return f"a property name of {len(name)} characters, the limit is {MAX_PROPERTY_CHARS}"
    if has_surrogate(name):
        return "a property name with half of a surrogate pair"
    return ""


def kind_of(value: object) -> str:
    """What a JSON value is, in the words of JSON, with its article."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, (list, tuple)):
        return "an array"
    return "an object" if isinstance(value, dict) else f"a {type(value).__name__}"
