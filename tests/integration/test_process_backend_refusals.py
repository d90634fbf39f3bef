"""The process backend at its edges: the host dies, a layer is missing, the platform or a package is not there."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from sandbox.backends.process import ProcessBackend
from sandbox.errors import GuestError, IsolationError, SpecError
from sandbox.probe import probe
from tests.support.real_guests import descendants, gone, still_there

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform != "linux", reason="did not run: needs Linux")]

# -- the host ends ----------------------------------------------------------------------------------------------------

HOST = """
import anyio, os, sys
from sandbox.backends.process import ProcessBackend
from sandbox.spec import Limits
async def main():
    backend = ProcessBackend()
    await backend.start()
    guests = [await backend.spawn(Limits()) for _ in range(2)]
    print("ready", flush=True)
    await anyio.sleep(60)
anyio.run(main)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_when_the_host_is_killed_no_process_of_it_is_left(number):
    host = subprocess.Popen([sys.executable, "-c", HOST], stdout=subprocess.PIPE, cwd=ROOT)
    assert await anyio.to_thread.run_sync(host.stdout.readline) == b"ready\n"
    family = descendants(host.pid)
    assert len(family) >= 3  # zygote and two guests, with namespaces a waiter
    host.send_signal(number)
    host.communicate()
    await gone(family)


# -- fail closed ------------------------------------------------------------------------------------------------------

WITHOUT = """
import anyio, json, sys
from sandbox.linux import identity, seccomp
from sandbox.linux.seccomp import Instruction
from sandbox.linux.syscalls import numbers, MACHINE
program = [Instruction(seccomp.LOAD, 0)]
for name in sys.argv[1].split(","):
    program += seccomp._when(numbers(MACHINE)[name], [Instruction(seccomp.RETURN, seccomp.RET_ERRNO | 38)])
program.append(Instruction(seccomp.RETURN, seccomp.RET_ALLOW))
identity.forbid_new_privileges()
if "capabilities" in sys.argv:
    identity.empty_bounding_set()
    identity.drop_capabilities()
seccomp.install(seccomp.encode(program))
from sandbox.backends.process import ProcessBackend
from sandbox.errors import SandboxError
async def main():
    backend = ProcessBackend()
    try:
        await backend.start()
        print(json.dumps({"started": True}))
    except SandboxError as error:
        print(json.dumps({"code": error.code, "message": error.message, "hint": error.hint_operator}))
    finally:
        await backend.aclose()
anyio.run(main)
"""


def started_without(*calls, also=()):
    """Start on a machine whose kernel says that it does not have these calls."""
    command = [sys.executable, "-c", WITHOUT, ",".join(calls), *also]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_without_seccomp_it_does_not_start():
    refused = started_without("seccomp")
    assert refused["code"] == "isolation.layer"
    assert "`seccomp`" in refused["message"]
    assert "docker" in refused["hint"]


def test_without_landlock_an_empty_root_is_enough():
    if os.geteuid() != 0:
        pytest.skip("did not run: needs root")
    assert started_without("landlock_create_ruleset") == {"started": True}


def test_without_landlock_and_without_namespaces_it_does_not_start():
    refused = started_without("landlock_create_ruleset", "unshare")
    assert refused["code"] == "isolation.layer"
    assert "`files`" in refused["message"]
    assert "Landlock" in refused["hint"] or "landlock" in refused["hint"]


def test_without_namespaces_it_starts():
    assert started_without("unshare") == {"started": True}


def test_root_without_capabilities_is_as_good_as_a_plain_user():
    if os.geteuid() != 0:
        pytest.skip("did not run: needs root")
    assert started_without("unshare", also=("capabilities",)) == {"started": True}


def test_without_close_range_descriptors_are_closed_one_by_one():
    assert started_without("close_range") == {"started": True}


async def test_another_platform_is_refused(monkeypatch):
    monkeypatch.setattr("sandbox.backends.process.MACHINE", "riscv64")
    with pytest.raises(IsolationError, match="riscv64") as caught:
        await ProcessBackend().start()
    assert caught.value.code == "isolation.platform"


async def test_a_package_that_is_not_installed_is_named():
    with pytest.raises(SpecError, match="no_such_package"):
        await ProcessBackend(packages=("no_such_package",)).start()


async def test_a_package_that_cannot_be_imported_says_so(monkeypatch, tmp_path):
    (tmp_path / "broken_package_of_tests.py").write_text("raise ValueError('broken on purpose')")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(GuestError, match="broken on purpose"):
        await ProcessBackend(packages=("broken_package_of_tests",)).start()


async def test_a_package_that_starts_a_thread_is_refused(monkeypatch, tmp_path):
    source = "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()"
    (tmp_path / "threaded_package_of_tests.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(GuestError, match="thread"):
        await ProcessBackend(packages=("threaded_package_of_tests",)).start()


async def test_the_probe_gives_the_report_without_leaving_anything():
    before = descendants(os.getpid())
    found = await probe("process")
    assert {layer.state for layer in found.layers if layer.required} == {"on"}
    assert still_there(set(descendants(os.getpid())) - set(before)) == []
