"""Runs untrusted Python behind kernel walls; usable without `codemode`.

    async with open_sandbox("process", pool=2) as box:
        result = await box.run(RunSpec(source="1 + 1"))

See `README.md` beside this file for attackers, boundaries and layers. Names are imported when they are first used: the
guest imports modules of this package where nothing but the standard library is at hand.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sandbox.errors import GuestError, IsolationError, SandboxError, SpecError
    from sandbox.spec import Call, Limits, Reply, RunResult, RunSpec
    from sandbox.supervisor import Prepared, Sandbox, open_sandbox

__all__ = [
    "Call",
    "GuestError",
    "IsolationError",
    "Limits",
    "Prepared",
    "Reply",
    "RunResult",
    "RunSpec",
    "Sandbox",
    "SandboxError",
    "SpecError",
    "open_sandbox",
]

_HOMES = {
    "errors": ("GuestError", "IsolationError", "SandboxError", "SpecError"),
    "spec": ("Call", "Limits", "Reply", "RunResult", "RunSpec"),
    "supervisor": ("Prepared", "Sandbox", "open_sandbox"),
}


def __getattr__(name: str) -> object:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"sandbox.{module}"), name)
    raise AttributeError(f"module `sandbox` has no `{name}`")
