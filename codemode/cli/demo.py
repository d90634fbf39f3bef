"""`codemode demo`: the main job on two bundled servers, through the real front, with no key and no network.

Enters: nothing. Leaves: a transcript of what a model would send and read, what the same work costs with the servers'
own tools, and the isolation in force. The model's part is scripted; everything else is what a client gets.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

import anyio

from codemode.catalog.text import clean_text
from codemode.cli.bundled import bundled_config, bundled_program
from codemode.cli.demo_client import DemoClient, DirectCost, Exchange, measure_directly, open_demo_client
from codemode.cli.opening import run_async
from codemode.cli.output import FAILED, OK, print_json, print_text, table, tell
from codemode.config.load import load_config
from codemode.config.model import Config
from codemode.errors import CodemodeError
from codemode.jsonvalue import Json, JsonObject, as_object, compact
from codemode.runs.box import Box

_RULES: Final[list[Json]] = [
    {"tool": "helpdesk.add_comment", "decision": "allow"},
    {"tool": "ledger.void_invoice", "decision": "deny", "reason": "invoices are cancelled by a person"},
]
_CHAIN: Final = (
    "get_ticket get_customer get_contract get_plan get_sla get_escalation_policy get_on_call get_agent get_team"
)
_SHOWN_CHARS: Final = 1_600


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing the scripted model does. `status` is what must come of it, "" for a search."""

    title: str
    tool: str
    arguments: JsonObject
    status: str = "ok"
    job: str = ""


class Layer(NamedTuple):
    """One isolation layer as it is reported."""

    name: str
    state: str
    how_tested: str


def steps() -> tuple[Step, ...]:
    """The script: two searches, a chain, a bulk job that is refused once, a write, two refusals."""
    chain = ",".join(f"helpdesk.{name}" for name in _CHAIN.split())
    return (
        Step(
            title="look up what the first job needs",
            tool="tool_search",
            arguments={"query": f"select:{chain}"},
            status="",
        ),
        _program("a chain: 33 calls, each needs the answer of the one before", "chain", job="chain"),
        _program("a bulk job with functions that were not looked up: refused once", "bulk", status="refused"),
        Step(
            title="the same program, unchanged: 20,000 records in parallel calls",
            tool="execute",
            arguments={"resume": "last"},
            job="bulk",
        ),
        Step(
            title="look up two functions by words",
            tool="tool_search",
            arguments={"query": "add a comment to a ticket; void an invoice", "limit": 2},
            status="",
        ),
        _program("a write that a rule allows", "write", job="write"),
        _program("a call that a rule denies: it never reaches the server", "denied", status="refused"),
        _program("a call with a wrong argument: refused before it is sent", "wrong_argument", status="refused"),
    )


def _program(title: str, name: str, *, status: str = "ok", job: str = "") -> Step:
    return Step(title=title, tool="execute", arguments={"code": bundled_program(name)}, status=status, job=job)


def run_demo(*, as_json: bool) -> int:
    """Run the script and print what happened; exit code 1 when a step did not end as it must."""
    return run_async(lambda: _demo(as_json=as_json))


async def _demo(*, as_json: bool) -> int:
    began = time.monotonic()
    with TemporaryDirectory(prefix="codemode-demo-") as folder:
        place = Path(folder)
        settings = {"state_dir": str(place / "state"), "policy": {"rules": _RULES}}
        config = place / "mcp.json"
        config.write_text(json.dumps({"mcpServers": _servers(place), "codemode": settings}), encoding="utf-8")
        tell("starting codemode and two servers")
        try:
            async with open_demo_client(config, place / "front.log") as client:
                faults = await _act(client, as_json=as_json)
        except CodemodeError:
            tell((place / "front.log").read_text(encoding="utf-8", errors="replace")[-2_000:])
            raise
        tell("sending the same calls to the servers directly, to count what they would cost")
        servers = as_object(bundled_config().get("mcpServers"))
        direct = await measure_directly(servers, _logged(place, list(servers)), place / "direct.log")
        isolation = await _isolation(load_config(config))
    _report(client, direct, isolation, as_json=as_json)
    for fault in faults:
        tell(f"failed: {fault}")
    tell(f"done in {time.monotonic() - began:.1f} s")
    return FAILED if faults else OK


