"""A zygote with layers left out, for tests only: `weak_zygote.py LAYER[,LAYER...] FOLDER...` in place of the bootstrap.

Replaces the parts of `sandbox` that put a layer on by ones that do nothing, in this process alone. The product has no
switch for it: only `layer_runner` starts this file.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

WITHOUT = "-"
"""Stands for no layer at all."""


def _nothing(*_: object, **__: object) -> None:
    pass


def weaken(layers: set[str]) -> None:
    """Make each of the layers nothing. `sandbox` must be importable."""
    from sandbox.guest import seal, zygote
    from sandbox.linux import descriptors, identity, landlock, memory, namespaces, rlimits, seccomp

    possible = namespaces.Possible.NAMESPACES | namespaces.Possible.EMPTY_ROOT
    if "empty-root" in layers:
        possible = namespaces.Possible.NAMESPACES
    if "namespaces" in layers:  # an empty root needs a mount namespace, and gets nothing else
        namespaces._OWN = namespaces.CLONE_NEWNS
    if {"namespaces", "empty-root"} <= layers:
        possible = namespaces.Possible.NOTHING

    namespaces.try_out = lambda: possible
    parts: dict[str, tuple[tuple[Any, str, Callable[..., Any]], ...]] = {
        "descriptors": ((descriptors, "close_from", _nothing),),
        "environment": ((os._Environ, "clear", _nothing),),
        "identity": (
            (seal, "take_identity", _nothing),
            (zygote, "take_identity", _nothing),
            (identity, "empty_bounding_set", _nothing),
        ),
        "no-new-privs": ((identity, "forbid_new_privileges", _nothing),),
        "parent-death": ((identity, "die_with_parent", _nothing), (identity, "dies_with_parent", lambda: True)),
        "memory": ((rlimits, "apply", _nothing), (memory, "limit_arenas", _nothing)),
        "landlock": ((landlock, "abi", lambda: 0),),
        "seccomp": ((seccomp, "install", _nothing),),
    }
    for layer in layers & parts.keys():
        for place, name, instead in parts[layer]:
            setattr(place, name, instead)


def main(layers: set[str], folders: list[str]) -> None:
    """Weaken, then go on as the bootstrap does."""
    sys.path.extend(folders)
    file = Path(folders[0]) / "sandbox" / "guest" / "bootstrap.py"
    spec = importlib.util.spec_from_file_location("bootstrap", file)
    assert spec is not None
    assert spec.loader is not None
    bootstrap = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bootstrap)
    bootstrap._face_for(folders[0])
    weaken(layers)
    bootstrap.main(folders)


if __name__ == "__main__":
    main(set(sys.argv[1].split(",")), sys.argv[2:])
