"""The host's half of a channel against a guest that may send anything and may never read."""

import socket
import time

import anyio
import pytest

from sandbox import wire
from sandbox.channel import Channel, ChannelError, parse_facts, parse_frame, unsealed_layer
from sandbox.spec import Limits

pytestmark = pytest.mark.anyio

SMALL = Limits(frame_bytes=64 * 1024, queued_bytes=64 * 1024)


@pytest.fixture
def ends():
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    yield ours, theirs
    ours.close()
    theirs.close()


def _body(header, payload=b""):
    return wire.encode(header, payload)[4:]


@pytest.mark.parametrize(
    "header",
    [
        {"kind": "go"},
        {"kind": "reply", "id": 1},
        {"kind": "something"},
        {"kind": "call", "id": 1},
        {"kind": "call", "id": "1", "target": "t"},
        {"kind": "call", "id": True, "target": "t"},
        {"kind": "call", "id": 1.0, "target": "t"},
        {"kind": "call", "id": 0, "target": "t"},
        {"kind": "call", "id": -5, "target": "t"},
        {"kind": "call", "id": 2**31, "target": "t"},
        {"kind": "call", "id": 1, "target": ["t"]},
        {"kind": "call", "id": 1, "target": "t" * 5_000},
        {"kind": "load", "id": 1, "name": None},
        {"kind": "file", "id": 1, "operation": "read", "name": "a", "to": ""},
        {"kind": "file", "id": 1, "operation": "chmod", "name": "a", "to": "", "at": -1},
        {"kind": "file", "id": 1, "operation": "read", "name": "a" * 1_025, "to": "", "at": -1},
        {"kind": "file", "id": 1, "operation": "read", "name": "a", "to": "", "at": True},
        {"kind": "end", "status": "ok"},
        {"kind": "end", "status": "ok", "form": "none", "type": "", "notes": "x", "usage": {}},
    ],
)
def test_a_frame_of_an_unknown_kind_or_a_wrong_type_breaks_the_protocol(header):
    with pytest.raises(ChannelError) as caught:
        parse_frame(_body(header))
    assert caught.value.code == "guest.protocol"


def test_a_call_with_right_fields_is_read():
    frame = parse_frame(_body({"kind": "call", "id": 7, "target": "a:b@c", "more": 1}, b"{}"))
    assert (frame.kind, frame.header["id"], frame.header["target"], frame.payload) == ("call", 7, "a:b@c", b"{}")


def test_only_some_file_operations_bring_content():
    header = {"kind": "file", "id": 1, "name": "a", "to": "", "at": -1}
    assert parse_frame(_body({**header, "operation": "write"}, b"x")).payload == b"x"
    with pytest.raises(ChannelError, match="with 1 bytes"):
        parse_frame(_body({**header, "operation": "read"}, b"x"))


async def test_a_guest_that_could_not_be_sealed_names_the_layer():
    body = _body({"kind": "end", "status": "unsealed", "layer": "seccomp", "message": "EINVAL"})
    assert unsealed_layer(body) == "seccomp: EINVAL"
    assert unsealed_layer(_body({"kind": "prepared"}, b"{}")) == unsealed_layer(b"x") == ""


@pytest.mark.parametrize("payload", [b"", b"[]", b"{", b"[" * 200_000])
def test_facts_that_are_no_json_object_break_the_protocol(payload):
    with pytest.raises(ChannelError) as caught:
        parse_facts(payload)
    assert caught.value.code == "guest.protocol"


def test_facts_that_would_fill_the_hosts_memory_once_they_are_read_are_refused_unread():
    with pytest.raises(ChannelError) as caught:
        parse_frame(_body({"kind": "prepared"}, b'{"names":[' + b"[]," * (2 << 20) + b"[]]}"))
    assert caught.value.code == "limit.frame"


async def test_frames_arrive_in_order_and_the_end_of_the_stream_is_none(ends):
    ours, theirs = ends
    channel = Channel(ours, SMALL)
    theirs.sendall(
        wire.encode({"kind": "print", "stream": "out"}, b"a") + wire.encode({"kind": "print", "stream": "out"}, b"b")
    )
    theirs.shutdown(socket.SHUT_WR)
    with anyio.fail_after(5):
        assert [parse_frame(body).payload for body in await channel.receive() or []] == [b"a", b"b"]
        assert await channel.receive() is None


async def test_a_frame_that_announces_too_much_ends_with_the_frame_limit(ends):
    ours, theirs = ends
    theirs.sendall((SMALL.frame_bytes + 1).to_bytes(4, "big"))
    with anyio.fail_after(5), pytest.raises(ChannelError) as caught:
        await Channel(ours, SMALL).receive()
    assert caught.value.code == "limit.frame"


