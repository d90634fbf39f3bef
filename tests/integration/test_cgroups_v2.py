"""Control groups of version 2 for real: in a user-mode Linux, because a machine has a controller in one version only.

Needs `linux.uml` on the path (Debian: the package user-mode-linux).
"""

import functools
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
IN_FORCE = {
    "cgroup-memory": "extra",
    "cgroup-pids": "extra",
    "threads": "extra",
    "threads started": "7\n",
    "all runs": "limit.memory",
    "after": "50\n",
}

pytestmark = pytest.mark.timeout(300)


@functools.cache
def found():
    kernel = shutil.which("linux.uml")
    if kernel is None:
        pytest.skip("did not run: needs `linux.uml` (Debian: apt install user-mode-linux)")
    init = [f"init={sys.executable}", "--", "-B", str(ROOT / "tests" / "support" / "uml_init.py")]
    machine = ["root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", "mem=1024M", "quiet"]
    done = subprocess.run(
        [kernel, *machine, "con=null", "con0=fd:0,fd:1", *init],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=280,
    )
    line = next((line for line in done.stdout.splitlines() if line.startswith("FOUND ")), None)
    assert line is not None, (done.stdout + done.stderr)[-2000:]
    return json.loads(line.removeprefix("FOUND "))


def test_at_the_top_groups_are_made_beside_all_processes():
    assert found()["top"] == {**IN_FORCE, "group": "0::/", "left": []}


def test_in_a_group_that_is_not_delegated_nothing_is_made_and_nobody_moves():
    result = found()["not delegated"]
    assert (result["cgroup-memory"], result["cgroup-pids"], result["left"]) == ("missing", "missing", [])
    assert (result["group"], result["all runs"]) == ("0::/service", "340\n")


def test_in_a_delegated_group_the_host_moves_to_a_leaf_first():
    result = found()["delegated to root"]
    assert result == {**IN_FORCE, "group": result["group"], "left": ["host"]}
    assert result["group"].startswith("0::/marked/codemode-host-")


def test_in_a_subgroup_of_a_delegated_group_the_host_stays():
    assert found()["in a subgroup"] == {**IN_FORCE, "group": "0::/above/supervisor", "left": []}


def test_a_plain_user_with_a_delegated_group_has_both():
    result = found()["delegated to a user"]
    assert result == {**IN_FORCE, "group": result["group"], "left": ["host"]}
    assert result["group"].startswith("0::/users/codemode-host-")
