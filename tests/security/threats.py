"""What a guest may be after, in the words of the table in `sandbox/README.md`, and the attacks that stand for it.

Each cell of the table is a link to its own test; `python -m tests.security.threats` prints the cells of the README anew
with such links.
"""

from __future__ import annotations

import re
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "sandbox" / "README.md"
TESTS = "../tests/security/test_layer_ablation.py"

LAYERS = (
    "descriptors",
    "environment",
    "identity",
    "memory",
    "landlock",
    "seccomp",
    "namespaces",
    "empty-root",
)
"""Layers that can be left out one by one, in the table's order."""

THREATS: dict[str, tuple[str, ...]] = {
    "what the host left open": ("descriptors.inherited",),
    "the host's environment": ("process.environment",),
    "files": ("files.proc-self", "files.read", "files.list", "files.stat", "files.write", "files.remove"),
    "memory of other processes": (
        "files.proc-mem",
        "files.proc-environ",
        "process.read-memory",
        "process.write-memory",
        "process.ptrace",
    ),
    "ending other processes": ("process.kill", "process.kill-thread"),
    "TCP": ("network.tcp",),
    "UDP": ("network.udp",),
    "named unix sockets": ("network.unix", "network.unix-datagram"),
    "abstract unix sockets": ("network.abstract",),
    "running programs": ("process.exec", "process.system"),
    "making processes": ("process.fork", "process.clone"),
    "new machine code": ("memory.executable", "memory.executable-later"),
    "memory that is counted": ("memory.heap",),
    "memory that is not counted": ("memory.growing-down",),
    "threads": ("process.threads",),
    "raising its limits": ("process.limits-up",),
    "the machine's name": ("identity.host-name",),
    "rare parts of the kernel": ("kernel.priority-futex", "kernel.other-clock"),
}

_CELL = re.compile(r"^\[(?P<text>[^\]]+)\]\((?P<link>[^)]+)\)$")


def cell_id(layer: str, threat: str) -> str:
    """What stands in brackets behind the name of the cell's test."""
    return f"{layer}-{re.sub('[^a-z]+', '-', threat.lower())}"


def written_rows() -> dict[str, list[str]]:
    """Threat → its cells, as they stand in the README; the first row has the layers."""
    lines = README.read_text(encoding="utf-8").splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("| threat |"))
    end = next(n for n in range(start, len(lines)) if not lines[n].startswith("|"))
    rows = [[part.strip() for part in line.strip("|").split("|")] for line in lines[start:end]]
    return {threat: cells for threat, *cells in rows if not threat.startswith("---")}


def text_of(cell: str) -> str:
    """What a reader of the cell sees."""
    found = _CELL.match(cell)
    return found["text"] if found else cell


def linked(cell: str, layer: str, threat: str) -> str:
    """The cell as a link to its test."""
    return f"[{text_of(cell)}]({TESTS}#{cell_id(layer, threat)})"


def main() -> None:
    heads, *rows = written_rows().items()
    layers = [head.strip("`") for head in heads[1]]
    for threat, cells in rows:
        links = (linked(cell, layer, threat) for cell, layer in zip(cells, layers, strict=True))
        print(f"| {threat} | {' | '.join(links)} |")


if __name__ == "__main__":
    main()
