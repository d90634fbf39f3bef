"""The module tree of a catalog: the source of every module below `tools`, made when it is asked for.

Enters: a `Catalog`. Leaves: source texts by dotted name; for review all files with `.pyi` stubs and a manifest. A run
loads only what it uses: `tools` knows the servers' names, `tools.<module>` its functions' names, and each function is
a module of its own, so the cost of a run does not grow with the catalog.

Equal catalogs give equal bytes. Identifiers are all of our making; the stubs hold foreign text only as literals.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Final

from codemode.bindings.function import Binding, Bound, Refused, bind
from codemode.bindings.runtime import RUNTIME_MODULES, runtime_source
from codemode.bindings.stubs import root_stub, server_stub
from codemode.catalog.snapshot import Catalog
from codemode.catalog.spec import Quarantined, ServerEntry, Tool

ROOT: Final = "tools"
MANIFEST: Final = "manifest.json"


class BindingTree:
    """All bindings of one catalog.

    `previous` is a tree whose unchanged tools are taken over instead of being made again.
    """

    def __init__(self, catalog: Catalog, *, previous: BindingTree | None = None) -> None:
        self.catalog = catalog
        self._servers: dict[str, ServerEntry] = {entry.module: entry for entry in catalog.servers}
        self._tools: dict[str, Mapping[str, Tool]] = {
            entry.module: {tool.function: tool for tool in entry.tools} for entry in catalog.servers
        }
        self._bound: dict[tuple[str, str], Bound] = {}
        self._previous = dict(previous._bound) if previous is not None else {}

    def module(self, name: str) -> str | None:
        """The source of a module by its dotted name, or None when there is no such module.

        Safety: the name is a guest's; it is only ever looked up.
        """
        root, *parts = name.split(".")
        if root != ROOT or len(parts) > 2:
            return None
        if not parts:
            return _package("Servers", "", tuple(sorted(self._servers)), "server")
        if len(parts) == 1:
            if parts[0] in RUNTIME_MODULES:
                return runtime_source(parts[0])
            functions = self._tools.get(parts[0])
            if functions is None:
                return None
            return _package("Functions", f".{parts[0]}", tuple(sorted(functions)), "function")
        bound = self.binding(parts[0], parts[1])
        return bound.source if isinstance(bound, Binding) else None

    def binding(self, module: str, function: str) -> Bound | None:
        """The binding of one tool, a refusal with its reason, or None when there is no such tool."""
        tool = self._tools.get(module, {}).get(function)
        if tool is None:
            return None
        key = (module, function)
        if key not in self._bound:
            before = self._previous.get(key)
            same = before is not None and before.tool == tool
            self._bound[key] = before if before is not None and same else bind(tool)
        return self._bound[key]

    @property
    def bindings(self) -> tuple[Binding, ...]:
        """Every binding, sorted by path. Makes all that are not made yet."""
        return tuple(bound for bound in self._all() if isinstance(bound, Binding))

    @property
    def quarantined(self) -> tuple[Quarantined, ...]:
        """Tools that got no binding, with the reason. Makes all bindings that are not made yet."""
        return tuple(
            Quarantined(server=bound.tool.spec.server, tool=bound.tool.spec.name, reason=bound.reason)
            for bound in self._all()
            if isinstance(bound, Refused)
        )

    def files(self) -> dict[str, str]:
        """Relative path → text of every file for review: modules as a guest gets them, stubs, the manifest.

        Every path is below the folder it is joined to and holds no `..`.
        """
        files = {f"{ROOT}/__init__.py": self.module(ROOT) or ""}
        files[f"{ROOT}/__init__.pyi"] = root_stub(sorted(self._servers))
        for name in RUNTIME_MODULES:
            files[f"{ROOT}/{name}.py"] = runtime_source(name)
        for module in sorted(self._servers):
            found = [bound for bound in self._all_of(module) if isinstance(bound, Binding)]
            files[f"{ROOT}/{module}/__init__.py"] = self.module(f"{ROOT}.{module}") or ""
            files[f"{ROOT}/{module}/__init__.pyi"] = server_stub(found)
            for bound in found:
                files[f"{ROOT}/{module}/{bound.tool.function}.py"] = bound.source
        files[MANIFEST] = self.manifest()
        for path in files:
            parts = path.removesuffix(".pyi").removesuffix(".py").removesuffix(".json").split("/")
            assert all(map(str.isidentifier, parts)), path
        return files

    def manifest(self) -> str:
        """JSON text: each binding's id, place and digest, what was refused, and one digest over all."""
        tools = [
            {
                "id": str(bound.tool.spec.id),
                "server": bound.tool.spec.server,
                "tool": bound.tool.spec.name,
                "path": bound.tool.path,
                "sha256": bound.digest,
            }
            for bound in self.bindings
        ]
        runtime = {name: hashlib.sha256(runtime_source(name).encode("utf-8")).hexdigest() for name in RUNTIME_MODULES}
        refused = [{"server": q.server, "tool": q.tool, "reason": q.reason} for q in self.quarantined]
        facts = {"tools": tools, "runtime": runtime, "quarantined": refused}
        digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode("ascii")).hexdigest()
        return json.dumps({"format": 1, "sha256": digest, **facts}, indent=2, sort_keys=True) + "\n"

    def _all(self) -> list[Bound]:
        return [bound for module in sorted(self._servers) for bound in self._all_of(module)]

    def _all_of(self, module: str) -> list[Bound]:
        found = [self.binding(module, function) for function in sorted(self._tools[module])]
        return [bound for bound in found if bound is not None]


def _package(title: str, below: str, names: tuple[str, ...], kind: str) -> str:
    """Source of `tools` or of one server's module. The names are one literal: a tuple of thousands compiles slowly."""
    assert all(map(str.isidentifier, names)), "names come from `codemode/catalog/names.py`"
    listed = "".join(f"    {name}\n" for name in names)
    return (
        f'"""{title}; each is loaded when it is first used."""\n\n'
        f"from tools._runtime import parts as _parts\n\n"
        f'__all__ = """\n{listed}""".split()\n'
        f'__getattr__, __dir__ = _parts("{ROOT}{below}", __all__, "{kind}")\n'
    )
