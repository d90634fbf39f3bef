"""Says why a name is unknown that an earlier run of the session had: each run starts fresh.

Enters: the error of a run and the programs before it. Leaves: one line of help, or nothing.
Safety: programs are only searched as text. They are parsed inside the guest and never here: a parser is a target.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

MAX_LINE = 1_000  # characters; chosen: longer lines are data
_UNKNOWN = re.compile(r"name '(\w{1,200})' is not defined")
_STATEMENT = re.compile(
    r"(?:async +)?(?:def|class) +(\w+)|(?:from +[\w.]+ +)?import +(.+)|(?:async +)?(?:for|with) +(.+)"
)
_EQUALS = re.compile(r"(?<![=!<>:])=(?!=)")
_CALL = re.compile(r"\w\(")
_SPLIT = re.compile(r"\W+")


def starts_fresh(type_name: str, message: str, earlier: Sequence[tuple[str, str]]) -> str:
    """A hint for a NameError on a name that an earlier program bound at its top level, or "".

    `earlier` holds (label, program), newest first.
    """
    found = _UNKNOWN.match(message) if type_name == "NameError" else None
    if found is None:
        return ""
    name = found[1]
    label = next((label for label, program in earlier if _binds(program, name)), "")
    if not label:
        return ""
    return f"each run starts fresh: `{name}` was a name of run {label}; send one program that makes it and uses it"


def _binds(program: str, name: str) -> bool:
    return any(_line_binds(line, name) for line in program.splitlines() if name in line and len(line) <= MAX_LINE)


def _line_binds(line: str, name: str) -> bool:
    """Whether a line binds a name at top level; a line of a block counts when it is no deeper than a `with` or `if`."""
    depth = len(line) - len(line.lstrip(" \t"))
    if depth > 4:
        return False
    text = line.strip()
    statement = _STATEMENT.match(text)
    if statement is not None:
        if depth and statement[1]:
            return False
        return name in _SPLIT.split(statement[1] or statement[2] or statement[3])
    targets = [piece.partition(":")[0] for piece in _EQUALS.split(text)[:-1]]
    if any(_CALL.search(target) for target in targets):
        return False  # `f(name=1)`
    return any(re.search(rf"(?<![\w.\"']){name}\b(?![\"'])", target) for target in targets)
