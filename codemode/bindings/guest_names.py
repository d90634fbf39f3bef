"""Runs in the guest as `tools._names`: what there is below `tools`, in words: for a misspelt name and for `help`.

Enters: names and objects of a program. Leaves: texts. Shipped as text through `load` when it is first needed;
standard library only.
"""

from __future__ import annotations

import difflib as _difflib
from collections.abc import Sequence
from importlib import import_module as _import_module
from typing import Any


def missing(package: str, name: str, names: Sequence[str], kind: str) -> str:
    """The line for a name that is not there: the nearest ones, else the first."""
    near = _difflib.get_close_matches(name, names, 3, 0.6)
    near += [one for one in names if name.lower() in one.lower() and one not in near][: 3 - len(near)]
    if near:
        return f"`{package}` has no {kind} `{name}`; nearest: {', '.join(near)}"
    some = f"{', '.join(names[:20])}{', ...' if len(names) > 20 else ''}"
    return f"`{package}` has no {kind} `{name}`; it has: {some or 'nothing now'}"


def describe(subject: Any, signature: str | None) -> str:
    """What `help` shows: a function's signature and description; a server's functions; all servers.

    `signature` is that of a function of a server, else None.
    """
    if signature is not None:
        return subject.__doc__ or signature
    module = _import_module("tools") if subject is None else subject
    names = getattr(module, "__all__", None)
    name = getattr(module, "__name__", type(subject).__name__)
    if names is None or str(name).partition(".")[0] != "tools":
        return str(getattr(subject, "__doc__", None) or f"no description of {type(subject).__name__}")
    kind = "servers" if name == "tools" else "functions"
    return f"{name}: {len(names)} {kind}\n" + "\n".join(f"{name}.{one}" for one in names)
