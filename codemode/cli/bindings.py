"""`codemode bindings`: writes the module tree that programs import, with stubs, so that people can read it.

Enters: configuration, dumps, a folder. Leaves: files below the folder. A tree that was written there before is
replaced; a folder `tools` that is not ours is left alone.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from codemode.bindings.tree import MANIFEST, ROOT, BindingTree
from codemode.catalog.spec import Quarantined
from codemode.cli.hosting import settled_host
from codemode.cli.opening import read_config, run_async
from codemode.cli.output import OK, print_json, print_text
from codemode.errors import ConfigError
from codemode.jsonvalue import Json, as_object


def write_bindings(out: Path, files: Sequence[Path] | None, catalogs: Sequence[Path] | None, *, as_json: bool) -> int:
    """Write the tree.

    Raises:
        ConfigError: the folder holds something else, or cannot be written.
    """
    config = read_config(files, catalogs)
    _check_folder(out)

    async def work() -> int:
        async with settled_host(config, catalogs) as host:
            catalog = host.catalog
        tree = BindingTree(catalog)
        _write(out, tree.files())
        held = [item for entry in catalog.servers for item in entry.quarantined] + list(tree.quarantined)
        modules = sum(1 for entry in catalog.servers if entry.tools)
        if as_json:
            print_json({"modules": modules, "tools": len(tree.bindings), "quarantined": [_held(item) for item in held]})
        else:
            print_text(f"{modules:,} modules, {len(tree.bindings):,} functions in {out}/{ROOT}")
            for item in held:
                print_text(f"held back: {item.server} `{item.tool}`: {item.reason}")
        return OK

    return run_async(work)


def _held(item: Quarantined) -> dict[str, Json]:
    return {"server": item.server, "tool": item.tool, "reason": item.reason}


def _check_folder(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise ConfigError(f"{out}: is no folder", hint_operator="name a new or an empty folder")
    if (out / ROOT).exists() and not _is_ours(out / MANIFEST):
        raise ConfigError(
            f"{out / ROOT}: exists and was not written by codemode", hint_operator="name a new or an empty folder"
        )


def _is_ours(manifest: Path) -> bool:
    try:
        return "format" in as_object(json.loads(manifest.read_bytes()))
    except (OSError, ValueError):
        return False


def _write(out: Path, files: dict[str, str]) -> None:
    try:
        if (out / ROOT).is_dir() and not (out / ROOT).is_symlink():
            shutil.rmtree(out / ROOT)
        for name, text in files.items():
            path = out / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise ConfigError(f"{out}: cannot be written: {reason}") from error
