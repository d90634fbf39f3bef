"""Twenty servers, seven of them slow, dying, hanging, noisy or lying, while eight programs call the good ones."""

from collections import Counter
from pathlib import Path

import anyio
import pytest

from tests.support.chaos import GOOD, PROGRAMS, bad_servers, disturb, opened, run_programs

pytestmark = pytest.mark.anyio

ROUNDS = 4


async def test_no_good_call_is_lost_or_made_twice_while_other_servers_misbehave(tmp_path: Path) -> None:
    over = anyio.Event()
    ends: list[Counter[tuple[str, str]]] = []
    with anyio.fail_after(100):
        async with opened(tmp_path, bad_servers(tmp_path)) as host, anyio.create_task_group() as tasks:

            async def misuse() -> None:
                ends.append(await disturb(host, over))

            tasks.start_soon(misuse)
            outcomes = await run_programs(host, ROUNDS)
            over.set()

    assert [(outcome.status, outcome.value) for outcome in outcomes] == [("ok", ROUNDS * len(GOOD))] * PROGRAMS
    records = [call for outcome in outcomes for call in outcome.calls]
    assert Counter(call.status for call in records) == {"ok": PROGRAMS * ROUNDS * len(GOOD)}
    for name in GOOD:
        lines = (tmp_path / f"{name}.seen").read_text().splitlines()
        sent = [line for line in lines if '"tools/call"' in line]
        wanted = [f'"{program}-{turn}-{name}"' for program in range(PROGRAMS) for turn in range(ROUNDS)]
        assert [sum(n in line for line in sent) for n in wanted] == [1] * len(wanted)
        assert len(sent) == len(wanted)
    # What no bad server may do is answer as if it were a good one.
    assert not {server for server, end in ends[0] if end == "answered"} - {"short_lived", "noisy"}
