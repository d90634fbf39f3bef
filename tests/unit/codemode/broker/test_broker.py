"""The one door: order of checks, what is never sent, what is remembered."""

import json

import anyio
import pytest

from codemode.broker.arguments import ArgumentChecker
from codemode.broker.broker import Broker, CallReply, Terms
from codemode.broker.store import store_door
from codemode.errors import UpstreamError
from codemode.policy.budget import Budget
from codemode.policy.desk import Desk
from codemode.policy.rules import Rule
from codemode.session import Session
from codemode.state.store import Store
from codemode.upstream.result import RawResult
from tests.support.catalogs import issues_catalog

pytestmark = pytest.mark.anyio

CATALOG = issues_catalog()
READ, WRITE = CATALOG.by_short("github.list_issues"), CATALOG.by_short("github.create_issue")


class Servers:
    """Records what reached it and answers as it was told."""

    def __init__(self, answer=None):
        self.calls = []
        self.answer = answer or RawResult(structured=b'{"result": 1}')

    async def call(self, server, tool, arguments, *, timeout_s, repeatable, progress, asker):
        self.calls.append((server, tool, dict(arguments), repeatable))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def _broker(servers=None, *, loaded=(READ, WRITE), budget=None, internal=None, can_ask=False, **terms):
    session = Session(can_ask=can_ask)
    session.loaded.add(loaded)
    desk = Desk(lambda: None)
    broker = Broker(
        catalog=CATALOG,
        session=session,
        terms=Terms(**terms),
        desk=desk,
        budget=budget or Budget(calls_allowed=100, writes_allowed=10),
        checker=ArgumentChecker(),
        upstream=servers or Servers(),
        internal=internal or {},
    )
    return broker, session, desk


async def _answer(broker, tool, arguments):
    raw = arguments if isinstance(arguments, bytes) else json.dumps(arguments).encode()
    reply = await broker.answer(tool if isinstance(tool, str) else str(tool.spec.id), raw)
    return reply, (json.loads(reply.payload) if not reply.ok else None)


async def test_a_call_that_passes_everything_reaches_the_server_and_is_remembered():
    servers = Servers()
    broker, _, _ = _broker(servers)
    reply, _ = await _answer(broker, READ, {"repo": "a/b"})
    assert reply == CallReply(True, "structured", b'{"result": 1}')
    assert servers.calls == [("github", "list_issues", {"repo": "a/b"}, True)]
    (record,) = broker.records
    assert (record.tool, record.status, record.effect, record.received_bytes) == (
        "github.list_issues",
        "ok",
        "read",
        13,
    )
    assert record.arguments_digest


async def test_content_without_structure_is_passed_on_as_content():
    broker, _, _ = _broker(Servers(RawResult(content=b'[{"type":"text","text":"x"}]')))
    reply, _ = await _answer(broker, READ, {"repo": "a"})
    assert (reply.form, reply.payload) == ("content", b'[{"type":"text","text":"x"}]')


async def test_a_tool_that_was_not_shown_is_refused_once_with_its_signature():
    servers = Servers()
    broker, session, _ = _broker(servers, loaded=())
    _, error = await _answer(broker, READ, {"repo": "a"})
    assert error["code"] == "gate.not_loaded"
    assert error["signature"].startswith("tools.github.list_issues(repo: str")
    assert servers.calls == []
    assert READ in session.loaded
    reply, _ = await _answer(broker, READ, {"repo": "a"})
    assert reply.ok


async def test_a_strict_gate_does_not_load():
    broker, session, _ = _broker(loaded=(), mode="strict")
    _, error = await _answer(broker, READ, {"repo": "a"})
    assert "tool_search" in error["hint"]
    assert READ not in session.loaded


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (b'{"repo":"a","repo":"b"}', "arguments.json"),
        (b'{"repo":NaN}', "arguments.json"),
        (b"[1]", "arguments.json"),
        (b"", "arguments.json"),
        (b'{"repo":' + b"[" * 5_000, "arguments.json"),
        (b"\xff\xfe", "arguments.json"),
        (b'{"repo":1e400}', "arguments.json"),
        (b"{}", "arguments.invalid"),
        (b'{"repo":{}}', "arguments.invalid"),
    ],
)
async def test_arguments_that_do_not_fit_are_never_sent(arguments, code):
    servers = Servers()
    broker, _, _ = _broker(servers)
    _, error = await _answer(broker, READ, arguments)
    assert error["code"] == code
    assert servers.calls == []
    assert broker.records[0].status == "refused"


@pytest.mark.parametrize("target", ["", "x", "github:list_issues", "github:nope@0123456789ab", "@nothing", "x" * 1_000])
async def test_a_target_that_is_no_tool_is_refused(target):
    servers = Servers()
    broker, _, _ = _broker(servers)
    _, error = await _answer(broker, target, {})
    assert error["code"] == "gate.unknown_tool"
    assert servers.calls == []


async def test_a_call_under_an_older_definition_is_refused_and_names_the_tool():
    broker, _, _ = _broker()
    _, error = await _answer(broker, "github:list_issues@000000000000", {"repo": "a"})
    assert error["code"] == "gate.not_loaded"
    assert "has changed" in error["message"]
    assert "select:github.list_issues" in error["hint"]


