"""Small catalogs for tests, built through the real catalog code."""

from collections.abc import Mapping
from typing import Any

from codemode.catalog.build import build_listing
from codemode.catalog.snapshot import Catalog, build_catalog
from codemode.catalog.spec import ServerState


def tool(name: str, properties: Mapping[str, Any] | None = None, required: tuple[str, ...] = (), **more: Any) -> Any:
    """One entry of a `tools/list` result."""
    schema = {"type": "object", "properties": dict(properties or {}), "required": list(required)}
    return {"name": name, "description": f"Does {name}.", "inputSchema": schema, **more}


def catalog_of(servers: Mapping[str, list[Any]], *, states: Mapping[str, ServerState] | None = None) -> Catalog:
    """A catalog of these servers."""
    states = states or {}
    return build_catalog(
        [build_listing(name, tools, state=states.get(name, "ready")) for name, tools in servers.items()]
    )


TEXT = {"type": "string"}
READ = {"readOnlyHint": True}


def issues_catalog() -> Catalog:
    """Two servers that most gate and policy tests can use."""
    return catalog_of(
        {
            "github": [
                tool("list_issues", {"repo": TEXT}, ("repo",), annotations=READ),
                tool("create_issue", {"repo": TEXT, "title": TEXT}, ("repo", "title")),
                tool("delete_repo", {"repo": TEXT}, ("repo",), annotations={"destructiveHint": True}),
            ],
            "git-lab": [tool("list-issues", annotations=READ)],
        }
    )
