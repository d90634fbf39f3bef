"""Recall, reciprocal rank and speed of tool search over labelled sets.

    python tests/bench/bench_search.py [FOLDER …]

Each folder holds `tools.jsonl` ({id, server, name, description, input_schema}) and `queries.jsonl` ({id, text,
relevant[, groups], kind}). Without one: the own small set in `tests/bench/data`, and the sets of `../shared` when that
is there. Figures are development figures; the ranking is not fitted to these sets.
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from codemode.catalog.build import build_listing
from codemode.catalog.snapshot import Catalog, build_catalog
from codemode.search.evaluate import Figures, judge, mean
from codemode.search.index import SearchIndex, build_index
from codemode.search.query import Need, Query

ROOT = Path(__file__).resolve().parents[2]
OWN = ROOT / "tests" / "bench" / "data" / "search"
SHARED = ROOT.parent / "shared" / "data" / "retrieval"


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The JSON objects of a file, one a line."""
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def load_tools(path: Path) -> tuple[Catalog, dict[str, str]]:
    """A catalog of the tools, and id → `module.function`."""
    by_server: dict[str, list[dict[str, Any]]] = defaultdict(list)
    ids: dict[str, tuple[str, str]] = {}
    for tool in read_lines(path):
        ids[tool["id"]] = (tool["server"], tool["name"])
        by_server[tool["server"]].append(
            {"name": tool["name"], "description": tool["description"], "inputSchema": tool.get("input_schema")}
        )
    catalog = build_catalog(
        build_listing(server, tools, state="listing_only") for server, tools in sorted(by_server.items())
    )
    found = {key: catalog.by_raw(*place) for key, place in ids.items()}
    return catalog, {key: tool.short for key, tool in found.items() if tool is not None}


def needs_of(query: dict[str, Any], shorts: dict[str, str]) -> list[set[str]]:
    """The needs of a labelled query as sets of names."""
    groups = query.get("groups") or [[tool] for tool in query["relevant"]]
    needs = [{shorts[tool] for tool in group if tool in shorts} for group in groups]
    return [need for need in needs if need]


def ranked(index: SearchIndex, text: str) -> list[str]:
    """Names of the first hits for a text taken as one need."""
    query = Query(text=text, needs=(Need(text=text[:2_000]),))
    return [hit.tool.short for found in index.search(query).per_need for hit in found.hits[:10]]


def run(folder: Path) -> dict[str, Figures]:
    """Print and return the figures of one folder, by kind of query."""
    started = time.perf_counter()
    catalog, shorts = load_tools(folder / "tools.jsonl")
    built = time.perf_counter()
    index = build_index(catalog)
    indexed = time.perf_counter()
    print(f"{folder.name}: {len(catalog.tools)} tools, catalog {built - started:.2f} s, index {indexed - built:.2f} s")
    judged: dict[str, list[tuple[dict[int, float], float, float]]] = defaultdict(list)
    spent: dict[str, float] = defaultdict(float)
    for query in read_lines(folder / "queries.jsonl"):
        needs = needs_of(query, shorts)
        if needs:
            begun = time.perf_counter()
            hits = ranked(index, query["text"])
            spent[query["kind"]] += time.perf_counter() - begun
            judged[query["kind"]].append(judge(hits, needs))
    figures = {kind: mean(rows) for kind, rows in judged.items()}
    for kind, row in figures.items():
        recall = "  ".join(f"R@{cut} {value:.3f}" for cut, value in row.recall.items())
        per_query = 1000 * spent[kind] / row.queries
        print(
            f"  {kind:12} n={row.queries:4}  {recall}  MRR {row.mrr:.3f}  nDCG@10 {row.ndcg_10:.3f}  {per_query:.2f} ms"
        )
    return figures


def main(arguments: list[str]) -> None:
    """Run over the folders named, or over all that there are."""
    folders = [Path(argument) for argument in arguments]
    if not folders:
        folders = [OWN, *sorted(path for path in SHARED.glob("*") if path.is_dir())]
        if not SHARED.is_dir():
            print("../shared is not here: only the own small set is measured")
    for folder in folders:
        if (folder / "tools.jsonl").is_file():
            run(folder)


if __name__ == "__main__":
    main(sys.argv[1:])
