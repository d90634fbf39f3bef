"""The two servers that ship with the project, as a client sees them: real processes on stdio, in both protocol eras."""

import base64
import json
import struct
import sys
import zlib
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import anyio
import jsonschema_rs
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import CallToolResult, EmbeddedResource, ImageContent, TextContent, TextResourceContents

pytestmark = pytest.mark.anyio

SERVERS = Path(__file__).resolve().parents[2] / "examples" / "servers"
BYTES_PER_TOKEN = 4.4  # measured over public catalogues
EXPORT = "export_entries"


def connect(server: str, *extra: str, mode: str = "auto") -> AbstractAsyncContextManager[Client]:
    parameters = StdioServerParameters(command=sys.executable, args=[str(SERVERS / f"{server}.py"), *extra])
    return Client(parameters, mode=mode)


async def value(client: Client, tool: str, arguments: Mapping[str, Any] | None = None) -> Any:
    """What a program would get: structured content, else parsed JSON, else text."""
    result = await client.call_tool(tool, dict(arguments or {}))
    assert not result.is_error, text_of(result)
    if result.structured_content is not None:
        return result.structured_content
    text = text_of(result)
    return json.loads(text) if text.startswith(("{", "[")) else text


def text_of(result: CallToolResult) -> str:
    block = result.content[0]
    assert isinstance(block, TextContent)
    return block.text


async def definitions(server: str, mode: str) -> list[dict[str, Any]]:
    async with connect(server, mode=mode) as client:
        listing = await client.list_tools()
        assert listing.next_cursor is None
        return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listing.tools]


@pytest.mark.parametrize(("server", "count"), [("helpdesk", 37), ("ledger", 35)])
async def test_both_eras_list_the_same_well_formed_tools(server: str, count: int) -> None:
    modern, legacy = await definitions(server, "auto"), await definitions(server, "legacy")

    assert modern == legacy
    assert len({tool["name"] for tool in modern}) == count
    for tool in modern:
        assert len(tool["description"]) > 40, tool["name"]
        for key in ("inputSchema", "outputSchema"):
            if key in tool:
                assert jsonschema_rs.meta.is_valid(tool[key]), tool["name"]
                assert tool[key]["type"] == "object"


async def test_definitions_cost_as_much_context_as_those_of_real_servers() -> None:
    tools = [*await definitions("helpdesk", "auto"), *await definitions("ledger", "auto")]

    size = sum(len(json.dumps(tool, ensure_ascii=False, separators=(",", ":")).encode()) for tool in tools)

    assert 12_000 <= size / BYTES_PER_TOKEN <= 20_000


async def test_some_tools_say_what_they_do_to_the_world_and_some_say_nothing() -> None:
    tools = {tool["name"]: tool.get("annotations", {}) for tool in await definitions("ledger", "auto")}

    assert tools["get_invoice"]["readOnlyHint"] is True
    assert tools["void_invoice"]["destructiveHint"] is True
    assert tools["update_budget"]["idempotentHint"] is True
    assert tools["send_invoice"]["openWorldHint"] is True
    assert tools["importBankStatement"] == {}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_results_come_as_structured_content_json_text_and_plain_text(mode: str) -> None:
    async with connect("helpdesk", mode=mode) as client:
        typed = await client.call_tool("get_ticket", {"ticket_id": "T-10640"})
        wrapped = await client.call_tool("list_agents", {"team_id": "TM-billing"})
        untyped = await client.call_tool("search_tickets", {"query": "warehouse", "max_results": 2})
        plain = await client.call_tool("service_report", {"from": "2026-01-01", "to": "2026-03-31"})

    assert json.loads(text_of(typed)) == typed.structured_content
    assert json.loads(text_of(typed))["parent_id"] == "T-10616"
    assert json.loads(text_of(wrapped)) == wrapped.structured_content
    assert [agent["team_id"] for agent in json.loads(text_of(wrapped))["result"]] == ["TM-billing"] * 4
    assert untyped.structured_content is None
    assert [hit["ticket_id"] for hit in json.loads(text_of(untyped))] == ["T-10640", "T-10621"]
    assert text_of(plain).startswith("Service report 2026-01-01 to 2026-03-31\n")


