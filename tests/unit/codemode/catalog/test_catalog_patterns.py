"""Patterns of schemas: structure only."""

import pytest

from codemode.catalog.patterns import pattern_fault


@pytest.mark.parametrize(
    "pattern",
    [
        r"^[a-z0-9_-]{1,64}$",
        r"^(?:a|b)+?$",
        r"\p{L}+",
        r"(?<year>\d{4})",
        r"(?!x)y",
        r"a{,3}",
        r"[^\]]*",
        r"",
        r"{}",
        r"x|",
        r"^\/api\/v\d+",
        r"[(]",
        r"a{2,}",
    ],
)
def test_sound_patterns_pass(pattern: str) -> None:
    assert pattern_fault(pattern) == ""


@pytest.mark.parametrize(
    "pattern",
    ["(", ")", "a)b", "[a-z", "*a", "a|+", "(?*x)", "a\\", "a{3,2}", "(" * 65 + ")" * 65, "a" * 2001, "a**"],
)
def test_broken_patterns_are_named(pattern: str) -> None:
    assert pattern_fault(pattern)
