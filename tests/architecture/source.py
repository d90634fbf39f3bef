"""Finds and parses the project's own Python files for the architecture tests."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def python_files(*folders: str) -> Iterator[Path]:
    """Every Python file below these folders of the repository, sorted."""
    for folder in folders:
        place = ROOT / folder
        yield from [place] if place.is_file() else sorted(place.rglob("*.py"))


def name_of(path: Path) -> str:
    """The path as it is shown in a failure."""
    return str(path.relative_to(ROOT))


def parse(path: Path) -> ast.Module:
    """A file's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imported_modules(path: Path) -> set[str]:
    """Dotted names of all modules that a file imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
    return found
