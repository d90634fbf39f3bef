"""What a person can do about a server, in one line.

Enters: the facts of a server. Leaves: a sentence of ours, "" when there is nothing to do. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from codemode.config.model import Transport
from codemode.doctor.report import USABLE, ServerFacts

NESTED: Final = "configure the servers behind it here and remove it, or switch its own code mode off"
NOISE: Final = "tell its author: stdout is for messages alone, a log belongs on stderr"
HELD: Final = "tell its author; the rest of its tools works"
OLD_LISTING: Final = "`codemode catalog` renews it"
_BY_HAND: Final = "run its command by hand and read what it says"
_BY_CODE: Final[Mapping[str, str]] = {
    "upstream.not_found": "install the command or correct it in the entry; it is looked up in this process's PATH",
    "upstream.start": _BY_HAND,
    "upstream.died": _BY_HAND,
    "upstream.timeout": f"raise `start_timeout_s` if it is slow; else {_BY_HAND}",
    "upstream.starting": "raise `start_timeout_s` if it is slow",
    "upstream.rpc_error": "the server refuses to list its tools: look at its own settings, or update it",
    "config.server": "correct the entry, or set `disabled` in it",
}
_BY_CODE_HTTP: Final[Mapping[str, str]] = {
    "upstream.unreachable": "start the server, or correct `url`; proxies and name resolution are those of this machine",
    "upstream.protocol": "correct `url`: it must be the address of the MCP endpoint itself, often `/mcp`",
    "upstream.timeout": "look whether the server is well; raise `start_timeout_s` if it is slow",
    "upstream.start": "look whether the server is well",
    "upstream.died": "look whether the server is well",
}


def advise(facts: ServerFacts, *, transport: Transport, hint: str) -> str:
    """The one most useful thing to do. `hint`: what the error itself proposes."""
    if facts.state == "not_started":
        return "remove the entry: the servers it would give are configured here already"
    if facts.state not in USABLE:
        special = _BY_CODE_HTTP.get(facts.code) if transport == "http" else None
        return special or hint or _BY_CODE.get(facts.code) or _BY_HAND
    if facts.is_nested:
        return NESTED
    return NOISE if facts.noise_lines else ""
