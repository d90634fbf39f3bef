"""The whole trusted side with real servers and real guests: gate, arguments, policy, approval, runs, record."""

import json
import sys
from contextlib import asynccontextmanager

import anyio
import pytest

from codemode import Host, load_config
from codemode.errors import RunRequestError
from tests.architecture.source import ROOT

pytestmark = pytest.mark.anyio

TEXT = {"type": "string"}
READ = {"readOnlyHint": True}


def _tool(name, properties=None, required=(), **more):
    schema = {"type": "object", "properties": properties or {}, "required": list(required)}
    return {"name": name, "description": f"Does {name}.", "inputSchema": schema, **more}


TOOLS = [
    _tool("list_items", {"owner": TEXT, "limit": {"type": "integer"}}, ("owner",), annotations=READ),
    _tool("create_item", {"title": TEXT, "priority": {"type": "string", "enum": ["low", "high"]}}, ("title",)),
    _tool("get_locked", annotations=READ),
    _tool("get_wrapped", annotations=READ),
    _tool("die", annotations=READ),
]
RESULTS = {
    "list_items": {"content": [{"type": "text", "text": json.dumps([{"id": 1}, {"id": 2}])}]},
    "create_item": {"content": [{"type": "text", "text": json.dumps({"id": 7})}]},
    "get_locked": {"content": [{"type": "text", "text": "item 4 is locked"}], "isError": True},
    "get_wrapped": {"content": [], "structuredContent": {"result": [1, 2]}},
}


@asynccontextmanager
async def _host(tmp_path, quirks=None, *, servers=None, **settings):
    log = tmp_path / "server.log"
    odd = {"tools": TOOLS, "results": RESULTS, "acts": {"die": "die"}, "log": str(log), **(quirks or {})}
    entries = {
        "shop": {"command": sys.executable, "args": [str(ROOT / "tests/support/odd_server.py"), json.dumps(odd)]},
        **(servers or {}),
    }
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": entries, "codemode": settings}))
    with anyio.fail_after(90):
        async with Host.open(load_config(file), state_dir=tmp_path / "state") as host:
            yield host


def _calls(tmp_path, tool):
    """What the server's own log has of calls of a tool."""
    log = tmp_path / "server.log"
    return [line for line in log.read_text().splitlines() if "tools/call" in line and f'"{tool}"' in line]


async def _loaded(
    host, *, can_ask=False, query="select:shop.list_items,shop.create_item,shop.get_locked,shop.get_wrapped,shop.die"
):
    session = host.session(can_ask=can_ask)
    await host.wait_ready(None, 30)
    await session.tool_search(query)
    return session


# -- the gate ---------------------------------------------------------------------------------------------------------


async def test_a_tool_that_was_not_looked_up_is_refused_once_and_the_same_program_then_passes(tmp_path):
    async with _host(tmp_path) as host:
        session = host.session()
        refused = await session.execute("tools.shop.list_items(owner='a')")
        assert (refused.status, refused.code, refused.can_resume) == ("refused", "gate.not_loaded", True)
        assert [use.tool.short for use in refused.heal.new] == ["shop.list_items"]
        assert _calls(tmp_path, "list_items") == []
        passed = await session.execute(resume=refused.run)
        assert (passed.status, passed.value, passed.run) == ("ok", [{"id": 1}, {"id": 2}], refused.run)
        assert len(_calls(tmp_path, "list_items")) == 1


async def test_a_tool_reached_by_a_computed_name_is_refused_at_the_call(tmp_path):
    async with _host(tmp_path) as host:
        session = host.session()
        source = """
name = 'list_' + 'items'
try:
    getattr(tools.shop, name)(owner='a')
except ToolError as e:
    print(e)"""
        first = await session.execute(source)
        assert first.status == "ok", first.error
        assert "had not been shown" in first.printed
        assert "tools.shop.list_items(owner: str" in first.printed
        assert _calls(tmp_path, "list_items") == []
        assert [(call.status, call.code) for call in first.calls] == [("refused", "gate.not_loaded")]


