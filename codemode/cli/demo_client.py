"""The two clients of the demo: one talks to `codemode serve`, the other sends the same calls to the servers directly.

Enters: configuration, steps, a log of calls. Leaves: what a model would have sent and read either way, in estimated
tokens. No model takes part. Both are ordinary MCP clients; nothing is taken out of the front from inside.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

import anyio
from mcp import StdioServerParameters, types
from mcp.client import Client
from mcp.client.stdio import stdio_client

from codemode.errors import UpstreamError
from codemode.jsonvalue import Json, JsonObject, as_object, as_text, compact
from codemode.tokens import estimate_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One call of one of the two tools. `facts` is what stood in `_meta` for machines."""

    tool: str
    arguments: Mapping[str, Json]
    text: str
    facts: JsonObject = field(default_factory=dict)

    @property
    def tokens(self) -> int:
        """Estimated tokens of what was sent and what came back."""
        return call_tokens(self.tool, self.arguments, self.text)


class DemoClient:
    """One connection to the front. `definitions` are the two tools, `exchanges` everything that was said."""

    def __init__(self, client: Client, definitions: Sequence[types.Tool]) -> None:
        self._client = client
        self.definitions = definitions
        self.exchanges: list[Exchange] = []

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> Exchange:
        """Call one of the two tools.

        Raises:
            UpstreamError: the front itself failed.
        """
        result = await self._client.call_tool(tool, dict(arguments))
        text = text_of(result)
        if result.is_error:
            raise UpstreamError(f"the front failed: {text[:300]}", code="upstream.tool_error")
        facts = as_object((result.meta or {}).get("codemode/run"))
        exchange = Exchange(tool=tool, arguments=arguments, text=text, facts=facts)
        self.exchanges.append(exchange)
        return exchange

    @property
    def tokens(self) -> int:
        """Estimated tokens of the two definitions and of everything that was said."""
        return definition_tokens(self.definitions) + sum(exchange.tokens for exchange in self.exchanges)


@asynccontextmanager
async def open_demo_client(config: Path, log: Path) -> AsyncIterator[DemoClient]:
    """A client of a fresh `codemode serve`, whose log lines go to a file."""
    front = StdioServerParameters(command=sys.executable, args=["-m", "codemode", "serve", "--config", str(config)])
    with open(log, "w", encoding="utf-8") as errlog:
        async with Client(stdio_client(front, errlog=errlog)) as client:
            yield DemoClient(client, (await client.list_tools()).tools)


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectCost:
    """What the same work puts into a model's context with the servers' own tools."""

    tools: int
    calls: int
    definition_tokens: int
    call_tokens: int

    @property
    def tokens(self) -> int:
        """Definitions, counted once, and every call with its result."""
        return self.definition_tokens + self.call_tokens


async def measure_directly(servers: JsonObject, calls: Mapping[str, Sequence[JsonObject]], log: Path) -> DirectCost:
    """Send the same calls to fresh copies of the servers, as a client that lists their tools would, and count.

    `calls` has `{"name": tool, "arguments": {...}}` by server, in order.
    """
    costs: list[DirectCost] = []
    with open(log, "a", encoding="utf-8") as errlog:

        async def one(name: str, entry: JsonObject) -> None:
            costs.append(await _measure_one(_parameters(entry), calls.get(name, ()), errlog))

        async with anyio.create_task_group() as tasks:
            for name, entry in servers.items():
                tasks.start_soon(one, name, as_object(entry))
    return DirectCost(
        tools=sum(cost.tools for cost in costs),
        calls=sum(cost.calls for cost in costs),
        definition_tokens=sum(cost.definition_tokens for cost in costs),
        call_tokens=sum(cost.call_tokens for cost in costs),
    )


def _parameters(entry: JsonObject) -> StdioServerParameters:
    arguments = entry.get("args")
    return StdioServerParameters(
        command=as_text(entry.get("command")),
        args=[str(item) for item in arguments] if isinstance(arguments, list) else [],
    )


async def _measure_one(server: StdioServerParameters, calls: Sequence[JsonObject], errlog: TextIO) -> DirectCost:
    spent = 0
    async with Client(stdio_client(server, errlog=errlog)) as client:
        listed = (await client.list_tools()).tools
        for call in calls:
            tool, sent = as_text(call.get("name")), as_object(call.get("arguments"))
            request = types.CallToolRequest(params=types.CallToolRequestParams(name=tool, arguments=dict(sent)))
            # `call_tool` would check each result against its schema, which takes seconds for bulk data.
            result = await client.session.send_request(request, types.CallToolResult)
            spent += call_tokens(tool, sent, text_of(result))
    return DirectCost(
        tools=len(listed), calls=len(calls), definition_tokens=definition_tokens(listed), call_tokens=spent
    )


def definition_tokens(tools: Sequence[types.Tool]) -> int:
    """Estimated tokens of definitions as a client shows them: name, description, input schema."""
    return sum(
        estimate_tokens(
            json.dumps(
                {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema},
                separators=(",", ":"),
                ensure_ascii=False,
            )
        )
        for tool in tools
    )


def call_tokens(tool: str, arguments: Mapping[str, Json], text: str) -> int:
    """Estimated tokens of one call and its answer."""
    return estimate_tokens(compact({"name": tool, "arguments": arguments})) + estimate_tokens(text)


def text_of(result: types.CallToolResult) -> str:
    """The text that a client shows to a model; the structured part counts where a server sends nothing else."""
    texts = [block.text for block in result.content if isinstance(block, types.TextContent)]
    if not texts and result.structured_content is not None:
        return json.dumps(result.structured_content, separators=(",", ":"), ensure_ascii=False)
    return "\n".join(texts)
