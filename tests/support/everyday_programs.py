"""Programs of the kinds that models write: each must print under the dialect exactly what plain CPython prints.

The programs stand in `everyday_programs.txt` (standard library), `data_programs.txt` (numpy and pandas) and
`sandbox_programs.txt` (run in real guests, many end with a value), each below a line `### name`.
"""

from __future__ import annotations

from pathlib import Path


def read_programs(file: str) -> dict[str, str]:
    """The programs of a file beside this one, by name."""
    text = Path(__file__).with_name(file).read_text(encoding="utf-8")
    parts = text.removeprefix("### ").split("\n### ")
    return {name: source + "\n" for name, _, source in (part.partition("\n") for part in parts)}


PROGRAMS = read_programs("everyday_programs.txt")
DATA_PROGRAMS = read_programs("data_programs.txt")
SANDBOX_PROGRAMS = read_programs("sandbox_programs.txt")
