"""A whole run that nobody hears of, so that the first that counts finds everything warm.

Enters: the run of this process. Leaves: the same run, as if nothing had been. In the zygote rehearsals bring what the
interpreter keeps of code it has seen (specialised instructions, caches of attributes): children share it instead of
making it again. In a guest that waits, one rehearsal makes the memory that every run changes its own beforehand; what
only some programs need stays shared until they do, because each guest that waits would hold a copy.
"""

from __future__ import annotations

import concurrent.futures.thread as futures_thread
import json
import sys
from collections.abc import Mapping
from typing import Any, Protocol

from sandbox import wire
from sandbox.dialect.program import Compiled
from sandbox.guest.capture import forget_source
from sandbox.guest.importer import HostFinder
from sandbox.guest.link import Answer, Link
from sandbox.linux import rlimits
from sandbox.spec import Limits

_ROUNDS = 10  # chosen: CPython 3.11 and later specialise a function once it has been called eight times

_NAME = "<rehearsal>"
_LEAST = b"1 + 1"
_EVERYDAY = b"""import json
from datetime import date
def f(rows):
    return {row["a"]: f"{row['b']}" for row in rows if row}
x = f([{"a": 1, "b": 2}])
json.dumps(x)
"""


class Rehearsed(Protocol):
    """The part of a run that takes part."""

    link: Link | Deaf
    finder: HostFinder
    value: Any
    has_value: bool

    def prepare(self, header: Mapping[str, Any], source: bytes) -> Compiled:
        """Compile a program."""

    def go(self, compiled: Compiled, order: Mapping[str, Any]) -> None:
        """Run it."""


class Deaf:
    """Where a rehearsal sends its frames."""

    def set_window(self, in_flight: int) -> None:
        """Part of the link."""

    def post(self, header: dict[str, Any], payload: bytes = b"") -> None:
        """Part of the link."""
        wire.encode(header, payload)

    def request(self, header: dict[str, Any], payload: bytes = b"") -> Answer:
        """Part of the link; a rehearsal asks for nothing."""
        raise NotImplementedError


def settle(run: Rehearsed) -> None:
    """What the zygote does before it forks: rehearse until the interpreter has nothing more to learn."""
    for _ in range(_ROUNDS):
        rehearse(run, _EVERYDAY)


def rehearse(run: Rehearsed, program: bytes = _LEAST) -> None:
    """Prepare and run a program as `serve` would, then forget it."""
    link, streams = run.link, (sys.stdout, sys.stderr)
    run.link = Deaf()
    order = {"dialect": "restricted", "filename": _NAME, "seed": 0, "roots": [], "limits": Limits().to_wire()}
    header, source = wire.decode(wire.encode({"kind": "prepare", **order}, program)[wire.PREFIX.size :])
    Limits(**header["limits"])
    rlimits.rehearse()
    run.go(run.prepare(header, source), json.loads('{"modules": {}, "aliases": {}}'))
    futures_thread._shutdown = False
    sys.meta_path.remove(run.finder)
    forget_source(_NAME)
    run.value, run.has_value = None, False
    run.link = link
    sys.stdout, sys.stderr = streams
