"""Servers on stdio over time: how they start, die, are started again and are ended with all their children."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from codemode.config.model import Config, ServerConfig
from codemode.errors import CodemodeError, UpstreamError
from codemode.upstream.manager import Manager
from tests.support.upstream import failure, is_alive, managed, odd, states, text_of, until_dead, until_said

pytestmark = pytest.mark.anyio


async def test_a_slow_a_silent_and_a_missing_server_do_not_hold_up_the_others(tmp_path: Path) -> None:
    servers = [
        odd("good"),
        odd("silent", gate=str(tmp_path / "never"), entry={"start_timeout_s": 1.0}),
        ServerConfig(name="missing", command="no-such-program-xyz"),
        ServerConfig(name="folder", command=sys.executable, cwd="/no/such/folder"),
        ServerConfig(name="variable", command="x", env={"A": "${NOT_SET}"}),
        ServerConfig(name="entry", problem="mcp.json, line 3: `mcpServers.entry` needs `command` or `url`"),
        ServerConfig(name="off", command="x", is_disabled=True),
        odd("crash", die_at_start=True, last_words="cannot find the database"),
        ServerConfig(name="no_mcp", command="/bin/echo", args=("hello",)),
    ]
    async with managed(tmp_path, *servers, environ={"PATH": os.environ["PATH"]}) as manager:
        assert await manager.wait_ready(["good"], 20)
        assert (await manager.call("good", "t", {})).content
        await manager.wait_ready(None, 20)
        reasons = {listing.server: (listing.state, listing.reason) for listing in manager.listings()}
    assert reasons["good"] == ("ready", "")
    assert reasons["silent"] == ("failed", f"`silent` (command `{sys.executable}`) did not come up in 1 s")
    assert reasons["missing"] == ("failed", "the command `no-such-program-xyz` of `missing` does not exist")
    assert reasons["folder"] == ("failed", "the folder `/no/such/folder` (`cwd` of `folder`) does not exist")
    assert reasons["variable"][0] == "failed"
    assert "needs the variable `NOT_SET`, which is not set" in reasons["variable"][1]
    assert reasons["entry"] == ("failed", "mcp.json, line 3: `mcpServers.entry` needs `command` or `url`")
    assert reasons["off"] == ("stopped", "disabled in the configuration")
    assert reasons["crash"][0] == "failed"
    assert "exit code 3; last words: cannot find the database" in reasons["crash"][1]
    assert reasons["no_mcp"] == (
        "failed",
        "`no_mcp` (command `/bin/echo`) ended while it was starting "
        "(exit code 0; stray lines on its stdout: 1, the first: hello)",
    )
    assert all("\n" not in reason for _, reason in reasons.values())


async def test_a_slow_start_gives_its_slot_away(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    slow = [odd(f"slow{index}", gate=str(gate)) for index in range(5)]
    async with managed(tmp_path, *slow, odd("quick")) as manager:
        assert (await manager.call("quick", "t", {}, timeout_s=30)).content
        assert all(states(manager)[f"slow{index}"] == "starting" for index in range(5))
        gate.touch()
        assert await manager.wait_ready(None, 30)
        assert set(states(manager).values()) == {"ready"}


async def test_a_call_waits_for_a_server_that_is_starting(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    async with managed(tmp_path, odd(gate=str(gate))) as manager:
        error = await failure(manager, "odd", "t", timeout_s=0.2)
        assert (error.code, error.retryable, error.details["outcome"]) == ("upstream.starting", True, "not_sent")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(manager.call, "odd", "t", {})
            gate.touch()


async def test_a_required_server_that_fails_stops_everything_and_is_named(tmp_path: Path) -> None:
    needed = ServerConfig(name="needed", command="no-such-program-xyz", is_required=True)
    with pytest.raises(UpstreamError) as caught:
        async with managed(tmp_path, odd("good"), needed):
            pass
    assert caught.value.code == "upstream.not_found"
    assert caught.value.message.startswith("the required server `needed` did not come up: the command")


async def test_death_in_a_call_is_outcome_unknown_and_the_next_call_gets_a_fresh_server(tmp_path: Path) -> None:
    servers = odd("glass", acts={"touch": "die", "look": "echo"}), odd("other", acts={"look": "echo"})
    async with managed(tmp_path, *servers) as manager:
        await manager.wait_ready(None, 30)
        error = await failure(manager, "glass", "touch")
        assert (error.code, error.details["outcome"]) == ("upstream.outcome_unknown", "unknown")
        assert "whether it happened is not known" in error.message
        assert (await manager.call("glass", "look", {})).structured == b"{}"
        assert [status.starts for status in manager.status()] == [2, 1]


async def test_only_a_repeatable_call_is_sent_again_and_only_once(tmp_path: Path) -> None:
    log = tmp_path / "seen"
    async with managed(tmp_path, odd(acts={"touch": "die"}, log=str(log))) as manager:
        error = await failure(manager, "odd", "touch", repeatable=True)
        assert error.code == "upstream.outcome_unknown"
    assert sum("tools/call" in line for line in log.read_text().splitlines()) == 2


async def test_a_server_that_ended_between_calls_is_started_again(tmp_path: Path) -> None:
    async with managed(tmp_path, odd(acts={"last": "die_after", "say": "echo"})) as manager:
        assert text_of(await manager.call("odd", "last", {})) == "done"
        while states(manager)["odd"] != "cached":
            await anyio.sleep(0.01)
        assert "(exit code 0); it starts again on the next call" in manager.listings()[0].reason
        assert (await manager.call("odd", "say", {})).structured == b"{}"
        assert states(manager)["odd"] == "ready"


async def test_a_server_that_ends_every_two_calls_never_has_two_processes(tmp_path: Path) -> None:
    log = tmp_path / "seen"
    children = tmp_path / "children"
    flaky = odd(exit_after_calls=2, log=str(log), children=str(children), results={"y": {"content": []}})
    answered = 0
    seen: set[int] = set()
    async with managed(tmp_path, flaky, bound_s=100) as manager:
        for _ in range(8):
            try:
                await manager.call("odd", "y", {}, timeout_s=30, repeatable=True)
                answered += 1
            except CodemodeError:
                continue
            finally:
                near, far, own = (int(pid) for pid in children.read_text().split())
                assert not any(is_alive(pid) for pid in seen - {near, far, own})
                seen |= {near, far, own}
    assert answered == 8
    assert len(seen) >= 9
    await until_dead(list(seen))


async def test_a_server_that_fails_again_and_again_is_tried_more_rarely(tmp_path: Path) -> None:
    log = tmp_path / "seen"
    async with managed(tmp_path, odd(die_at_start=True, log=str(log))) as manager:
        await manager.wait_ready(None, 30)
        for _ in range(30):
            error = await failure(manager, "odd", "t")
            assert error.code == "upstream.start"
        assert "next try in" in error.message
        assert error.retryable
    assert sum("start" in line for line in log.read_text().splitlines()) <= 2 * 4


async def test_a_deaf_server_and_all_its_children_are_ended(tmp_path: Path) -> None:
    children = tmp_path / "children"
    async with managed(tmp_path, odd(deaf=True, children=str(children))) as manager:
        await manager.call("odd", "t", {})
        pids = [int(pid) for pid in children.read_text().split()]
        assert all(is_alive(pid) for pid in pids)
    assert not any(is_alive(pid) for pid in pids)


async def test_a_start_that_takes_too_long_is_ended_before_the_next_try(tmp_path: Path) -> None:
    children = tmp_path / "children"
    slow = odd(gate=str(tmp_path / "never"), children=str(children), entry={"start_timeout_s": 5.0})
    async with managed(tmp_path, slow) as manager:
        await manager.wait_ready(None, 30)
        assert states(manager)["odd"] == "failed"
        assert not any(is_alive(int(pid)) for pid in children.read_text().split())


async def test_closing_in_the_middle_of_a_start_leaves_nothing(tmp_path: Path) -> None:
    log = tmp_path / "seen"
    async with managed(tmp_path, odd(gate=str(tmp_path / "never"), log=str(log))):
        (line, *_) = await until_said(log, "start")
    await until_dead([int(line.split()[1])])


async def test_a_cancelled_block_closes_everything_in_bounds(tmp_path: Path) -> None:
    children = tmp_path / "children"
    with anyio.move_on_after(30) as scope:
        async with managed(tmp_path, odd(deaf=True, children=str(children))) as manager:
            await manager.call("odd", "t", {})
            scope.cancel()
            await anyio.sleep_forever()
    assert not any(is_alive(int(pid)) for pid in children.read_text().split())


HOST = """
import sys, anyio
from pathlib import Path
from tests.support.upstream import managed, odd
async def main():
    folder = Path(sys.argv[1])
    quirks = dict(deaf=True, children=str(folder / "children"))
    async with managed(folder, odd(**quirks), bound_s=300) as manager:
        await manager.call("odd", "t", {}, timeout_s=60)
        print("up", flush=True)
        await anyio.sleep_forever()
