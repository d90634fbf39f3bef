"""What the host is told about a program before it runs: names, calls, refusals.

Enters: a compiled program. Leaves: the payload of `prepared`, which `sandbox.facts` reads on the host.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

from sandbox.dialect.program import Compiled
from sandbox.spec import UNKNOWN


def encode(compiled: Compiled) -> bytes:
    """What the host is told about a program, as JSON."""
    facts = {
        "names": [asdict(item) for item in compiled.names],
        "calls": [
            {
                "path": item.path,
                "line": item.line,
                "positional": [_literal(value) for value in item.positional],
                "keywords": {key: _literal(value) for key, value in item.keywords.items()},
                "is_open": item.is_open,
                "is_free": item.is_free,
            }
            for item in compiled.calls
        ],
        "diagnostics": [asdict(item) for item in compiled.diagnostics],
    }
    return json.dumps(facts).encode("ascii")


def _literal(value: Any) -> dict[str, Any]:
    """A literal in JSON for the host, which must tell `unknown` from every value."""
    if value is UNKNOWN or not _is_json(value):
        return {"is_known": False}
    return {"is_known": True, "value": value}


def _is_json(value: Any) -> bool:
    if value is None or type(value) in (bool, int, str):
        return True
    if type(value) is float:
        return math.isfinite(value)
    if type(value) is list:
        return all(map(_is_json, value))
    return type(value) is dict and all(type(key) is str and _is_json(item) for key, item in value.items())
