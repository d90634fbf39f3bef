"""Every attack of the register, by native code in a guest of the docker backend.

The programs and targets are those of the process backend (`test_native_attacks.py`), which also shows that each works
without a sandbox. Where an entry says that a plain user's machine without namespaces does not hold it, the container
does not either: it counts threads for the container, not for each guest.
"""

import functools
import json
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox import RunSpec, open_sandbox
from tests.security.register import ATTACKS, PRELUDE
from tests.support.docker_here import need_docker

ROOT = Path(__file__).resolve().parents[2]
AS_WAY = "bare"
RUNNER = """
import sandbox
from tests.security import attack_runner
attack_runner.open_sandbox = lambda name, **options: sandbox.open_sandbox("docker", **options)
attack_runner.main("jailed")
"""

pytestmark = [pytest.mark.timeout(300), pytest.mark.skipif(sys.platform != "linux", reason="did not run: needs Linux")]


@functools.cache
def outcome():
    """What the runner prints for all attacks."""
    need_docker()
    done = subprocess.run([sys.executable, "-c", RUNNER], capture_output=True, text=True, timeout=280, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.id)
def test_no_attack_reaches_what_it_is_after_from_a_container(attack):
    found = outcome()["attacks"][attack.id]
    if AS_WAY in attack.not_held:
        assert found["reached"], "an attack that is now held must leave the exceptions"
        return
    assert not found["reached"], found
    assert found["noticed"] == []


OWN_WALLS = (
    PRELUDE
    + """
for path in ("/run/codemode", "/run/codemode/control", "/proc/1/mem", "/sys/fs/cgroup", "/usr/local/lib/codemode"):
    try_call("openat", -100, ctypes.c_char_p(path.encode()), os.O_RDONLY)
try_call("socket", 1, 5, 0)
try_call("unshare", 0x10000000)
try_call("io_uring_setup", 8, ctypes.create_string_buffer(120))
try_call("pidfd_open", 1, 0)
try_call("kill", 1, 9)
"""
)
NUMBERS = {"openat": 257, "socket": 41, "unshare": 272, "io_uring_setup": 425, "pidfd_open": 434, "kill": 62}


@pytest.mark.anyio
@pytest.mark.skipif(platform.machine() != "x86_64", reason="did not run: has the numbers of x86_64 only")
async def test_a_guest_reaches_neither_the_hosts_socket_nor_its_zygote_nor_the_containers_files():
    need_docker()
    async with open_sandbox("docker", pool=0) as box:
        result = await box.run(
            RunSpec(source=f"T = {{'numbers': {NUMBERS!r}}}\n{OWN_WALLS}print('tried')", dialect="native")
        )
        assert (result.status, result.printed) == ("ok", "tried\n"), result.error
        assert (await box.run(RunSpec(source="1"))).value == 1


def test_only_the_thread_limit_of_a_guest_is_missing():
    missing = {name for name, state in outcome()["isolation"].items() if state == "missing"}
    assert {name for name in missing if not name.startswith("landlock")} == {"threads"}
