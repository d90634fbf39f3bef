"""Child processes: their pipes, their end, and a start that does not hold up anybody else."""

import subprocess
import sys
import threading
from pathlib import Path

import anyio
import pytest

from codemode.upstream import child as module
from codemode.upstream.child import Child, start_child

pytestmark = pytest.mark.anyio

ECHO = "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line); sys.stdout.flush()"


@pytest.fixture
def may_start(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Until it is set, every start hangs."""
    event = threading.Event()
    real = subprocess.Popen

    def slow(*args: object, **options: object) -> object:
        assert event.wait(30)
        return real(*args, **options)  # type: ignore[call-overload]  # handed on as they came

    monkeypatch.setattr(module.subprocess, "Popen", slow)
    return event


async def python(program: str) -> Child:
    return await start_child([sys.executable, "-I", "-S", "-c", program], env={})


async def test_what_is_written_comes_back_whatever_its_size() -> None:
    data = b"x" * 3_000_000 + b"\n"
    child = await python(ECHO)
    assert child.stdin is not None
    assert child.stdout is not None
    got = b""
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(child.stdin.send, data)
            while not got.endswith(b"\n"):
                got += await child.stdout.receive()
        child.stdin.close()
        with pytest.raises(anyio.EndOfStream):
            await child.stdout.receive()
        assert await child.ended_within(30)
    child.close()
    assert (got == data, child.returncode) == (True, 0)


async def test_writers_take_turns() -> None:
    child = await python(ECHO)
    assert child.stdin is not None
    assert child.stdout is not None
    lines = [bytes([65 + number]) * 200_000 + b"\n" for number in range(4)]
    got = b""
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            for line in lines:
                tasks.start_soon(child.stdin.send, line)
            while len(got) < sum(map(len, lines)):
                got += await child.stdout.receive()
        child.stdin.close()
        assert await child.ended_within(30)
    child.close()
    assert sorted(got.splitlines(keepends=True)) == sorted(lines)


async def test_a_pipe_that_is_closed_tells_who_reads_from_it_and_who_writes_to_it() -> None:
    child = await python("import time; time.sleep(600)")
    told: list[str] = []

    async def read() -> None:
        assert child.stdout is not None
        with pytest.raises(anyio.ClosedResourceError):
            await child.stdout.receive()
        told.append("reader")

    async def write() -> None:
        assert child.stdin is not None
        with pytest.raises(anyio.ClosedResourceError):
            await child.stdin.send(b"x" * 10_000_000)
        told.append("writer")

    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            tasks.start_soon(write)
            await anyio.wait_all_tasks_blocked()
            child.close()
        assert not await child.ended_within(0)
        child.kill()
        assert await child.ended_within(30)
    assert (sorted(told), child.returncode) == (["reader", "writer"], -9)


async def test_a_child_that_has_closed_its_input_is_an_error_of_the_writer() -> None:
    child = await python("import os; os.close(0); os.write(1, b'closed'); import time; time.sleep(600)")
    assert child.stdin is not None
    assert child.stdout is not None
    with anyio.fail_after(30):
        assert await child.stdout.receive() == b"closed"
        with pytest.raises(BrokenPipeError):
            await child.stdin.send(b"x")
        child.kill()
        assert await child.ended_within(30)
    child.close()


async def test_a_command_that_does_not_exist_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await start_child([str(tmp_path / "nothing")], env={})


async def test_the_event_loop_goes_on_while_a_start_takes_long(may_start: threading.Event) -> None:
    started: list[Child] = []

    async def start() -> None:
        started.append(await python("pass"))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(start)
            await anyio.sleep(0.01)  # the loop would not come back from here
            assert not started
            may_start.set()
        assert await started[0].ended_within(30)
    started[0].close()


async def test_a_start_that_is_given_up_half_way_is_not_lost(may_start: threading.Event) -> None:
    started: list[Child] = []

    async def start() -> None:
        started.append(await python("pass"))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(start)
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
            may_start.set()
        assert await started[0].ended_within(30)
    started[0].close()
