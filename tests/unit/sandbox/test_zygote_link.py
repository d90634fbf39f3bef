"""The host's end of a zygote, with a test in the zygote's place."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from sandbox.backends import zygote
from sandbox.backends.base import UNKNOWN_EXIT
from sandbox.backends.forks import ForkedGuest
from sandbox.backends.seat import Seat
from sandbox.backends.zygote import ZygoteLink, command, greet, open_link
from sandbox.errors import GuestError, IsolationError, SpecError
from sandbox.guest import control
from sandbox.linux.cgroups import Bound, Groups
from sandbox.spec import Limits

READY = control.Ready(
    mode="user", namespaces=False, empty_root=False, landlock_abi=7, slots=0, nproc_counts=False, data_bytes=1
)

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform != "linux", reason="did not run: needs Linux")]


class Finished:
    """A process that has ended, as `subprocess.Popen` shows it."""

    stderr = None

    def wait(self, timeout):
        return 0


class Zygote:
    """The other end: takes what the host sends and answers as told."""

    def __init__(self):
        self.near, self.far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.near.setblocking(False)
        self.far.setblocking(False)
        self.link = ZygoteLink(Finished(), self.near, READY)
        self.victims = []
        self.exits = {}

    async def __aenter__(self):
        return self

    async def __aexit__(self, *exception):
        await self.link.aclose()
        self.far.close()
        for victim in self.victims:
            victim.kill()
            victim.wait()

    async def take(self):
        with anyio.fail_after(5):
            await anyio.wait_readable(self.far)
        data, received, _, _ = socket.recv_fds(self.far, control.PACKET_BYTES, 1)
        for descriptor in received:
            os.close(descriptor)
        return control.decode(data)

    def say(self, packet, *descriptors):
        socket.send_fds(self.far, [packet if isinstance(packet, bytes) else control.encode(packet)], descriptors)

    def grant(self, number):
        victim = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        self.victims.append(victim)
        descriptor = os.pidfd_open(victim.pid)
        self.say(control.Spawned(id=number), descriptor)
        os.close(descriptor)
        return victim

    async def spawn(self, slot=0):
        channel, other = socket.socketpair()
        with channel, other:
            return await self.link.spawn(
                channel, slot=slot, ceiling=Limits(), on_exit=lambda how: self.exits.__setitem__(slot, how)
            )


async def test_a_spawn_gives_the_pidfd_and_later_the_exit():
    async with Zygote() as there, anyio.create_task_group() as tasks:
        got = []

        async def ask():
            got.append(await there.spawn(slot=3))

        tasks.start_soon(ask)
        request = await there.take()
        assert (request.slot, request.memory_bytes, request.examine) == (3, Limits().memory_bytes, False)
        there.grant(request.id)
        with anyio.fail_after(5):
            while not got:
                await anyio.sleep(0)
        os.close(got[0])
        there.say(control.Exited(id=request.id, status=9, cpu_s=0.5, max_rss_bytes=4096))
        there.link.catch_up()
        assert (there.exits[3].how, there.exits[3].code, there.exits[3].cpu_s) == ("signaled", 9, 0.5)


async def test_a_refusal_is_an_error_and_frees_the_slot():
    async with Zygote() as there, anyio.create_task_group() as tasks:

        async def ask():
            with pytest.raises(GuestError, match="no memory"):
                await there.spawn()

        tasks.start_soon(ask)
        there.say(control.Refused(id=(await there.take()).id, message="no memory"))
        with anyio.fail_after(5):
            while 0 not in there.exits:
                await anyio.sleep(0)


async def test_a_guest_that_nobody_waits_for_any_more_is_ended_when_it_comes():
    async with Zygote() as there, anyio.create_task_group() as tasks:
        scope = anyio.CancelScope()

        async def ask():
            with scope:
                await there.spawn()

        tasks.start_soon(ask)
        request = await there.take()
        scope.cancel()
        victim = there.grant(request.id)
        await anyio.wait_all_tasks_blocked()
        there.link.catch_up()
        assert await anyio.to_thread.run_sync(victim.wait, 5) == -signal.SIGKILL


@pytest.mark.parametrize("last", [b"", b"junk", control.encode(READY), control.encode(control.Spawned(id=77))])
async def test_an_end_or_nonsense_ends_everything_that_was_asked(last):
    async with Zygote() as there, anyio.create_task_group() as tasks:

        async def ask():
            with pytest.raises(GuestError, match="has ended"):
                await there.spawn()

        tasks.start_soon(ask)
        await there.take()
        if last:
            there.say(last)
        else:
            there.far.close()
        with anyio.fail_after(5):
            while 0 not in there.exits:
                await anyio.sleep(0)
        assert there.link.is_lost
        assert there.exits[0].how == "unknown"


async def test_of_many_who_wait_each_hears_its_own_news():
    async with Zygote() as there:
        heard = {}

        async def one(slot):
            descriptor = await there.spawn(slot)
            os.close(descriptor)
            event = anyio.Event()
            told[slot] = event
            await event.wait()
            heard[slot] = there.exits[slot].code

        told = {}
        there.exits = _Setting(told)
        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                for slot in range(3):
                    tasks.start_soon(one, slot)
                requests = [await there.take() for _ in range(3)]
                for request in reversed(requests):
                    there.grant(request.id)
                while len(told) < 3:
                    await anyio.sleep(0)
                for request in requests:
                    status = request.slot << 8  # wait(2): exit code in the second byte
                    there.say(control.Exited(id=request.id, status=status, cpu_s=0, max_rss_bytes=0))
        assert heard == {0: 0, 1: 1, 2: 2}


class _Setting(dict):
    """Sets a slot's event when its exit is stored."""

    def __init__(self, told):
        super().__init__()
        self._told = told

    def __setitem__(self, slot, how):
        super().__setitem__(slot, how)
        self._told[slot].set()


