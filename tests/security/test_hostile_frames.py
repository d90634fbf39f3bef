"""A guest that attacks the host through its channel ends alone, with its own code, and nothing else happens."""

import dataclasses
import json
import sys

import anyio
import pytest

from sandbox import Limits, Reply, RunSpec, open_sandbox
from tests.security.hostile_frames import CASES, PRELUDE
from tests.support.own_memory import forget_peak, peak_bytes, resident_bytes
from tests.support.public_path import native_host

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform != "linux", reason="did not run: needs Linux"),
]

MIB = 1 << 20
LIMITS = Limits(
    wall_s=1, cpu_s=10, calls=50, in_flight=8, modules=50, output_bytes=MIB, kept_print_bytes=64 * 1024, threads=8
)
HOST_MAY_GROW_BYTES = 64 * MIB
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)


@pytest.fixture(scope="module")
async def box():
    async with open_sandbox("process", pool=2) as opened:
        yield opened


@every_case
async def test_a_hostile_guest_ends_alone_and_in_its_own_code(box, case):
    calls = []

    def answer(call):
        calls.append(call)
        return Reply(payload=b"1")

    spec = RunSpec(source=PRELUDE + case.code, dialect="native", limits=LIMITS.with_changes(wall_s=case.wall_s))
    forget_peak()
    before = resident_bytes()
    with anyio.fail_after(60):
        result = await box.run(spec, call=answer)
        other = await box.run(RunSpec(source="40 + 2"))
    assert (result.error.code if result.error else "") in case.ends, result.error
    assert len(calls) <= case.calls
    assert other.value == 42
    assert peak_bytes() - before < HOST_MAY_GROW_BYTES
    json.dumps([dataclasses.asdict(result) | {"value_raw": ""}, repr(result.value)]).encode("utf-8")


@pytest.fixture(scope="module")
async def host(tmp_path_factory):
    limits = {"wall_s": 1, "cpu_s": 10, "calls": 50, "in_flight": 8, "output_bytes": MIB}
    async with native_host(tmp_path_factory.mktemp("frames"), limits=limits) as opened:
        yield opened


@every_case
async def test_the_same_through_the_public_path_ends_as_a_result_that_can_be_written_down(host, case):
    with anyio.fail_after(60):
        outcome = await host.session().execute(PRELUDE + case.code)
        other = await host.session().execute("40 + 2")
    json.dumps(outcome.to_json(), allow_nan=False).encode("utf-8")
    assert outcome.code in (*case.ends, "limit.wall"), outcome
    assert outcome.code != "run.internal"
    assert other.value == 42
