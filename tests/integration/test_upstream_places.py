"""How many calls one server has under way at once, and servers that are stopped while nobody needs them."""

import json
from pathlib import Path

import anyio
import pytest

from codemode.upstream.manager import Manager
from tests.support.upstream import failure, managed, odd, until_dead, until_said

pytestmark = pytest.mark.anyio


def calls_in(log: Path) -> list[str]:
    return [line for line in log.read_text().splitlines() if '"tools/call"' in line]


async def test_calls_over_the_servers_number_wait_for_a_free_place_and_other_servers_do_not(tmp_path: Path) -> None:
    log = tmp_path / "seen"
    small = odd("small", acts={"hang": "hang", "echo": "echo"}, log=str(log), entry={"in_flight": 2})
    async with managed(tmp_path, small, odd("other")) as manager, anyio.create_task_group() as tasks:
        await manager.wait_ready(None, 30)
        first = anyio.CancelScope()

        async def hang(scope: anyio.CancelScope) -> None:
            with scope:
                await manager.call("small", "hang", {})

        answers: list[str] = []

        async def echo() -> None:
            answers.append((await manager.call("small", "echo", {"n": 1})).content.decode())

        second = anyio.CancelScope()
        tasks.start_soon(hang, first)
        tasks.start_soon(hang, second)
        while len(calls_in(log)) < 2:
            await until_said(log, "hanging")
            await anyio.sleep(0.01)
        tasks.start_soon(echo)
        late = await failure(manager, "small", "echo", timeout_s=0.2)
        await manager.call("other", "t", {})
        assert len(calls_in(log)) == 2
        assert not answers
        first.cancel()
        while not answers:
            await anyio.sleep(0.01)
        second.cancel()
    assert (late.code, late.details["outcome"], late.retryable) == ("upstream.timeout", "not_sent", True)
    assert "`small` was busy for 0.2 s: 2 calls were under way" in late.message
    assert len(calls_in(log)) == 3


async def test_a_place_is_free_again_after_every_kind_of_end(tmp_path: Path) -> None:
    acts = {"die": "die", "refuse": "refuse", "hang": "hang", "malformed": "malformed", "echo": "echo"}
    async with managed(tmp_path, odd(acts=acts, entry={"in_flight": 1})) as manager:
        for name in ("die", "refuse", "malformed", "hang"):
            await failure(manager, "odd", name, timeout_s=0.3 if name == "hang" else 20.0)
        result = await manager.call("odd", "echo", {"n": 1}, timeout_s=20)
    assert json.loads(result.structured or b"") == {"n": 1}


async def until_resting(manager: Manager) -> None:
    while manager.status()[0].state != "cached":
        await anyio.sleep(0.01)


async def test_an_unused_server_is_stopped_and_comes_back_with_the_next_call(tmp_path: Path) -> None:
    log = tmp_path / "seen"
    async with managed(tmp_path, odd(log=str(log), entry={"stop_unused_s": 0.1})) as manager:
        await manager.wait_ready(None, 30)
        pid = manager.status()[0].pid
        await until_resting(manager)
        await until_dead([pid])
        (listing,) = manager.listings()
        assert [tool.name for tool in listing.tools] == ["t"]
        assert listing.reason == "stopped after 0.1 s without a call; it starts again on the next call"
        for turn in (2, 3):
            await manager.call("odd", "t", {}, timeout_s=20)
            await until_resting(manager)
            assert manager.status()[0].starts == turn
    assert len(calls_in(log)) == 2


async def test_a_server_with_a_call_under_way_is_not_unused(tmp_path: Path) -> None:
    async with managed(tmp_path, odd(acts={"hang": "hang"}, entry={"stop_unused_s": 0.05})) as manager:
        error = await failure(manager, "odd", "hang", timeout_s=0.5)
    assert error.code == "upstream.timeout"
