"""Python names are valid, one-to-one and independent of order, whatever the raw names are."""

import keyword

from hypothesis import given, settings
from hypothesis import strategies as st

from codemode.catalog.names import MAX_CHARS, function_names, module_names, parameter_names

# Names that meet each other after cleaning, besides arbitrary text.
CLOSE = st.text(alphabet="aA_-. /9еｇ😀\u0301ßſ", max_size=6)
NAMES = st.lists(st.text(max_size=80) | CLOSE | st.sampled_from(["class", "set", "__class__", "class_"]), max_size=12)


@settings(max_examples=200, deadline=None)
@given(NAMES)
def test_function_and_module_names_are_one_to_one_also_without_case(raw: list[str]) -> None:
    for rule in (function_names, module_names):
        names = rule(raw)
        assert set(names) == set(raw)
        assert len({name.casefold() for name in names.values()}) == len(names)
        assert all(name.isidentifier() and not keyword.iskeyword(name) for name in names.values())
        assert all(len(name) <= MAX_CHARS and not name.startswith("_") for name in names.values())


@settings(max_examples=200, deadline=None)
@given(NAMES)
def test_parameter_names_are_one_to_one(raw: list[str]) -> None:
    names = parameter_names(raw)
    assert set(names) == set(raw)
    assert len(set(names.values())) == len(names)
    assert all(name.isidentifier() and not keyword.iskeyword(name) and name != "self" for name in names.values())


@settings(max_examples=100, deadline=None)
@given(NAMES, st.randoms(use_true_random=False))
def test_order_and_repetition_change_nothing(raw: list[str], random: object) -> None:
    shuffled = [*raw, *raw]
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis hands over a random.Random
    assert function_names(shuffled) == function_names(raw)
    assert parameter_names(shuffled) == parameter_names(raw)


@settings(max_examples=100, deadline=None)
@given(NAMES)
def test_names_survive_the_way_python_reads_them(raw: list[str]) -> None:
    for name in function_names(raw).values():
        namespace: dict[str, int] = {}
        exec(f"{name} = 1", namespace)
        assert namespace[name] == 1


@settings(max_examples=50, deadline=None)
@given(NAMES)
def test_names_made_to_equal_hashed_ones_take_nobodys_place(raw: list[str]) -> None:
    made = list(function_names(raw).values())
    names = function_names([*raw, *made])
    assert len({name.casefold() for name in names.values()}) == len(names)
