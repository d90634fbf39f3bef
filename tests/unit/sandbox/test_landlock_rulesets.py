"""Which rights a Landlock ruleset handles, by ABI (Documentation/userspace-api/landlock.rst)."""

import struct

import pytest

from sandbox.linux.landlock import ruleset


@pytest.mark.parametrize(
    ("abi", "members"),
    [
        (1, (0x1FFF,)),
        (2, (0x3FFF,)),
        (3, (0x7FFF,)),
        (4, (0x7FFF, 3)),
        (5, (0xFFFF, 3)),
        (6, (0xFFFF, 3, 3)),
        (7, (0xFFFF, 3, 3)),
        (99, (0xFFFF, 3, 3)),
    ],
)
def test_every_right_that_an_abi_knows_is_handled(abi, members):
    assert ruleset(abi) == struct.pack(f"={len(members)}Q", *members)


def test_no_landlock_has_no_ruleset():
    with pytest.raises(ValueError, match="at least 1"):
        ruleset(0)
