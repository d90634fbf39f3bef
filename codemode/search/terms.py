"""The words of one need → what to look up: for each word the terms it may stand for in this index, with weights.

Enters: a text and the vocabulary of an index. Leaves: one `Ask` for each word that means something. A word is matched
by its stem, by longer terms it begins, by a shorter term that begins it, by close words, and, when the index does not
know it, by its translation.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from codemode.search import glossary
from codemode.search.tokens import STOP_WORDS, fold, runs, stem, word_terms

MAX_ASKS = 40  # chosen: a task of 60 words has about 30 that mean something
_MAX_LONGER = 6
_LONGER = 0.6
_SHORTER = 0.5
_CLOSE = 0.4
_TRANSLATED = 0.9
_JOINED = 0.9
_PART_OF_KNOWN = 0.4
_SINGLE_CHARACTER = 0.3

_Found = tuple[dict[str, float], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One word of a need.

    Attributes:
        terms: terms of the index that satisfy it, each with its weight from 0 to 1; the best counts. Empty when the
            index knows nothing like it.
        is_action: a word for what is done (`get`, `create`) and not for what it is done with.
    """

    terms: tuple[tuple[str, float], ...]
    is_action: bool = False


class Vocabulary:
    """The terms of an index, sorted for looking up by their beginnings."""

    __slots__ = ("_known", "_sorted")

    def __init__(self, terms: Mapping[str, object]) -> None:
        self._known = terms
        self._sorted = sorted(term for term in terms if term.isalpha())

    def __contains__(self, term: str) -> bool:
        return term in self._known

    def longer(self, beginning: str) -> list[str]:
        """The shortest few terms that begin with a text and are at most twice as long."""
        at = bisect_left(self._sorted, beginning)
        found: list[str] = []
        while at < len(self._sorted) and self._sorted[at].startswith(beginning) and len(found) < 50:
            term = self._sorted[at]
            if len(beginning) < len(term) <= 2 * len(beginning) + 2:
                found.append(term)
            at += 1
        return sorted(found, key=lambda term: (len(term), term))[:_MAX_LONGER]


def asks_of(text: str, vocabulary: Vocabulary) -> list[Ask]:
    """What to look up for a text, in the order of its words, at most `MAX_ASKS`."""
    asks: dict[Ask, None] = {}
    previous = ""
    for run, is_unspaced in runs(fold(text)):
        if is_unspaced:
            found = list(_unspaced_asks(run, vocabulary))
            previous = ""
        else:
            found = list(_word_asks(run, previous, vocabulary))
            previous = run.casefold()
        for terms, is_action in found:
            asks[Ask(terms=tuple(sorted(terms.items())), is_action=is_action)] = None
    return list(asks)[:MAX_ASKS]


def _word_asks(word: str, previous: str, vocabulary: Vocabulary) -> Iterator[_Found]:
    lower = word.casefold()
    if lower in STOP_WORDS:
        return
    terms = word_terms(word)
    whole = terms[-1] if terms else lower
    if len(terms) > 1:
        is_known = whole in vocabulary
        if is_known:
            yield {whole: 1.0}, False
        for part in terms[:-1]:
            scale = _PART_OF_KNOWN if is_known else 1.0
            found = {term: weight * scale for term, weight in _alternatives(part, vocabulary).items()}
            yield found, glossary.is_action(part)
        return
    if not terms:
        return
    found = _alternatives(whole, vocabulary)
    joined = stem(previous + lower)
    if previous and joined in vocabulary:
        found[joined] = _JOINED
    meant = () if whole in vocabulary else glossary.spaced(lower)
    translations = list(_translated(meant, vocabulary)) or [({}, glossary.is_action(whole))]
    yield {**found, **translations[0][0]}, translations[0][1]
    yield from translations[1:]


def _alternatives(term: str, vocabulary: Vocabulary) -> dict[str, float]:
    found: dict[str, float] = {}
    if term in vocabulary:
        found[term] = 1.0
    elif len(term) >= 3 and term.isalpha():
        for longer in vocabulary.longer(term):
            found[longer] = _LONGER * len(term) / len(longer)
        for end in range(len(term) - 1, max(3, len(term) // 2), -1):
            if term[:end] in vocabulary:
                found[term[:end]] = _SHORTER * end / len(term)
                break
    for close in glossary.close_words(term):
        if close in vocabulary and found.get(close, 0.0) < _CLOSE:
            found[close] = _CLOSE
    return found


def _unspaced_asks(run: str, vocabulary: Vocabulary) -> Iterator[_Found]:
    """The longest known words of a run without spaces, each with its translations; the rest by pairs."""
    at = 0
    rest = 0
    while at < len(run):
        word = glossary.longest_word(run, at)
        if not word:
            at += 1
            continue
        yield from _native(run[rest:at], vocabulary)
        if word not in STOP_WORDS:
            native = {term: weight for terms, _ in _native(word, vocabulary) for term, weight in terms.items()}
            translations = list(_translated(glossary.unspaced(word), vocabulary))
            yield {**translations[0][0], **native}, translations[0][1]
            yield from translations[1:]
        at = rest = at + len(word)
    yield from _native(run[rest:], vocabulary)


def _native(text: str, vocabulary: Vocabulary) -> Iterator[_Found]:
    """Pairs of characters that the index knows; single characters only where no pair is known."""
    if not text or text in STOP_WORDS:
        return
    pairs = [text[at : at + 2] for at in range(len(text) - 1)]
    known = [pair for pair in pairs if pair in vocabulary]
    for pair in known:
        yield {pair: 1.0}, False
    if not known:
        for char in text:
            if char not in STOP_WORDS:
                yield ({char: _SINGLE_CHARACTER} if char in vocabulary else {}), False


def _translated(meanings: Sequence[Sequence[str]], vocabulary: Vocabulary) -> Iterator[_Found]:
    for alternatives in meanings:
        found: dict[str, float] = {}
        for rank, word in enumerate(alternatives):
            term = stem(word)
            if term in vocabulary:
                found[term] = max(found.get(term, 0.0), _TRANSLATED * (1.0 if rank == 0 else 0.7))
            for close in glossary.close_words(term):
                if close in vocabulary:
                    found.setdefault(close, _TRANSLATED * _CLOSE)
        yield found, glossary.is_action(stem(alternatives[0]))
