"""Words in other languages, and English words that mean the same."""

import pytest

from codemode.search import glossary, translations
from codemode.search.tokens import fold, stem


@pytest.mark.parametrize(
    ("word", "english"),
    [("archivos", "file"), ("buscar", "search"), ("Datei", "file"), ("supprimer", "delete"), ("файлы", "file"),
     ("удалить", "delete"), ("criar", "create"), ("reunião", "meeting"), ("vérifier", "check"), ("löschen", "delete")],
)  # fmt: skip
def test_forms_of_a_word_lead_to_english(word: str, english: str) -> None:
    assert glossary.spaced(fold(word).casefold())[0][0] == english


@pytest.mark.parametrize(
    ("word", "english"),
    [
        ("创建", "create"),
        ("刪除", "delete"),
        ("検索", "search"),
        ("ファイル", "file"),
        ("검색", "search"),
        ("邮件", "email"),
    ],
)
def test_words_without_spaces_lead_to_english(word: str, english: str) -> None:
    assert glossary.unspaced(fold(word))[0][0] == english


def test_the_longest_known_word_is_taken() -> None:
    assert glossary.longest_word("查看数据库表", 2) == "数据库"
    assert glossary.longest_word("查看数据库表", 5) == "表"
    assert glossary.longest_word("氷", 0) == ""


def test_two_meant_words_stay_two() -> None:
    assert glossary.unspaced("拉取请求") == (("pull", "merge"), ("request",))


def test_unknown_words_and_short_beginnings_lead_nowhere() -> None:
    assert glossary.spaced("zzqx") == ()
    assert glossary.spaced("crab") == ()
    assert glossary.close_words("zzqx") == ()


def test_close_words_are_mutual() -> None:
    assert stem("remove") in glossary.close_words(stem("delete"))
    assert stem("delete") in glossary.close_words(stem("remove"))


@pytest.mark.parametrize("language", [name for name in vars(translations) if name.isupper()])
def test_every_entry_has_words_and_translations(language: str) -> None:
    for line in getattr(translations, language).strip().splitlines():
        for entry in line.split(";"):
            words, equals, meanings = entry.partition("=")
            assert words.strip()
            assert equals
            assert all(part.strip().isascii() and part.strip() for part in meanings.split("+")), entry
