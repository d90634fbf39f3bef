"""An MCP server, run as a program, whose slow calls end when others are under way: for tests of calls that overlap.

`meet` answers when `of` calls of its kind have arrived and none has been answered, so only calls that overlap can end;
`hang` never answers. What arrives, and what is cancelled, is a line in the file named by the first argument.
"""

import json
import sys

import anyio
from mcp.server import MCPServer
from mcp.types import ToolAnnotations

READ = ToolAnnotations(read_only_hint=True)
GIVE_UP_S = 50  # a call that waits alone is an error, and no hang of the test

server = MCPServer("meeting")
waiting: dict[str, list[anyio.Event]] = {}
hung: set[int] = set()


def note(what, n):
    with open(sys.argv[1], "a", encoding="utf-8") as file:
        file.write(json.dumps([what, n]) + "\n")


@server.tool(annotations=READ)
async def meet(n: int, of: int, room: str = "hall") -> dict[str, int]:
    """Wait until `of` calls are here, then answer."""
    note("meet", n)
    events = waiting.setdefault(room, [])
    events.append(anyio.Event())
    if len(events) == of:
        del waiting[room]
        for event in events:
            event.set()
        return {"n": n}
    with anyio.fail_after(GIVE_UP_S):
        await events[-1].wait()
    return {"n": n}


@server.tool(annotations=READ)
async def hang(n: int) -> str:
    """Never answer."""
    note("hang", n)
    hung.add(n)
    try:
        await anyio.sleep_forever()
        return "never"
    finally:
        hung.discard(n)
        note("cancelled", n)


@server.tool(annotations=READ)
async def hanging() -> list[int]:
    """The calls of `hang` that are here."""
    return sorted(hung)


@server.tool(annotations=READ)
async def add(n: int) -> int:
    """Answer at once."""
    note("add", n)
    return n + 1


@server.tool(annotations=READ)
async def wave(n: int) -> int:
    """Answer at once; no test looks it up."""
    note("wave", n)
    return n


@server.tool(annotations=READ)
async def fail(n: int) -> str:
    """Fail."""
    note("fail", n)
    raise ValueError(f"no {n}")


if __name__ == "__main__":
    server.run("stdio")
