"""Programs grown at random from every facade reach no module, frame, code, file, loop, metaclass, process or socket.

A few thousand steps here; `facade_fuzzer.py` itself runs as long as it is told.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
CARELESS = """
import json, types
from tests.security import facade_fuzzer as fuzzer
def start(*given):
    return [("careless", types.SimpleNamespace(part=json)), ("opens", lambda *a, **k: open("/nobody/has/this"))]
fuzzer.start_values = start
print(json.dumps(fuzzer.fuzz(1, 200)))
"""

pytestmark = [
    pytest.mark.timeout(280),
    pytest.mark.skipif(sys.platform != "linux", reason="did not run: needs Linux"),
]


def run(*arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=270, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(json.loads(done.stdout.splitlines()[-1]))


def test_no_program_grown_at_random_reaches_what_it_must_not_hold() -> None:
    total = run("tests/security/facade_fuzzer.py", "--seeds", "1:4", "--steps", "700")
    assert total["found"] == {}
    assert total["steps"] >= 1_400, total  # a seed that a slow machine ends has none


def test_the_fuzzer_finds_what_it_looks_for() -> None:
    found = run("-c", CARELESS)["found"]
    assert any(line.startswith("module: ") for line in found), found
    assert any(line.startswith("open ('/nobody/has/this'") for line in found), found
