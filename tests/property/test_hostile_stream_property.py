"""The host's reader under mutated conversations: a run always ends, with a code of its own, and ids act once."""

import json
import struct

import anyio
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox import Reply, RunResult, wire
from sandbox.channel import Channel
from sandbox.errors import CODES
from sandbox.pump import Pump
from sandbox.spec import Limits
from tests.support.fake_guest import FakeGuest

LIMITS = Limits(wall_s=20, calls=6, in_flight=3, modules=4, output_bytes=4_096, kept_print_bytes=1_024)
ENDS = frozenset({"guest.protocol", "guest.died", "guest.raised", "limit.memory", "limit.threads"}) | {
    code for code in CODES if code.startswith("limit.")
}
END = {"kind": "end", "status": "ok", "form": "json", "type": "", "error": None, "notes": [], "usage": {"cpu_s": 0.1}}
RAISED = {"code": "guest.raised", "type": "ValueError", "message": "m", "line": 1, "traceback": "t", "notes": ["n"]}
# What a real guest sends in a run that prints, imports, calls, gives a call up and ends.
CONVERSATION = (
    ({"kind": "load", "name": "tools", "id": 1}, b""),
    ({"kind": "print", "stream": "out"}, b"hello\n"),
    ({"kind": "call", "target": "tools.a", "id": 2}, b'{"x":1}'),
    ({"kind": "call", "target": "tools.b", "id": 3}, b"{}"),
    ({"kind": "print", "stream": "err"}, b"oh\n"),
    ({"kind": "cancel", "id": 3}, b""),
    ({**END, "status": "error", "form": "none", "error": RAISED}, b""),
    (END, b"[1, 2]"),
)

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(["call", "load", "print", "cancel", "end", "prepared", "reply", "ok", "error", "\ud800"]),
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)


def _frame(header, payload):
    head = json.dumps(header).encode()
    body = head + b"\n" + payload if payload else head
    return struct.pack(">I", len(body)) + body


@st.composite
def frames(draw):
    """One frame of the conversation, often with a field taken away or made into something else."""
    header, payload = draw(st.sampled_from(CONVERSATION))
    header = dict(header)
    for _ in range(draw(st.integers(0, 2))):
        field = draw(st.sampled_from(sorted(header)) | st.sampled_from(["id", "kind", "error", "usage", "notes"]))
        if draw(st.booleans()):
            header.pop(field, None)
        elif field == "error" and draw(st.booleans()):
            header[field] = {**RAISED, draw(st.sampled_from(sorted(RAISED))): draw(values)}
        else:
            header[field] = draw(values)
        if not header:
            break
    if draw(st.booleans()):
        payload = draw(st.binary(max_size=600))
    return _frame(header, payload)


@st.composite
def streams(draw):
    """The conversation with frames left out, repeated, moved and changed; then bytes changed; then cut into pieces."""
    whole = [_frame(*item) for item in CONVERSATION]
    chosen = draw(st.lists(st.sampled_from(whole) | frames(), max_size=14))
    data = bytearray(b"".join(chosen))
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, max(0, len(data) - 1)))
        data[place : place + draw(st.integers(0, 4))] = draw(st.binary(max_size=4))
    return [bytes(data[:cut]) for cut in [draw(st.integers(0, len(data)))]] + [bytes(data)]


async def _run(pieces) -> tuple[RunResult, list[int], int]:
    asked = []

    async def answer(call):
        asked.append(call.id)
        await anyio.lowlevel.checkpoint()
        return Reply(payload=call.arguments)

    first, whole = pieces
    with FakeGuest() as guest, anyio.fail_after(60):
        channel = Channel(guest.channel, LIMITS)
        guest.far.setblocking(False)
        async with anyio.create_task_group() as tasks:

            async def speak():
                for piece in (first, whole[len(first) :]):
                    guest.far.send(piece)
                    await anyio.lowlevel.checkpoint()
                guest.far.shutdown(1)

            tasks.start_soon(speak)
            result = await Pump(guest, channel, LIMITS, call=answer).run({})
        return result, asked, channel._splitter.held_bytes


@settings(max_examples=400, deadline=None)
@given(streams())
def test_whatever_a_guest_says_its_run_ends_with_a_code_and_every_id_acts_once(pieces):
    result, asked, held = anyio.run(_run, pieces)
    assert (result.status == "ok") == (result.error is None)
    assert result.error is None or result.error.code in ENDS
    assert len(asked) == len(set(asked)) <= LIMITS.calls
    assert held <= LIMITS.frame_bytes
    assert len(result.printed.encode()) <= LIMITS.kept_print_bytes * 2
    _ = result.value
    repr(result).encode("utf-8")


@given(streams(), st.integers(1, 64))
def test_a_stream_that_is_no_frames_never_stores_more_than_it_may(pieces, cap):
    splitter = wire.Splitter(cap)
    for start in range(0, len(pieces[1]), 7):
        try:
            bodies = splitter.feed(pieces[1][start : start + 7])
        except wire.WireError:
            return
        assert all(len(body) <= cap for body in bodies)
        assert splitter.held_bytes <= cap + 4 + 7
