"""The process backend with real guests: how they end, what bounds them, what happens when the zygote ends."""

import os
import signal
import sys
import threading

import anyio
import pytest

from sandbox.backends.process import ProcessBackend
from sandbox.errors import ClosedError
from sandbox.pool import Pool
from sandbox.spec import MIB
from tests.support.real_guests import LIMITS, gone, own_backend, printed, talk

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform != "linux", reason="did not run: needs Linux")]


@pytest.fixture(scope="module")
async def backend():
    async with ProcessBackend() as started:
        yield started


# -- how a guest ends -------------------------------------------------------------------------------------------------


async def test_a_guest_that_finishes_exits_and_tells_what_it_used(backend):
    guest = await backend.spawn(LIMITS)
    frames = await talk(guest, "print('hello')\nx = [n for n in range(100000)]")
    ending = await guest.wait_exit(5)
    assert printed(frames) == "hello\n"
    assert (ending.how, ending.code) == ("exited", 0)
    assert ending.max_rss_bytes > MIB
    assert guest.has_ended
    await guest.aclose()


async def test_a_kill_ends_a_guest_that_ignores_everything_else(backend):
    guest = await backend.spawn(LIMITS)
    guest.kill()
    ending = await guest.wait_exit(5)
    assert (ending.how, ending.code) == ("signaled", signal.SIGKILL)
    guest.kill()
    await guest.aclose()
    await guest.aclose()
    guest.kill()


async def test_a_guest_that_still_runs_has_no_known_end(backend):
    guest = await backend.spawn(LIMITS)
    assert (await guest.wait_exit(0.01)).how == "unknown"
    assert not guest.has_ended
    await guest.aclose()
    assert guest.has_ended


async def test_a_guest_leaves_when_the_host_closes_the_channel(backend):
    guest = await backend.spawn(LIMITS)
    guest.channel.close()
    assert (await guest.wait_exit(5)).how == "exited"
    await guest.aclose()


async def test_processor_time_is_bounded_by_the_kernel(backend):
    guest = await backend.spawn(LIMITS)
    await talk(guest, "while True: pass")
    ending = await guest.wait_exit(10)
    assert (ending.how, ending.code) == ("signaled", signal.SIGXCPU)
    assert 0.9 < ending.cpu_s < 4
    await guest.aclose()


async def test_a_guest_that_handles_the_signal_is_killed_a_second_later(backend):
    guest = await backend.spawn(LIMITS)
    await talk(
        guest,
        """
        signal = eval.__self__.__import__("signal")
        signal.signal(signal.SIGXCPU, signal.SIG_IGN)
        while True: pass
        """,
    )
    ending = await guest.wait_exit(10)
    assert (ending.how, ending.code) == ("signaled", signal.SIGKILL)
    assert ending.cpu_s < 5
    await guest.aclose()


async def test_a_run_gets_less_than_the_ceiling_of_its_guest(backend):
    source = "x = bytes(40 << 20)\nprint(len(x))"
    guest = await backend.spawn(LIMITS.with_changes(memory_bytes=256 * MIB))
    frames = await talk(guest, source, LIMITS.with_changes(memory_bytes=32 * MIB))
    assert printed(frames) == ""
    assert frames[-1][0]["error"]["type"] == "MemoryError"
    await guest.aclose()
    guest = await backend.spawn(LIMITS)
    assert printed(await talk(guest, source)) == "41943040\n"
    await guest.aclose()


async def test_threads_up_to_the_limit_start_and_one_more_does_not(backend):
    if backend.describe().layer("threads").state == "missing":
        pytest.skip("did not run: threads are not counted on this machine")
    source = """
        threading = eval.__self__.__import__("threading")
        gate, count = threading.Event(), 0
        try:
            while True:
                threading.Thread(target=gate.wait).start()
                count += 1
        except RuntimeError:
            print(count)
        gate.set()
        """
    guest = await backend.spawn(LIMITS)
    assert printed(await talk(guest, source)) == "8\n"
    await guest.aclose()


async def test_guests_of_one_zygote_do_not_share_a_user_id(backend):
    if backend.describe().mode != "root":
        pytest.skip("did not run: only root can give user ids")
    source = "os = eval.__self__.__import__('os')\nprint(os.getuid(), os.getgid())"
    guests = [await backend.spawn(LIMITS) for _ in range(3)]
    found = [printed(await talk(guest, source)) for guest in guests]
    assert len(set(found)) == 3
    assert all(len(set(line.split())) == 1 and int(line.split()[0]) >= 0x8000 for line in found)
    for guest in guests:
        await guest.aclose()


