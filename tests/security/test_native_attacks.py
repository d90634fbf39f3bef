"""Every attack of the register, by native code in a guest of the process backend, started in each way there is.

The ways: as whoever runs the tests; and when that is root also as a plain user with and without user namespaces and as
root of a container that has 65,536 ids; and where there is an engine, as root of a container of its with the engine's
default profile. An attack must reach nothing in any way that its entry does not except.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from sandbox.backends import docker_image
from sandbox.linux import landlock
from tests.security.attacks_kernel import NUMBERS
from tests.security.register import ATTACKS
from tests.support.docker_here import need_docker

HERE = Path(__file__).resolve().parent
WAYS = ("own", "namespaces", "bare", "container", "engine")
GROUPS = {"cgroup-memory", "cgroup-pids"}
LACKS = {
    "engine": {"namespaces", "empty-root", *GROUPS},
    "bare": {"namespaces", "empty-root", "own-user", "threads", *GROUPS},
    "namespaces": {"own-user", *GROUPS},
}
SINCE_ABI = {"landlock": 1, "landlock-tcp": 4, "landlock-signals": 6, "landlock-abstract": 6}
"""Layer and the version of Landlock that has it: Documentation/userspace-api/landlock.rst."""

pytestmark = [pytest.mark.timeout(300), pytest.mark.skipif(sys.platform != "linux", reason="did not run: needs Linux")]


@pytest.fixture(scope="module")
def outcome(once):
    """A function: what the runner prints for all attacks, started in one of the ways."""
    return lambda way, how: once(f"attacks-{way}-{how}", lambda: _run(way, how))


def _run(way, how):
    done = subprocess.run(_command(way, how), capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def _command(way, how):
    runner = [str(HERE / "attack_runner.py"), how]
    if way == "own":
        return [sys.executable, *runner]
    if way == "engine":
        return [*_default_container(), "/checkout/tests/security/attack_runner.py", how]
    if os.geteuid() != 0:
        pytest.skip("did not run: only root can start as another user")
    return [sys.executable, str(HERE / "plain_user.py"), way, *runner]


def _default_container():
    """This interpreter as root of a container that the engine makes when it is told nothing else."""
    need_docker()
    if shutil.which("docker") is None:
        pytest.skip("did not run: there is an engine and no `docker` command")
    packages = Path(anyio.__file__).resolve().parents[1]
    mounts = [f"--volume={HERE.parents[1]}:/checkout:ro", f"--volume={packages}:/packages:ro"]
    variables = ["--env=PYTHONPATH=/checkout:/packages", "--env=LD_LIBRARY_PATH=/usr/lib"]
    start = ["docker", "run", "--rm", "--user=0:0", f"--entrypoint={docker_image.PYTHON}"]
    return [*start, *mounts, *variables, docker_image.tag(), "-B", "-S"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.id)
def test_no_attack_reaches_what_it_is_after(outcome, attack, way):
    found = outcome(way, "jailed")["attacks"][attack.id]
    if way in attack.not_held:
        assert found["reached"], "an attack that is now held must leave the exceptions"
        return
    assert not found["reached"], found
    assert found["noticed"] == []


@pytest.mark.parametrize("attack", [a for a in ATTACKS if a.is_shown_bare], ids=lambda attack: attack.id)
def test_the_same_program_works_without_the_sandbox(outcome, attack):
    found = outcome("own", "bare")["attacks"][attack.id]
    assert found["reached"] or found["noticed"], found


@pytest.mark.parametrize("way", WAYS)
def test_what_a_way_of_starting_lacks_is_reported_and_nothing_else(outcome, way):
    isolation = outcome(way, "jailed")["isolation"]
    missing = {name for name, state in isolation.items() if state == "missing"}
    if way == "own" and os.geteuid() != 0:
        pytest.skip("did not run: what a plain user's machine offers is not known here")
    depends = GROUPS if way in ("own", "container") else set()  # on whether this machine lets its root make groups
    newer = {name for name, since in SINCE_ABI.items() if landlock.abi() < since}
    assert missing - depends == LACKS.get(way, set()) | newer


def test_the_register_is_complete_in_itself():
    ids = [attack.id for attack in ATTACKS]
    assert len(ids) == len(set(ids))
    assert all(bool(attack.unproved) is not attack.is_shown_bare for attack in ATTACKS)
    assert {way for attack in ATTACKS for way in attack.not_held} <= set(WAYS)
    code = "".join(attack.code for attack in ATTACKS).replace("'", '"')
    assert [name for name in NUMBERS if f'"{name}"' not in code] == []
