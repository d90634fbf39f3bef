"""Modules that come from the host, on demand, through Python's own import system.

Enters: `load` answers and the modules that `go` brought along. Leaves: real modules in `sys.modules`, so that
`import tools.github as gh`, `from tools import github` and `importlib` inside generated code all work as usual.

A name that the host does not know is asked for once. Modules are compiled natively: the host generated them.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

Fetch = Callable[[str], str | None]


class HostFinder(MetaPathFinder, Loader):
    """Finds modules below the roots, and those that came with the run.

    Attributes:
        roots: top-level names that this finder answers for.
    """

    def __init__(self, fetch: Fetch) -> None:
        self.roots: frozenset[str] = frozenset()
        self._sources: dict[str, str | None] = {}
        self._fetch = fetch
        self._asks: frozenset[str] = frozenset()

    def ask_for(self, roots: Sequence[str]) -> None:
        """Look for modules below these names on the host, and nowhere else."""
        self._asks = frozenset(roots)
        self.roots |= self._asks

    def install(self, sources: Mapping[str, str]) -> None:
        """Put this finder before all others, with modules that need not be fetched."""
        self._sources.update(sources)
        self.roots |= {name.partition(".")[0] for name in sources}
        sys.meta_path.insert(0, self)

    def source(self, name: str) -> str | None:
        """The source of a module below the roots, fetched at most once."""
        if name not in self._sources:
            is_host_name = name.partition(".")[0] in self._asks
            self._sources[name] = self._fetch(name) if is_host_name else None
        return self._sources[name]

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Part of the import protocol."""
        if fullname.partition(".")[0] not in self.roots or self.source(fullname) is None:
            return None
        return importlib.util.spec_from_loader(fullname, self, is_package=True)

    def exec_module(self, module: ModuleType) -> None:
        """Part of the import protocol: run the module's source."""
        name = module.__name__
        source = self.source(name)
        assert source is not None
        exec(compile(source, f"<{name}>", "exec", dont_inherit=True), module.__dict__)  # noqa: S102 - host's own source
