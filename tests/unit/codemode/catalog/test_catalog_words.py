"""Identifiers split into words."""

import pytest

from codemode.catalog.words import split_words


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("addPerson", ("add", "person")),
        ("XMLExportDeals", ("xml", "export", "deals")),
        ("list-issues", ("list", "issues")),
        ("API-get-user", ("api", "get", "user")),
        ("bitable_v1_appTable_create", ("bitable", "v", "1", "app", "table", "create")),
        ("OAuth2Token", ("o", "auth", "2", "token")),
        ("naïveName", ("naïve", "name")),
        ("名前", ("名前",)),
        ("создатьЗадачу", ("создать", "задачу")),
        ("__", ()),
    ],
)
def test_humps_acronyms_digits_and_separators_part_words(name: str, words: tuple[str, ...]) -> None:
    assert split_words(name) == words
