"""The docker backend with real containers: programs, limits, ends, walls, cleaning up, refusals."""

import json
import os
import signal
import subprocess
import sys
import tarfile
import textwrap
import time
from pathlib import Path

import anyio
import docker
import pytest

from sandbox import Limits, Reply, RunSpec, open_sandbox
from sandbox.backends import docker_engine, docker_image, zygote
from sandbox.backends.base import create_backend
from sandbox.backends.docker import DockerBackend
from sandbox.backends.docker_engine import Box
from sandbox.errors import ClosedError, GuestError, IsolationError, SpecError
from sandbox.spec import MIB
from tests.support.docker_here import container_of, need_docker
from tests.support.real_guests import LIMITS, printed, talk

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform != "linux", reason="did not run: needs Linux")]


@pytest.fixture(scope="module")
def engine():
    need_docker()
    client = docker.from_env()
    yield client
    client.close()


@pytest.fixture(scope="module")
async def box(engine):
    async with open_sandbox("docker", pool=2) as opened:
        yield opened


@pytest.fixture(scope="module")
async def backend(engine):
    async with DockerBackend() as started:
        yield started


def is_there(engine, number):
    try:
        engine.api.inspect_container(number)
    except docker.errors.NotFound:
        return False
    return True


async def removed(engine, number):
    with anyio.fail_after(20):
        while await anyio.to_thread.run_sync(is_there, engine, number):
            await anyio.sleep(0.02)


# -- programs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("1 + 1", 2),
        ("import json, re, datetime, decimal\njson.loads('[1, 2]')", [1, 2]),
        ("import asyncio\nawait asyncio.gather(asyncio.sleep(0, 1), asyncio.sleep(0, 2))", [1, 2]),
        ("from concurrent.futures import ThreadPoolExecutor\nlist(ThreadPoolExecutor(8).map(abs, [-1, -2]))", [1, 2]),
    ],
)
async def test_a_program_gives_its_value(box, source, value):
    result = await box.run(RunSpec(source=source))
    assert (result.status, result.value) == ("ok", value), result.error


async def test_calls_and_modules_reach_the_host(box):
    binding = """
        from sandbox.guest.remote import Remote
        import json
        class Tool(Remote):
            def encode(self, args, kwargs):
                return "echo", json.dumps(kwargs).encode()
            def decode(self, form, payload):
                return json.loads(payload)
        echo = Tool()
        """

    async def call(asked):
        return Reply(ok=True, form="structured", payload=json.dumps({"got": json.loads(asked.arguments)}).encode())

    spec = RunSpec(source="import tools\nprint('asks')\ntools.echo(n=3)", modules={"tools": textwrap.dedent(binding)})
    result = await box.run(spec, call=call)
    assert (result.status, result.value, result.printed) == ("ok", {"got": {"n": 3}}, "asks\n"), result.error


async def test_every_run_starts_fresh(box):
    await box.run(RunSpec(source="left = 1"))
    result = await box.run(RunSpec(source="left"))
    assert (result.status, result.error.type) == ("error", "NameError")


# -- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "limits", "code"),
    [
        ("while True: pass", Limits(wall_s=0.3), "limit.wall"),
        ("while True: pass", Limits(cpu_s=1), "limit.cpu"),
        ("x = bytes(200 << 20)", Limits(memory_bytes=64 * MIB), "limit.memory"),
        ("x = []\nwhile True: x.append('x' * 100_000)", Limits(memory_bytes=64 * MIB), "limit.memory"),
        ("while True: print('x' * 100_000)", Limits(output_bytes=4 * MIB), "limit.output"),
    ],
)
async def test_a_limit_ends_a_run_with_its_code_and_no_other_run(box, source, limits, code):
    result = await box.run(RunSpec(source=source, limits=limits))
    assert (result.status, result.error.code) == ("limit", code)
    assert (await box.run(RunSpec(source="1"))).value == 1


async def test_a_flood_of_threads_is_bounded_and_ends_with_its_run(box):
    source = """
        import threading
        threading.stack_size(32768)
        gate, count = threading.Event(), 0
        try:
            while True:
                threading.Thread(target=gate.wait, daemon=True).start()
                count += 1
        except (RuntimeError, MemoryError):
            pass
        count
        """
    spec = RunSpec(source=textwrap.dedent(source), dialect="native", limits=Limits(wall_s=60))
    result = await box.run(spec)
    assert result.status in ("ok", "limit"), result.error
    assert (await box.run(RunSpec(source="1"))).value == 1


# -- how a guest ends -------------------------------------------------------------------------------------------------


async def test_a_guest_that_finishes_exits_and_tells_what_it_used(backend):
    guest = await backend.spawn(LIMITS)
    assert printed(await talk(guest, "print('hello')")) == "hello\n"
    ending = await guest.wait_exit(5)
    assert (ending.how, ending.code) == ("exited", 0)
    assert ending.max_rss_bytes > MIB
    await guest.aclose()


