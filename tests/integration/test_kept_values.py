"""What a session keeps between its programs, through the whole host: `store`, files, the record, the end."""

import json
import sys

import anyio
import pytest

from codemode import Host, load_config
from tests.architecture.source import ROOT

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("kept")


@pytest.fixture(scope="module")
async def host(place):
    config = place / "mcp.json"
    limits = {"store_bytes": 20_000, "workspace_bytes": 100_000}
    config.write_text(json.dumps({"mcpServers": {}, "codemode": {"limits": limits}}))
    async with Host.open(load_config(config), state_dir=place / "state") as opened:
        yield opened


@pytest.fixture
async def session(host):
    opened = host.session(is_local=True)
    yield opened
    opened.close()


async def end(session, source):
    with anyio.fail_after(100):
        return await session.execute(source, wait_s=90)


async def value(session, source):
    outcome = await end(session, source)
    assert outcome.status == "ok", outcome
    return outcome.value


# -- the store --------------------------------------------------------------------------------------------------------


async def test_a_value_is_there_for_the_next_program(session):
    await value(session, "store['rows'] = [{'id': 1, 'name': 'ü'}, None, True, 1.5, 2 ** 70]\n1")
    assert await value(session, "store['rows']") == [{"id": 1, "name": "ü"}, None, True, 1.5, 2**70]


async def test_it_acts_as_a_mapping(session):
    source = """
store.update({"a": 1, "b": 2}, c=3)
del store["a"]
facts = [store.get("a"), store.get("a", 5), "b" in store, 7 in store, len(store), list(store), bool(store)]
facts += [store.pop("b"), store.pop("b", None), store.setdefault("d", []), store.setdefault("d", 1), dict(store)]
facts += [list(store.values()), list(store.items())]
for wrong in (lambda: store["x"], lambda: store.pop("x"), lambda: store.__delitem__("x")):
    try:
        wrong()
    except KeyError as error:
        facts.append(error.args[0])
store.clear()
[*facts, len(store), bool(store), [key for key in store]]"""
    assert await value(session, source) == [
        *[None, 5, True, False, 2, ["b", "c"], True],
        *[2, None, [], [], {"c": 3, "d": []}],
        *[[3, []], [["c", 3], ["d", []]]],
        *["x", "x", "x"],
        *[0, False, []],
    ]


async def test_values_come_back_as_json_has_them(session):
    source = """
import datetime, decimal, uuid
from dataclasses import dataclass
from pathlib import Path
@dataclass
class P:
    x: int
store["all"] = {1: (1, 2), "set": {3, 1}, "day": datetime.date(2024, 5, 6), "d": decimal.Decimal("1.5"), "p": P(1),
                "path": Path("a/b"), "none": None}
store["all"]"""
    back = {"1": [1, 2], "set": [1, 3], "day": "2024-05-06", "d": 1.5, "p": {"x": 1}, "path": "a/b", "none": None}
    assert await value(session, source) == back


async def test_what_is_read_is_a_copy(session):
    source = "store['k'] = [1]\nstore['k'].append(2)\nstore['k'] = [*store['k'], 3]\nstore['k']"
    assert await value(session, source) == [1, 3]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("store['k'] = object()", "store['k']: a object cannot be sent as JSON; the store keeps JSON"),
        ("store['k'] = float('nan')", "store['k']"),
        ("store['k'] = b'\\xff'", "store['k']"),
        ("x = []\nx.append(x)\nstore['k'] = x", "store['k']"),
        ("store[1] = 2", "keys of the store are text, got int"),
        ("store.get(None)", "keys of the store are text, got NoneType"),
    ],
)
async def test_a_value_that_json_cannot_have_is_a_type_error_at_once(session, source, text):
    outcome = await end(session, source)
    assert (outcome.error.type, text in outcome.error.message) == ("TypeError", True), outcome.error
    assert session.session.store.keys() == []


async def test_a_full_store_is_an_error_of_the_program_and_keeps_what_it_has(session):
    await value(session, "store['a'] = 'x' * 15_000\n1")
    outcome = await end(session, "store['b'] = 1\nstore['a'] = 'y' * 30_000")
    assert (outcome.error.type, "15,002" not in outcome.error.message) == ("OSError", True)
    assert "the store is full" in outcome.error.message
    assert await value(session, "store['a'][0], store['b']") == ["x", 1]


async def test_a_failed_run_keeps_what_it_had_stored(session):
    outcome = await end(session, "store['done'] = 3\n1 / 0")
    assert outcome.status == "error"
    assert await value(session, "store['done']") == 3


async def test_it_works_in_threads_and_beside_await(session):
    source = """
import asyncio
from concurrent.futures import ThreadPoolExecutor
def keep(n):
    store[f"t{n}"] = n
    return store[f"t{n}"]
with ThreadPoolExecutor(8) as pool:
    in_threads = list(pool.map(keep, range(8)))
async def main():
    await asyncio.sleep(0)
    return keep(9), await asyncio.to_thread(keep, 10)
in_threads, await main(), len(store)"""
    assert await value(session, source) == [list(range(8)), [9, 10], 10]


async def test_storing_is_no_call_of_a_tool(session):
    outcome = await end(session, "for n in range(5):\n    store['n'] = n\nstore['n']")
    assert (outcome.value, outcome.calls, outcome.used.calls) == (4, (), 6)


async def test_a_name_of_the_programs_own_wins(session):
    assert await value(session, "store = {}\nstore['a'] = 1\nstore") == {"a": 1}
    assert session.session.store.keys() == []


