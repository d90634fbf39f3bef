"""What a `str.format` template may reach: values, items and public attributes.

Enters: a template. Leaves: a reason and a hint when a field digs where the dialect does not let a program look.
Source of the rule: CVE-2023-41039 and CVE-2026-76825 (format strings read any attribute of their arguments).
"""

from __future__ import annotations

from _string import (  # type: ignore[import-not-found]  # what string.Formatter itself is built on
    formatter_field_name_split,
    formatter_parser,
)

from sandbox.dialect.rules import READABLE, judge_attribute

_DEPTH = 3  # str.format itself expands a replacement field in a specification once
HINT = "use an f-string, or read the attribute before"


def format_problem(template: str, depth: int = 0) -> tuple[str, str] | None:
    """The reason and hint why this template is refused, or None. A malformed template is Python's own error."""
    try:
        fields = list(formatter_parser(template))
    except ValueError:
        return None
    for _, field, specification, _ in fields:
        if field:
            problem = _field_problem(field)
            if problem:
                return problem
        if specification and "{" in specification and depth < _DEPTH:
            inner = format_problem(specification, depth + 1)
            if inner:
                return inner
    return None


def _field_problem(field: str) -> tuple[str, str] | None:
    try:
        _, rest = formatter_field_name_split(field)
        parts = list(rest)
    except ValueError:
        return None
    for is_attribute, name in parts:
        if is_attribute and not may_dig(str(name)):
            return f"the format field `{{{field[:60]}}}` reads `{str(name)[:60]}`, which a template may not", HINT
    return None


def may_dig(name: str) -> bool:
    """Whether a name may be read off an object where no compile-time check saw it."""
    if name.startswith("_"):
        return name in READABLE
    return judge_attribute(name, frozenset()).mode == "native"