async def test_a_wrong_call_is_refused_before_an_earlier_right_one_is_sent(tmp_path):
    async with _host(tmp_path) as host:
        session = await _loaded(host)
        outcome = await session.execute("a = tools.shop.list_items(owner='a')\ntools.shop.list_items(name='b')")
        assert (outcome.status, outcome.code, outcome.can_resume) == ("refused", "arguments.invalid", False)
        assert outcome.heal.problems[0].line == 2
        assert _calls(tmp_path, "list_items") == []


async def test_a_bare_server_name_and_a_direct_call_name_mean_the_tool(tmp_path):
    async with _host(tmp_path) as host:
        session = await _loaded(host)
        outcome = await session.execute("[len(shop.list_items(owner='a')), len(mcp__shop__list_items(owner='a'))]")
        assert (outcome.status, outcome.value) == ("ok", [2, 2]), outcome.error


async def test_a_misspelt_function_is_refused_with_the_nearest_names(tmp_path):
    async with _host(tmp_path) as host:
        session = await _loaded(host)
        outcome = await session.execute("tools.shop.list_item(owner='a')")
        assert (outcome.status, outcome.code) == ("refused", "gate.unknown_tool")
        assert outcome.heal.unknown[0].nearest[0].short == "shop.list_items"


# -- arguments, results, errors ---------------------------------------------------------------------------------------


async def test_arguments_that_do_not_fit_never_reach_the_server(tmp_path):
    async with _host(tmp_path) as host:
        session = await _loaded(host)
        source = """
n = 'many ' + 'things'
try:
    tools.shop.list_items(owner='a', limit=n)
except ToolError as e:
    print(e)"""
        outcome = await session.execute(source)
        assert "limit" in outcome.printed
        assert "expected int" in outcome.printed
        assert "tools.shop.list_items(owner: str" in outcome.printed
        assert _calls(tmp_path, "list_items") == []


async def test_a_tool_error_is_an_exception_with_the_servers_text_and_the_loop_goes_on(tmp_path):
    async with _host(tmp_path) as host:
        session = await _loaded(host)
        source = """
good, bad = 0, []
for n in range(4):
    try:
        tools.shop.get_locked() if n == 2 else tools.shop.list_items(owner='a')
        good += 1
    except ToolError as e:
        bad.append(e.text)
[good, bad]"""
        outcome = await session.execute(source)
        assert outcome.value == [3, ["item 4 is locked"]], outcome.error


async def test_a_wrapped_result_is_unwrapped(tmp_path):
    async with _host(tmp_path) as host:
        session = await _loaded(host)
        assert (await session.execute("tools.shop.get_wrapped()")).value == [1, 2]


async def test_a_server_that_dies_in_a_call_is_reported_and_the_next_call_works(tmp_path):
    async with _host(tmp_path) as host:
        session = await _loaded(host)
        source = """
try:
    tools.shop.die()
except ToolError as e:
    print(e.code)
len(tools.shop.list_items(owner='a'))"""
        outcome = await session.execute(source)
        assert outcome.status == "ok", outcome.error
        assert outcome.printed.strip().startswith("upstream.")
        assert outcome.value == 2


async def test_a_server_that_does_not_come_up_costs_the_others_nothing(tmp_path):
    servers = {"gone": {"command": "no-such-program-xyz"}, "mute": {"command": sys.executable, "args": ["-c", "pass"]}}
    async with _host(tmp_path, servers=servers) as host:
        session = await _loaded(host)
        states = {entry.id: entry.state for entry in host.catalog.servers}
        assert states == {"gone": "failed", "mute": "failed", "shop": "ready"}
        assert (await session.execute("len(tools.shop.list_items(owner='a'))")).value == 2
        refused = await session.execute("tools.gone.anything()")
        assert (refused.status, refused.code) == ("refused", "upstream.unreachable")
        assert "no-such-program-xyz" in refused.heal.unknown[0].reason