def _servers(place: Path) -> dict[str, Json]:
    """The bundled servers with a log of their calls; both are needed, so that every run of the demo starts alike."""
    servers = as_object(bundled_config(log_folder=place).get("mcpServers"))
    return {name: {**as_object(entry), "required": True} for name, entry in servers.items()}


async def _act(client: DemoClient, *, as_json: bool) -> list[str]:
    """Go through the script; returns what did not end as it must."""
    faults = []
    script = steps()
    for number, step in enumerate(script, 1):
        tell(f"step {number} of {len(script)}: {step.title}")
        exchange = await client.call(step.tool, step.arguments)
        if not as_json:
            print_text(_transcript(number, step, exchange))
        status = str(exchange.facts.get("status", ""))
        if status != step.status:
            faults.append(f"step {number} ended `{status}`, expected `{step.status}`")
    return faults


async def _isolation(config: Config) -> list[Layer]:
    """The layers that a sandbox of this machine has, asked of one that is opened for it."""
    box = Box(config)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(box.own)
        report = await box.isolation()
        box.close()
    return [Layer(layer.name, layer.state, layer.how_tested) for layer in report.layers]


def _logged(place: Path, servers: Sequence[str]) -> dict[str, list[JsonObject]]:
    """The calls that reached each server, in order."""
    found = {}
    for name in servers:
        path = place / f"{name}.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        found[name] = [as_object(json.loads(line)) for line in lines]
    return found


# -- what is printed ------------------------------------------------------------------------------------------------


def _transcript(number: int, step: Step, exchange: Exchange) -> str:
    sent = step.arguments.get("code")
    asked = str(sent).rstrip() if sent is not None else compact(step.arguments)
    return "\n".join(
        [
            f"── {number}. {step.title}",
            f"model sends {step.tool}:",
            _indented(clean_text(asked, _SHOWN_CHARS)),
            f"model reads ({exchange.tokens:,} tokens both ways, estimate):",
            _indented(clean_text(exchange.text, _SHOWN_CHARS)),
            "",
        ]
    )


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def _report(client: DemoClient, direct: DirectCost, isolation: Sequence[Layer], *, as_json: bool) -> None:
    calls = _total_calls(client)
    if as_json:
        print_json(
            {
                "calls": calls,
                "value": _values(client),
                "context_tokens": {"direct": direct.tokens, "here": client.tokens, "is_estimate": True},
                "isolation": {
                    layer.name: {"state": layer.state, "how_tested": layer.how_tested} for layer in isolation
                },
            }
        )
        return
    print_text(f"{calls} calls were made. What this puts into a model's context, in tokens (estimate: 4.4 bytes each):")
    rows = [
        (f"the servers' own {direct.tools} tools", _number(direct.tokens)),
        ("  definitions, counted once", _number(direct.definition_tokens)),
        (f"  the same {direct.calls} calls, sent directly to count them", _number(direct.call_tokens)),
        ("codemode: two definitions and everything above", _number(client.tokens)),
        ("ratio", _number(round(direct.tokens / max(1, client.tokens)))),
    ]
    print_text(table(("way", "tokens"), rows, right=frozenset({1})))
    print_text("\nIsolation of programs on this machine:")
    print_text(table(("layer", "state", "how tested"), isolation))


def _number(value: int) -> str:
    return f"{value:,}"


def _total_calls(client: DemoClient) -> int:
    totals = [as_object(exchange.facts.get("calls")).get("total", 0) for exchange in client.exchanges]
    return sum(total for total in totals if isinstance(total, int))


def _values(client: DemoClient) -> dict[str, Json]:
    """The value of each job: what stands below the status line."""
    values: dict[str, Json] = {}
    for step, exchange in zip(steps(), client.exchanges, strict=False):
        if step.job:
            _, _, below = exchange.text.partition("\n")
            try:
                values[step.job] = json.loads(below)
            except ValueError:
                values[step.job] = below
    return values
