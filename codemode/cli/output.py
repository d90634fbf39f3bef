"""How commands speak: one JSON document or plain text on standard output, errors and hints on standard error.

Enters: values, errors. Leaves: bytes on the two streams, and exit codes (ARCHITECTURE 4.1). Readable without colour.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Final, Protocol, runtime_checkable

from codemode.prose.visible import visible

OK: Final = 0
FAILED: Final = 1  # the program failed
USAGE: Final = 2  # usage or configuration
UNREACHABLE: Final = 3  # a needed server is unreachable
REFUSED: Final = 4  # gate, policy
NO_ISOLATION: Final = 5
LIMIT: Final = 124
INTERRUPTED: Final = 130

_BY_STAGE: Final[Mapping[str, int]] = {
    "config": USAGE,
    "run": USAGE,
    "spec": USAGE,
    "cli": USAGE,
    "upstream": UNREACHABLE,
    "gate": REFUSED,
    "policy": REFUSED,
    "arguments": REFUSED,
    "isolation": NO_ISOLATION,
    "limit": LIMIT,
}


@runtime_checkable
class CodedError(Protocol):
    """An error with a code, of either package: both have the same shape."""

    code: str
    message: str
    hint_operator: str


def exit_code_of(code: str) -> int:
    """The exit code for an error code."""
    return _BY_STAGE.get(code.partition(".")[0], FAILED)


def print_json(document: Mapping[str, object]) -> None:
    """The one JSON document of a command."""
    try:
        text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)
        text.encode(sys.stdout.encoding or "utf-8")
    except (UnicodeEncodeError, ValueError):
        text = json.dumps(document, ensure_ascii=True, indent=2)
    sys.stdout.write(text + "\n")


def print_text(text: str) -> None:
    """Data for people or pipes, on standard output. Half surrogate pairs become `?`; a terminal gets no controls."""
    if sys.stdout.isatty():
        text = visible(text)
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding) + "\n")


def tell(text: str) -> None:
    """Anything that is no data, on standard error."""
    encoding = sys.stderr.encoding or "utf-8"
    sys.stderr.write(text.encode(encoding, "replace").decode(encoding) + "\n")
    sys.stderr.flush()


def warn(warnings: Sequence[str]) -> None:
    """Warnings of a configuration, one line each."""
    for text in warnings:
        tell(f"warning: {text}")


def fail(error: CodedError, *, as_json: bool) -> int:
    """Report an error; returns the exit code. With `as_json` it is also the JSON document."""
    if as_json:
        print_json({"error": {"code": error.code, "message": error.message, "hint": error.hint_operator}})
    tell_error(error.code, error.message, error.hint_operator)
    return exit_code_of(error.code)


def tell_error(code: str, message: str, hint: str = "") -> None:
    """An error as people read it."""
    tell(f"error[{code}]: {message}")
    if hint:
        tell(f"hint: {hint}")


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset()) -> str:
    """Columns of plain text; those in `right` are aligned to the right."""
    all_rows = [tuple(head), *map(tuple, rows)]
    widths = [max(len(row[column]) for row in all_rows) for column in range(len(head))]
    lines = []
    for row in all_rows:
        cells = [
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
