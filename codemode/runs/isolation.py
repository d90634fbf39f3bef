"""What isolates programs on this machine, found by trying it, also where it is not enough to run anything.

Enters: a backend's name, allowed packages. Leaves: an `Isolation`, in which a missing layer is a fact and not an error.
Nothing here knows which layers there are: they are what the backend reports.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sandbox.backends.base import Layer
from sandbox.errors import SandboxError
from sandbox.probe import probe

__all__ = ["Isolation", "Layer", "examine_isolation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolation:
    """What one backend isolates here.

    Attributes:
        mode: "root" or "user", whose rights it had; "" when nothing could be tried.
        layers: in the order of the backend's report. Where nothing could be tried: those that the error names.
        code, message, hint: why no program can run here and what to change, "" when programs can run.
    """

    backend: str
    mode: Literal["root", "user", ""] = ""
    layers: tuple[Layer, ...] = ()
    code: str = ""
    message: str = ""
    hint: str = ""


async def examine_isolation(backend: str, packages: Sequence[str] = ()) -> Isolation:
    """Try the backend, with these packages loaded, in a throw-away guest; bounded by its own start time-outs."""
    layers: tuple[Layer, ...] = ()
    mode: Literal["root", "user", ""] = ""
    try:
        report = await probe(backend, packages=tuple(packages))
        layers, mode = report.layers, report.mode
        report.require()
    except SandboxError as error:
        return Isolation(
            backend=backend,
            mode=mode,
            layers=layers or _named(error),
            code=error.code,
            message=error.message,
            hint=error.hint_operator,
        )
    return Isolation(backend=backend, mode=mode, layers=layers)


def _named(error: SandboxError) -> tuple[Layer, ...]:
    """The layers an error names, when it came before any could be tried."""
    names = error.details.get("missing")
    return tuple(
        Layer(
            name=str(name),
            state="missing",
            required=True,
            how_tested="could not be tested: the backend does not start",
            remedy=error.hint_operator,
        )
        for name in (names if isinstance(names, list) else ())
    )