anyio.run(main)
"""


async def test_servers_do_not_outlive_a_host_that_is_killed(tmp_path: Path) -> None:
    root = str(Path(__file__).resolve().parents[2])
    process = await anyio.open_process(
        [sys.executable, "-c", HOST, str(tmp_path)], cwd=root, env={**os.environ, "PYTHONPATH": root}, stderr=None
    )
    assert process.stdout is not None
    with anyio.fail_after(60):
        try:
            assert (await process.stdout.receive()).startswith(b"up")
            pids = [int(pid) for pid in (tmp_path / "children").read_text().split()]
            assert all(is_alive(pid) for pid in pids)
        finally:
            process.send_signal(signal.SIGKILL)
        await until_dead(pids)
        await process.aclose()


async def test_a_server_that_closes_its_input_is_replaced(tmp_path: Path) -> None:
    async with managed(tmp_path, odd(acts={"close": "hang_up", "say": "echo"})) as manager:
        assert text_of(await manager.call("odd", "close", {})) == "closed"
        assert (await manager.call("odd", "say", {}, repeatable=True)).structured == b"{}"
        assert manager.status()[0].starts == 2


async def test_a_start_that_fails_shows_what_the_server_said_instead(tmp_path: Path) -> None:
    before = [b"Listening on port 80".hex()]
    chatty = odd(gate=str(tmp_path / "never"), before=before, entry={"start_timeout_s": 3.0})
    async with managed(tmp_path, chatty) as manager:
        await manager.wait_ready(None, 30)
        assert manager.listings()[0].reason == (
            f"`odd` (command `{sys.executable}`) did not come up in 3 s "
            "(stray lines on its stdout: 1, the first: Listening on port 80)"
        )


async def test_the_last_listing_is_there_before_the_server_and_the_server_starts_on_first_use(tmp_path: Path) -> None:
    server = odd(era="old", acts={"say": "echo"}, log=str(tmp_path / "seen"), unknown="silent")
    async with managed(tmp_path, server) as manager:
        await manager.wait_ready(None, 40)
    (tmp_path / "seen").unlink()
    async with managed(tmp_path, server) as manager:
        (listing,) = manager.listings()
        assert (listing.state, [spec.name for spec in listing.tools]) == ("cached", ["say"])
        assert listing.reason == "starts on first use"
        assert await manager.wait_ready(None, 5)
        assert not (tmp_path / "seen").exists()
        assert (await manager.call("odd", "say", {})).structured == b"{}"
    lines = (tmp_path / "seen").read_text()
    assert "server/discover" not in lines  # the era was remembered: no probe, no wait for its answer


async def test_an_era_that_was_remembered_for_too_long_is_negotiated_again(tmp_path: Path) -> None:
    log = tmp_path / "seen"
    server = odd(log=str(log), era="old")
    for probes, is_too_long_ago in ((1, False), (1, True), (2, False)):
        async with managed(tmp_path, server) as manager:
            await manager.call("odd", "t", {}, timeout_s=30)
        assert log.read_text().count('"server/discover"') == probes
        if is_too_long_ago:
            (file,) = (tmp_path / "cache").iterdir()
            file.write_text(json.dumps({**json.loads(file.read_text()), "era_since": 0.0}))


async def test_a_server_that_exits_on_an_unknown_method_is_started_with_the_old_handshake(tmp_path: Path) -> None:
    async with managed(tmp_path, odd(era="old", unknown="exit")) as manager:
        await manager.wait_ready(None, 30)
        assert (states(manager)["odd"], manager.listings()[0].protocol) == ("ready", "2025-11-25")


async def test_a_server_that_became_modern_is_found_although_its_old_era_was_remembered(tmp_path: Path) -> None:
    flag = tmp_path / "era"
    program = tmp_path / "server.py"
    source = f"import sys, json, runpy; sys.argv = ['x', json.dumps({{'era': open({str(flag)!r}).read()}})]\n"
    program.write_text(source + f"runpy.run_path({str(Path(odd().args[0]))!r}, run_name='__main__')\n")
    server = ServerConfig(name="odd", command=sys.executable, args=(str(program),))
    for era, protocol in (("old", "2025-11-25"), ("new", "2026-07-28")):
        flag.write_text(era)
        async with managed(tmp_path, server) as manager:
            await manager.call("odd", "t", {}, timeout_s=30)
            assert manager.listings()[0].protocol == protocol


async def test_an_error_in_the_block_comes_out_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="mine"):
        async with managed(tmp_path, odd()):
            raise ValueError("mine")


async def test_nothing_is_asked_of_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    async with Manager.open(
        Config(servers=(odd(),)), cache_dir=tmp_path / "file" / "c", log_dir=tmp_path / "file" / "l"
    ) as manager:
        assert (await manager.call("odd", "t", {}, timeout_s=30)).content


def test_the_guard_is_a_program_of_the_standard_library_alone() -> None:
    from codemode.upstream import guard

    done = subprocess.run([sys.executable, "-I", "-S", guard.__file__], input=b"-5\nnonsense\n", check=True, timeout=20)
    assert done.returncode == 0
