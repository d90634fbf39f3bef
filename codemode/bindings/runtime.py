"""The texts of the modules that every guest gets beside the bindings: `tools._runtime` and what it loads at need.

Enters: a module name. Leaves: its source, read once from the installed package. The files are real modules, so they
are linted, typed and tested as such; the host never imports them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

RUNTIME_MODULES: Final[Mapping[str, str]] = {
    "_media": "guest_media.py",
    "_names": "guest_names.py",
    "_runtime": "guest_runtime.py",
    "_store": "guest_store.py",
    "_values": "guest_values.py",
}
"""Name below `tools` → file in this package."""


@cache
def runtime_source(name: str) -> str:
    """The source of one of `RUNTIME_MODULES`."""
    return files("codemode.bindings").joinpath(RUNTIME_MODULES[name]).read_text("utf-8")