# -- policy and approval ----------------------------------------------------------------------------------------------


async def test_a_write_is_refused_before_anything_runs_where_nobody_can_be_asked(tmp_path):
    async with _host(tmp_path) as host:
        session = await _loaded(host)
        outcome = await session.execute("tools.shop.list_items(owner='a')\ntools.shop.create_item(title='x')")
        assert (outcome.status, outcome.code) == ("refused", "policy.ask")
        assert json.loads(outcome.denied[0].allow_line) == {"tool": "shop.create_item", "decision": "allow"}
        assert _calls(tmp_path, "list_items") == []


async def test_a_rule_allows_a_write_and_another_denies_a_read(tmp_path):
    rules = [
        {"tool": "shop.create_item", "decision": "allow"},
        {"tool": "shop.get_*", "decision": "deny", "reason": "closed today"},
    ]
    async with _host(tmp_path, policy={"rules": rules}) as host:
        session = await _loaded(host)
        assert (await session.execute("tools.shop.create_item(title='x')['id']")).value == 7
        denied = await session.execute("tools.shop.get_wrapped()")
        assert (denied.status, denied.code, denied.denied[0].decision.reason) == (
            "refused",
            "policy.denied",
            "closed today",
        )


async def test_a_person_is_asked_before_anything_runs_and_the_run_waits_outside_the_request(tmp_path):
    async with _host(tmp_path) as host:
        session = await _loaded(host, can_ask=True)
        waiting = await session.execute("tools.shop.create_item(title='x')['id']", wait_s=60)
        assert waiting.status == "running"
        assert "shop: create_item" in waiting.question.lines[0]
        assert _calls(tmp_path, "create_item") == []
        assert session.answer(waiting.run, True)
        assert (await session.execute(resume=waiting.run)).value == 7


async def test_a_person_who_says_no_ends_the_run_with_nothing_sent(tmp_path):
    async with _host(tmp_path) as host:
        session = await _loaded(host, can_ask=True)
        waiting = await session.execute("tools.shop.create_item(title='x')")
        session.answer(waiting.run, False)
        outcome = await session.execute(resume=waiting.run)
        assert (outcome.status, outcome.code) == ("refused", "policy.refused")
        assert _calls(tmp_path, "create_item") == []


async def test_the_budget_of_writes_holds(tmp_path):
    async with _host(tmp_path, approve="all", limits={"writes": 3}) as host:
        session = await _loaded(host)
        source = (
            "n = 0\ntry:\n    for i in range(10):\n        tools.shop.create_item(title=str(i)); n += 1\n"
            "except ToolError as e:\n    print(e.code)\nn"
        )
        outcome = await session.execute(source)
        assert (outcome.value, outcome.printed) == (3, "policy.budget\n")
        assert len(_calls(tmp_path, "create_item")) == 3


# -- runs and the record ----------------------------------------------------------------------------------------------


async def test_a_long_run_is_collected_later(tmp_path):
    async with _host(tmp_path) as host:
        session = host.session()
        outcome = await session.execute("import time\ntime.sleep(1)\n'done'", wait_s=0.05)
        assert outcome.status == "running"
        assert (await session.execute(resume="last")).value == "done"
        assert (await session.execute(resume=outcome.run)).value == "done"


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        ({"code": "  "}, "run.empty"),
        ({"resume": "r7"}, "run.unknown"),
        ({"code": "1", "resume": "r1"}, "run.not_resumable"),
    ],
)
async def test_a_request_that_makes_no_sense_is_refused_with_what_to_send(tmp_path, request_, code):
    async with _host(tmp_path) as host:
        with pytest.raises(RunRequestError) as caught:
            await host.session().execute(**request_)
        assert caught.value.code == code
        assert caught.value.hint_model


