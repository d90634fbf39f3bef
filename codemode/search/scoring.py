"""Terms and places → scores: BM25F over the fields of a tool, for one text at a time.

Enters: for each tool the terms of its fields; a text. Leaves: place of a tool → score. Pure arithmetic; which tools are
meant and how hits are mixed is decided in `index.py`.

Source: BM25F (Robertson, Zaragoza, Taylor 2004). Changes: field lengths are measured against usual lengths and not
against the average of the catalog, so that no server changes how others rank; a term counts at most three times in one
field; a share of the score hangs on how many of the words a tool matches. The last two take the profit out of stuffing
a description with one word or with all words.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping

from codemode.search.fields import Field
from codemode.search.terms import Ask, Vocabulary, asks_of

_SATURATION = 1.2  # chosen: the usual k1 of BM25
_MOST_REPEATS = 3
_COVERAGE_SHARE = 0.5
_COMMON = 0.25  # a thing that more than this share of all tools mention only ranks, when there is a rarer one
_MIN_TOOLS_FOR_COMMON = 50

Scores = dict[int, float]


class Scorer:
    """The postings of an index. Immutable; made by `build_scorer`."""

    __slots__ = ("_common_from", "_impacts", "_weights", "vocabulary")

    def __init__(self, impacts: Mapping[str, Mapping[int, float]], tools: int) -> None:
        self._impacts = impacts
        self._weights = {
            term: math.log(1 + (tools - len(places) + 0.5) / (len(places) + 0.5)) for term, places in impacts.items()
        }
        self._common_from = tools * _COMMON if tools >= _MIN_TOOLS_FOR_COMMON else math.inf
        self.vocabulary = Vocabulary(impacts)

    def scores(self, text: str, known: dict[Ask, Scores]) -> Scores:
        """The scores of one text; `known` keeps what each word gave, for the next text that holds it.

        Words for things choose the tools; words for what is done with them (`get`, `create`) and things that most
        tools mention only rank those. A text whose things are all unknown finds nothing, however many tools `get`
        something.
        """
        asks = asks_of(text, self.vocabulary)
        choosing = [ask for ask in asks if not ask.is_action] or asks
        choosing = [ask for ask in choosing if ask.terms]
        rare = [ask for ask in choosing if self._places(ask) <= self._common_from]
        choosing = rare or choosing
        ranking = [ask for ask in asks if ask.terms and ask not in choosing] if choosing else []
        total: Scores = {}
        covered: Scores = {}
        for ask in choosing:
            if ask not in known:
                known[ask] = self._ask_scores(ask)
            weight = self._weight(ask)
            for place, score in known[ask].items():
                if place in total:
                    total[place] += score
                    covered[place] += weight
                else:
                    total[place] = score
                    covered[place] = weight
        for ask in ranking:
            self._add(ask, total, covered)
        all_weight = sum(self._weight(ask) for ask in (*choosing, *ranking))
        factor = _COVERAGE_SHARE / all_weight if all_weight else 0.0
        return {place: score * (1 - _COVERAGE_SHARE + factor * covered[place]) for place, score in total.items()}

    def _places(self, ask: Ask) -> int:
        return max(len(self._impacts[term]) for term, _ in ask.terms)

    def _weight(self, ask: Ask) -> float:
        return max(self._weights[term] * weight for term, weight in ask.terms)

    def _ask_scores(self, ask: Ask) -> Scores:
        """What one word gives each tool: the best of the terms it may stand for."""
        scores: Scores = {}
        for term, weight in ask.terms:
            factor = weight * self._weights[term]
            if not scores:
                scores = {place: factor * impact for place, impact in self._impacts[term].items()}
                continue
            for place, impact in self._impacts[term].items():
                score = factor * impact
                if score > scores.get(place, 0.0):
                    scores[place] = score
        return scores

    def _add(self, ask: Ask, total: Scores, covered: Scores) -> None:
        """Add what one more word gives to the tools that are already chosen."""
        ask_weight = self._weight(ask)
        best: Scores = {}
        for term, weight in ask.terms:
            factor = weight * self._weights[term]
            impacts = self._impacts[term]
            for place in total.keys() & impacts.keys():
                score = factor * impacts[place]
                if score > best.get(place, 0.0):
                    best[place] = score
        for place, score in best.items():
            total[place] += score
            covered[place] += ask_weight


def build_scorer(tools: Iterable[Iterable[tuple[Field, list[str]]]]) -> Scorer:
    """The postings of tools, each given by the terms of its fields; a tool's place is its number in the order given."""
    impacts: dict[str, dict[int, float]] = {}
    count = 0
    for place, fields in enumerate(tools):
        count = place + 1
        sums: dict[str, float] = {}
        for field, terms in fields:
            # Shorter than usual gains little: three words of description are no better evidence than ten.
            length = max(0.7, 1 - field.damping + field.damping * len(terms) / field.usual)
            once = field.weight / length
            for term, repeats in Counter(terms).items():
                sums[term] = sums.get(term, 0.0) + once * (repeats if repeats < _MOST_REPEATS else _MOST_REPEATS)
        for term, value in sums.items():
            impacts.setdefault(term, {})[place] = value / (_SATURATION + value)
    return Scorer(impacts, count)
