"""What both example servers are built with: a table of tools and the stdio loop.

A tool is a plain function. Its docstring is the description that clients read; its parameters are written down as JSON
Schema, because that is what goes over the wire. Nothing here knows what the tools are about.
"""

from __future__ import annotations

import argparse
import base64
import inspect
import json
import keyword
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp import MCPError, types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from words import Schema, record

Row = dict[str, Any]
Handler = Callable[..., Any]

READ = types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
WRITE = types.ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False)
UPDATE = types.ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True)
DESTROY = types.ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False)
SEND = types.ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=True)
"""Hints as clients know them; SEND leaves the building (mail, paging). Tools without hints are left so on purpose."""


class ToolError(Exception):
    """A failure whose text the caller may read; it becomes an `isError` result."""


@dataclass(frozen=True, slots=True)
class Png:
    """A picture as a result."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Document:
    """A text file as a result (an embedded resource)."""

    uri: str
    mime_type: str
    text: str


@dataclass(slots=True)
class _Tool:
    definition: types.Tool
    handler: Handler
    defaults: Row
    has_output: bool
    validator: Any = None


@dataclass(slots=True)
class Toolbox:
    """The tools of one file, in the order in which they are written.

    A closed box says `additionalProperties: false` and so refuses unknown parameters; an open one ignores them.
    """

    closed: bool = False
    entries: dict[str, _Tool] = field(default_factory=dict)

    def add(
        self,
        parameters: Mapping[str, Schema] | None = None,
        *,
        required: Sequence[str] = (),
        returns: Schema | None = None,
        hints: types.ToolAnnotations | None = None,
        name: str = "",
        title: str | None = None,
        **keywords: Any,
    ) -> Callable[[Handler], Handler]:
        """Make the decorated function a tool.

        With `returns` the result is structured content under that schema (anything but an object is wrapped as
        `{"result": …}`); without it a string goes out as text and everything else as JSON in text.
        A parameter's name reaches the function in Python's spelling: `from` as `from_`, `a-b` and `aB` as `a_b`.
        """

        def register(handler: Handler) -> Handler:
            schema = record(dict(parameters or {}), required=required, **keywords)
            if self.closed:
                schema["additionalProperties"] = False
            output = None
            if returns is not None:
                is_object = returns.get("type") == "object"
                output = returns if is_object else record({"result": returns}, required=["result"])
            definition = types.Tool(
                name=name or handler.__name__,
                title=title,
                description=inspect.getdoc(handler),
                input_schema=schema,
                output_schema=output,
                annotations=hints,
            )
            defaults = {key: value["default"] for key, value in (parameters or {}).items() if "default" in value}
            self.entries[definition.name] = _Tool(definition, handler, defaults, output is not None)
            return handler

        return register


def page_of(rows: Sequence[Row], cursor: str | None, limit: int) -> tuple[Sequence[Row], str | None]:
    """One page and the cursor of the next, None on the last.

    Raises:
        ToolError: the cursor is none of ours.
    """
    try:
        start = int(base64.b64decode(cursor, validate=True)) if cursor else 0
    except ValueError:
        start = -1
    if start < 0:
        raise ToolError("`cursor` is not one that this tool gave out; leave it out for the first page")
    end = start + limit
    following = base64.b64encode(str(end).encode()).decode() if end < len(rows) else None
    return rows[start:end], following


def find(table: Mapping[str, Row], key: str, kind: str) -> Row:
    """The row with this id.

    Raises:
        ToolError: there is none.
    """
    if key not in table:
        raise ToolError(f"No {kind} with id {key!r}")
    return table[key]


def serve(name: str, *, title: str, instructions: str, boxes: Iterable[Toolbox]) -> None:
    """Serve the tools on stdin and stdout until the client closes; `--log FILE` records each call as it arrives."""
    parser = argparse.ArgumentParser(prog=f"{name}.py", description=f"{title}: an MCP server on stdin and stdout")
    parser.add_argument("--log", metavar="FILE", help="append one JSON line per tools/call, before anything is checked")
    log: str | None = parser.parse_args().log
    table = {key: tool for box in boxes for key, tool in box.entries.items()}

    async def list_tools(
        _ctx: ServerRequestContext[Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[tool.definition for tool in table.values()])

    async def call_tool(_ctx: ServerRequestContext[Any], params: types.CallToolRequestParams) -> types.CallToolResult:
        arguments = params.arguments or {}
        if log is not None:
            with open(log, "a", encoding="utf-8") as file:
                file.write(json.dumps({"name": params.name, "arguments": arguments}, ensure_ascii=False) + "\n")
        if params.name not in table:
            raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown tool: {params.name}")
        try:
            return await _call(table[params.name], arguments)
        except ToolError as error:
            return types.CallToolResult(content=[types.TextContent(text=str(error))], is_error=True)

    server: Server[Any] = Server(
        name, version="1.0.0", title=title, instructions=instructions, on_list_tools=list_tools, on_call_tool=call_tool
    )

    async def run() -> None:
        async with stdio_server() as (read_stream, write_stream):
            await server.run(read_stream, write_stream, server.create_initialization_options())

    anyio.run(run)


async def _call(tool: _Tool, arguments: Row) -> types.CallToolResult:
    _check(tool, arguments)
    known = tool.definition.input_schema["properties"]
    values = {_python_name(key): value for key, value in {**tool.defaults, **arguments}.items() if key in known}
    value = tool.handler(**values)
    if inspect.isawaitable(value):
        value = await value
    if tool.has_output:
        structured = value if isinstance(value, dict) else {"result": value}
        return types.CallToolResult(content=[types.TextContent(text=_json(structured))], structured_content=structured)
    return types.CallToolResult(content=[_content(value)])


def _content(value: Any) -> types.ContentBlock:
    if isinstance(value, Png):
        return types.ImageContent(data=base64.b64encode(value.data).decode(), mime_type="image/png")
    if isinstance(value, Document):
        contents = types.TextResourceContents(uri=value.uri, mime_type=value.mime_type, text=value.text)
        return types.EmbeddedResource(resource=contents)
    return types.TextContent(text=value if isinstance(value, str) else _json(value))


def _check(tool: _Tool, arguments: Row) -> None:
    """Refuse arguments that do not fit: the low-level server of the SDK does not look at them."""
    if tool.validator is None:
        from jsonschema import Draft202012Validator  # late: 0.1 s that a start should not pay

        checker = Draft202012Validator.FORMAT_CHECKER
        tool.validator = Draft202012Validator(tool.definition.input_schema, format_checker=checker)
    faults = [f"{error.json_path}: {error.message[:200]}" for error in tool.validator.iter_errors(arguments)]
    if faults:
        raise ToolError(f"Invalid arguments for {tool.definition.name}: " + "; ".join(faults[:3]))


def _python_name(key: str) -> str:
    name = re.sub(r"(?<=[a-z])([A-Z])", r"_\1", key.replace("-", "_")).lower()
    return f"{name}_" if keyword.iskeyword(name) else name


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
