"""A small MCP server for tests of the front, run as a program: reads, a write, a destructive and a slow call, an image.

Each call that arrives is one line in the file named by the first argument. It prints noise on standard error.
"""

import base64
import json
import sys
import time
from pathlib import Path
from typing import Annotated

from mcp.server import MCPServer
from mcp.server.mcpserver import Image
from mcp.types import ToolAnnotations
from pydantic import Field

LOG = Path(sys.argv[1]) if len(sys.argv) > 1 else None
READ = ToolAnnotations(read_only_hint=True)
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)

server = MCPServer("tracker")


def note(name, **arguments):
    if LOG is not None:
        with open(LOG, "a", encoding="utf-8") as file:
            file.write(json.dumps({"name": name, "arguments": arguments}) + "\n")


@server.tool(annotations=READ)
def list_issues(repo: str, state: str = "open") -> list[dict[str, object]]:
    """List the issues of a repository."""
    note("list_issues", repo=repo, state=state)
    return [{"number": number, "title": f"issue {number} of {repo}"} for number in range(1, 4)]


@server.tool(annotations=READ)
def get_issue(number: Annotated[int, Field(ge=1)]) -> dict[str, object]:
    """Get one issue by its number."""
    note("get_issue", number=number)
    return {"number": number, "title": f"issue {number}", "next": number + 1}


@server.tool()
def create_issue(title: str) -> str:
    """Create an issue."""
    note("create_issue", title=title)
    return f"created {title}"


@server.tool(annotations=ToolAnnotations(destructive_hint=True))
def delete_repo(repo: str) -> str:
    """Delete a repository."""
    note("delete_repo", repo=repo)
    return f"deleted {repo}"


@server.tool(annotations=READ)
def draw() -> Image:
    """Draw one pixel."""
    return Image(data=PIXEL, format="png")


@server.tool(annotations=READ)
def wait(seconds: float) -> str:
    """Wait, then answer."""
    note("wait", seconds=seconds)
    time.sleep(seconds)
    return "waited"


if __name__ == "__main__":
    print("noise on standard error", file=sys.stderr)
    server.run("stdio")
