"""Puts the report together: tries the isolation and starts the servers at the same time, then judges what came of it.

Enters: a `Config`. Leaves: a `Report`. It does not open a host: that would need the very things that are examined.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path

import anyio
import anyio.to_thread

from codemode.catalog.risk import EffectRule
from codemode.catalog.snapshot import build_catalog
from codemode.config.model import Config, LimitSettings
from codemode.doctor.machine import read_machine
from codemode.doctor.problems import find_problems
from codemode.doctor.report import Report, Setting
from codemode.doctor.rules import find_idle_rules
from codemode.doctor.servers import Started, start_all
from codemode.errors import CodemodeError
from codemode.host import environment, folders_of
from codemode.runs.isolation import Isolation, examine_isolation
from codemode.state.database import find_fault, why_not_writable
from codemode.upstream.dumps import load_dumps

_TIMES = ("start_timeout_s", "call_timeout_s", "idle_timeout_s", "pool")


async def examine(
    config: Config, *, catalogs: Sequence[Path] = (), tell_waiting: Callable[[Sequence[str]], None]
) -> Report:
    """Find out everything.

    Raises:
        ConfigError: a dump cannot be used.
    """
    folders = folders_of(config)
    dumps = [listing for path in catalogs for listing in await anyio.to_thread.run_sync(load_dumps, path)]
    isolation: list[Isolation] = []

    async def isolate() -> None:
        isolation.append(await examine_isolation(config.backend, config.packages))

    failure: CodemodeError | None = None
    started: Started
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(isolate)
        try:
            started = await start_all(
                config, environ=environment(), cache_dir=folders.cache, dumps=dumps, tell_waiting=tell_waiting
            )
        except CodemodeError as error:
            failure = error
    if failure is not None:
        raise failure
    state, cache = await anyio.to_thread.run_sync(_look_at_folders, folders.state, folders.cache)
    effects = [EffectRule(pattern=item.tool, effect=item.effect) for item in config.policy.effects]
    tools = build_catalog(started.listings, effects, frozenset(config.policy.untrusted_servers)).tools
    unknown = [facts.server for facts in started.facts if facts.state not in ("ready", "listing_only")]
    rules = find_idle_rules(config, tools, started.names, unknown)
    return Report(
        isolation=isolation[0],
        machine=read_machine(config.limits.memory_share),
        servers=started.facts,
        settings=_settings(config),
        rules=rules,
        problems=find_problems(
            isolation=isolation[0],
            servers=started.facts,
            rules=rules,
            warnings=config.warnings,
            state=state,
            cache=cache,
        ),
        files=config.files,
        state_folder=str(folders.state),
    )


def _settings(config: Config) -> tuple[Setting, ...]:
    limits = {f"limits.{item.name}": getattr(config.limits, item.name) for item in fields(LimitSettings)}
    values = limits | {name: getattr(config, name) for name in _TIMES}
    return tuple(
        Setting(name=name, value=value, source=config.places.get(name, "default")) for name, value in values.items()
    )


def _look_at_folders(state: Path, cache: Path) -> tuple[CodemodeError | None, str]:
    reason = why_not_writable(cache)
    return find_fault(state), f"listings cannot be cached in `{cache}`: {reason}" if reason else ""
