"""Regular expressions of queries."""

import pytest

from codemode.search.pattern import MAX_PATTERN_CHARS, PatternError, matcher


def test_case_does_not_count() -> None:
    matches = matcher("list_(issues|pulls)$")
    assert matches("github.LIST_issues")
    assert not matches("github.list_issues_all")


@pytest.mark.parametrize(
    "pattern", ["(", "[", "a)|(b", "(?=x)", r"(a)\1", "a{1000}{1000}", "\ud800", "x" * (MAX_PATTERN_CHARS + 1)]
)
def test_a_pattern_of_another_kind_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        matcher(pattern)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", ".*.*.*.*.*=x", "(.*)(.*)(.*)(.*)b"])
def test_a_pattern_that_explodes_elsewhere_ends_here(pattern: str) -> None:
    assert not matcher(pattern)("a" * 5_000 + "c")
