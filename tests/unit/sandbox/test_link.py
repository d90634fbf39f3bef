"""The guest's end of the channel: one reader at a time, whatever mixes threads and a running loop."""

import asyncio
import json
import random
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from sandbox import wire
from sandbox.guest.aio import AsyncRuntime
from sandbox.guest.link import Link


class EchoHost(threading.Thread):
    """Answers every call with its own payload, out of order, from another thread; remembers what it saw."""

    def __init__(self, channel: socket.socket, *, hold: int = 0) -> None:
        super().__init__(daemon=True)
        self.channel = channel
        self.hold = hold
        self.cancelled: list[int] = []
        self.seen: list[int] = []
        self.most_open = 0

    def run(self) -> None:
        try:
            self._serve()
        except OSError:  # the test is over
            pass

    def _serve(self) -> None:
        splitter = wire.Splitter(1 << 20)
        waiting: list[bytes] = []
        while data := self.channel.recv(1 << 16):
            for body in splitter.feed(data):
                header, payload = wire.decode(body)
                if header["kind"] == "cancel":
                    self.cancelled.append(header["id"])
                    continue
                self.seen.append(header["id"])
                waiting.append(wire.encode({"kind": "reply", "id": header["id"], "ok": True, "form": "json"}, payload))
                self.most_open = max(self.most_open, len(waiting))
            if len(waiting) >= self.hold:
                random.shuffle(waiting)
                for frame in waiting:
                    self.channel.sendall(frame)
                waiting.clear()


@pytest.fixture
def pair():
    ours, theirs = socket.socketpair()
    loop = asyncio.new_event_loop()
    link = Link(ours, loop)
    runtime = AsyncRuntime()
    runtime.attach(loop, link)
    yield link, runtime, theirs
    loop.close()
    ours.close()
    theirs.close()


def _call(link: Link, value: int) -> int:
    return json.loads(link.request({"kind": "call", "target": "t"}, json.dumps(value).encode()).payload)


async def _await_call(link: Link, value: int) -> int:
    answer = await link.start({"kind": "call", "target": "t"}, json.dumps(value).encode())
    return json.loads(answer.payload)


def test_a_blocking_call_gets_its_own_answer(pair):
    link, _, theirs = pair
    EchoHost(theirs).start()
    assert [_call(link, n) for n in range(20)] == list(range(20))


def test_threads_get_their_own_answers(pair):
    link, _, theirs = pair
    EchoHost(theirs).start()
    results: dict[int, list[int]] = {}

    def work(number: int) -> None:
        results[number] = [_call(link, number * 1_000 + n) for n in range(200)]

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert results == {n: [n * 1_000 + i for i in range(200)] for n in range(8)}


def test_ten_thousand_mixed_calls_of_threads_and_a_running_loop_never_hang(pair):
    link, runtime, theirs = pair
    EchoHost(theirs).start()
    seen: list[int] = []

    def work(number: int) -> None:
        seen.extend(_call(link, n) for n in range(number, number + 500))

    async def main() -> int:
        threads = [threading.Thread(target=work, args=(n * 500,)) for n in range(8)]
        for thread in threads:
            thread.start()
        total = 0
        for n in range(40):
            values = await asyncio.gather(*[_await_call(link, i) for i in range(100)])
            assert values == list(range(100))
            total += len(values)
            total += 1 if _call(link, n) == n else 0  # the loop's own thread blocks now and then
        while any(thread.is_alive() for thread in threads):
            await asyncio.sleep(0.001)
        return total

    assert runtime.run(main()) == 4_040
    assert sorted(seen) == list(range(4_000))
    assert all(_call(link, n) == n for n in range(1_960))


def test_threads_are_answered_while_the_loops_thread_waits_for_them(pair):
    link, runtime, theirs = pair
    EchoHost(theirs).start()

    async def main() -> list[int]:
        found = [await _await_call(link, 0)]
        with ThreadPoolExecutor(4) as pool:
            for _ in range(50):
                found += [sum(pool.map(lambda n: _call(link, n), range(20)))]  # blocks the loop
                found += [_call(link, 1), await _await_call(link, 2)]
        return found

    assert runtime.run(main()) == [0, *[190, 1, 2] * 50]


