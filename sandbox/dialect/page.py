"""Writes `ALLOWED.md`, the page of what programs may import and what is refused.

Enters: the tables, and one example for each kind of refused syntax, whose reason is the message that a program gets.
Leaves: Markdown. `tests/docs` compares the page with the tables.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping

from sandbox.dialect.modules import ENTRIES
from sandbox.dialect.nearest import GROUPS, nearest
from sandbox.dialect.program import compile_program
from sandbox.dialect.rules import REFUSED_ATTRIBUTES, REFUSED_BUILTINS

_INTRO = """# What programs may import, and what is refused

Made by `python -m sandbox.dialect.page`; a test compares it with the tables. Everything else of Python is allowed.

`eval` and `exec` take text. It is compiled by the same rules as the program and runs with the program's builtins, so it
can do nothing that the program could not have written down; a wrong rule would be wrong without them too. `compile`
stays refused: a code object is run by things that no rule looks at.
"""

SYNTAX: tuple[str, ...] = (
    "try: pass\nexcept* ValueError: pass",
    "class M(type): pass",
    "class A(metaclass=M): pass",
    "class A(**options): pass",
    "class A: __slots__ = names",
    "from . import a",
    "x._name",
    "x.__other__",
    "json.dumps = f",
    "match x:\n    case A(_name=n): pass",
    "'{0.__class__}'.format(x)",
    "_cm_x = 1",
)


def build_page() -> str:
    """The whole page."""
    return "\n".join((_INTRO, *_modules(), *_refused_modules(), *_names(), *_syntax())).rstrip("\n") + "\n"


def _modules() -> Iterator[str]:
    yield "## Modules\n\n| module | names | left out |\n| --- | --- | --- |"
    for name, entry in sorted(ENTRIES.items()):
        hints = "; ".join(f"`{key}`: {hint}" for key, hint in entry.hints)
        shown = " ".join(f"`{item}`" for item in sorted(entry.all_names()))
        yield f"| `{name}` | {_cell(shown)} | {_cell('; '.join(filter(None, (entry.left_out, hints))))} |"


def _refused_modules() -> Iterator[str]:
    yield "\n## Modules that are refused\n\n| modules | instead |\n| --- | --- |"
    rows: dict[str, list[str]] = {}
    for names, _ in GROUPS:
        for name in sorted(names.split()):
            rows.setdefault(nearest(name), []).append(f"`{name}`")
    yield from (f"| {_cell(' '.join(names))} | {_cell(hint)} |" for hint, names in rows.items())


def _names() -> Iterator[str]:
    yield "\n## Names that are refused\n\n| name | why | instead |\n| --- | --- | --- |"
    for kind, table in (("attribute", REFUSED_ATTRIBUTES), ("name", REFUSED_BUILTINS)):
        yield from _grouped(kind, table)


def _grouped(kind: str, table: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    rows: dict[tuple[str, str], list[str]] = {}
    for name, why in sorted(table.items()):
        rows.setdefault(why, []).append(f"`{name}`")
    for (reason, hint), names in rows.items():
        yield f"| {kind} {_cell(' '.join(names))} | {_cell(reason)} | {_cell(hint)} |"


def _syntax() -> Iterator[str]:
    yield "\n## Syntax that is refused\n\n| example | message | hint |\n| --- | --- | --- |"
    for source in SYNTAX:
        program = f"import json\n{source}".encode()
        found = compile_program(program, dialect="restricted", filename="<example>", roots=()).diagnostics[0]
        yield f"| `{_cell(' ⏎ '.join(source.splitlines()))}` | {_cell(found.message)} | {_cell(found.hint)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(build_page())
