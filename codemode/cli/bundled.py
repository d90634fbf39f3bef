"""Finds what ships with codemode to try it on, in a checkout and in a wheel: example servers and demo programs.

Leaves: a configuration with an `mcpServers` key as a file would have it, and source texts of programs. A wheel carries
`examples/servers` and `examples/demo` as `codemode/_bundled` (see `force-include` in `pyproject.toml`).
It must never look anywhere else: what is started here runs with the user's rights.
"""

from __future__ import annotations

import sys
from pathlib import Path

from codemode.errors import ConfigError
from codemode.jsonvalue import JsonObject

_PACKAGE = Path(__file__).resolve().parent.parent
_PLACES = (_PACKAGE / "_bundled", _PACKAGE.parent / "examples")  # wheel, then checkout (editable install)
_SERVERS = {
    "helpdesk": "Support desk of an invented company: tickets, customers, agents, escalation, knowledge base",
    "ledger": "Books of the same company: accounts, entries, invoices, payments, budgets, reports",
}


def bundled_config(*, log_folder: Path | None = None) -> JsonObject:
    """A configuration for the two example servers, run by this Python; equal to what a `mcp.json` would say.

    With `log_folder` each server appends one JSON line per call it receives to `<server>.jsonl` there.

    Raises:
        ConfigError: the installation lacks the servers.
    """
    servers: dict[str, JsonObject] = {}
    for name, description in _SERVERS.items():
        log = [] if log_folder is None else ["--log", str(log_folder / f"{name}.jsonl")]
        servers[name] = {
            "command": sys.executable,
            "args": [str(_find("servers", f"{name}.py")), *log],
            "description": description,
        }
    return {"mcpServers": servers}


def bundled_program(name: str) -> str:
    """The source of a demo program, for example `chain`; the files are those of `examples/demo`.

    Raises:
        ConfigError: there is no such program.
    """
    return _find("demo", f"{name}.py").read_text(encoding="utf-8")


def _find(folder: str, file: str) -> Path:
    for place in _PLACES:
        path = place / folder / file
        if path.is_file():
            return path
    raise ConfigError(
        f"expected `{folder}/{file}` among the files that ship with codemode, it is not there",
        code="config.missing",
        hint_operator="install codemode again from a wheel, or run from a checkout that has the folder `examples`",
    )
