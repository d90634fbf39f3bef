"""Which user ids guests take."""

from sandbox.linux import uids
from sandbox.linux.uids import FREE_END, FREE_FIRST, SLOTS, choose

WHOLE_MACHINE = [range(0xFFFFFFFF)]


def drawn(*numbers):
    queue = list(numbers)
    return lambda below: queue.pop(0) % below


def test_the_block_lies_in_the_range_that_nobody_uses():
    block = choose(WHOLE_MACHINE, frozenset({0, 1000}), drawn(7))
    assert block == range(FREE_FIRST + 7 * SLOTS, FREE_FIRST + 8 * SLOTS)
    last = choose(WHOLE_MACHINE, frozenset(), drawn((FREE_END - FREE_FIRST) // SLOTS - 1))
    assert last.stop == FREE_END


def test_two_hosts_that_draw_differently_share_no_id():
    one, other = choose(WHOLE_MACHINE, frozenset(), drawn(1)), choose(WHOLE_MACHINE, frozenset(), drawn(2))
    assert not set(one) & set(other)


def test_a_block_in_use_is_not_taken():
    used = frozenset({FREE_FIRST + 7 * SLOTS + 3})
    assert choose(WHOLE_MACHINE, used, drawn(7, 9)).start == FREE_FIRST + 9 * SLOTS


def test_a_container_with_its_own_ids_uses_the_upper_half_below_nobody():
    block = choose([range(65536)], frozenset(), drawn(0))
    assert block == range(32768, 32768 + SLOTS)
    assert 65534 not in choose([range(65536)], frozenset(), drawn(30))


def test_a_map_of_single_ids_gives_no_block():
    assert choose([range(1)], frozenset(), drawn(0)) is None
    assert choose([], frozenset(), drawn(0)) is None


def test_when_every_drawn_block_is_in_use_there_is_none():
    assert choose(WHOLE_MACHINE, frozenset({FREE_FIRST}), lambda below: 0) is None


def test_own_ids_are_seen_as_mapped_and_in_use():
    import os

    assert any(os.getuid() in ids for ids in uids.mapped())
    assert os.getuid() in uids.used()
    assert 0 <= uids.draw(5) < 5
