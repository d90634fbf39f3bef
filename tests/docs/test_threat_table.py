"""The tables of layers in `sandbox/README.md`: every cell and every layer is linked to a test that there is."""

import re
import subprocess
import sys

import pytest

from sandbox.backends import isolation
from tests.architecture.source import ROOT
from tests.security.threats import LAYERS, README, THREATS, linked, written_rows

LINK = re.compile(r"\]\(\.\./tests/(?P<file>[\w/]+\.py)#(?P<test>[^)]+)\)")


def collected(files):
    """File → names of its tests, with what stands in brackets."""
    ask = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-q",
        "-p",
        "no:randomly",
        *(f"tests/{file}" for file in files),
    ]
    done = subprocess.run(ask, capture_output=True, text=True, timeout=100, cwd=ROOT)
    assert done.returncode == 0, done.stdout
    found = {file: set() for file in files}
    for line in done.stdout.splitlines():
        if "::" in line:
            path, _, name = line.partition("::")
            found[path.removeprefix("tests/")].add(name)
    return found


def names_of(test):
    """What a link may end in: the test's name, with or without brackets, or what stands in them."""
    return {test, test.partition("[")[0], test.partition("[")[2].rstrip("]")}


def test_the_table_has_every_threat_and_every_layer():
    heads, *threats = written_rows()
    assert [head.strip("`") for head in written_rows()[heads]] == list(LAYERS)
    assert threats == list(THREATS)


@pytest.mark.parametrize("threat", THREATS)
def test_every_cell_is_a_link_to_its_own_test(threat):
    cells = written_rows()[threat]
    assert cells == [linked(cell, layer, threat) for cell, layer in zip(cells, LAYERS, strict=True)], (
        "`python -m tests.security.threats` prints the cells with their links"
    )


def test_every_layer_is_linked_to_a_test():
    rows = [line for line in README.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    first = rows[: next(n for n, row in enumerate(rows) if row.startswith("| `cgroup-pids`")) + 1]
    names = [name for row in first for name in re.findall(r"`([\w-]+)`", row.split("|")[1])]
    assert sorted(names) == sorted(row[0] for row in isolation._TABLE)
    assert [row for row in first if not LINK.search(row.rsplit("|", 2)[1])] == []


def test_every_link_to_a_test_resolves():
    links = LINK.findall(README.read_text(encoding="utf-8"))
    assert len(links) > len(THREATS) * len(LAYERS)
    tests = collected(sorted({file for file, _ in links}))
    names = {file: {name for test in found for name in names_of(test)} for file, found in tests.items()}
    assert [(file, wanted) for file, wanted in links if wanted not in names[file]] == []
