"""Size limits, at their edges."""

from typing import Any

import pytest

from codemode.catalog import bounds


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def test_a_value_at_each_limit_passes_and_one_beyond_does_not() -> None:
    assert bounds.fault(nested(bounds.MAX_DEPTH)) == ""
    assert "deeper" in bounds.fault(nested(bounds.MAX_DEPTH + 1))
    assert bounds.fault([0] * (bounds.MAX_NODES - 1)) == ""
    assert "values" in bounds.fault([0] * bounds.MAX_NODES)
    assert bounds.fault("x" * bounds.MAX_CHARS) == ""
    assert "kB" in bounds.fault({"x" * bounds.MAX_CHARS: "y"})


@pytest.mark.parametrize("value", [{5: 1}, {None: 1}, {"a": object()}, {"a": {1}}, b"bytes"])
def test_what_json_does_not_have_is_a_fault(value: object) -> None:
    assert bounds.fault(value)


def test_depth_is_judged_before_anything_could_exhaust_the_stack() -> None:
    assert bounds.fault(nested(100_000))


def test_a_value_shared_many_times_counts_each_time() -> None:
    value: Any = [1, 2]
    for _ in range(40):
        value = [value, value]
    assert "values" in bounds.fault(value)