async def test_waiting_for_a_guest_is_bounded():
    async with Zygote() as there:
        seat = Seat(Groups(), 0, Bound(memory_bytes=None, tasks=1), 0)
        with there.far.dup() as channel, anyio.fail_after(5):
            guest = ForkedGuest(channel, there.link, seat, release=lambda: None)
            assert (await guest.wait_exit(0.01)).how == "unknown"


async def test_a_close_wakes_who_waits_for_a_guest_or_for_its_end():
    async with Zygote() as there, anyio.create_task_group() as tasks:

        async def ask(slot):
            with pytest.raises(GuestError, match="the zygote has ended"):
                await there.spawn(slot)

        tasks.start_soon(there.spawn, 1)
        there.grant((await there.take()).id)
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(ask, 2)
        await there.take()
        with anyio.fail_after(5):
            await there.link.aclose()
        assert there.exits == {1: UNKNOWN_EXIT, 2: UNKNOWN_EXIT}


def test_the_command_line_holds_flags_and_folders_only():
    found = command(())
    assert found[1:6] == ["-S", "-s", "-P", "-X", "utf8"]
    assert all(Path(part).is_absolute() for part in found[6:])


@pytest.mark.parametrize("name", ["no_such_package_here", "os;import", "../x"])
def test_a_package_that_is_not_there_is_refused(name):
    with pytest.raises(SpecError):
        command((name,))


@pytest.mark.parametrize(
    ("script", "kind", "text"),
    [
        ("exit 3", GuestError, "it said nothing"),
        ("echo 'the interpreter is broken' >&2; exit 1", GuestError, "the interpreter is broken"),
        ("sleep 60", GuestError, "not ready after 0.3 s"),
    ],
)
async def test_a_zygote_that_does_not_come_up_is_explained(monkeypatch, script, kind, text):
    monkeypatch.setattr(zygote, "command", lambda packages: ["/bin/sh", "-c", script])
    monkeypatch.setattr(zygote, "STOP_S", 0.1)
    with pytest.raises(kind, match=text) as caught:
        await open_link((), 0.3)
    assert caught.value.code == "guest.start"


async def test_a_program_that_is_not_there_is_explained(monkeypatch):
    monkeypatch.setattr(zygote, "command", lambda packages: ["/nonexistent/python"])
    with pytest.raises(GuestError, match="could not be started"):
        await open_link((), 1)


@pytest.mark.parametrize("ends", ["before it is told what to import", "with what it is told unread"])
async def test_what_a_zygote_said_is_read_after_it_ended(ends):
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    near.setblocking(False)

    async def fail():
        far.send(control.encode(control.Failed(layer="parent-death", message="no")))
        far.close()

    with near, far:
        if ends.startswith("before"):
            await fail()
        async with anyio.create_task_group() as tasks:
            if not ends.startswith("before"):
                tasks.start_soon(fail)
            with pytest.raises(IsolationError, match="`parent-death`"):
                await greet(near, (), 5, lambda: "it said nothing")


async def test_a_layer_that_the_zygote_itself_misses_is_named(monkeypatch):
    say = control.encode(control.Failed(layer="parent-death", message="no")).decode()
    code = f"import os; os.write(0, {say!r}.encode())"
    monkeypatch.setattr(zygote, "command", lambda packages: [sys.executable, "-c", code])
    with pytest.raises(IsolationError, match="`parent-death`") as caught:
        await open_link((), 10)
    assert caught.value.details == {"missing": ["parent-death"]}
