"""The sandbox on the other versions of CPython that it is for, with those that are on this machine.

A choice of its tests, and every attack of the register in a guest. What is not on the machine is said to be not run.
"""

import json
import os
import re
import subprocess
import sys

import pytest

from tests.architecture.source import ROOT
from tests.support import other_pythons

VERSIONS = ("3.11", "3.12", "3.13")
# Each is a test of its own in the suite; here it is run by another interpreter.
FILES = (
    "tests/unit/sandbox/test_seccomp_filter.py",
    "tests/unit/sandbox/test_walls.py",
    "tests/unit/sandbox/test_outcome.py",
    "tests/unit/sandbox/dialect/test_dialect_everyday.py",
    "tests/integration/test_sandbox_runs.py",
    "tests/integration/test_sandbox_limits.py",
    "tests/integration/test_guest_is_expendable.py",
)
HELD_ELSEWHERE = {"process.threads"}  # where a plain user runs this, the number of threads is not limited

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform != "linux", reason="did not run: needs Linux"),
    pytest.mark.parametrize("version", [v for v in VERSIONS if v != f"{sys.version_info[0]}.{sys.version_info[1]}"]),
]


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    return other_pythons.lend_packages(tmp_path_factory.mktemp("packages"))


def run(version, packages, *arguments):
    python = other_pythons.find(version)
    if python is None:
        pytest.skip(f"did not run: no Python {version} on PATH, in pyenv or in CODEMODE_TEST_PYTHONS")
    variables = {"PYTHONPATH": f"{ROOT}:{packages}", "PYTHONDONTWRITEBYTECODE": "1", "PATH": os.environ["PATH"]}
    return subprocess.run(
        [python, "-s", *arguments], capture_output=True, text=True, timeout=280, cwd=ROOT, env=variables
    )


def test_a_choice_of_the_tests_of_the_sandbox_passes(version, packages):
    done = run(version, packages, "-m", "pytest", "-q", "--noconftest", "-p", "tests.support.plain_plugin", *FILES)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-500:]
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 250


def test_no_attack_of_the_register_reaches_what_it_is_after(version, packages):
    done = run(version, packages, "tests/security/attack_runner.py", "jailed")
    assert done.returncode == 0, done.stderr[-2000:]
    attacks = json.loads(done.stdout)["attacks"]
    assert len(attacks) > 100
    reached = {name for name, found in attacks.items() if found["reached"] or found["noticed"]}
    assert reached <= (set() if os.geteuid() == 0 else HELD_ELSEWHERE)
