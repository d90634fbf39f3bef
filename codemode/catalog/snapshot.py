"""The catalog in force: every server and tool under its Python name, immutable, with look-ups that do not search.

Enters: one listing for each server, the user's effect rules, the servers whose hints are not trusted. Leaves: a
`Catalog`. Equal inputs give equal catalogs and digests, in whatever order the listings came.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from codemode.catalog.names import function_names, module_names
from codemode.catalog.nearest import NearestNames
from codemode.catalog.risk import EffectRule, classify
from codemode.catalog.spec import Listing, ServerEntry, Tool
from codemode.ids import ToolId
from codemode.jsonvalue import Json, digest

_MAX_ASKED_CHARS = 700  # a server's id and a tool's raw name at their limits, and what may stand around them


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """All servers and tools of one scope.

    Attributes:
        servers: sorted by id, also those without a tool.
        tools: the usable tools, sorted by `short`.
        digest: changes when any tool, name, effect or server state does.
    """

    servers: tuple[ServerEntry, ...] = ()
    tools: tuple[Tool, ...] = ()
    digest: str = ""
    _short: Mapping[str, Tool] = field(default_factory=dict, repr=False, compare=False)
    _raw: Mapping[tuple[str, str], Tool] = field(default_factory=dict, repr=False, compare=False)
    _modules: Mapping[str, ServerEntry] = field(default_factory=dict, repr=False, compare=False)
    _functions: Mapping[str, tuple[Tool, ...]] = field(default_factory=dict, repr=False, compare=False)
    _nearest: NearestNames = field(default_factory=lambda: NearestNames(()), repr=False, compare=False)

    def by_short(self, short: str) -> Tool | None:
        """The tool written `<module>.<function>`."""
        return self._short.get(short)

    def by_path(self, path: str) -> Tool | None:
        """The tool written `tools.<module>.<function>`."""
        return self._short.get(path.removeprefix("tools.")) if path.startswith("tools.") else None

    def by_id(self, tool_id: ToolId) -> Tool | None:
        """The tool with exactly this id; None when there is none or its definition has changed since."""
        tool = self._raw.get((tool_id.server, tool_id.name))
        return tool if tool is not None and tool.spec.id == tool_id else None

    def by_raw(self, server: str, name: str) -> Tool | None:
        """The tool a server lists under this raw name, whatever its digest."""
        return self._raw.get((server, name))

    def server(self, module: str) -> ServerEntry | None:
        """The server with this module name or, failing that, this raw id."""
        return self._modules.get(module)

    def find(self, text: str) -> tuple[Tool, ...]:
        """The tools that a name may mean, however it is written; several when it is ambiguous.

        Takes `module.function`, `tools.module.function`, raw names as `server.tool`, `server:tool` or `server/tool`,
        `mcp__server__tool`, and a bare function or tool name.
        """
        asked = text[:_MAX_ASKED_CHARS].strip().removeprefix("tools.").removesuffix("()")
        if tool := self._short.get(asked):
            return (tool,)
        if asked.startswith("mcp__"):
            server, _, name = asked.removeprefix("mcp__").partition("__")
            tool = self._of_server(server, name)
            return (tool,) if tool else ()
        for separator in (".", ":", "/"):
            # A raw tool name may hold the separator too (`server.v1.list`), so each place is tried.
            at = asked.find(separator)
            while at > 0:
                if tool := self._of_server(asked[:at], asked[at + 1 :]):
                    return (tool,)
                at = asked.find(separator, at + 1)
        return self._functions.get(asked, ())

    def nearest(self, short: str) -> tuple[Tool, ...]:
        """At most five tools with names like a misspelt `<module>.<function>`: the server named first, best first."""
        return self._nearest.find(short)

    def _of_server(self, server: str, name: str) -> Tool | None:
        entry = self._modules.get(server)
        if entry is None:
            return None
        return self._raw.get((entry.id, name)) or self._short.get(f"{entry.module}.{name}")


def build_catalog(
    listings: Iterable[Listing],
    effect_rules: Sequence[EffectRule] = (),
    untrusted_servers: AbstractSet[str] = frozenset(),
) -> Catalog:
    """The catalog of some listings. Hints of `untrusted_servers` (raw ids) never make a tool `read`.

    Raises:
        ValueError: two listings carry the same server id.
    """
    ordered = sorted(listings, key=lambda listing: listing.server)
    modules = module_names(listing.server for listing in ordered)
    if len(modules) != len(ordered):
        raise ValueError("two listings carry the same server id")
    servers = tuple(
        _entry(listing, modules[listing.server], effect_rules, listing.server not in untrusted_servers)
        for listing in ordered
    )
    tools = tuple(sorted((tool for entry in servers for tool in entry.tools), key=lambda tool: tool.short))
    functions: dict[str, tuple[Tool, ...]] = {}
    for tool in tools:
        for name in {tool.function, tool.spec.name}:
            functions[name] = (*functions.get(name, ()), tool)
    return Catalog(
        servers=servers,
        tools=tools,
        digest=_digest(servers),
        _short={tool.short: tool for tool in tools},
        _raw={(tool.spec.server, tool.spec.name): tool for tool in tools},
        _modules={entry.id: entry for entry in servers} | {entry.module: entry for entry in servers},
        _functions=functions,
        _nearest=NearestNames(tools),
    )


def _entry(listing: Listing, module: str, rules: Sequence[EffectRule], trust_hints: bool) -> ServerEntry:
    functions = function_names(spec.name for spec in listing.tools)
    tools: list[Tool] = []
    for spec in listing.tools:
        effect, source = classify(spec, rules, trust_hints)
        tools.append(Tool(spec=spec, module=module, function=functions[spec.name], effect=effect, effect_source=source))
    return ServerEntry(
        id=listing.server,
        module=module,
        state=listing.state,
        reason=listing.reason,
        protocol=listing.protocol,
        instructions=listing.instructions,
        description=listing.description,
        tools=tuple(sorted(tools, key=lambda tool: tool.function)),
        quarantined=listing.quarantined,
    )


def _digest(servers: tuple[ServerEntry, ...]) -> str:
    return digest([_facts(entry) for entry in servers])


def _facts(entry: ServerEntry) -> Json:
    tools: list[Json] = [
        [tool.spec.name, tool.function, tool.effect, tool.spec.semantic_digest, tool.spec.cosmetic_digest]
        for tool in entry.tools
    ]
    held: list[Json] = [[item.tool, item.reason] for item in entry.quarantined]
    return [entry.id, entry.module, entry.state, entry.reason, entry.instructions, entry.description, tools, held]