CALLS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "helpdesk": [
        ("list_tickets", {"filter": {"assignee_id": None}, "sort": {"by": "priority"}}),
        ("count_tickets", {"group_by": "status"}),
        ("list_comments", {"ticket_id": "T-10640", "order": "newest_first"}),
        ("list_customers", {"segment": "enterprise"}),
        ("get_customer", {"customer_id": "C-1001"}),
        ("get_contract", {"contract_id": "K-2001"}),
        ("get_plan", {"plan_id": "PL-team"}),
        ("get_sla", {"sla_id": "SLA-gold"}),
        ("get_team", {"team_id": "TM-platform"}),
        ("get_escalation_policy", {"policy_id": "EP-platform"}),
        ("get_on_call", {"schedule_id": "SC-platform", "on": "2026-04-06"}),
        ("get_agent", {"agent_id": "A-01"}),
        ("export_tickets", {"columns": ["ticket_id", "status"], "page_size": 10}),
        ("list_macros", {}),
        ("list_tags", {}),
        ("list_teams", {}),
        ("search_articles", {"query": "sync", "accept-language": "en-GB"}),
        ("get_article", {"article_id": "KB-101"}),
    ],
    "ledger": [
        ("list_accounts", {"type": "revenue"}),
        ("get_account", {"account_id": "1100", "as_of": "2025-12-31"}),
        ("trial_balance", {}),
        ("list_cost_centers", {}),
        ("list_entries", {"from": "2026-03-01", "account_ids": ["6200"], "amount": {"min_cents": 20_000}}),
        ("get_journal", {"journal_id": "J-00001"}),
        ("list_invoices", {"status": ["overdue"], "currency": "USD", "limit": 5}),
        ("get_invoice", {"invoice_id": "INV-00001"}),
        ("list_payments", {"received": {"from": "2026-03-01"}}),
        ("get_payment", {"payment_id": "P-00001"}),
        ("list_customers", {"with_balance": "overdue"}),
        ("get_customer_balance", {"customer_id": "C-1001"}),
        ("list_budgets", {"quarter": "2026-Q1"}),
        ("get_budget", {"budget_id": "BG-2026-Q1-CC-200"}),
        ("get_period", {"period": "2026-03"}),
        ("list_tax_rates", {}),
        ("get_exchange_rate", {"from": "USD", "on": "2025-06-01"}),
        ("convert_amounts", {"amounts": [{"amount_cents": 100, "currency": "SEK"}]}),
        ("generate_report", {"kind": "income_statement", "delay_ms": 0}),
        ("aging_report", {"min_total_cents": 2_000_000}),
    ],
}


@pytest.mark.parametrize("server", CALLS)
async def test_reading_tools_answer_what_their_output_schema_promises(server: str) -> None:
    async with connect(server) as client:
        await client.list_tools()  # the client checks structured content against what was listed
        for tool, arguments in CALLS[server]:
            assert await value(client, tool, arguments), tool


async def test_a_case_can_be_walked_back_over_twenty_four_tickets() -> None:
    async with connect("helpdesk") as client:
        ticket = await value(client, "get_ticket", {"ticket_id": "T-10640"})
        case = [ticket]
        while ticket["parent_id"] is not None:
            ticket = await value(client, "get_ticket", {"ticket_id": ticket["parent_id"]})
            case.append(ticket)

    assert len(case) == 24
    assert {ticket["customer_id"] for ticket in case} == {"C-1042"}
    assert [ticket["status"] for ticket in case[1:]] == ["closed"] * 23


async def test_pages_by_cursor_give_every_ticket_once() -> None:
    seen: list[str] = []
    arguments: dict[str, Any] = {"limit": 100}
    async with connect("helpdesk") as client:
        while True:
            page = await value(client, "list_tickets", arguments)
            seen += [ticket["ticket_id"] for ticket in page["tickets"]]
            if page["next_cursor"] is None:
                break
            arguments["cursor"] = page["next_cursor"]
        refused = await client.call_tool("list_tickets", {"cursor": "made up"})

    assert len(seen) == len(set(seen)) == page["total"] == 640
    assert refused.is_error
    assert "`cursor`" in text_of(refused)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_concurrent_pages_export_all_twenty_thousand_entries(mode: str) -> None:
    pages: dict[int, list[dict[str, Any]]] = {}

    async with connect("ledger", mode=mode) as client, anyio.create_task_group() as group:

        async def fetch(page: int) -> None:
            pages[page] = (await value(client, EXPORT, {"page": page, "page_size": 1000}))["entries"]

        for page in range(1, 21):
            group.start_soon(fetch, page)

    entries = [entry for page in sorted(pages) for entry in pages[page]]
    assert len({entry["entry_id"] for entry in entries}) == 20_000
    assert sum(entry["debit_cents"] for entry in entries) == sum(entry["credit_cents"] for entry in entries)
    assert [entry["posted_on"] for entry in entries] == sorted(entry["posted_on"] for entry in entries)


