"""The prototype's list of attacks (`../shared/design/prototypes`), by native code in guests: nothing is had by any."""

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.security.prototype_runner import LIMITS

HERE = Path(__file__).resolve().parent
ATTACKS = HERE.parents[2] / "shared" / "design" / "prototypes" / "attacks.py"

pytestmark = [
    pytest.mark.timeout(200),
    pytest.mark.skipif(not ATTACKS.exists(), reason="did not run: no list of attacks in `../shared/design/prototypes`"),
]


@functools.cache
def outcome(way):
    if way != "own" and os.geteuid() != 0:
        pytest.skip("did not run: only root can start as another user")
    start = [] if way == "own" else [str(HERE / "plain_user.py"), way]
    # A plain user may not be able to read the list where it lies: it comes as a file of its own.
    command = [sys.executable, *start, str(HERE / "prototype_runner.py"), "/dev/stdin"]
    with ATTACKS.open() as attacks:
        done = subprocess.run(command, stdin=attacks, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("way", ["own", "namespaces", "bare", "container"])
def test_no_attempt_of_the_prototype_gets_anything_but_threads_within_bounds(way):
    found = outcome(way)
    got = {name: text for name, text in found.items() if not text.startswith("stopped")}
    threads = int(got.pop("a_threads", "GOT 0 threads").split()[1])
    assert got == {}
    assert len(found) >= 30
    assert way == "bare" or threads <= LIMITS.threads  # where threads cannot be counted, memory bounds them