async def test_a_kill_from_outside_ends_a_guest_that_waits(backend):
    guest = await backend.spawn(LIMITS)
    guest.kill()
    ending = await guest.wait_exit(5)
    assert (ending.how, ending.code) == ("signaled", signal.SIGKILL)
    guest.kill()
    await guest.aclose()


async def test_where_the_host_may_not_signal_a_guest_the_zygote_does(backend, monkeypatch):
    def refuse(descriptor):
        raise PermissionError

    first, second = await backend.spawn(LIMITS), await backend.spawn(LIMITS)
    monkeypatch.setattr(zygote.pidfd, "kill", refuse)
    first.kill()
    ending = await first.wait_exit(5)
    assert (ending.how, ending.code) == ("signaled", signal.SIGKILL)
    assert not second.has_ended
    await first.aclose()
    await second.aclose()


async def test_guests_can_be_spawned_at_once_from_many_tasks(backend):
    found = []

    async def one(number):
        guest = await backend.spawn(LIMITS)
        found.append(printed(await talk(guest, f"print({number})")))
        await guest.aclose()

    async with anyio.create_task_group() as tasks:
        for number in range(12):
            tasks.start_soon(one, number)
    assert sorted(found, key=int) == [f"{number}\n" for number in range(12)]


# -- walls ------------------------------------------------------------------------------------------------------------


async def test_the_report_names_every_required_layer_as_on(backend):
    layers = backend.describe().layers
    assert {layer.state for layer in layers if layer.required} == {"on"}
    assert {"container", "read-only", "seccomp", "kill"} <= {layer.name for layer in layers if layer.required}
    assert backend.describe().layer("threads").state == "missing"


async def test_the_container_is_as_hard_as_it_is_said_to_be(engine, backend):
    found = engine.api.inspect_container(container_of(backend))
    walls = found["HostConfig"]
    assert walls["NetworkMode"] == walls["IpcMode"] == "none"
    assert (walls["ReadonlyRootfs"], walls["Privileged"], walls["AutoRemove"]) == (True, False, True)
    assert walls["CapDrop"] == ["ALL"]
    assert not walls["CapAdd"]
    assert walls["SecurityOpt"] == ["no-new-privileges"]  # and so the engine's own seccomp profile
    assert walls["PidsLimit"] == 4_096
    assert 0 < walls["Memory"] == walls["MemorySwap"]
    assert [(mount["Destination"], mount["RW"]) for mount in found["Mounts"]] == [("/run/codemode", False)]
    assert int(found["Config"]["User"].partition(":")[0]) >= 65_534
    assert {item.partition("=")[0] for item in found["Config"]["Env"]} <= {"PATH", "PYTHONHASHSEED", "LD_LIBRARY_PATH"}


