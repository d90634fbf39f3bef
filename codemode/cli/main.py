"""The entry point: reads the command line, runs one command, turns what it raises into an exit code.

Enters: `sys.argv`. Leaves: an exit code. Each command's work is in a file of its own, imported when it runs: this
module loads no server, no sandbox and no protocol library, so that `codemode --help` is instant.
"""

from __future__ import annotations

import gc
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from codemode.cli import output
from codemode.errors import CodemodeError

app: Final = typer.Typer(
    name="codemode",
    help="Two tools in place of many: a model searches functions and runs one program that calls them.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


class GateMode(StrEnum):
    """What happens to a function that was not shown in the session."""

    HEAL = "heal"
    OPEN = "open"
    STRICT = "strict"


class ApproveMode(StrEnum):
    """What happens to a call that needs an approval."""

    NEVER = "never"
    ASK = "ask"
    ALL = "all"


class Detail(StrEnum):
    """How much `search` says about each hit."""

    NAMES = "names"
    BRIEF = "brief"
    FULL = "full"


ConfigFiles = Annotated[
    list[Path] | None,
    typer.Option("--config", metavar="FILE", help="Configuration; may repeat. Default: ./codemode.json, then XDG."),
]
Catalogs = Annotated[
    list[Path] | None,
    typer.Option("--catalog", metavar="PATH", help="File or folder of listings, to look at only; may repeat."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print exactly one JSON document.")]
_GATE_HELP: Final = "Functions not shown before: refuse once (heal), let pass (open), need a search (strict)."
Gate = Annotated[GateMode | None, typer.Option("--gate", help=_GATE_HELP)]
Approve = Annotated[
    ApproveMode | None,
    typer.Option("--approve", help="Calls that need a yes: refuse (never), ask a person (ask), allow (all)."),
]


@app.command()
def demo(as_json: AsJson = False) -> int:
    """Do the main job on bundled servers: no key, no network."""
    from codemode.cli.demo import run_demo

    return run_demo(as_json=as_json)


@app.command()
def serve(
    http: Annotated[
        str, typer.Option("--http", metavar="HOST:PORT", help="Serve HTTP on a loopback address instead of stdio.")
    ] = "",
    config: ConfigFiles = None,
    catalog: Catalogs = None,
    gate: Gate = None,
    approve: Approve = None,
) -> int:
    """Serve the two tools to an MCP client, over stdio by default."""
    gc.disable()  # imports build very many objects that stay: collecting meanwhile is a fifth of the time to start
    from codemode.cli.serve import run_serve

    return run_serve(http, config, catalog, gate=_value(gate), approve=_value(approve))


@app.command()
def search(
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="Words; `select:server.function`; `/regex/`; empty: the servers.")
    ],
    limit: Annotated[int, typer.Option(min=1, max=50, help="How many functions at most.")] = 8,
    detail: Annotated[Detail, typer.Option(help="Names, what a model gets, or all parameters.")] = Detail.BRIEF,
    config: ConfigFiles = None,
    catalog: Catalogs = None,
    as_json: AsJson = False,
) -> int:
    """Find functions, as a model would."""
    from codemode.cli.search import run_search

    return run_search(query, limit, detail.value, config, catalog, as_json=as_json)


@app.command()
def run(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="The program; `-` reads standard input.")],
    config: ConfigFiles = None,
    catalog: Catalogs = None,
    gate: Annotated[GateMode, typer.Option("--gate", help=_GATE_HELP)] = GateMode.OPEN,
    approve: Approve = None,
    as_json: AsJson = False,
) -> int:
    """Run one program over the configured servers."""
    from codemode.cli.run import run_program

    return run_program(file, config, catalog, gate=gate.value, approve=_value(approve), as_json=as_json)


@app.command()
def runs(
    run: Annotated[
        str, typer.Argument(metavar="[RUN]", help="One run, by its label or the beginning of its key.")
    ] = "",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many at most.")] = 20,
    config: ConfigFiles = None,
    as_json: AsJson = False,
) -> int:
    """List what ran, newest first."""
    from codemode.cli.runs import list_runs

    return list_runs(run, limit, config, as_json=as_json)


@app.command()
def bindings(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the module tree is written.")],
    config: ConfigFiles = None,
    catalog: Catalogs = None,
    as_json: AsJson = False,
) -> int:
    """Write the module tree and its stubs, for review."""
    from codemode.cli.bindings import write_bindings

    return write_bindings(out, config, catalog, as_json=as_json)


@app.command()
def catalog(
    config: ConfigFiles = None,
    catalog: Catalogs = None,
    as_json: AsJson = False,
) -> int:
    """Show servers, tools, and what is held back."""
    from codemode.cli.catalog import show_catalog

    return show_catalog(config, catalog, as_json=as_json)


@app.command()
def doctor(
    config: ConfigFiles = None,
    catalog: Catalogs = None,
    as_json: AsJson = False,
) -> int:
    """Check isolation, servers, limits and rules; nothing is changed.

    Starts every configured server and lists its tools, without calling any. Exit codes: 0 nothing fails, advice at
    most; 2 the configuration or the state folder cannot be used; 3 a server that is not disabled cannot be used; 5 a
    required isolation layer is missing.
    """
    from codemode.cli.doctor import run_doctor

    return run_doctor(config, catalog, as_json=as_json)


def _value(choice: GateMode | ApproveMode | None) -> str:
    return choice.value if choice is not None else ""


def main() -> None:
    """Run the command line and leave the process."""
    sys.exit(run_command(sys.argv[1:]))


def run_command(arguments: list[str]) -> int:
    """Run one command; returns its exit code."""
    as_json = "--json" in arguments
    try:
        code = app(arguments or ["--help"], prog_name="codemode", standalone_mode=False)
    except KeyboardInterrupt:
        code = output.INTERRUPTED
    except Exception as error:  # noqa: BLE001 (the rim of a command: a fault of ours is raised again below)
        return _failed(error, as_json=as_json)
    if code == output.INTERRUPTED:
        output.tell_error("cli.interrupted", "stopped by a signal")
    return code if isinstance(code, int) else output.OK


def _failed(error: Exception, *, as_json: bool) -> int:
    """Report an error with a code, or a mistake on the command line; anything else is a fault of ours."""
    if isinstance(error, output.CodedError):
        return output.fail(error, as_json=as_json)
    format_message = getattr(error, "format_message", None)
    if format_message is None:
        raise error
    message = str(format_message()).rstrip(".")
    return output.fail(
        CodemodeError(message, code="cli.usage", hint_operator="`codemode --help` lists commands and options"),
        as_json=as_json,
    )
