"""Text → search terms: one rule for what is indexed and what is asked.

Enters: names, descriptions, queries in any language. Leaves: terms: lower-case English stems, words of other scripts
with accents folded, single characters and pairs for Chinese, Japanese and Korean text, which is written without
spaces. A single Latin letter is no term.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from codemode.catalog.words import split_words

# Han, kana and Hangul, the long-vowel mark of katakana included.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
_WORDS = re.compile(rf"([{_UNSPACED}]+)|([^\W_{_UNSPACED}]+)")
_ASCII_WORDS = re.compile("[A-Za-z0-9]+")
_ACCENTS = re.compile("[\u0300-\u036f]")
MAX_WORD_CHARS = 64

_STOP_WORDS = """
    a about all also am an and any are as at be been but by can could did do does for from had has have he her his how
    i if in into is it its just let like may me might must my need needs no not of on or our please shall she should
    so some than that the their them then there these they this those to too us want wants was we were what when
    where which while who whom whose why will with would you your
    的 了 和 是 在 我 把 将 给 请 一个 帮 帮我 里 上 中 吗 呢 并 与 及 或 有 到 对 从 用
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


def fold(text: str) -> str:
    """Compatibility forms and accents folded, case kept: `Ｎａïve` → `Naive`."""
    if text.isascii():
        return text
    # Decomposing parts Hangul syllables and voiced kana too; composing again heals what no accent was taken from.
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", text)))


def runs(folded: str) -> Iterator[tuple[str, bool]]:
    """The words of a folded text in order, and whether each is a run of a script written without spaces."""
    for unspaced, word in _WORDS.findall(folded):
        if unspaced:
            yield unspaced, True
        else:
            yield word[:MAX_WORD_CHARS], False


def word_terms(word: str) -> tuple[str, ...]:
    """The terms of one spaced word: its stem; for an identifier the stems of its parts and the whole."""
    parts = split_words(word)
    if len(parts) <= 1:
        return (stem(word.casefold()),) if len(word) > 1 or not word.isascii() else ()
    terms = [stem(part) for part in parts if len(part) > 1 or not part.isascii()]
    return tuple(dict.fromkeys([*terms, stem(word.casefold())]))


def unspaced_terms(run: str) -> list[str]:
    """Single characters and neighbouring pairs."""
    return [*run, *(run[at : at + 2] for at in range(len(run) - 1))]


def text_terms(text: str, known: dict[str, tuple[str, ...]]) -> list[str]:
    """All terms of a text but stop words, repeated as often as they occur. `known` remembers words across calls."""
    terms: list[str] = []
    if text.isascii():
        # Nearly all of what is indexed: one pass without the machinery for other scripts.
        for word in _ASCII_WORDS.findall(text):
            found = known.get(word)
            terms.extend(_indexed(word, known) if found is None else found)
        return terms
    for run, is_unspaced in runs(fold(text)):
        if is_unspaced:
            terms.extend(unspaced_terms(run))
        else:
            found = known.get(run)
            terms.extend(_indexed(run, known) if found is None else found)
    return terms


def _indexed(word: str, known: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    known[word] = () if word.casefold() in STOP_WORDS else word_terms(word[:MAX_WORD_CHARS])
    return known[word]


_VOWEL = re.compile("[aeiouy]")
_DOUBLED = re.compile(r"([b-df-hj-np-rtv-xz])\1$")  # not `l` and `s`: `call`, `process`


def stem(word: str) -> str:
    """An English word without its usual endings: `queries`, `query` → `query`; `creating`, `created` → `creat`.

    Light on purpose: a longer list of endings joins words that mean different things.
    """
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    return _without_tense(_singular(word))


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "ches", "shes", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _without_tense(word: str) -> str:
    for ending in ("ing", "ed", "ion"):
        body = word.removesuffix(ending)
        if body != word and len(body) >= (5 if ending == "ion" else 3) and _VOWEL.search(body):
            if ending == "ion":
                return body if body.endswith(("t", "s")) else word
            return _DOUBLED.sub(r"\1", body)
    return word[:-1] if word.endswith("e") and len(word) > 4 else word
