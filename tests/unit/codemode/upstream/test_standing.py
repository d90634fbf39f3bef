"""When a server that ended may be started again."""

import anyio
import pytest

from codemode.config.model import ServerConfig
from codemode.upstream import standing as module
from codemode.upstream.standing import Standing

pytestmark = pytest.mark.anyio


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module.anyio, "current_time", clock)
    return clock


@pytest.fixture
def standing() -> Standing:
    return Standing(ServerConfig(name="s", command="x"), lambda: None)


async def ends(standing: Standing, *, had_answered: bool = True) -> float:
    """How long the next start has to wait after this end."""
    if had_answered:
        standing.failures = 0
    await standing.ended(was_ready=had_answered)
    return standing.wait_s()


async def test_a_server_that_answers_and_ends_again_and_again_is_started_once_a_second(
    standing: Standing, clock: Clock
) -> None:
    waits = []
    for _ in range(6):
        waits.append(await ends(standing))
        clock.now += 0.5
    assert waits == [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]


async def test_a_server_that_ends_now_and_then_is_started_at_once(standing: Standing, clock: Clock) -> None:
    for _ in range(6):
        assert await ends(standing) == 0.0
        clock.now += 4.0


async def test_a_server_that_never_comes_up_is_tried_more_and_more_rarely(standing: Standing, clock: Clock) -> None:
    waits = []
    for _ in range(8):
        waits.append(await ends(standing, had_answered=False))
        clock.now += waits[-1]
    assert waits == [0.0, 1.0, 2.0, 5.0, 10.0, 30.0, 30.0, 30.0]


async def test_who_waits_for_a_change_is_woken_by_an_end(standing: Standing) -> None:
    changed = standing.changed
    await standing.ended(was_ready=False)
    with anyio.fail_after(5):
        await changed.wait()
