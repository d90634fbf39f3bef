"""Text to search terms."""

import pytest

from codemode.search.tokens import fold, stem, text_terms, word_terms


@pytest.mark.parametrize(
    "words",
    [
        ("query", "queries"),
        ("issue", "issues"),
        ("create", "creates", "created", "creating", "creation"),
        ("delete", "deleting", "deletion"),
        ("search", "searches", "searching"),
        ("box", "boxes"),
        ("plan", "planning", "planned"),
        ("status",),
        ("process", "processes", "processing"),
        ("translate", "translation"),
    ],
)
def test_forms_of_one_word_share_a_stem(words: tuple[str, ...]) -> None:
    assert len({stem(word) for word in words}) == 1


@pytest.mark.parametrize("pair", [("action", "act"), ("status", "stat"), ("string", "str"), ("bus", "bu")])
def test_words_that_mean_different_things_stay_apart(pair: tuple[str, str]) -> None:
    assert stem(pair[0]) != stem(pair[1])


def test_an_identifier_gives_its_parts_and_the_whole() -> None:
    assert word_terms("addPerson") == ("add", "person", "addperson")
    assert word_terms("XMLExport") == ("xml", "export", "xmlexport")
    assert word_terms("s3") == ("s3",)
    assert word_terms("x") == ()


def test_names_split_at_separators_and_stop_words_go() -> None:
    assert text_terms("list_issues of-the repo", {}) == ["list", "issu", "repo"]


def test_scripts_without_spaces_give_characters_and_pairs() -> None:
    assert text_terms("创建 issue", {}) == ["创", "建", "创建", "issu"]
    assert text_terms("メール", {}) == ["メ", "ー", "ル", "メー", "ール"]


def test_accents_and_wide_forms_fold_and_hangul_stays_whole() -> None:
    assert fold("Ｎａïve Ünïcode") == "Naive Unicode"
    assert fold("검색") == "검색"
    assert fold("ガ") == "ガ"
