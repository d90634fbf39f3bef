"""Words that mean the same to a searcher: English ones that tools use for one thing, and translations into English.

Enters: a word of a query. Leaves: English words to look for. No lexical method finds an English tool for a Chinese
query; a few hundred everyday words close most of that gap. Built once from `translations.py`; never changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codemode.search import translations
from codemode.search.tokens import fold, stem

Words = tuple[tuple[str, ...], ...]
"""What a foreign word means: several English words that are all meant, each with its alternatives, best first."""

_CLOSE = """
create add new make insert ; delete remove erase drop destroy ; update edit modify change patch
get fetch read retrieve obtain ; show view display get ; search find query lookup ; list enumerate browse
send post publish ; email mail gmail ; image picture photo ; open create start ; close resolve finish
repository repo ; directory folder dir ; document doc ; database db ; message msg chat ; ticket issue bug
spreadsheet sheet excel workbook ; website web site page url ; webpage page url web ; weather forecast
price cost quote ; user member account person people ; person contact people user ; meeting event appointment
run execute invoke ; start launch begin ; stop end terminate halt ; copy duplicate clone ; convert transform
check verify validate inspect ; chart graph plot diagram ; video movie clip ; song music track ; picture image photo
todo task ; job task work ; log logs ; error exception failure ; docs documentation ; config configuration settings
setting config ; metric metrics stats ; ping health ; location place address ; nearby around
route directions navigation ; flight airline ; company business organization ; buy purchase ; team group ; label tag
comment reply note ; upload attach ; download export fetch ; save store write ; schedule calendar plan
translate translation ; summarize summary ; calculate compute ; compare diff ; deploy release ; screenshot capture
slide presentation ; paper article ; news headline ; stock share ticker ; currency exchange ; alert alarm
table sheet ; cell range ; invoice bill ; delete clear flush ; click press tap ; info details ; details info
history log ; merge combine ; move rename ; scrape crawl extract ; browser page
"""
# What is done, whatever it is done with: any tool may do these, so they choose none by themselves.
_ACTIONS = """
get fetch read retrieve obtain show view display list enumerate find search query lookup look browse check give tell
create add new make insert generate update edit modify change set put write delete remove drop run execute invoke call
use using manage handle perform provide return help want open start all any every each one two some first last
information info details detail tool tools please
"""
_MAX_ENDING = 5
_MIN_CUT = 4  # a shorter word is looked up as it is


def _close_table() -> dict[str, tuple[str, ...]]:
    table: dict[str, dict[str, None]] = {}
    for group in _groups(_CLOSE):
        terms = [stem(word) for word in group.split()]
        for term in terms:
            table.setdefault(term, {}).update(dict.fromkeys(other for other in terms if other != term))
    return {term: tuple(others) for term, others in table.items()}


def _groups(text: str) -> list[str]:
    return [group.strip() for line in text.splitlines() for group in line.split(";") if group.strip()]


def _table(*texts: str) -> dict[str, Words]:
    table: dict[str, Words] = {}
    for text in texts:
        for entry in _groups(text):
            words, _, meanings = entry.partition("=")
            meant = tuple(tuple(part.split()) for part in meanings.split("+"))
            for word in words.split():
                table.setdefault(fold(word).casefold(), meant)
    return table


_CLOSE_TERMS: Mapping[str, tuple[str, ...]] = _close_table()
_UNSPACED = _table(translations.CHINESE, translations.JAPANESE, translations.KOREAN)
_SPACED = _table(
    translations.SPANISH_PORTUGUESE, translations.GERMAN, translations.FRENCH, translations.RUSSIAN, translations.KOREAN
)
_LONGEST = max(len(word) for word in _UNSPACED)


_ACTION_TERMS = frozenset(stem(word) for word in _ACTIONS.split())


def is_action(term: str) -> bool:
    """Whether a stem says what is done and not with what."""
    return term in _ACTION_TERMS


def close_words(term: str) -> Sequence[str]:
    """Stems that tools use for much the same as this stem."""
    return _CLOSE_TERMS.get(term, ())


def spaced(word: str) -> Words:
    """What a word of a spaced language means, its ending put aside; `()` when it is not known."""
    for end in range(len(word), max(_MIN_CUT, len(word) - _MAX_ENDING) - 1, -1):
        if meant := _SPACED.get(word[:end]):
            return meant
    return _SPACED.get(word, ())


def unspaced(word: str) -> Words:
    """What a word of a script without spaces means."""
    return _UNSPACED.get(word, ())


def longest_word(run: str, at: int) -> str:
    """The longest known word that starts at a place of a run; "" when none does."""
    for end in range(min(len(run), at + _LONGEST), at, -1):
        if run[at:end] in _UNSPACED:
            return run[at:end]
    return ""
