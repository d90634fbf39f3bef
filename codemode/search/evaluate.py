"""How well searches find labelled tools: recall, reciprocal rank and nDCG over a set of queries.

Enters: ranked places of right answers, computed from hits and labels. Leaves: figures from 0 to 1. A label is a list
of needs; each need lists tools that serve it equally well, and counts once, by the best of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

CUTS = (1, 5, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Means over all queries.

    Attributes:
        recall: cut → share of the needs with a right tool among that many hits.
        mrr: one over the rank of the first right tool, 0 when there is none.
        ndcg_10: discounted gain of the first ten against the best order possible.
        queries: how many.
    """

    recall: Mapping[int, float]
    mrr: float
    ndcg_10: float
    queries: int


def judge(hits: Sequence[str], needs: Sequence[AbstractSet[str]]) -> tuple[dict[int, float], float, float]:
    """Recall at each cut, reciprocal rank and nDCG@10 of one query's hits (tool names, best first)."""
    ranks = [min((at for at, hit in enumerate(hits) if hit in need), default=-1) for need in needs]
    found = [rank for rank in ranks if rank >= 0]
    recall = {cut: sum(rank < cut for rank in found) / len(needs) for cut in CUTS}
    gain = sum(1 / math.log2(rank + 2) for rank in found if rank < 10)
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(10, len(needs))))
    return recall, 1 / (1 + min(found)) if found else 0.0, gain / ideal


def mean(judged: Sequence[tuple[Mapping[int, float], float, float]]) -> Figures:
    """The means of judged queries; all zero when there are none."""
    count = max(1, len(judged))
    return Figures(
        recall={cut: sum(recall[cut] for recall, _, _ in judged) / count for cut in CUTS},
        mrr=sum(rank for _, rank, _ in judged) / count,
        ndcg_10=sum(ndcg for _, _, ndcg in judged) / count,
        queries=len(judged),
    )
