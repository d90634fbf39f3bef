"""Turns configuration files into one `Config`; every mistake names file, line and key.

Enters: paths, or nothing (then `./codemode.json`, else the XDG configuration folder). Leaves: a `Config`.
A project's `.mcp.json` is read only when it is named: it may start programs its author chose, not the user.
It never expands `${VAR}` and never starts anything.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path as FilePath

from platformdirs import user_config_path

from codemode.config.circular import CIRCULAR, starts_itself
from codemode.config.entry import read_entry
from codemode.config.model import Config, ServerConfig
from codemode.config.positions import Path, find_positions, show_path
from codemode.config.section import Places, Section
from codemode.config.settings import contradictions, read_settings
from codemode.errors import ConfigError
from codemode.jsonvalue import Json, JsonObject, is_object

_SERVER_KEYS = ("mcpServers", "servers")
_OWN_KEY = "codemode"
_FILE_NAME = "codemode.json"
_MAX_BYTES = 8 << 20  # chosen: a configuration is written by people


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """One file that has been read."""

    name: str
    value: JsonObject
    places: Places
    warnings: tuple[str, ...]


def load_config(*paths: str | FilePath, environ: Mapping[str, str] | None = None) -> Config:
    """Read and merge configuration files.

    With no path: `./codemode.json`, else `codemode/codemode.json` in the XDG configuration folder, else an empty
    configuration with a warning.

    Raises:
        ConfigError: `config.missing`, `config.json` (with line and column), or `config.key` for a mistake in our own
            `codemode` section, or one server name in two files. A bad server entry does not raise: see
            `ServerConfig.problem`.
    """
    warnings: list[str] = []
    chosen = [FilePath(path) for path in paths] or _default_paths(environ if environ is not None else os.environ)
    if not chosen:
        warnings.append(f"no configuration: neither `./{_FILE_NAME}` nor one in the configuration folder; no servers")
        if FilePath(".mcp.json").is_file():
            warnings.append("`.mcp.json` of this folder is not read unless it is named: `--config .mcp.json`")
    files = [_read(path) for path in chosen]
    for file in files:
        warnings.extend(file.warnings)
    servers, server_warnings = _servers(files)
    own, places = _merge_own(files)
    config = read_settings(Section(own, (_OWN_KEY,), places, shows_values=True), servers)
    warnings.extend(server_warnings)
    warnings.extend(contradictions(config))
    return replace(config, warnings=tuple(warnings), files=tuple(file.name for file in files))


def _default_paths(environ: Mapping[str, str]) -> list[FilePath]:
    home = environ.get("XDG_CONFIG_HOME", "")
    folder = FilePath(home) / "codemode" if FilePath(home).is_absolute() else user_config_path("codemode")
    for path in (FilePath(_FILE_NAME), folder / _FILE_NAME):
        if path.is_file():
            return [path]
    return []


def _read(path: FilePath) -> _File:
    name = str(path)
    try:
        with open(path, "rb") as stream:
            raw = stream.read(_MAX_BYTES + 1)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise ConfigError(f"{name}: cannot be read: {reason}", code="config.missing") from error
    if len(raw) > _MAX_BYTES:
        raise ConfigError(f"{name}: larger than {_MAX_BYTES} bytes", code="config.json")
    text, value = _parse(name, raw)
    if not is_object(value):
        raise ConfigError(f"{name}, line 1: must be a JSON object", code="config.json")
    positions = find_positions(text)
    places = Places({where: f"{name}, line {line}" for where, line in positions.lines.items()}, name)
    warnings = [
        f"{places.of(where)}: `{show_path(where)}` occurs twice in one object; the last one counts"
        for where in positions.repeated
    ]
    known = (*_SERVER_KEYS, _OWN_KEY, "$schema")
    unknown = [key for key in value if key not in known]
    warnings.extend(f"{places.of((key,))}: `{show_path((key,))}` is not known and ignored" for key in unknown)
    if not any(key in value for key in known):
        warnings.append(f"{name}: has neither `mcpServers` nor `{_OWN_KEY}`")
    return _File(name=name, value=value, places=places, warnings=tuple(warnings))


def _parse(name: str, raw: bytes) -> tuple[str, Json]:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{name}, line {line}: not UTF-8 text", code="config.json") from error
    try:
        value: Json = json.loads(text)
    except json.JSONDecodeError as error:
        hint = "JSON has no comments" if text[error.pos : error.pos + 2] in ("//", "/*") else ""
        raise ConfigError(
            f"{name}, line {error.lineno}, column {error.colno}: not JSON: {error.msg.lower()}",
            code="config.json",
            hint_operator=hint,
            details={"line": error.lineno, "column": error.colno},
        ) from error
    except (RecursionError, ValueError) as error:
        raise ConfigError(f"{name}: not JSON that can be read: {type(error).__name__}", code="config.json") from error
    return text, value


def _servers(files: list[_File]) -> tuple[tuple[ServerConfig, ...], list[str]]:
    found: dict[str, ServerConfig] = {}
    names = [file.name for file in files]
    unknown: dict[str, list[str]] = {}
    for file in files:
        for key in _SERVER_KEYS:
            entries = file.value.get(key)
            if entries is None:
                continue
            if not is_object(entries):
                raise ConfigError(f"{file.places.of((key,))}: `{key}` must be an object of servers")
            for name, value in entries.items():
                entry, unread = read_entry(name, value, (key, name), file.places)
                if name in found:
                    raise ConfigError(
                        f"{entry.source}: the server `{name}` is already defined at {found[name].source}",
                        hint_operator="rename one of the two, or leave one file out",
                    )
                if not entry.problem and not entry.is_disabled and starts_itself(entry, names):
                    problem = f"{file.places.of((key, name, 'args'))}: `{show_path((key, name))}`: {CIRCULAR}"
                    entry = replace(entry, problem=problem)
                found[name] = entry
                for extra in unread:
                    where = file.places.of((key, name, extra))
                    unknown.setdefault(extra, []).append(f"{where}: `{show_path((key, name, extra))}`")
    return tuple(found.values()), [_not_known(places) for places in unknown.values()]


def _not_known(places: list[str]) -> str:
    """One line about a server key that is not known, in however many entries it stands."""
    more = f"; it stands in {len(places)} servers" if len(places) > 1 else ""
    return f"{places[0]} is not known and ignored{more}"


def _merge_own(files: list[_File]) -> tuple[JsonObject, Places]:
    """One `codemode` section out of several: lists are joined, a setting given twice is refused."""
    places: dict[Path, str] = {}
    merged: dict[str, Json] = {}
    for file in files:
        own = file.value.get(_OWN_KEY)
        if own is None:
            continue
        if not is_object(own):
            raise ConfigError(f"{file.places.of((_OWN_KEY,))}: `{_OWN_KEY}` must be an object")
        places.setdefault((_OWN_KEY,), file.places.of((_OWN_KEY,)))
        _merge(merged, own, (_OWN_KEY,), file.places, places)
    return merged, Places(places, files[0].name if files else "configuration")


def _merge(into: dict[str, Json], value: JsonObject, path: Path, source: Places, places: dict[Path, str]) -> None:
    for key, item in value.items():
        here = (*path, key)
        before = into.get(key)
        if is_object(item) and (before is None or isinstance(before, dict)):
            inner = before if isinstance(before, dict) else {}
            into[key] = inner
            places.setdefault(here, source.of(here))
            _merge(inner, item, here, source, places)
        elif isinstance(item, list) and (before is None or isinstance(before, list)):
            kept = before if isinstance(before, list) else []
            _note_items(item, here, len(kept), source, places)
            into[key] = [*kept, *item]
            places.setdefault(here, source.of(here))
        elif before is None:
            into[key] = item
            places[here] = source.of(here)
        else:
            raise ConfigError(f"{source.of(here)}: `{show_path(here)}` is already set at {places[here]}")


def _note_items(items: list[Json], path: Path, offset: int, source: Places, places: dict[Path, str]) -> None:
    """Places of list items and of the keys of objects in them, under their index in the joined list."""
    for index, item in enumerate(items):
        places[(*path, offset + index)] = source.of((*path, index))
        for key in item if is_object(item) else ():
            places[(*path, offset + index, key)] = source.of((*path, index, key))
