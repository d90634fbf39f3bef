"""A small catalog for tests of what the model reads: two servers with all marks, one starting, one failed."""

from codemode.catalog.build import build_listing
from codemode.catalog.snapshot import Catalog, build_catalog
from codemode.catalog.spec import Listing, Tool

LIST_ISSUES = {
    "name": "list_issues",
    "description": "List issues in a repository, 30 a page.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "owner": {"type": "string", "description": "Account that owns the repository."},
            "repo": {"type": "string"},
            "state": {"enum": ["open", "closed", "all"], "default": "open"},
            "page": {"type": "integer", "default": 1, "description": "Counts from 1."},
        },
        "required": ["owner", "repo"],
    },
    "outputSchema": {
        "type": "object",
        "properties": {
            "result": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"number": {"type": "integer"}, "title": {"type": "string"}},
                    "required": ["number", "title"],
                },
            }
        },
        "required": ["result"],
    },
    "annotations": {"readOnlyHint": True},
}
CREATE_ISSUE = {
    "name": "create_issue",
    "description": "Create an issue.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "owner": {"type": "string"},
            "repo": {"type": "string"},
            "title": {"type": "string"},
            "body": {"type": "string"},
        },
        "required": ["owner", "repo", "title"],
    },
}
DELETE_REPO = {
    "name": "delete_repo",
    "inputSchema": {"type": "object", "properties": {"repo": {"type": "string"}}, "required": ["repo"]},
    "annotations": {"destructiveHint": True},
}
POST_MESSAGE = {
    "name": "post_message",
    "description": "Post a message to a channel.",
    "inputSchema": {
        "type": "object",
        "properties": {"channel_id": {"type": "string"}, "text": {"type": "string"}},
        "required": ["channel_id", "text"],
    },
}
BROKEN = {"name": "broken", "inputSchema": "nonsense"}


def small_catalog(*more: Listing) -> Catalog:
    """github (3 tools, 1 held back), slack (1 tool), and whatever else is given."""
    return build_catalog(
        [
            build_listing("github", [LIST_ISSUES, CREATE_ISSUE, DELETE_REPO, BROKEN], state="ready"),
            build_listing("slack", [POST_MESSAGE], state="cached"),
            *more,
        ]
    )


STARTING = Listing(server="jira", state="starting", reason="4 s")
FAILED = Listing(server="erp-prod", state="failed", reason="the command `erp` does not exist")


def tool(short: str, catalog: Catalog | None = None) -> Tool:
    """A tool of the catalog by `<module>.<function>`."""
    found = (catalog or small_catalog()).by_short(short)
    assert found is not None, short
    return found


def marks(of: Tool) -> tuple[str, ...]:
    """What a host says about calls of a tool when somebody can be asked."""
    return (of.effect,) if of.effect == "read" else (of.effect, "asks")
