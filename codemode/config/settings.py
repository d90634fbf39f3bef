"""Reads the `codemode` section: our own settings, where a mistake is fatal and names the key.

Enters: the merged section with its places. Leaves: the parts of a `Config` that are not servers.
"""

from __future__ import annotations

import re
from dataclasses import fields

from codemode.config.model import (
    IN_FLIGHT,
    PACKAGES,
    RANGES,
    Config,
    EffectSettings,
    LimitSettings,
    Package,
    PolicySettings,
    RuleSettings,
    ServerConfig,
    ToolSearchSettings,
)
from codemode.config.positions import show_path
from codemode.config.section import Section

_SECONDS = (0.1, 86_400.0)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def read_settings(section: Section, servers: tuple[ServerConfig, ...]) -> Config:
    """The configuration with these servers.

    Raises:
        ConfigError: an unknown key or a bad value; the message names file, line and key.
    """
    default = Config()
    limits = _limits(section.section("limits"))
    config = Config(
        servers=servers,
        limits=limits,
        policy=_policy(section.section("policy")),
        tool_search=_tool_search(section.section("tool_search")),
        gate=section.word("gate", default.gate, ("heal", "open", "strict")),
        approve=section.word("approve", default.approve, ("never", "ask", "all")),
        start_timeout_s=section.number("start_timeout_s", default.start_timeout_s, _SECONDS),
        call_timeout_s=section.number("call_timeout_s", default.call_timeout_s, _SECONDS),
        idle_timeout_s=section.number("idle_timeout_s", default.idle_timeout_s, (0.0, 86_400.0)),
        stop_unused_s=section.number("stop_unused_s", default.stop_unused_s, (0.0, 86_400.0)),
        server_in_flight=section.whole("server_in_flight", default.server_in_flight, IN_FLIGHT),
        inherit_env=_inherit_env(section),
        state_dir=section.text("state_dir"),
        cache_dir=section.text("cache_dir"),
        pool=section.whole("pool", default.pool, (0, 64)),
        backend=section.word("backend", default.backend, ("process", "docker")),
        places=_places(section),
        packages=_packages(section),
    )
    section.refuse_unread()
    if config.packages and config.backend == "docker":
        problem = "needs the process backend: the image of the docker backend has the standard library only"
        raise section.error(problem, "packages", hint="set `backend` to `process`, or leave `packages` out")
    return config


def _places(section: Section) -> dict[str, str]:
    """Where the settings and the limits are written."""
    found = {key: section.places.of((*section.path, key)) for key in section.value}
    limits = section.section("limits")
    return found | {f"limits.{key}": limits.places.of((*limits.path, key)) for key in limits.value}


def contradictions(config: Config) -> list[str]:
    """Values that are fine alone but not together, one line each."""
    out: list[str] = []
    wall = config.limits.wall_s
    for entry in config.servers:
        if entry.call_timeout_s is not None and entry.call_timeout_s > wall:
            out.append(
                f"{entry.source}: a call to `{entry.name}` may take {entry.call_timeout_s:g} s (`call_timeout_s` or "
                f"`timeout`), but a run ends after {wall:g} s (`codemode.limits.wall_s`)"
            )
    limits, places = config.limits, config.places
    if limits.workspace_bytes > limits.all_workspaces_bytes:
        place = places.get("limits.workspace_bytes") or places.get("limits.all_workspaces_bytes", "")
        out.append(
            f"{place}: one session may have {limits.workspace_bytes} bytes of files, but all together "
            f"{limits.all_workspaces_bytes} (`codemode.limits.all_workspaces_bytes`)"
        )
    for name in config.policy.untrusted_servers:
        if config.server(name) is None:
            out.append(
                f"{config.policy.untrusted_source}: `codemode.policy.untrusted_servers` names `{name}`, "
                "which is no configured server"
            )
    return out


def _limits(section: Section) -> LimitSettings:
    default = LimitSettings()
    values: dict[str, float] = {}
    for item in fields(LimitSettings):
        before = getattr(default, item.name)
        read = section.whole if item.type == "int" else section.number
        values[item.name] = read(item.name, before, RANGES[item.name])
    section.refuse_unread()
    limits = LimitSettings(**values)  # type: ignore[arg-type]  # `whole` gave an int for each field of type int
    if limits.in_flight > limits.calls:
        raise section.error(f"is {limits.in_flight}, more than `calls` ({limits.calls})", "in_flight")
    return limits


def _policy(section: Section) -> PolicySettings:
    rules: list[RuleSettings] = []
    for item in section.sections("rules"):
        rules.append(
            RuleSettings(
                tool=_pattern(item),
                decision=item.needed_word("decision", ("allow", "ask", "deny")),
                reason=item.text("reason"),
                source=f"{item.places.of(item.path)}, {show_path(item.path)}",
            )
        )
        item.refuse_unread()
    effects: list[EffectSettings] = []
    for item in section.sections("effects"):
        effects.append(
            EffectSettings(
                tool=_pattern(item),
                effect=item.needed_word("effect", ("read", "write", "destructive")),
                source=f"{item.places.of(item.path)}, {show_path(item.path)}",
            )
        )
        item.refuse_unread()
    untrusted = section.texts("untrusted_servers")
    section.refuse_unread()
    source = section.places.of((*section.path, "untrusted_servers")) if untrusted else ""
    return PolicySettings(
        rules=tuple(rules), effects=tuple(effects), untrusted_servers=untrusted, untrusted_source=source
    )


def _pattern(section: Section) -> str:
    pattern = section.text("tool")
    if not pattern:
        raise section.error("needs `tool`, a pattern over `server.tool`")
    if "." not in pattern and pattern != "*":
        raise section.error("must be a pattern over `server.tool`, as in `github.*` or `github.create_issue`", "tool")
    return pattern


def _tool_search(section: Section) -> ToolSearchSettings:
    window = section.whole("context_window", ToolSearchSettings().context_window, (1_000, 100_000_000))
    value = section.value.get("enabled")
    section.read.add("enabled")
    section.refuse_unread()
    if value is None or value == "auto":
        return ToolSearchSettings(context_window=window)
    if isinstance(value, bool):
        return ToolSearchSettings(enabled=value, context_window=window)
    match = re.fullmatch(r"auto:(\d{1,3}(?:\.\d+)?)", value) if isinstance(value, str) else None
    if match is None or not 0 <= float(match.group(1)) <= 100:
        raise section.error("must be `auto`, `auto:N` with N percent, true or false", "enabled")
    return ToolSearchSettings(auto_percent=float(match.group(1)), context_window=window)


def _packages(section: Section) -> tuple[Package, ...]:
    """The allowed packages with those that they bring along."""
    found = section.words("packages", PACKAGES)
    return PACKAGES if "pandas" in found else found


def _inherit_env(section: Section) -> tuple[str, ...]:
    names = section.texts("inherit_env")
    for index, name in enumerate(names):
        if not _VARIABLE.fullmatch(name):
            raise section.error("must be the name of a variable", "inherit_env", index)
    return names
