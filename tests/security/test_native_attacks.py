"""Every attack of the register, by native code in a guest of the process backend, started in each way there is.

The ways: as whoever runs the tests; and when that is root also as a plain user with and without user namespaces and as
root of a container that has 65,536 ids. An attack must reach nothing in any way that its entry does not except.
"""

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.security.attacks_kernel import NUMBERS
from tests.security.register import ATTACKS

HERE = Path(__file__).resolve().parent
WAYS = ("own", "namespaces", "bare", "container")
GROUPS = {"cgroup-memory", "cgroup-pids"}
LACKS = {
    "bare": {"namespaces", "empty-root", "own-user", "threads", *GROUPS},
    "namespaces": {"own-user", *GROUPS},
}

pytestmark = [pytest.mark.timeout(300), pytest.mark.skipif(sys.platform != "linux", reason="did not run: needs Linux")]


@functools.cache
def outcome(way, how):
    """What the runner prints for all attacks, started in one of the ways."""
    if way != "own" and os.geteuid() != 0:
        pytest.skip("did not run: only root can start as another user")
    runner = [str(HERE / "attack_runner.py"), how]
    command = [sys.executable, *runner] if way == "own" else [sys.executable, str(HERE / "plain_user.py"), way, *runner]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.id)
def test_no_attack_reaches_what_it_is_after(attack, way):
    found = outcome(way, "jailed")["attacks"][attack.id]
    if way in attack.not_held:
        assert found["reached"], "an attack that is now held must leave the exceptions"
        return
    assert not found["reached"], found
    assert found["noticed"] == []


@pytest.mark.parametrize("attack", [a for a in ATTACKS if a.is_shown_bare], ids=lambda attack: attack.id)
def test_the_same_program_works_without_the_sandbox(attack):
    found = outcome("own", "bare")["attacks"][attack.id]
    assert found["reached"] or found["noticed"], found


@pytest.mark.parametrize("way", WAYS)
def test_what_a_way_of_starting_lacks_is_reported_and_nothing_else(way):
    isolation = outcome(way, "jailed")["isolation"]
    missing = {name for name, state in isolation.items() if state == "missing"}
    if way == "own" and os.geteuid() != 0:
        pytest.skip("did not run: what a plain user's machine offers is not known here")
    depends = GROUPS if way in ("own", "container") else set()  # on whether this machine lets its root make groups
    assert {name for name in missing - depends if not name.startswith("landlock")} == LACKS.get(way, set())


def test_the_register_is_complete_in_itself():
    ids = [attack.id for attack in ATTACKS]
    assert len(ids) == len(set(ids))
    assert all(bool(attack.unproved) is not attack.is_shown_bare for attack in ATTACKS)
    assert {way for attack in ATTACKS for way in attack.not_held} <= set(WAYS)
    code = "".join(attack.code for attack in ATTACKS).replace("'", '"')
    assert [name for name in NUMBERS if f'"{name}"' not in code] == []
