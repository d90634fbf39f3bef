"""Programs of the kinds that models write: each must print under the dialect exactly what plain CPython prints.

The programs stand in `everyday_programs.txt`, each below a line `### name`.
"""

from __future__ import annotations

from pathlib import Path


def read_programs() -> dict[str, str]:
    """The programs by name."""
    text = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    parts = text.removeprefix("### ").split("\n### ")
    return {name: source + "\n" for name, _, source in (part.partition("\n") for part in parts)}


PROGRAMS = read_programs()