async def test_the_environment_and_the_hash_seed_are_the_same_everywhere(backend):
    source = "os = eval.__self__.__import__('os')\nprint(dict(os.environ), hash('x'), os.getcwd())"
    found = []
    for _ in range(2):
        async with ProcessBackend() as other:
            guest = await other.spawn(LIMITS)
            found.append(printed(await talk(guest, source)))
            await guest.aclose()
    assert found[0] == found[1]
    assert found[0].endswith(" /\n")


# -- many at once, and failures ---------------------------------------------------------------------------------------


async def test_guests_can_be_spawned_at_once_from_many_tasks(backend):
    found = []

    async def one(number):
        guest = await backend.spawn(LIMITS)
        found.append(printed(await talk(guest, f"print({number})")))
        await guest.aclose()

    async with anyio.create_task_group() as tasks:
        for number in range(20):
            tasks.start_soon(one, number)
    assert sorted(found, key=int) == [f"{number}\n" for number in range(20)]


async def test_a_cancelled_spawn_leaves_no_guest():
    async with own_backend() as (backend, family):
        without = len(family())
        for delay in (0, 0.0005, 0.001, 0.002):
            with anyio.move_on_after(delay) as scope:
                await (await backend.spawn(LIMITS)).aclose()
            assert scope is not None
        guest = await backend.spawn(LIMITS)
        await guest.aclose()
        with anyio.fail_after(5):
            while len(family()) > without:
                await anyio.sleep(0.01)


async def test_the_end_of_the_zygote_ends_every_guest_and_the_next_spawn_starts_another():
    async with own_backend() as (backend, family):
        launcher_and_zygote = family()
        guest = await backend.spawn(LIMITS)
        everyone = family()
        os.kill(launcher_and_zygote[-1], signal.SIGKILL)
        assert (await guest.wait_exit(5)).how == "unknown"
        await gone(everyone[1:])  # the waiter is reaped by the next spawn
        assert guest.has_ended
        await guest.aclose()
        other = await backend.spawn(LIMITS)
        assert printed(await talk(other, "print(1)")) == "1\n"
        await other.aclose()


async def test_the_end_of_the_waiter_ends_the_zygote_and_every_guest():
    async with own_backend() as (backend, family):
        guest = await backend.spawn(LIMITS)
        everyone = family()
        os.kill(everyone[0], signal.SIGKILL)
        await gone(everyone[1:])
        assert (await guest.wait_exit(5)).how == "unknown"
        await guest.aclose()


async def test_a_pool_heals_when_the_zygote_is_killed():
    async with own_backend() as (backend, family):
        launcher_and_zygote = family()
        async with Pool(backend, 2) as pool:
            await full(pool)
            everyone = family()
            os.kill(launcher_and_zygote[-1], signal.SIGKILL)
            await gone(everyone[len(launcher_and_zygote) :])
            guest = await pool.take()
            assert printed(await talk(guest, "print(2)")) == "2\n"
            await guest.aclose()
            await full(pool)


async def full(pool):
    with anyio.fail_after(20):
        while pool.waiting < 2:
            await anyio.sleep(0.01)


async def test_nothing_runs_on_after_close():
    async with own_backend() as (backend, family):
        guests = [await backend.spawn(LIMITS) for _ in range(3)]
        everyone = family()
        assert len(everyone) >= 4
        await backend.aclose()
        await gone(everyone)
        assert all([(await guest.wait_exit(1)).how == "unknown" for guest in guests])
        for guest in guests:
            await guest.aclose()
        with pytest.raises(ClosedError):
            await backend.spawn(LIMITS)


async def test_a_backend_can_be_started_in_a_thread_that_ends():
    """The parent-death signal follows the thread that forked: that must not be the thread that called."""
    found = []

    def work():
        async def use():
            async with ProcessBackend() as backend:
                guest = await backend.spawn(LIMITS)
                found.append(printed(await talk(guest, "print(3)")))
                await guest.aclose()

        anyio.run(use)

    thread = threading.Thread(target=work)
    thread.start()
    await anyio.to_thread.run_sync(thread.join)
    assert found == ["3\n"]