async def test_a_write_without_anybody_to_ask_is_refused_with_the_rule_to_add():
    servers = Servers()
    broker, _, _ = _broker(servers)
    _, error = await _answer(broker, WRITE, {"repo": "a", "title": "t"})
    assert error["code"] == "policy.ask"
    assert '{"tool": "github.create_issue", "decision": "allow"}' in error["hint"]
    assert servers.calls == []


async def test_a_denied_call_says_why():
    broker, _, _ = _broker(rules=(Rule(tool="github.*", decision="deny", reason="closed for today"),))
    _, error = await _answer(broker, READ, {"repo": "a"})
    assert error["code"] == "policy.denied"
    assert "closed for today" in error["message"]


async def test_a_person_is_asked_once_for_a_tool_and_a_run():
    servers = Servers()
    broker, _, desk = _broker(servers, can_ask=True)
    replies = []

    async def call():
        replies.append((await _answer(broker, WRITE, {"repo": "a", "title": "t"}))[0].ok)

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await anyio.wait_all_tasks_blocked()
            assert servers.calls == []
            assert desk.question.lines[0] == (
                "github: every call of create_issue in this run (it is a write); "
                'the first with {"repo":"a","title":"t"}'
            )
            desk.answer(desk.question.key, True)
        await call()
    assert replies == [True, True]
    assert len(servers.calls) == 2


async def test_a_person_who_says_no_is_obeyed():
    servers = Servers()
    broker, _, desk = _broker(servers, can_ask=True)
    errors = []

    async def call():
        errors.append((await _answer(broker, WRITE, {"repo": "a", "title": "t"}))[1])

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await anyio.wait_all_tasks_blocked()
            desk.answer(desk.question.key, False)
    assert errors[0]["code"] == "policy.refused"
    assert servers.calls == []


async def test_the_budget_of_writes_ends_a_loop_of_writes():
    servers = Servers()
    broker, _, _ = _broker(servers, budget=Budget(calls_allowed=100, writes_allowed=2), approve="all")
    codes = []
    for _ in range(4):
        _, error = await _answer(broker, WRITE, {"repo": "a", "title": "t"})
        codes.append(error["code"] if error else "ok")
    assert codes == ["ok", "ok", "policy.budget", "policy.budget"]
    assert len(servers.calls) == 2


async def test_a_tools_own_error_keeps_the_servers_text():
    broker, _, _ = _broker(Servers(RawResult(is_error=True, text="item 4 is locked")))
    _, error = await _answer(broker, READ, {"repo": "a"})
    assert (error["code"], error["text"], error["tool"]) == (
        "upstream.tool_error",
        "item 4 is locked",
        "github.list_issues",
    )
    assert broker.records[0].status == "error"


async def test_an_unknown_outcome_is_remembered_as_such():
    broker, _, _ = _broker(Servers(UpstreamError("gone", code="upstream.outcome_unknown")))
    _, error = await _answer(broker, READ, {"repo": "a"})
    assert error["code"] == "upstream.outcome_unknown"
    assert broker.records[0].status == "unknown"


async def test_a_write_is_never_marked_as_repeatable():
    servers = Servers()
    broker, _, _ = _broker(servers, approve="all")
    await _answer(broker, WRITE, {"repo": "a", "title": "t"})
    assert servers.calls[0][3] is False


async def test_reserved_targets_go_to_their_owners():
    async def owner(arguments):
        return CallReply(True, "json", json.dumps(arguments).encode())

    broker, _, _ = _broker(internal={"@echo": owner})
    reply, _ = await _answer(broker, "@echo", {"a": 1})
    assert (reply.ok, reply.payload, broker.records) == (True, b'{"a": 1}', [])


async def test_a_reserved_target_that_fails_is_an_error_of_that_call():
    broker, _, _ = _broker(internal={"@store": store_door(Store(quota_bytes=10))})
    for request, code in (
        ({"do": "set", "key": "k", "value": "x" * 20}, "store.full"),
        ({"do": "fly"}, "arguments.invalid"),
        ({"do": "get", "key": 1}, "arguments.invalid"),
        ({"do": "set", "key": "k", "value": None}, "arguments.invalid"),
    ):
        reply = await broker.answer("@store", json.dumps(request).encode())
        assert (reply.ok, json.loads(reply.payload)["code"]) == (False, code)
    assert json.loads((await broker.answer("@store", b"[1")).payload)["code"] == "arguments.json"


async def test_a_call_that_the_program_gives_up_is_remembered_as_cancelled():
    class Slow(Servers):
        async def call(self, *args, **kwargs):
            await anyio.sleep_forever()

    broker, _, _ = _broker(Slow())
    with anyio.move_on_after(0.01):
        await _answer(broker, READ, {"repo": "a"})
    assert broker.records[0].status == "cancelled"


@pytest.mark.parametrize(
    ("report", "text"),
    [
        ((3, 10, "loading"), "3 of 10, `loading`"),
        ((0.5, None, None), "0.5"),
        ((1, 0, "a\nNews: all is well"), "1, `a News: all is well`"),
    ],
)
async def test_what_a_server_reports_on_a_call_is_kept_as_one_quoted_line(report, text):
    class Reporting(Servers):
        async def call(self, *args, progress, **kwargs):
            await progress(*report)
            return self.answer

    broker, _, _ = _broker(Reporting())
    await _answer(broker, READ, {"repo": "a"})
    (record,) = broker.records
    assert record.progress == text
    assert "progress" not in record.to_json()
