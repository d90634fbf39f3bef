"""Reads the facts of this machine and this process that decide what can be isolated and how much fits.

Enters: the share of the memory that runs may use. Leaves: a `Machine`. It starts nothing and asks no network.
"""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version

from codemode.doctor.report import Machine

_PACKAGES = ("codemode", "mcp", "RestrictedPython")


def read_machine(memory_share: float) -> Machine:
    """The machine as this process sees it."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    uid = os.geteuid()
    return Machine(
        kernel=f"{platform.system()} {platform.release()}",
        architecture=platform.machine(),
        python=f"{platform.python_implementation()} {platform.python_version()}",
        user="root" if uid == 0 else "plain",
        uid=uid,
        cores=_cores(),
        memory_bytes=memory,
        runs_memory_bytes=int(memory * memory_share),
        versions=tuple((name, _version(name)) for name in _PACKAGES),
    )


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)  # not on macOS
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
