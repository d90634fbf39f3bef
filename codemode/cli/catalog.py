"""`codemode catalog`: servers, their state, their tools, what is held back, what they would cost as direct tools.

Enters: configuration and dumps. Leaves: a table, or JSON.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from codemode.catalog.snapshot import Catalog
from codemode.catalog.spec import ServerEntry
from codemode.cli.cost import definition_tokens
from codemode.cli.hosting import settled_host
from codemode.cli.opening import read_config, run_async
from codemode.cli.output import OK, UNREACHABLE, print_json, print_text, table, tell
from codemode.jsonvalue import Json

_DOWN = ("failed", "sign_in", "starting")


def show_catalog(files: Sequence[Path] | None, catalogs: Sequence[Path] | None, *, as_json: bool) -> int:
    """Print the catalog; exit code 3 when a server that is not disabled cannot be used."""
    config = read_config(files, catalogs)

    async def work() -> int:
        async with settled_host(config, catalogs, live=True) as host:
            catalog = host.catalog
        if as_json:
            print_json({"servers": [_document(entry) for entry in catalog.servers]})
        else:
            print_text(_text(catalog))
        for rule in host.dead_rules():
            tell(
                f"warning: the rule `{rule.tool}` ({rule.decision}) matches no tool: {rule.source or 'check its name'}"
            )
        return UNREACHABLE if any(entry.state in _DOWN for entry in catalog.servers) else OK

    return run_async(work)


def _document(entry: ServerEntry) -> dict[str, Json]:
    return {
        "server": entry.id,
        "module": entry.module,
        "state": entry.state,
        "reason": entry.reason,
        "protocol": entry.protocol,
        "tools": len(entry.tools),
        "quarantined": [{"tool": item.tool, "reason": item.reason} for item in entry.quarantined],
        "tokens": definition_tokens(entry.tools),
    }


def _text(catalog: Catalog) -> str:
    rows = [
        (
            entry.id,
            entry.state.replace("_", " "),
            entry.protocol or "-",
            f"{len(entry.tools):,}",
            str(len(entry.quarantined)),
            f"{definition_tokens(entry.tools):,}",
        )
        for entry in catalog.servers
    ]
    head = ("server", "state", "protocol", "tools", "held back", "tokens (estimate)")
    lines = [table(head, rows, right=frozenset({3, 4, 5}))]
    for entry in catalog.servers:
        if entry.reason and entry.state not in ("ready", "cached", "listing_only"):
            lines.append(f"{entry.id}: {entry.reason}")
        lines.extend(f"{entry.id}: `{item.tool}` is held back: {item.reason}" for item in entry.quarantined)
    return "\n".join(lines)
