"""Limits and run specs: every bound at its edge, every refusal with the field's name."""

import pytest

from sandbox.errors import SpecError
from sandbox.spec import _RANGES, Limits, RunSpec


@pytest.mark.parametrize("name", sorted(_RANGES))
def test_a_limit_outside_its_range_is_refused_with_its_name(name):
    low, high = _RANGES[name]
    kind = type(getattr(Limits(), name))
    for value in (kind(low) - 1, kind(high) + 1, -1, 0):
        with pytest.raises(SpecError, match=f"limits.{name}"):
            Limits(**{name: value})


@pytest.mark.parametrize("value", ["5", None, True, [1], float("nan")])
def test_a_limit_of_a_wrong_type_is_refused(value):
    with pytest.raises(SpecError, match=r"limits\.calls"):
        Limits(calls=value)


def test_limits_that_contradict_each_other_are_refused_with_both_names():
    with pytest.raises(SpecError, match=r"in_flight.*calls"):
        Limits(calls=10, in_flight=11)
    with pytest.raises(SpecError, match=r"kept_print_bytes.*output_bytes"):
        Limits(output_bytes=2_048, kept_print_bytes=4_096)


def test_a_source_at_the_limit_passes_and_one_byte_more_does_not():
    limits = Limits(source_bytes=1_024)
    assert len(RunSpec(source="x" * 1_024, limits=limits).source_bytes()) == 1_024
    with pytest.raises(SpecError) as caught:
        RunSpec(source="x" * 1_025, limits=limits).source_bytes()
    assert caught.value.code == "limit.source"


def test_an_unknown_dialect_is_refused():
    with pytest.raises(SpecError) as caught:
        RunSpec(source="1", dialect="free").source_bytes()
    assert caught.value.code == "spec.dialect"


def test_a_source_with_lone_surrogates_keeps_its_bytes():
    assert RunSpec(source="'\ud83d'").source_bytes() == b"'\xed\xa0\xbd'"
