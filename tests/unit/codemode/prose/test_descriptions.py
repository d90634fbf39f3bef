"""The two tool definitions: their size, what they promise, and that they agree with what programs can do."""
# ruff: noqa: E501 (whole lines as they are read)

import jsonschema
import pytest
from inline_snapshot import snapshot

from codemode.config.model import LimitSettings
from codemode.prose.descriptions import MAX_DESCRIPTION_CHARS, MODULES, execute_tool, instructions, search_tool
from sandbox.dialect.modules import ENTRIES

BOTH = [search_tool("index"), execute_tool(LimitSettings())]


@pytest.mark.parametrize("tool", BOTH, ids=lambda tool: tool.name)
def test_descriptions_are_not_cut_by_clients(tool):
    assert len(tool.description) < MAX_DESCRIPTION_CHARS
    jsonschema.Draft202012Validator.check_schema(dict(tool.input_schema))


def test_the_index_stands_in_the_description_of_query():
    schema = search_tool("THE INDEX").input_schema
    assert schema["properties"]["query"]["description"].endswith("THE INDEX")


def test_limits_come_from_the_settings():
    text = execute_tool(LimitSettings(wall_s=90.0, calls=77, writes=3, output_tokens=1_234)).description
    for said in ("90 s", "77 calls", "3 of them writes", "1,234 tokens"):
        assert said in text


def test_what_survives_a_program_is_said_with_its_bounds():
    text = execute_tool(LimitSettings(workspace_bytes=64 << 20, store_bytes=1 << 20)).description
    assert '`store["k"] = v` (copies as JSON, 1 MiB) and files from `open()` (64 MiB, relative names) do.' in text
    assert "no files" not in text


def test_nothing_is_promised_that_is_not_there():
    text = execute_tool(LimitSettings(workspace_bytes=0, store_bytes=0)).description
    assert "store[" not in text
    assert "open(" not in text
    assert "no network, no files, no installs" in text
    assert "A changed program is sent whole, as `code` alone" in text


def test_every_module_that_is_named_can_be_imported():
    assert set(MODULES.split(", ")) <= set(ENTRIES)


def test_packages_are_named_when_they_are_allowed_and_never_else():
    without, numpy = execute_tool(LimitSettings()), execute_tool(LimitSettings(), ("numpy",))
    both = execute_tool(LimitSettings(), ("numpy", "pandas"))
    assert not {"numpy", "pandas", "DataFrame"} & set(without.description.replace(",", " ").split())
    assert "Importable: numpy, json," in numpy.description
    assert "Importable: numpy, pandas, json," in both.description
    assert "then the last expression (a DataFrame as its records), up to" in both.description
    assert len(both.description) < MAX_DESCRIPTION_CHARS


def test_instructions_name_the_servers_and_are_bounded():
    assert instructions(["slack", "github"]) == snapshot(
        "Come here for everything that other MCP servers can do: their functions are called from one Python program instead of one by one. It reaches these servers: github, slack. `tool_search` finds functions and shows their signatures; `execute` runs a program that calls them, loops, filters, joins and counts, and brings back only the answer. Use it for a single call, for chains of calls, and for bulk work whose data should not pass through the conversation."
    )
    assert len(instructions([f"a_server_with_a_long_name_{n}" for n in range(900)])) < MAX_DESCRIPTION_CHARS


def test_the_execute_description_as_it_is_read():
    assert execute_tool(LimitSettings()).description == snapshot("""\
Run one Python program that calls tools as functions: `tools.github.list_issues(repo="a/b")`, or `from tools.github import list_issues` (names are examples). Use keyword arguments.
Do the whole job in one program: loop, filter, join, count here; end with only the answer. Calls block and return values; in parallel with `ThreadPoolExecutor().map` or `await asyncio.gather(...)` at top level. A failed call raises ToolError; catch it to go on.
Comes back: prints, then the last expression, up to 6,000 tokens together. Variables do not survive the program; `store["k"] = v` (copies as JSON, 16 MiB) and files from `open()` (256 MiB, relative names) do.
Full Python 3 syntax; no network, no installs. Importable: json, re, math, statistics, decimal, datetime, zoneinfo, time, random, itertools, functools, collections, string, textwrap, csv, difflib, base64, hashlib, uuid, urllib.parse, html, xml.etree.ElementTree, dataclasses, enum, typing, heapq, asyncio, concurrent.futures, threading and more of that kind. Defined from the start: `tools`, `ToolError`, `help(tools.github)`.
Limits of one program: 600 s, 60 s of processor time, 512 MiB, 10,000 calls, 200 of them writes.
A function not yet shown to you is refused once, with its signature, before anything runs. `resume="<run id>"` without `code` then runs the same program; it also collects a program that still runs. A changed program is sent whole, as `code` alone.
Result shape unknown (`-> ?`)? Index plainly, not `.get(k, [])`: a KeyError shows the real shape.\
""")
