"""The bounds of one guest's groups."""

from sandbox.backends.seat import bound_of
from sandbox.linux import rlimits
from sandbox.linux.cgroups import Bound
from sandbox.spec import MIB, Limits


def test_a_group_has_room_for_all_that_the_memory_limit_lets_a_guest_use():
    bound = bound_of(Limits(memory_bytes=64 * MIB, threads=8), 24 * MIB)
    assert bound == Bound(memory_bytes=64 * MIB + 24 * MIB + (16 + 8 + 32) * MIB, tasks=9)
    data = rlimits.sealed(
        memory_bytes=64 * MIB, cpu_s=1, tasks=9, baseline_data_bytes=24 * MIB, baseline_address_bytes=0
    )
    assert bound.memory_bytes > data[rlimits.resource.RLIMIT_DATA][1]
