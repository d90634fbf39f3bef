"""Start and call times of the servers that ship with the project, beside the time to import the SDK alone.

    python tests/bench/bench_bundled.py [ROUNDS]

Prints one JSON document: process start to the answer of tools/list, a small call, a page of 1,000 records, 20 such
pages at the same time. Median and spread (lowest, highest) over the rounds, in milliseconds. The client is the SDK's.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters

SERVERS = Path(__file__).resolve().parents[2] / "examples" / "servers"
SMALL_CALLS = {
    "helpdesk": ("get_ticket", {"ticket_id": "T-10640"}),
    "ledger": ("get_invoice", {"invoice_id": "INV-00042"}),
}
Times = dict[str, list[float]]


def measure_import(times: Times) -> None:
    """The floor under every start: Python and the SDK."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import mcp.server.lowlevel"], check=True)
    times["import mcp"].append(time.perf_counter() - started)


async def measure_server(server: str, times: Times) -> None:
    """One process: start, a small call, and for the ledger the bulk export."""
    parameters = StdioServerParameters(command=sys.executable, args=[str(SERVERS / f"{server}.py")])
    started = time.perf_counter()
    async with Client(parameters) as client:
        await client.list_tools()
        times[f"{server}: start to tools/list"].append(time.perf_counter() - started)
        tool, arguments = SMALL_CALLS[server]
        await client.call_tool(tool, arguments)  # builds the data
        for _ in range(20):
            started = time.perf_counter()
            await client.call_tool(tool, arguments)
            times[f"{server}: {tool}"].append(time.perf_counter() - started)
        if server == "ledger":
            await measure_export(client, times)


async def measure_export(client: Client, times: Times) -> None:
    """One page, then all twenty at the same time."""
    started = time.perf_counter()
    await client.call_tool("export_entries", {"page": 1})
    times["ledger: export_entries, 1,000 records"].append(time.perf_counter() - started)
    started = time.perf_counter()
    async with anyio.create_task_group() as group:
        for page in range(1, 21):
            group.start_soon(client.call_tool, "export_entries", {"page": page})
    times["ledger: export_entries, 20 pages at once"].append(time.perf_counter() - started)


def main() -> None:
    """Run the rounds and print the table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    times: Times = defaultdict(list)
    for _ in range(rounds):
        measure_import(times)
        for server in SMALL_CALLS:
            anyio.run(measure_server, server, times)
    floor = statistics.median(times["import mcp"])
    table = {
        name: {
            "median_ms": round(statistics.median(values) * 1000, 2),
            "lowest_ms": round(min(values) * 1000, 2),
            "highest_ms": round(max(values) * 1000, 2),
            "to_import_mcp": round(statistics.median(values) / floor, 3),
        }
        for name, values in times.items()
    }
    print(json.dumps({"rounds": rounds, "times": table}, indent=2))


if __name__ == "__main__":
    main()
