"""The arithmetic of resource limits."""

import resource

from sandbox.linux.rlimits import MIB, lowered, sealed, tightened

INFINITY = resource.RLIM_INFINITY


def of_seal(**changes):
    given = {
        "memory_bytes": 512 * MIB,
        "cpu_s": 60.0,
        "tasks": 65,
        "baseline_data_bytes": 20 * MIB,
        "baseline_address_bytes": 60 * MIB,
    }
    return sealed(**{**given, **changes})


def test_memory_is_counted_on_top_of_what_the_interpreter_uses():
    assert of_seal()[resource.RLIMIT_DATA] == (532 * MIB, 548 * MIB)


def test_the_address_space_leaves_room_for_reservations_and_is_still_bounded():
    soft, hard = of_seal()[resource.RLIMIT_AS]
    assert soft == hard == (60 + 512 + 16 + 1024) * MIB


def test_a_part_of_a_second_counts_as_a_whole_one():
    assert of_seal(cpu_s=0.2)[resource.RLIMIT_CPU] == (2, 3)
    assert of_seal(cpu_s=60.0)[resource.RLIMIT_CPU] == (61, 62)


def test_a_run_changes_the_bound_on_tasks_only_where_they_are_counted_for_one_guest():
    assert of_seal()[resource.RLIMIT_NPROC] == (65, 65)
    run = tightened(memory_bytes=MIB, cpu_s=1.0, used_cpu_s=0.0, tasks=None, baseline_data_bytes=0)
    assert resource.RLIMIT_NPROC not in run


def test_nothing_can_be_written_dumped_locked_or_queued():
    pairs = of_seal()
    kinds = (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE, resource.RLIMIT_MEMLOCK, resource.RLIMIT_MSGQUEUE)
    assert {pairs[kind] for kind in kinds} == {(0, 0)}


def test_a_run_gets_its_own_limits_and_is_not_charged_for_the_wait():
    pairs = tightened(memory_bytes=64 * MIB, cpu_s=2.0, used_cpu_s=0.1, tasks=5, baseline_data_bytes=20 * MIB)
    assert pairs == {
        resource.RLIMIT_DATA: (84 * MIB, 100 * MIB),
        resource.RLIMIT_CPU: (3, 4),
        resource.RLIMIT_NPROC: (5, 5),
    }


def test_a_run_never_gets_more_than_the_seal_allows():
    ceiling = of_seal(cpu_s=5.0)[resource.RLIMIT_CPU]
    run = tightened(memory_bytes=MIB, cpu_s=5.0, used_cpu_s=0.9, tasks=None, baseline_data_bytes=0)
    assert lowered(run[resource.RLIMIT_CPU], ceiling) == (6, 7)


def test_limits_are_lowered_and_never_raised():
    assert lowered((10, 20), (5, 15)) == (10, 15)
    assert lowered((10, 20), (5, 8)) == (8, 8)
    assert lowered((10, 20), (INFINITY, INFINITY)) == (10, 20)
    assert lowered((INFINITY, INFINITY), (5, 8)) == (8, 8)
    assert lowered((INFINITY, INFINITY), (5, INFINITY)) == (INFINITY, INFINITY)
