"""The environment a stdio server gets: an allow-list of ours, named additions, then its own `env`.

Enters: our environment. Leaves: a new mapping. A deny-list would leak whatever it has not heard of.
Proxies and CA bundles are not on the list: a proxy URL often holds a password. Pass them by name: `inherit_env` in the
`codemode` section for all servers, or `"env": {"HTTPS_PROXY": "${HTTPS_PROXY}"}` for one.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping

ABOVE = "CODEMODE_ABOVE"
"""Variable that names, by digest, the configurations of all fronts above a server: a chain must not meet itself."""

_NAMES = (
    "HOME",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "USER",  # up to here: the list of the MCP SDK
    "LANG",
    "LANGUAGE",
    "TMPDIR",
    "TZ",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",  # folders, not secrets: a server that keeps its sign-in there must find it again
)


def child_environment(
    environ: Mapping[str, str], own: Mapping[str, str], *, inherit: Iterable[str] = ()
) -> dict[str, str]:
    """What a server's process receives; `own` wins over what is inherited."""
    out: dict[str, str] = {}
    for name in (*_NAMES, *(name for name in environ if name.startswith("LC_")), *inherit):
        value = environ.get(name)
        # A value that starts with "()" is an exported shell function: code, not data (CVE-2014-6271).
        if value is not None and not value.startswith("()"):
            out[name] = value
    out.update(own)
    return out


def with_own_files(environ: Mapping[str, str], files: Iterable[str]) -> str:
    """What `ABOVE` is for our servers: what it is for us, and our own files."""
    above = [item for item in environ.get(ABOVE, "").split(":") if item]
    return ":".join(dict.fromkeys([*above, *map(_digest, files)]))


def served_above(environ: Mapping[str, str], files: Iterable[str]) -> str:
    """The first of these files that a front above this process serves already, or ""."""
    above = set(environ.get(ABOVE, "").split(":"))
    return next((file for file in files if _digest(file) in above), "")


def _digest(file: str) -> str:
    return hashlib.sha256(os.path.realpath(file).encode("utf-8", "surrogateescape")).hexdigest()[:16]