async def test_one_call_can_export_everything() -> None:
    async with connect("ledger") as client:
        everything = await value(client, EXPORT, {"page_size": 20_000})
        past_the_end = await value(client, EXPORT, {"page": 2, "page_size": 20_000})

    assert (len(everything["entries"]), everything["pages"], everything["total"]) == (20_000, 1, 20_000)
    assert past_the_end["entries"] == []


async def test_receivables_are_what_customers_owe() -> None:
    async with connect("ledger") as client:
        account = await value(client, "get_account", {"account_id": "1100"})
        customers = (await value(client, "list_customers", {"limit": 120}))["customers"]

    assert account["balance_cents"] == sum(customer["open_euro_cents"] for customer in customers) > 0


async def test_customers_are_the_same_on_both_servers() -> None:
    async with connect("helpdesk") as helpdesk, connect("ledger") as ledger:
        desk = (await value(helpdesk, "list_customers", {"limit": 100}))["customers"]
        books = (await value(ledger, "list_customers", {"limit": 120}))["customers"]

    names = {customer["customer_id"]: customer["name"] for customer in books}
    assert len(names) == 120
    assert {customer["customer_id"]: customer["name"] for customer in desk}.items() <= names.items()


async def test_a_slow_report_does_not_hold_up_other_calls() -> None:
    async with connect("ledger") as client, anyio.create_task_group() as group:
        group.start_soon(client.call_tool, "generate_report", {"kind": "balance_sheet", "delay_ms": 10_000})
        with anyio.fail_after(9):
            invoice = await value(client, "get_invoice", {"invoice_id": "INV-00042"})
        group.cancel_scope.cancel()

    assert invoice["invoice_id"] == "INV-00042"


async def test_a_balance_sheet_balances_with_the_profit_of_the_year() -> None:
    async with connect("ledger") as client:
        sheet = await value(client, "generate_report", {"kind": "balance_sheet", "delay_ms": 0})
        income = await value(client, "generate_report", {"kind": "income_statement", "delay_ms": 0})

    profit = income["totals"]["revenue"] - income["totals"]["expense"]
    assert sheet["totals"]["asset"] == sheet["totals"]["liability"] + sheet["totals"]["equity"] + profit


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_failing_tool_says_why_and_changes_nothing(mode: str) -> None:
    journal = {
        "posted_on": "2026-03-31",
        "description": "Stamps",
        "lines": [{"account_id": "6800", "debit_cents": 500}, {"account_id": "1000", "credit_cents": 490}],
    }
    async with connect("ledger", mode=mode) as client:
        refused = await client.call_tool("post_journal", journal)
        closed = await client.call_tool("post_journal", {**journal, "posted_on": "2025-05-02"})
        after = await value(client, EXPORT, {"page_size": 1})

    assert refused.is_error
    assert text_of(refused) == "The journal does not balance: debits 500, credits 490, difference 10 cents"
    assert text_of(closed) == "Period 2025-05 is closed; post into an open one"
    assert after["total"] == 20_000


async def test_arguments_that_do_not_fit_are_refused_by_the_server_too() -> None:
    async with connect("ledger") as client:
        missing = await client.call_tool("get_invoice", {})
        unknown = await client.call_tool("trial_balance", {"until": "2026-01-31"})
        no_day = await client.call_tool("trial_balance", {"as_of": "2026-02-30"})

    assert text_of(missing) == "Invalid arguments for get_invoice: $: 'invoice_id' is a required property"
    assert [result.is_error for result in (missing, unknown, no_day)] == [True] * 3


async def test_an_unknown_tool_is_a_protocol_error() -> None:
    async with connect("helpdesk") as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("get_weather", {})

    assert caught.value.code == -32602


async def test_a_chart_is_a_png_with_one_bar_a_month() -> None:
    async with connect("ledger") as client:
        result = await client.call_tool("render-chart", {"account-id": "6000"})

    block = result.content[0]
    assert isinstance(block, ImageContent)
    assert block.mime_type == "image/png"
    width, height, lines = decode_png(block.data)
    assert (width, height) == (240, 120)
    bottom = lines[-1]
    assert sum(bottom[x] == 40 and bottom[x - 1] != 40 for x in range(1, width)) == 12