async def test_a_tool_that_was_meant_is_named(session):
    outcome = await end(session, "store.list_items(limit=3)")
    assert (outcome.error.type, "functions of a server are below `tools`" in outcome.error.message) == (
        "AttributeError",
        True,
    )


# -- files ------------------------------------------------------------------------------------------------------------


async def test_what_was_written_is_in_the_outcome_and_in_the_record(session, host):
    source = """
import os
os.mkdir('sub')
for name in ('b.csv', 'sub/a.txt', 'gone', 'old'):
    open(name, 'w').write('x' * len(name))
open('sub/a.txt').read()
os.remove('gone')
os.rename('old', 'new')
os.rename('sub', 'moved')
1"""
    outcome = await end(session, source)
    written = [{"name": "b.csv", "bytes": 5}, {"name": "moved/a.txt", "bytes": 9}, {"name": "new", "bytes": 3}]
    assert [file.to_json() for file in outcome.files] == written
    assert outcome.workspace == str(session.session.workspace.path)
    with anyio.fail_after(30):
        while (row := host.receipts.find("local", outcome.receipt)).status == "running":
            await anyio.sleep(0.01)
    assert (row.record["files"], row.record["files_written"]) == (written, 3)
    assert "xxxxx" not in json.dumps({**row.record, "program": ""})


async def test_a_run_that_only_reads_lists_nothing(session):
    await value(session, "open('a', 'w').write('x')")
    outcome = await end(session, "open('a').read()")
    assert (outcome.value, outcome.files, outcome.workspace) == ("x", (), "")


async def test_the_quota_of_the_settings_holds(session):
    outcome = await end(session, "with open('a', 'wb') as f:\n    f.write(b'x' * 100_001)")
    assert "0 of 100,000 bytes are used, this needs 100,001 more" in outcome.error.message


async def test_two_runs_of_a_session_append_to_one_file(session):
    source = "for n in range(40):\n    with open('log', 'a') as f:\n        f.write('{}\\n')\n1"
    async with anyio.create_task_group() as both:
        both.start_soon(value, session, source.format("a"))
        both.start_soon(value, session, source.format("b"))
    lines = await value(session, "open('log').read().split()")
    assert (lines.count("a"), lines.count("b"), len(lines)) == (40, 40, 80)


async def test_files_stay_when_the_session_ends_and_an_empty_folder_does_not(tmp_path):
    (tmp_path / "mcp.json").write_text('{"mcpServers": {}}')
    async with Host.open(load_config(tmp_path / "mcp.json"), state_dir=tmp_path / "state") as host:
        kept, empty, forgotten = host.session(), host.session(), host.session()
        assert await value(kept, "open('a', 'w').write('x')") == 1
        assert await value(empty, "import os\nos.listdir()") == []
        assert await value(forgotten, "open('a', 'w').close()\nimport os\nos.remove('a')\n1") == 1
        forgotten.close()
    left = [item.name for item in (tmp_path / "state" / "workspaces").iterdir()]
    assert left == [kept.session.id]
    assert (kept.session.workspace.path / "a").read_bytes() == b"x"


async def test_without_a_quota_there_are_no_files(tmp_path):
    settings = {"limits": {"workspace_bytes": 0}}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {}, "codemode": settings}))
    async with Host.open(load_config(tmp_path / "mcp.json"), state_dir=tmp_path / "state") as host:
        outcome = await end(host.session(), "open('a', 'w')")
    assert (outcome.error.type, "there are no files here" in outcome.error.message) == ("PermissionError", True)
    assert not (tmp_path / "state" / "workspaces").exists()


async def test_sessions_that_are_open_share_the_disk_and_files_of_ended_ones_go_first(tmp_path):
    settings = {"limits": {"workspace_bytes": 1 << 20, "all_workspaces_bytes": 1 << 20}}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {}, "codemode": settings}))
    write = "open('a', 'w').write('x' * 600_000)"
    async with Host.open(load_config(tmp_path / "mcp.json"), state_dir=tmp_path / "state") as host:
        one, two, three = host.session(), host.session(), host.session()
        assert await value(one, write) == 600_000
        refused = await end(two, f"try:\n    with open('a', 'w') as f:\n        f.write('x' * 600_000)\n{CATCH}")
        assert "used, this needs" in refused.value
        assert "(`limits.all_workspaces_bytes`)" in refused.value
        one.close()
        while three.session.workspace.used_bytes == 0:  # until the first one's end has reached the disk
            await end(three, write)
    left = {item.name for item in (tmp_path / "state" / "workspaces").iterdir()}
    assert left == {two.session.id, three.session.id}  # the second has the empty file that it opened


CATCH = "except OSError as e:\n    said = str(e)\nsaid"


async def test_a_server_of_that_name_does_not_hide_the_store(tmp_path):
    odd = {
        "tools": [{"name": "get_value", "description": "Gets.", "inputSchema": {"type": "object"}}],
        "results": {"get_value": {"content": [{"type": "text", "text": '"from the server"'}]}},
        "log": str(tmp_path / "log"),
    }
    entry = {"command": sys.executable, "args": [str(ROOT / "tests/support/odd_server.py"), json.dumps(odd)]}
    settings = {"gate": "open", "approve": "all"}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"store": entry}, "codemode": settings}))
    async with Host.open(load_config(tmp_path / "mcp.json"), state_dir=tmp_path / "state") as host:
        await host.wait_ready(None, 30)
        module = host.catalog.server("store").module
        found = await value(host.session(), f"store['k'] = 1\nstore.get('k'), tools.{module}.get_value()")
    assert found == [1, "from the server"]
