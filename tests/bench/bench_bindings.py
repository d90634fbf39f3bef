"""What the module tree costs: making bindings on the host, loading them in a guest, checking one call.

    python tests/bench/bench_bindings.py [ROUNDS]

Catalogs of 6 and of 506 tools (one server each, the same tools over and over), so that what grows with the catalog
shows. Each figure is the median over the rounds, with the lowest and the highest, and as a ratio to compiling and
running an empty module in the same round.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from codemode.bindings.function import bind
from codemode.bindings.runtime import RUNTIME_MODULES, runtime_source
from codemode.bindings.tree import BindingTree
from codemode.broker.arguments import ArgumentChecker
from codemode.catalog.build import build_listing
from codemode.catalog.snapshot import Catalog, build_catalog
from tests.support.binding_guest import guest_for, structured

SIZES = (6, 506)
FLOOR = "empty module: compile and run"
Times = dict[str, list[float]]

TEXT = {"type": "string", "description": "A short text that says what this parameter is for."}
SCHEMA: Any = {
    "type": "object",
    "properties": {
        "owner": TEXT,
        "repo": TEXT,
        "state": {"enum": ["open", "closed", "all"], "default": "open"},
        "labels": {"type": "array", "items": {"type": "string"}},
        "page": {"type": "integer", "minimum": 1, "default": 1},
        "filter": {"type": "object", "properties": {"since": TEXT, "author": TEXT}, "required": ["since"]},
    },
    "required": ["owner", "repo"],
    "additionalProperties": False,
}
ARGUMENTS: Any = {"owner": "a", "repo": "b", "state": "open", "labels": ["x"], "filter": {"since": "2026"}}


def catalog_of(size: int) -> Catalog:
    """One server with this many tools."""
    tools = [
        {"name": f"list_issues_{i}", "description": "List issues. " * 10, "inputSchema": SCHEMA} for i in range(size)
    ]
    return build_catalog([build_listing("github", tools, state="ready")])


def timed(times: Times, name: str, run: Callable[[], Any], repeat: int = 1) -> None:
    """Measure one thing, in seconds for each of `repeat` runs."""
    started = time.perf_counter()
    for _ in range(repeat):
        run()
    times[name].append((time.perf_counter() - started) / repeat)


def one_round(times: Times, catalogs: dict[int, Catalog]) -> None:
    """Every figure once."""
    timed(times, FLOOR, lambda: exec(compile("", "<empty>", "exec"), {}), 200)
    for name in RUNTIME_MODULES:
        source = runtime_source(name)
        timed(times, f"tools.{name}: compile", partial(compile, source, "<runtime>", "exec"), 5)
    for size, catalog in catalogs.items():
        tool = catalog.tools[size // 2]
        timed(times, f"{size} tools: make one binding", partial(bind, tool), 20)
        tree = BindingTree(catalog)
        timed(times, f"{size} tools: source of the server's module", partial(tree.module, "tools.github"))
        tree.module(tool.path)
        with guest_for(tree) as guest:
            guest.answer = lambda target, arguments: structured({"result": 1})
            timed(times, f"{size} tools: `tools` with its runtime, in the guest", partial(guest.run, "tools"))
            timed(times, f"{size} tools: load the server's module", partial(guest.value, "tools.github"))
            names = guest.run("")
            load = f"call = tools.github.{tool.function}"
            timed(times, f"{size} tools: load one function", partial(exec, load, names))
            call = names["call"]
            timed(times, f"{size} tools: call it, without a wire", partial(call, **ARGUMENTS), 200)
    checker = ArgumentChecker()
    tool = catalogs[SIZES[0]].tools[0]
    timed(times, "check one call: schema met for the first time", lambda: checker.check_now(tool, ARGUMENTS))
    timed(times, "check one call: schema known", lambda: checker.check_now(tool, ARGUMENTS), 500)
    wrong: Any = {**ARGUMENTS, "page": "first", "stat": 1}
    checker.check_now(tool, wrong)
    timed(times, "explain one wrong call", lambda: checker.check_now(tool, wrong), 50)


def main() -> None:
    """Run the rounds and print the table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    catalogs = {size: catalog_of(size) for size in SIZES}
    times: Times = defaultdict(list)
    for _ in range(rounds):
        one_round(times, catalogs)
    floor = statistics.median(times[FLOOR])
    table = {
        name: {
            "median_us": round(statistics.median(values) * 1e6, 1),
            "lowest_us": round(min(values) * 1e6, 1),
            "highest_us": round(max(values) * 1e6, 1),
            "to_empty_module": round(statistics.median(values) / floor, 1),
        }
        for name, values in times.items()
    }
    print(json.dumps({"rounds": rounds, "times": table}, indent=2))


if __name__ == "__main__":
    main()
