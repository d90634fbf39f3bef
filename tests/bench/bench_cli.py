"""How fast the command line and the front start, and what one small program costs through the front.

    python tests/bench/bench_cli.py [ROUNDS]

Each figure stands beside a baseline of the same rounds, measured in turn with it, because the machine's speed varies:
`codemode --help` and an empty Python; start to `tools/list` and an empty Python that imports the protocol library; a
warm `execute` of `1 + 1` and a `ping` of the same connection. Medians, with the lowest and highest.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.support.front_process import RawFront, codemode, environment, write_config  # noqa: E402 (a script)

WARM_ROUNDS = 100


def spent(work: Callable[[], object]) -> float:
    """Milliseconds that a piece of work takes."""
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1_000


def python(code: str, folder: Path) -> None:
    """A Python process that runs a line of code."""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=folder, env=environment(folder))


def first_listing(config: Path, folder: Path) -> None:
    """Start a front, shake hands, list the tools."""
    with RawFront("--config", config, folder=folder) as raw:
        raw.initialize()
        assert len(raw.request("tools/list", {})["result"]["tools"]) == 2


def warm(config: Path, folder: Path) -> tuple[list[float], list[float]]:
    """Milliseconds of `execute` and of `ping` on one connection, measured in turn."""
    program = {"name": "execute", "arguments": {"code": "1 + 1"}}
    executes, pings = [], []
    with RawFront("--config", config, folder=folder) as raw:
        raw.initialize()
        raw.request("tools/list", {})
        for _ in range(5):
            raw.request("tools/call", program)
        for _ in range(WARM_ROUNDS):
            executes.append(spent(lambda: raw.request("tools/call", program)))
            pings.append(spent(lambda: raw.request("ping", {})))
    return executes, pings


def row(name: str, figures: Sequence[float], baseline_name: str, baseline: Sequence[float]) -> str:
    """One line: a figure with its spread, its baseline, and the ratio of the medians."""
    middle, base = statistics.median(figures), statistics.median(baseline)
    return (
        f"{name:<28} {middle:8.1f} ms ({min(figures):.1f} to {max(figures):.1f})   "
        f"{baseline_name}: {base:.1f} ms ({min(baseline):.1f} to {max(baseline):.1f})   ratio {middle / base:.2f}"
    )


def main(rounds: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = write_config(folder)
        codemode("catalog", "--config", config, folder=folder)  # the listing is known from now on
        helps, empties, listings, imports = [], [], [], []
        for _ in range(rounds):
            helps.append(spent(lambda: codemode("--help", folder=folder)))
            empties.append(spent(lambda: python("pass", folder)))
            listings.append(spent(lambda: first_listing(config, folder)))
            imports.append(spent(lambda: python("import mcp.server.lowlevel", folder)))
        executes, pings = warm(config, folder)
    print(row("codemode --help", helps, "python -c pass", empties))
    print(row("start to tools/list", listings, "python -c 'import mcp…'", imports))
    print(row("execute 1 + 1, warm", executes, "ping", pings))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