async def test_an_answer_larger_than_a_frame_may_be_is_refused(ends):
    with pytest.raises(ChannelError) as caught:
        Channel(ends[0], SMALL).send({"kind": "reply", "id": 1, "ok": True, "form": "json"}, b"x" * (64 * 1024 + 1))
    assert caught.value.code == "limit.frame"


async def test_a_guest_that_never_reads_ends_the_run_before_the_host_holds_much(ends):
    channel = Channel(ends[0], SMALL)

    def send_for_ever() -> None:
        for _ in range(10_000):
            channel.send({"kind": "reply", "id": 1, "ok": True, "form": "json"}, b"x" * 60_000)

    with pytest.raises(ChannelError) as caught:
        send_for_ever()
    assert caught.value.code == "limit.queued"
    assert channel.queued_bytes < 16 * SMALL.queued_bytes


async def test_what_is_queued_reaches_a_guest_that_reads_late(ends):
    ours, theirs = ends
    channel = Channel(ours, Limits())
    for number in range(1, 101):
        channel.send({"kind": "reply", "id": number, "ok": True, "form": "json"}, b"y" * 20_000)
    assert channel.queued_bytes > 0
    splitter = wire.Splitter(1 << 20)
    ids: list[int] = []

    def read_all() -> None:
        while len(ids) < 100:
            ids.extend(wire.decode(body)[0]["id"] for body in splitter.feed(theirs.recv(1 << 16)))

    with anyio.fail_after(5):
        await anyio.to_thread.run_sync(read_all)
        await channel.wait_for_room()
    assert ids == list(range(1, 101))
    assert channel.queued_bytes == 0


class Ear:
    """What a channel hands over while it listens."""

    def __init__(self):
        self.texts = []
        self.ends = []
        self.over = anyio.Event()

    def take(self, body):
        self.texts.append(parse_frame(body).payload)

    def end(self, error):
        self.ends.append(error)
        self.over.set()

    async def wait(self):
        with anyio.fail_after(5):
            await self.over.wait()


def _print(text):
    return wire.encode({"kind": "print", "stream": "out"}, text)


async def test_while_listening_frames_are_handed_over_in_order_and_the_end_is_told_once(ends):
    ours, theirs = ends
    ear = Ear()
    theirs.sendall(_print(b"a") + _print(b"b"))
    theirs.shutdown(socket.SHUT_WR)
    with Channel(ours, SMALL).listening(ear.take, ear.end):
        await ear.wait()
    assert (ear.texts, ear.ends) == ([b"a", b"b"], [None])


async def test_nothing_is_taken_during_a_pause_and_nothing_is_lost_by_it(ends):
    ours, theirs = ends
    ear = Ear()
    channel = Channel(ours, SMALL)

    def take(body):
        ear.take(body)
        channel.pause()

    with channel.listening(take, ear.end):
        theirs.sendall(_print(b"a") + _print(b"b"))
        theirs.shutdown(socket.SHUT_WR)
        for expected in ([b"a"], [b"a", b"b"]):
            with anyio.fail_after(5):
                while not channel.is_paused:
                    await anyio.lowlevel.checkpoint()
            assert ear.texts == expected
            channel.resume()
        await ear.wait()
    assert ear.ends == [None]


@pytest.mark.parametrize(
    ("sent", "code"),
    [((SMALL.frame_bytes + 1).to_bytes(4, "big"), "limit.frame"), (wire.encode({"kind": "x"}), "guest.protocol")],
)
async def test_a_frame_that_breaks_a_rule_ends_the_listening_with_its_code(ends, sent, code):
    ours, theirs = ends
    ear = Ear()
    theirs.sendall(sent + _print(b"never taken"))
    with Channel(ours, SMALL).listening(ear.take, ear.end):
        await ear.wait()
    assert [error.code for error in ear.ends] == [code]
    assert ear.texts == []


async def test_whatever_the_taker_raises_is_told_to_whoever_waits_for_the_end(ends):
    ours, theirs = ends
    ear = Ear()
    theirs.sendall(_print(b"a"))
    with Channel(ours, SMALL).listening(lambda body: 1 / 0, ear.end):
        await ear.wait()
    assert [type(error) for error in ear.ends] == [ZeroDivisionError]


async def test_a_flood_of_small_frames_leaves_turns_to_others(ends):
    ours, theirs = ends
    theirs.sendall(_print(b"") * 1_000)
    theirs.shutdown(socket.SHUT_WR)
    ear = Ear()
    between = []

    def take(body):
        ear.take(body)
        time.sleep(0.001)  # work that takes long enough to need turns

    with Channel(ours, SMALL).listening(take, ear.end):
        while not ear.over.is_set():
            between.append(len(ear.texts))
            await anyio.lowlevel.checkpoint()
    assert len(ear.texts) == 1_000
    assert len(set(between)) > 10
