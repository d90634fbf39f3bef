"""Reads listings from files, so that search and bindings can be tried with nothing running (`--catalog PATH`).

Enters: a file, or a folder of `*.json`: objects with `server` and `tools` (raw definitions as `tools/list` gives them),
optionally `protocolVersion`, `instructions`, `description`. Leaves: `Listing`s in the state "listing_only".
"""

from __future__ import annotations

import json
from pathlib import Path

from codemode.catalog.build import build_listing
from codemode.catalog.spec import Listing
from codemode.errors import ConfigError
from codemode.jsonvalue import Json, as_text, is_object

_MAX_BYTES = 256 << 20


def load_dumps(path: str | Path) -> tuple[Listing, ...]:
    """The listings in a file or a folder, sorted by file name.

    Raises:
        ConfigError: the path does not exist, or a file is no dump; the message names the file.
    """
    root = Path(path)
    try:
        files = sorted(root.glob("*.json")) if root.is_dir() else [root]
        if not files:
            raise ConfigError(f"{root}: the folder has no `*.json` files", code="config.missing")
        found: dict[str, tuple[Path, Listing]] = {}
        for file in files:
            listing = _load(file)
            if listing.server in found:
                raise ConfigError(
                    f"{file}: the server `{listing.server}` is already in {found[listing.server][0]}",
                    code="config.server",
                )
            found[listing.server] = (file, listing)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise ConfigError(f"{error.filename or root}: cannot be read: {reason}", code="config.missing") from error
    return tuple(listing for _, listing in found.values())


def _load(file: Path) -> Listing:
    with open(file, "rb") as stream:
        raw = stream.read(_MAX_BYTES + 1)
    if len(raw) > _MAX_BYTES:
        raise ConfigError(f"{file}: larger than {_MAX_BYTES} bytes", code="config.json")
    try:
        value: Json = json.loads(raw.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise ConfigError(
            f"{file}, line {error.lineno}, column {error.colno}: not JSON: {error.msg.lower()}", code="config.json"
        ) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{file}: not JSON that can be read: {type(error).__name__}", code="config.json") from error
    if not is_object(value):
        raise ConfigError(f"{file}: must be a JSON object with `server` and `tools`", code="config.key")
    tools = value.get("tools")
    if not isinstance(tools, list):
        raise ConfigError(f"{file}: `tools` must be a list of tool definitions", code="config.key")
    return build_listing(
        as_text(value.get("server")) or file.stem,
        tools,
        state="listing_only",
        reason="from a file; nothing runs",
        protocol=as_text(value.get("protocolVersion")),
        instructions=as_text(value.get("instructions")),
        description=as_text(value.get("description")),
    )
