"""A catalog's tools, indexed once; queries ranked against it by BM25F.

Enters: a catalog; a parsed query. Leaves: `Found`: hits with scores, further tools, exact names that do not exist,
needs for which nothing fits. No word matched means no hits: an arbitrary tool is worse than a plain miss. Equal
catalogs and queries give equal answers; ties are broken by name.

Source: BM25F (Robertson, Zaragoza, Taylor 2004), with the changes named beside the code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import nlargest
from itertools import zip_longest

from codemode.catalog.snapshot import Catalog
from codemode.catalog.spec import Tool
from codemode.search.fields import tool_terms
from codemode.search.pattern import PatternError, matcher
from codemode.search.query import Need, Query
from codemode.search.scoring import Scorer, Scores, build_scorer
from codemode.search.terms import Ask, asks_of
from codemode.search.tokens import text_terms

DEFAULT_LIMIT = 8
MAX_FURTHER = 24
MAX_RANKED = 64  # hits of one need
WEAK_SHARE = 0.2  # hits below this share of their need's best are further names only
EXACT_SCORE = 1_000.0  # what a tool asked for by name gets; a ranked one stays far below
_NAME_SHARE = 0.2  # how much a name of which every word was asked for gains
_NAMED_FROM = 0.4  # a term of at least this weight counts as a word of the need that a name holds
_MAX_CLAUSES = 8
_CLAUSE_ENDS = re.compile("(?<=[.!?])\\s+|[\u3002\uff01\uff1f\n]")
_PATTERN_DESCRIPTION_CHARS = 200
_NOT_UP = ("starting", "failed", "sign_in", "stopped")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A tool that fits, and how well; scores compare within one need only."""

    tool: Tool
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedHits:
    """What one need found, best first, at most `MAX_RANKED` whatever the limit of the answer."""

    need: Need
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """A name asked for exactly that stands for no tool, or for several; `candidates` are the nearest names."""

    name: str
    reason: str
    candidates: tuple[Tool, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The answer to a query.

    Attributes:
        hits: tools asked for by name, then the best of each need in turn; at most `limit` beyond the named ones.
        further: tools that fit less well, in the same order.
        missed: the needs, as typed, for which no tool fits.
        unknown: names asked for exactly that are none.
        per_need: each need with its own hits.
        notes: what was left out of the query.
    """

    hits: tuple[Hit, ...] = ()
    further: tuple[Tool, ...] = ()
    missed: tuple[str, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    per_need: tuple[NeedHits, ...] = ()
    notes: tuple[str, ...] = ()


class SearchIndex:
    """The index of one catalog. Immutable; made by `build_index`."""

    __slots__ = ("_catalog", "_own_words", "_scorer")

    def __init__(
        self, catalog: Catalog, scorer: Scorer, own_words: tuple[tuple[frozenset[str], frozenset[str]], ...]
    ) -> None:
        self._catalog = catalog
        self._scorer = scorer
        self._own_words = own_words  # of each tool: the terms of its name, those of its server's id

    @property
    def catalog(self) -> Catalog:
        """What was indexed."""
        return self._catalog

    def search(self, query: Query, *, limit: int = DEFAULT_LIMIT, server: str = "") -> Found:
        """The tools that fit a query; `server` (module name or raw id) narrows the needs, not the exact names."""
        notes = list(query.notes)
        entry = self._catalog.server(server) if server else None
        if server and entry is None:
            notes.append("no such server; all servers were searched")
        exact, unknown = self._select(query.selected)
        per_need: list[NeedHits] = []
        for need in query.needs:
            try:
                ranked = self._rank(need, entry.module if entry else "")
            except PatternError as error:
                notes.append(str(error))
                ranked = []
            per_need.append(NeedHits(need=need, hits=tuple(ranked)))
        named = [Hit(tool=tool, score=EXACT_SCORE) for tool in exact]
        known = {tool.short for tool in exact}
        strong = _in_turn([_strong(found) for found in per_need], known)
        everything = _in_turn([found.hits for found in per_need], known)
        # A job of many parts gets the best tool of each part, also beyond the limit.
        shown = strong[: max(limit, sum(bool(found.hits) for found in per_need))]
        shown_names = {hit.tool.short for hit in shown}
        further = [hit.tool for hit in everything if hit.tool.short not in shown_names]
        return Found(
            hits=(*named, *shown),
            further=tuple(further[:MAX_FURTHER]),
            missed=tuple(found.need.text for found in per_need if not found.hits),
            unknown=tuple(unknown),
            per_need=tuple(per_need),
            notes=tuple(notes),
        )

    def _select(self, names: tuple[str, ...]) -> tuple[list[Tool], list[Unknown]]:
        exact: dict[str, Tool] = {}
        unknown: list[Unknown] = []
        for name in names:
            found = self._catalog.find(name)
            if len(found) == 1:
                exact[found[0].short] = found[0]
            elif found:
                unknown.append(Unknown(name=name, reason="several servers have it", candidates=found[:DEFAULT_LIMIT]))
            else:
                unknown.append(Unknown(name=name, reason=self._why(name), candidates=self._catalog.nearest(name)))
        return list(exact.values()), unknown

    def _why(self, name: str) -> str:
        """Why a name stands for nothing: its tool is held back, its server is not up, or it does not exist."""
        module, _, function = name.removeprefix("tools.").rpartition(".")
        for entry in self._catalog.servers:
            for held in entry.quarantined:
                if held.tool and held.tool in (name, function):
                    return f"held back: {held.reason}"
        named = self._catalog.server(module or name)
        if named is not None and named.state in _NOT_UP:
            return f"its server is {named.state.replace('_', ' ')}"
        return "a server, not a tool" if named is not None and not module else "no such tool"

    def _rank(self, need: Need, module: str) -> list[Hit]:
        scores = self._matching(need.pattern) if need.pattern else self._scores(need.text)
        tools = self._catalog.tools
        fitting: Iterable[int] = scores
        if module or need.required:
            fitting = [
                place
                for place in scores
                if (not module or tools[place].module == module) and self._has_in_name(place, need.required)
            ]
        best = nlargest(MAX_RANKED, fitting, key=lambda place: (scores[place], -place))
        asked = frozenset() if need.pattern else self._asked(need.text)
        # Places are in the order of names, so equal scores stay in that order.
        hits = [(-round(scores[place] * self._named(place, asked), 4), place) for place in best]
        return [Hit(tool=tools[place], score=-negated) for negated, place in sorted(hits)]

    def _asked(self, text: str) -> frozenset[str]:
        asks = asks_of(text, self._scorer.vocabulary)
        return frozenset(term for ask in asks for term, weight in ask.terms if weight >= _NAMED_FROM)

    def _named(self, place: int, asked: frozenset[str]) -> float:
        """A little more than 1 for a tool whose name holds nothing but words of the need: `list_issues` before
        `list_issue_links`."""
        own = self._own_words[place][0]
        return 1 + _NAME_SHARE * len(own & asked) / len(own) if own else 1.0

    def _matching(self, pattern: str) -> Scores:
        matches = matcher(pattern)
        scores: Scores = {}
        for place, tool in enumerate(self._catalog.tools):
            if matches(tool.short):
                scores[place] = 2.0
            elif matches(tool.spec.description[:_PATTERN_DESCRIPTION_CHARS]):
                scores[place] = 1.0
        return scores

    def _has_in_name(self, place: int, required: tuple[str, ...]) -> bool:
        name, server = self._own_words[place]
        names = name | server
        for word in required:
            for term in text_terms(word, {}):
                is_there = term in names or (len(term) >= 3 and any(name.startswith(term) for name in names))
                if not is_there:
                    return False
        return True

    def _scores(self, text: str) -> Scores:
        """A score for each place; a need of several sentences is judged as a whole and by its best sentence."""
        known: dict[Ask, Scores] = {}
        whole = self._scorer.scores(text, known)
        clauses = [clause for clause in _CLAUSE_ENDS.split(text) if clause.strip()][:_MAX_CLAUSES]
        if len(clauses) < 2 or not whole:
            return whole
        best: Scores = {}
        for clause in clauses:
            scores = self._scorer.scores(clause, known)
            top = max(scores.values(), default=1.0)
            for place, score in scores.items():
                best[place] = max(best.get(place, 0.0), score / top)
        top = max(whole.values())
        return {place: top * (score / top + best.get(place, 0.0)) / 2 for place, score in whole.items()}


def build_index(catalog: Catalog) -> SearchIndex:
    """The index of a catalog."""
    known: dict[str, tuple[str, ...]] = {}
    scorer = build_scorer(tool_terms(tool, known) for tool in catalog.tools)
    own_words: list[tuple[frozenset[str], frozenset[str]]] = []
    for tool in catalog.tools:
        server = frozenset(text_terms(tool.spec.server, known))
        name = frozenset(text_terms(tool.spec.name, known))
        own_words.append((name - server or name, server))
    return SearchIndex(catalog, scorer, tuple(own_words))


def _strong(found: NeedHits) -> tuple[Hit, ...]:
    """The hits worth a signature. A word that had to be in the name has chosen already."""
    if found.need.required:
        return found.hits
    return tuple(hit for hit in found.hits if hit.score >= WEAK_SHARE * found.hits[0].score)


def _in_turn(per_need: list[tuple[Hit, ...]], known: set[str]) -> list[Hit]:
    """The best hit of each need, then the second of each, and so on; each tool once, none that is known."""
    merged: dict[str, Hit] = {}
    for same_rank in zip_longest(*per_need):
        for hit in same_rank:
            if hit is not None and hit.tool.short not in known:
                merged.setdefault(hit.tool.short, hit)
    return list(merged.values())
