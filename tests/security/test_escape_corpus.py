"""The sample corpus of escapes (`../shared/data/escapes`), language layer off: no entry has a forbidden effect.

No entry is skipped. Through `sandbox` alone and through the public path; as root and, for `sandbox` alone, as a plain
user. What the corpus' own canaries cannot see is watched here: the host's memory, time, other runs, calls of tools.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
pytestmark = [pytest.mark.timeout(280), pytest.mark.skipif(sys.platform != "linux", reason="did not run: needs Linux")]


@pytest.mark.parametrize("name", ["native", "resource", "protocol"])
@pytest.mark.parametrize("way", ["own", "public", "namespaces", "bare"])
def test_no_entry_of_the_corpus_has_a_forbidden_effect(shared, way, name):
    if way in ("namespaces", "bare") and os.geteuid() != 0:
        pytest.skip("did not run: only root can start as another user")
    runner = [str(HERE / "corpus_runner.py"), "public" if way == "public" else "alone", str(shared), name]
    as_user = [str(HERE / "plain_user.py"), way] if way in ("namespaces", "bare") else []
    done = subprocess.run([sys.executable, *as_user, *runner], capture_output=True, text=True, timeout=270)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    entries = (shared / "data" / "escapes" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    assert found["ran"] == len(entries)
    assert found["bad"] == []