def decode_png(data: str) -> tuple[int, int, list[bytes]]:
    """Width, height and grey lines of an unfiltered 8-bit picture; checks every checksum."""
    raw = base64.b64decode(data)
    assert raw[:8] == b"\x89PNG\r\n\x1a\n"
    chunks: dict[bytes, bytes] = {}
    offset = 8
    while offset < len(raw):
        (size,) = struct.unpack(">I", raw[offset : offset + 4])
        kind, body = raw[offset + 4 : offset + 8], raw[offset + 8 : offset + 8 + size]
        assert struct.unpack(">I", raw[offset + 8 + size : offset + 12 + size])[0] == zlib.crc32(kind + body)
        chunks[kind] = body
        offset += 12 + size
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    pixels = zlib.decompress(chunks[b"IDAT"])
    return width, height, [pixels[y * (width + 1) + 1 : (y + 1) * (width + 1)] for y in range(height)]


async def test_attachments_are_embedded_resources_or_images() -> None:
    async with connect("helpdesk") as client:
        listed = [await value(client, "list_attachments", {"ticket_id": f"T-{n}"}) for n in range(10600, 10641)]
        ids = {attachment["content_type"]: attachment["attachment_id"] for part in listed for attachment in part}
        results = {kind: await client.call_tool("download-attachment", {"attachment-id": ids[kind]}) for kind in ids}

    log, picture = results["text/plain"].content[0], results["image/png"].content[0]
    assert isinstance(log, EmbeddedResource)
    assert isinstance(log.resource, TextResourceContents)
    assert log.resource.uri == f"helpdesk://attachments/{ids['text/plain']}"
    assert len(log.resource.text.splitlines()) == 20
    assert isinstance(picture, ImageContent)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_write_lasts_as_long_as_the_process(mode: str) -> None:
    note = {"ticket_id": "T-10640", "body": "Called back.", "is_internal": True, "then": {"status": "pending"}}
    async with connect("helpdesk", mode=mode) as client:
        before = (await value(client, "list_comments", {"ticket_id": "T-10640"}))["result"]
        await value(client, "add_comment", note)
        after = (await value(client, "list_comments", {"ticket_id": "T-10640"}))["result"]
        ticket = await value(client, "get_ticket", {"ticket_id": "T-10640"})
    async with connect("helpdesk", mode=mode) as client:
        fresh = (await value(client, "list_comments", {"ticket_id": "T-10640"}))["result"]

    assert after[:-1] == before == fresh
    assert (after[-1]["body"], ticket["status"]) == ("Called back.", "pending")


async def test_money_moves_through_invoice_payment_and_cancellation() -> None:
    line = {"description": "Training", "account_id": "4200", "quantity": 2, "unit_price_cents": 5_000, "tax_rate": 0.19}
    payment = {"customer_id": "C-1042", "received_on": "2026-03-31", "amount_cents": 11_900}
    async with connect("ledger") as client:
        before = await value(client, "get_customer_balance", {"customer_id": "C-1042"})
        first = await value(client, "create_invoice", {"customer_id": "C-1042", "lines": [line]})
        second = await value(client, "create_invoice", {"customer_id": "C-1042", "lines": [line]})
        allocations = [{"invoice_id": first["invoice_id"], "amount_cents": 11_900}]
        await value(client, "record_payment", {**payment, "allocations": allocations})
        await value(client, "void_invoice", {"invoice_id": second["invoice_id"], "reason": "Ordered twice"})
        after = await value(client, "get_customer_balance", {"customer_id": "C-1042"})
        paid = await client.call_tool("void_invoice", {"invoice_id": first["invoice_id"], "reason": "Ordered twice"})
        balance = await value(client, "trial_balance")

    assert first["total_cents"] == 11_900
    assert after == before
    assert text_of(paid) == f"{first['invoice_id']} is paid and cannot be voided"
    assert balance["debit_cents"] == balance["credit_cents"]


async def test_names_that_python_does_not_like_work_on_the_wire() -> None:
    async with connect("ledger") as ledger, connect("helpdesk") as helpdesk:
        rate = await value(ledger, "get_exchange_rate", {"from": "EUR", "to": "EUR"})
        moved = await value(helpdesk, "assignTicket", {"ticketId": "T-10640", "assigneeId": "A-20"})
        ticket = await value(helpdesk, "get_ticket", {"ticket_id": "T-10640"})

    assert (rate["from"], rate["rate"]) == ("EUR", 1.0)
    assert moved.startswith("T-10640 is assigned to ")
    assert ticket["team_id"] == "TM-platform"


async def test_the_log_has_every_call_that_arrived_even_a_refused_one(tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    async with connect("helpdesk", "--log", str(log)) as client:
        await client.call_tool("get_team", {"team_id": "TM-billing"})
        await client.call_tool("get_ticket", {"id": "T-10640"})

    assert [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] == [
        {"name": "get_team", "arguments": {"team_id": "TM-billing"}},
        {"name": "get_ticket", "arguments": {"id": "T-10640"}},
    ]