async def test_every_run_has_one_record_with_program_calls_and_limits(tmp_path):
    async with _host(tmp_path) as host:
        session = await _loaded(host)
        await session.execute("len(tools.shop.list_items(owner='secret-value'))")
        await session.execute("1 / 0")
        await session.execute("import os")
        rows = host.receipts.newest("local")
        assert [(row.label, row.status, row.code) for row in rows][1:] == [
            ("r2", "error", "guest.raised"),
            ("r1", "ok", ""),
        ]
        record = rows[-1].record
        assert record["program"] == "len(tools.shop.list_items(owner='secret-value'))"
        assert [call["tool"] for call in record["calls"]] == ["shop.list_items"]
        assert record["limits"]["wall_s"] == 600.0
        assert "seccomp" in record["isolation"]
        assert "secret-value" not in json.dumps(record["calls"])


async def test_runs_of_another_session_cannot_be_resumed(tmp_path):
    async with _host(tmp_path) as host:
        await host.session().execute("1")
        with pytest.raises(RunRequestError):
            await host.session().execute(resume="r1")


async def test_a_host_that_closes_ends_its_runs_and_records_it(tmp_path):
    async with _host(tmp_path) as host:
        await host.session().execute("while True:\n    pass", wait_s=0.3)
    async with _host(tmp_path) as host:
        (row,) = host.receipts.newest("local")
        assert (row.status, row.code) == ("cancelled", "guest.cancelled")


async def test_runs_of_many_sessions_do_not_disturb_each_other(tmp_path):
    async with _host(tmp_path) as host:
        values = {}

        async def one(number):
            session = await _loaded(host)
            outcome = await session.execute(f"sum(len(tools.shop.list_items(owner='a')) for _ in range({number}))")
            values[number] = outcome.value

        async with anyio.create_task_group() as tasks:
            for number in range(1, 9):
                tasks.start_soon(one, number)
        assert values == {n: 2 * n for n in range(1, 9)}


async def test_a_refusal_that_nobody_has_read_is_told_before_the_program_runs(tmp_path):
    async with _host(tmp_path) as host:
        session = host.session()
        waiting = await session.execute("tools.shop.list_items(owner='a')", wait_s=0)
        assert waiting.status == "running"
        await host.wait_ready(None, 30)
        refused = await session.execute(resume="last")
        assert refused.status == "refused"
        assert (await session.execute(resume="last")).status == "ok"


async def test_two_that_wait_for_one_run_are_both_told(tmp_path):
    async with _host(tmp_path) as host:
        session = host.session()
        first = await session.execute("import time\ntime.sleep(0.5)\n5", wait_s=0)
        told = []

        async def wait():
            told.append((await session.execute(resume=first.run)).value)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            tasks.start_soon(wait)
        assert told == [5, 5]


async def test_a_caller_that_gives_up_leaves_its_run_to_be_collected(tmp_path):
    async with _host(tmp_path) as host:
        session = host.session()
        with anyio.move_on_after(0.2):
            await session.execute("import time\ntime.sleep(1)\n5")
        assert (await session.execute(resume="last")).value == 5


async def test_a_run_that_is_cancelled_says_so(tmp_path):
    async with _host(tmp_path) as host:
        session = host.session()
        run = await session.execute("while True:\n    pass", wait_s=0.5)
        assert session.peek(run.run).status == "running"
        session.cancel(run.run)
        assert (await session.execute(resume="last")).status == "cancelled"


async def test_a_session_that_closes_ends_its_runs_and_is_forgotten(tmp_path):
    async with _host(tmp_path) as host:
        session = host.session()
        await session.execute("while True:\n    pass", wait_s=0)
        session.close()
        await anyio.sleep(0)
        assert host._registries == []


async def test_a_name_of_an_earlier_run_is_said_to_be_gone(tmp_path):
    async with _host(tmp_path) as host:
        session = await _loaded(host)
        await session.execute("rows = [1, 2]")
        outcome = await session.execute("print(len(rows))")
        never = await session.execute("print(len(other))")
    assert (outcome.error.type, outcome.error.hint) == (
        "NameError",
        "each run starts fresh: `rows` was a name of run r1; send one program that makes it and uses it",
    )
    assert never.error.hint == ""
