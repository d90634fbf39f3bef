"""Tools that write reports: statements (slow on purpose), the ageing list, a chart."""

from __future__ import annotations

from collections import defaultdict
from datetime import date

import anyio
from picture import bar_chart
from toolkit import READ, Png, Toolbox, ToolError, find
from words import boolean, choice, integer, record, string
from world import TODAY

from books.accounts import trial_balance
from books.data import Row, open_books
from books.shapes import ACCOUNT_ID, PERIOD, day

TOOLS = Toolbox(closed=True)


@TOOLS.add(
    {
        "kind": choice(["income_statement", "balance_sheet"], "Which statement to write."),
        "as_of": day("Up to this day; today when left out."),
        "delay_ms": integer(
            "How long to wait for postings that are under way before the figures are read, in milliseconds.",
            minimum=0,
            maximum=10_000,
            default=100,
        ),
        "options": record(
            {
                "group_small_accounts": boolean("Sum up accounts below 1 % of the total.", default=False),
                "currency_unit": choice(["cent", "euro", "thousand"], default="cent"),
            },
            "How the figures are written.",
        ),
    },
    required=["kind"],
    hints=READ,
    title="Generate report",
)
async def generate_report(kind: str, delay_ms: int, as_of: str = "", options: Row | None = None) -> Row:
    """Generate a financial statement for the fiscal year up to a day.

    Takes a moment: the report waits for postings that are under way. Revenue, liabilities and equity are shown as
    positive figures. The answer has one row per account and the totals.
    """
    await anyio.sleep(delay_ms / 1000)
    wanted = {"currency_unit": "cent", "group_small_accounts": False, **(options or {})}
    unit = {"cent": 1, "euro": 100, "thousand": 100_000}[wanted["currency_unit"]]
    kinds = ("revenue", "expense") if kind == "income_statement" else ("asset", "liability", "equity")
    rows: dict[str, list[Row]] = {key: [] for key in kinds}
    for account in trial_balance(True, as_of)["accounts"]:
        if account["type"] in kinds:
            sign = 1 if account["type"] in ("asset", "expense") else -1
            amount = round(sign * account["balance_cents"] / unit)
            rows[account["type"]].append(
                {"account_id": account["account_id"], "name": account["name"], "amount": amount}
            )
    if wanted["group_small_accounts"]:
        rows = {key: _grouped(part) for key, part in rows.items()}
    totals = {key: sum(row["amount"] for row in part) for key, part in rows.items()}
    return {
        "kind": kind,
        "as_of": as_of or TODAY.isoformat(),
        "unit": wanted["currency_unit"],
        "totals": totals,
        "rows": rows,
    }


def _grouped(rows: list[Row]) -> list[Row]:
    limit = sum(abs(row["amount"]) for row in rows) / 100
    small = sum(row["amount"] for row in rows if abs(row["amount"]) < limit)
    kept = [row for row in rows if abs(row["amount"]) >= limit]
    return [*kept, {"account_id": None, "name": "Other", "amount": small}] if small else kept


@TOOLS.add(
    {
        "as_of": day("Look at the receivables as they stand today, aged by this day."),
        "min_total_cents": integer("Leave out customers who owe less, in euro cents.", minimum=0, default=0),
    },
    hints=READ,
    title="Ageing report",
)
def aging_report(min_total_cents: int, as_of: str = "") -> str:
    """Write the ageing list of receivables as a plain-text table in euro.

    One row per customer, the largest debt first: not due, up to 30, 60, 90 days, older.
    """
    books = open_books()
    today = date.fromisoformat(as_of) if as_of else TODAY
    buckets: dict[str, list[int]] = defaultdict(lambda: [0] * 5)
    for row in books.invoices.values():
        if row["status"] in ("open", "overdue"):
            late = (today - date.fromisoformat(row["due_on"])).days
            slot = 0 if late <= 0 else min(4, 1 + (late - 1) // 30)
            buckets[row["customer_id"]][slot] += books.euro(row["total_cents"], row["currency"], row["issued_on"])
    lines = [f"{'customer':<34}{'not due':>12}{'1-30':>12}{'31-60':>12}{'61-90':>12}{'older':>12}"]
    for customer_id in sorted(buckets, key=lambda key: (-sum(buckets[key]), key)):
        if sum(buckets[customer_id]) >= min_total_cents:
            cells = "".join(f"{cents / 100:>12,.2f}" for cents in buckets[customer_id])
            lines.append(f"{customer_id} {books.customers[customer_id]['name']:<27}{cells}")
    return "\n".join(lines) + "\n"


@TOOLS.add(
    {
        "account-id": ACCOUNT_ID,
        "from-period": PERIOD,
        "to-period": PERIOD,
        "side": choice(["debit", "credit"], "Which side to draw.", default="debit"),
        "title": string("Title of the picture; not drawn, for your own records.", default=""),
    },
    required=["account-id"],
    hints=READ,
    name="render-chart",
    title="Render chart",
)
def render_chart(
    account_id: str, side: str, title: str, from_period: str = "2025-04", to_period: str = "2026-03"
) -> Png:
    """Draw the monthly movements of an account as a bar chart and return it as a PNG image, one bar a month."""
    books = open_books()
    find(books.accounts, account_id, "account")
    months = [key for key in books.periods if from_period <= key <= to_period]
    if not months:
        raise ToolError(f"There is no period between {from_period} and {to_period}")
    sums = dict.fromkeys(months, 0)
    for row in books.entries:
        if row["account_id"] == account_id and row["posted_on"][:7] in sums:
            sums[row["posted_on"][:7]] += row[f"{side}_cents"]
    return Png(bar_chart(list(sums.values())))
