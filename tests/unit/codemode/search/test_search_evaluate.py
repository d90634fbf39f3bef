"""Figures over labelled queries."""

import math

from codemode.search.evaluate import judge, mean


def test_each_need_counts_once_by_its_best_tool() -> None:
    recall, rank, ndcg = judge(["x", "a", "b", "c"], [{"a", "b"}, {"c"}, {"nowhere"}])
    assert recall == {1: 0.0, 5: 2 / 3, 10: 2 / 3}
    assert rank == 1 / 2
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    assert ndcg == (1 / math.log2(3) + 1 / math.log2(5)) / ideal


def test_a_miss_counts_nothing_and_means_are_over_all_queries() -> None:
    figures = mean([judge([], [{"a"}]), judge(["a"], [{"a"}])])
    assert (figures.recall[1], figures.mrr, figures.ndcg_10, figures.queries) == (0.5, 0.5, 0.5, 2)
    assert mean([]).queries == 0
