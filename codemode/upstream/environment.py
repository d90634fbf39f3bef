"""The environment a stdio server gets: an allow-list of ours, named additions, then its own `env`.

Enters: our environment. Leaves: a new mapping. A deny-list would leak whatever it has not heard of.
Proxies and CA bundles are not on the list: a proxy URL often holds a password. Pass them by name: `inherit_env` in the
`codemode` section for all servers, or `"env": {"HTTPS_PROXY": "${HTTPS_PROXY}"}` for one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

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