def test_a_thread_that_is_interrupted_gives_the_reading_to_another(pair, monkeypatch):
    link, _, theirs = pair
    results: list[int] = []
    receive = link._receive_bytes

    def interrupted(flags: int) -> bytes:
        monkeypatch.setattr(link, "_receive_bytes", receive)
        thread.start()
        while link._blocked < 2:
            pass
        raise KeyboardInterrupt

    thread = threading.Thread(target=lambda: results.append(_call(link, 5)))
    monkeypatch.setattr(link, "_receive_bytes", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _call(link, 1)
    EchoHost(theirs).start()
    thread.join(30)
    assert (results, link._blocked, link._waiting) == ([5], 0, {})


def test_a_loop_that_starts_while_a_thread_reads_takes_the_reading_over(pair):
    link, runtime, theirs = pair
    results: list[int] = []
    thread = threading.Thread(target=lambda: results.append(_call(link, 1)))
    thread.start()
    while not link._waiting:
        pass
    EchoHost(theirs).start()
    assert runtime.run(_await_call(link, 2)) == 2
    thread.join(10)
    assert results == [1]


def test_a_cancelled_future_tells_the_host(pair):
    link, runtime, theirs = pair
    host = EchoHost(theirs, hold=10)
    host.start()

    async def main() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(_await_call(link, 1), 0.01)
        host.hold = 0
        assert await _await_call(link, 2) == 2

    runtime.run(main())
    assert host.cancelled == [1]


def test_no_more_than_the_window_is_on_its_way(pair):
    link, runtime, theirs = pair
    host = EchoHost(theirs, hold=0)
    host.start()
    link.set_window(5)

    async def main() -> list[int]:
        return await asyncio.gather(*[_await_call(link, n) for n in range(200)])

    assert runtime.run(main()) == list(range(200))
    assert host.most_open <= 5


def test_a_call_that_is_cancelled_before_it_was_sent_is_never_sent(pair):
    link, runtime, theirs = pair
    host = EchoHost(theirs, hold=2)
    host.start()
    link.set_window(1)

    async def main() -> None:
        first = link.start({"kind": "call", "target": "t"}, b"1")
        second = link.start({"kind": "call", "target": "t"}, b"2")
        second.cancel()
        await asyncio.sleep(0)
        host.hold = 0
        third = link.start({"kind": "call", "target": "t"}, b"3")
        first.cancel()
        assert (await third).payload == b"3"

    runtime.run(main())
    assert host.seen == [1, 3]
    assert host.cancelled == [1]


def test_run_inside_a_running_loop_says_what_to_write(pair):
    _, runtime, theirs = pair
    EchoHost(theirs).start()

    async def main() -> None:
        with pytest.raises(RuntimeError, match="await main"):
            runtime.run(asyncio.sleep(0))

    runtime.run(main())


def test_run_in_another_thread_is_refused(pair):
    _, runtime, _ = pair
    errors: list[str] = []

    def work() -> None:
        try:
            runtime.run(asyncio.sleep(0))
        except RuntimeError as error:
            errors.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(10)
    assert "main thread" in errors[0]


def test_helpers_take_plain_values(pair):
    _, runtime, _ = pair

    async def main() -> list[object]:
        async with runtime.names()["TaskGroup"]() as group:
            task = group.create_task(7)
        done = [await item for item in runtime.as_completed([1, asyncio.sleep(0, 2)])]
        return [
            await runtime.gather(1, asyncio.sleep(0, 2), 3),
            await runtime.wait_for(4, 1),
            task.result(),
            sorted(done),
        ]

    assert runtime.run(main()) == [[1, 2, 3], 4, 7, [1, 2]]


def test_calls_that_nobody_awaits_are_finished(pair):
    link, runtime, theirs = pair
    host = EchoHost(theirs)
    host.start()

    async def main() -> None:
        link.start({"kind": "call", "target": "t"}, b"1")

    runtime.run(main())
    assert host.seen == [1]
    assert link.outstanding == []
