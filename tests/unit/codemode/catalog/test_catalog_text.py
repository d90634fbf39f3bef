"""Server text made safe to show."""

import pytest

from codemode.catalog.text import clean_line, clean_text, has_hidden, has_surrogate


def test_line_ends_of_every_kind_become_one() -> None:
    assert clean_text("a\r\nb\rc\x0bd\x0ce\x85f\u2028g\u2029h", 100) == "a\nb\nc\nd\ne\nf\ng\nh"


@pytest.mark.parametrize(
    "hidden",
    ["\x00", "\x07", "\x7f", "\x9d", "\u00ad", "\u200b", "\u200e", "\u202e", "\u2066", "\ufe0f", "\ufeff", "\ud83d",
     "\ufffe", "\U000e0041", "\U0010ffff", "\u3164"],
)  # fmt: skip
def test_characters_that_hide_or_reorder_text_are_stripped(hidden: str) -> None:
    assert clean_text(f"a{hidden}b", 100) == "ab"
    assert has_hidden(f"a{hidden}b")


def test_tabs_and_line_breaks_stay_in_text_and_become_spaces_in_a_line() -> None:
    assert clean_text("a\tb\nc", 100) == "a\tb\nc"
    assert clean_line(" a\tb\n\n c ", 100) == "a b c"


def test_visible_characters_of_all_scripts_stay() -> None:
    text = "naïve 名前 имя שם اسم 😀"
    assert clean_text(text, 100) == text


def test_terminal_sequences_go_as_a_whole() -> None:
    assert clean_text("\x1b[31mred\x1b[0m \x1b]8;;http://x.test\x07link\x1b]8;;\x07", 100) == "red link"


def test_runs_of_blank_lines_shrink_so_that_nothing_is_pushed_out_of_sight() -> None:
    assert clean_text("a\n \n\n\t\n\n\nb", 100) == "a\n\nb"


def test_a_cut_is_marked_and_counts() -> None:
    assert clean_text("abcdefghij", 5) == "abcd…"
    assert clean_text("abcde", 5) == "abcde"
    assert clean_line("ab cd ef", 4) == "ab…"
    assert clean_text("anything", 0) == ""


def test_long_text_of_hidden_characters_is_cut_without_reading_it_all() -> None:
    assert clean_text("\u200b" * 1_000_000 + "secret", 10) == "…"


def test_half_of_a_surrogate_pair_is_seen() -> None:
    assert has_surrogate("a\udc00")
    assert not has_surrogate("a😀")


def test_a_line_that_is_cut_at_a_space_still_says_so():
    assert clean_line("abcd efgh", 4) == "abc…"
    assert clean_line("abcd     ", 4) == "abcd"