async def test_nobody_else_can_connect_once_the_zygote_has(engine, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    async with DockerBackend() as started:
        assert list(tmp_path.iterdir()) == []
        guest = await started.spawn(LIMITS)
        assert printed(await talk(guest, "print(1)")) == "1\n"
        await guest.aclose()


# -- cleaning up ------------------------------------------------------------------------------------------------------


async def test_a_close_removes_the_container_and_ends_every_guest(engine):
    started = DockerBackend()
    await started.start()
    number = container_of(started)
    guests = [await started.spawn(LIMITS) for _ in range(2)]
    with anyio.fail_after(10):
        await started.aclose()
    assert not await anyio.to_thread.run_sync(is_there, engine, number)
    assert all(guest.has_ended for guest in guests)
    for guest in guests:
        await guest.aclose()
    await started.aclose()
    with pytest.raises(ClosedError):
        await started.spawn(LIMITS)


async def test_the_end_of_the_container_ends_every_guest_and_the_next_spawn_starts_another(engine):
    async with DockerBackend() as started:
        first = container_of(started)
        guest = await started.spawn(LIMITS)
        await anyio.to_thread.run_sync(engine.api.kill, first)
        assert (await guest.wait_exit(10)).how == "unknown"
        await guest.aclose()
        other = await started.spawn(LIMITS)
        assert printed(await talk(other, "print(1)")) == "1\n"
        assert container_of(started) != first
        await other.aclose()
        await removed(engine, first)


HOST = """
import anyio
from sandbox.backends.docker import DockerBackend
from sandbox.spec import Limits
async def main():
    backend = DockerBackend()
    await backend.start()
    guests = [await backend.spawn(Limits()) for _ in range(2)]
    print(backend._forks._link._process._number, flush=True)
    await anyio.sleep(60)
anyio.run(main)
"""


async def test_when_the_host_is_killed_its_container_is_removed(engine):
    host = subprocess.Popen([sys.executable, "-c", HOST], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    number = (await anyio.to_thread.run_sync(host.stdout.readline)).strip()
    assert is_there(engine, number)
    host.kill()
    host.communicate()
    await removed(engine, number)


async def test_a_container_that_was_made_and_never_started_is_swept_away_later(engine, monkeypatch):
    monkeypatch.setattr(docker_engine, "LABEL", f"codemode.test.{os.getpid()}")  # not those of other hosts
    made = engine.api.create_container(docker_image.tag(), labels={docker_engine.LABEL: ""})["Id"]
    connected = await anyio.to_thread.run_sync(docker_engine.connect)
    await anyio.to_thread.run_sync(connected.sweep)
    assert is_there(engine, made)
    now = time.time()
    monkeypatch.setattr(docker_engine.time, "time", lambda: now + 3_600)
    await anyio.to_thread.run_sync(connected.sweep)
    connected.close()
    assert not is_there(engine, made)


# -- refusals ---------------------------------------------------------------------------------------------------------


async def test_a_container_that_does_not_reach_the_host_says_why(engine, monkeypatch):
    monkeypatch.setattr(docker_engine.Engine, "_arguments", lambda self: ["-c", "raise SystemExit('no way out')"])
    with pytest.raises(GuestError, match="no way out") as caught:
        await DockerBackend().start()
    assert caught.value.code == "guest.start"
    assert "kernel" in caught.value.hint_operator


async def test_a_zygote_that_cannot_become_ready_says_why(engine, monkeypatch):
    monkeypatch.setattr(docker_image, "HOME", "/usr/local/lib/python3.11/json")
    monkeypatch.setattr(
        docker_engine.Engine,
        "_arguments",
        lambda self: ["/usr/local/lib/codemode/sandbox/guest/bootstrap.py", "--connect=/run/codemode/control", "/tmp"],
    )
    with pytest.raises(GuestError, match="sandbox"):
        await DockerBackend().start()


async def test_a_runtime_that_is_not_there_is_named(engine):
    with pytest.raises(IsolationError, match="no_such_runtime") as caught:
        await DockerBackend(box=Box(runtime="no_such_runtime")).start()
    assert caught.value.code == "isolation.layer"


async def test_without_the_image_the_command_that_builds_it_is_named(engine):
    with pytest.raises(IsolationError, match="no_such_image") as caught:
        await DockerBackend(image="no_such_image").start()
    assert caught.value.code == "isolation.layer"
    assert "python -m sandbox.backends.docker_image" in caught.value.hint_operator


@pytest.mark.parametrize("place", ["tcp://127.0.0.1:1", "ssh://somewhere", "unix:///nonexistent/docker.sock"])
async def test_an_engine_that_is_remote_or_not_there_is_refused_with_the_remedy(monkeypatch, place):
    monkeypatch.setenv("DOCKER_HOST", place)
    with pytest.raises(IsolationError) as caught:
        await DockerBackend().start()
    assert caught.value.code == "isolation.layer"
    assert caught.value.details == {"missing": ["container"]}
    assert "use the process backend" in caught.value.hint_operator


async def test_another_platform_is_refused(monkeypatch):
    monkeypatch.setattr("sandbox.backends.docker.MACHINE", "riscv64")
    with pytest.raises(IsolationError, match="riscv64") as caught:
        await DockerBackend().start()
    assert caught.value.code == "isolation.platform"


@pytest.mark.parametrize("bad", [{"memory_bytes": 1}, {"tasks": 1}])
def test_a_box_that_could_hold_no_guest_is_refused(bad):
    with pytest.raises(SpecError):
        Box(**bad)


def test_packages_cannot_be_asked_of_the_image():
    with pytest.raises(SpecError, match="its image has the standard library only"):
        create_backend("docker", packages=("numpy",))


# -- the image --------------------------------------------------------------------------------------------------------


def test_the_build_file_is_the_one_that_the_package_uses():
    assert (ROOT / "images" / "guest" / "Dockerfile").read_text() == docker_image.DOCKERFILE


def test_equal_contents_make_an_equal_root(tmp_path):
    for name in ("first", "second"):
        docker_image.write_root(tmp_path / name)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    assert (tmp_path / "first").stat().st_size > MIB


def test_the_root_holds_no_shell_no_set_uid_file_and_no_part_of_the_host_side(tmp_path):
    docker_image.write_root(tmp_path / "root.tar")
    with tarfile.open(tmp_path / "root.tar") as archive:
        entries = archive.getmembers()
    names = {entry.name for entry in entries}
    assert {name for name in names if name.startswith(("bin/", "usr/bin/", "sbin/"))} == set()
    assert all(entry.mode in (0o755, 0o644) and entry.uid == 0 for entry in entries)
    assert "usr/local/bin/python3" in names
    assert "usr/local/lib/codemode/sandbox/guest/zygote.py" in names
    assert not any("sandbox/backends" in name or "sandbox/supervisor" in name for name in names)
