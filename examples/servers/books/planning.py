"""Tools about budgets, accounting periods, taxes and exchange rates."""

from __future__ import annotations

from toolkit import DESTROY, READ, UPDATE, Toolbox, ToolError, find
from words import array, boolean, choice, integer, number, or_null, record, string
from world import TODAY

from books import plan
from books.data import Row, open_books, spending
from books.shapes import ACCOUNT_ID, CURRENCIES, PERIOD, cents, day

TOOLS = Toolbox(closed=True)

BUDGET_ID = string("Budget id, for example `BG-2026-Q1-CC-200`.", pattern=r"^BG-\d{4}-Q[1-4]-CC-\d{3}$")


@TOOLS.add(
    {
        "quarter": string("Only this quarter, written as `2026-Q1`.", pattern=r"^\d{4}-Q[1-4]$"),
        "cost_center": string("Only this cost centre."),
    }
)
def list_budgets(quarter: str = "", cost_center: str = "") -> list[Row]:
    """List budgets with their totals. There is one for each cost centre and quarter."""
    return [
        {key: budget[key] for key in ("budget_id", "name", "quarter", "cost_center")}
        | {"total_cents": sum(line["amount_cents"] for line in budget["lines"])}
        for budget in open_books().budgets.values()
        if quarter in ("", budget["quarter"]) and cost_center in ("", budget["cost_center"])
    ]


@TOOLS.add(
    {"budget_id": BUDGET_ID},
    required=["budget_id"],
    returns=record(
        {
            "budget_id": string(),
            "name": string(),
            "quarter": string(),
            "cost_center": string(),
            "lines": array(
                record(
                    {
                        "account_id": string(),
                        "budget_cents": integer(),
                        "actual_cents": integer("What was posted in the quarter so far."),
                        "used": number("Actual divided by budget."),
                    },
                    required=["account_id", "budget_cents", "actual_cents", "used"],
                )
            ),
            "budget_cents": integer(),
            "actual_cents": integer(),
        },
        required=["budget_id", "name", "quarter", "cost_center", "lines", "budget_cents", "actual_cents"],
    ),
    hints=READ,
    title="Get budget",
)
def get_budget(budget_id: str) -> Row:
    """Compare a budget with what was spent: one line per account, in euro cents, and the totals."""
    books = open_books()
    budget = find(books.budgets, budget_id, "budget")
    actual = spending(books)
    lines = []
    for line in budget["lines"]:
        spent = actual[budget["cost_center"], budget["quarter"], line["account_id"]]
        used = round(spent / line["amount_cents"], 3)
        head = {"account_id": line["account_id"], "budget_cents": line["amount_cents"]}
        lines.append({**head, "actual_cents": spent, "used": used})
    sums = {key: sum(line[key] for line in lines) for key in ("budget_cents", "actual_cents")}
    return {**{key: budget[key] for key in ("budget_id", "name", "quarter", "cost_center")}, "lines": lines, **sums}


@TOOLS.add(
    {
        "budget_id": BUDGET_ID,
        "lines": array(
            record(
                {"account_id": ACCOUNT_ID, "amount_cents": cents("New amount in euro cents.", minimum=1)},
                required=["account_id", "amount_cents"],
            ),
            "Accounts to set. Accounts that are not named keep their amount.",
            minItems=1,
        ),
        "approved_by": or_null(string("Who approved it; needed above 1,000,000 euro in total."), default=None),
    },
    required=["budget_id", "lines"],
    hints=UPDATE,
)
def update_budget(budget_id: str, lines: list[Row], approved_by: str | None) -> Row:
    """Set amounts of a budget. Returns the new total."""
    books = open_books()
    budget = find(books.budgets, budget_id, "budget")
    amounts = {line["account_id"]: line["amount_cents"] for line in budget["lines"]}
    for line in lines:
        find(books.accounts, line["account_id"], "account")
        amounts[line["account_id"]] = line["amount_cents"]
    total = sum(amounts.values())
    if total > 100_000_000 and approved_by is None:
        raise ToolError(f"A total of {total} cents needs `approved_by`")
    budget["lines"] = [{"account_id": key, "amount_cents": amounts[key]} for key in sorted(amounts)]
    return {"budget_id": budget_id, "total_cents": total}


@TOOLS.add({"period": PERIOD}, required=["period"])
def get_period(period: str) -> Row:
    """Tell whether an accounting period is open, and how much was posted in it."""
    books = open_books()
    row = find(books.periods, period, "period")
    return {**row, "entries": sum(entry["posted_on"].startswith(period) for entry in books.entries)}


@TOOLS.add(
    {
        "period": PERIOD,
        "closed_by": string("Name of the person who is responsible.", minLength=2),
        "checks": record(
            {
                "bank_reconciled": boolean("All bank accounts agree with the statements."),
                "payroll_posted": boolean("Payroll of the month is posted."),
                "accruals_posted": boolean("Accruals are posted."),
            },
            "Confirmations; all three must be true.",
            required=["bank_reconciled", "payroll_posted", "accruals_posted"],
        ),
    },
    required=["period", "closed_by", "checks"],
    hints=DESTROY,
    title="Close period",
)
def close_period(period: str, closed_by: str, checks: Row) -> Row:
    """Close an accounting period: nothing can be posted in it any more. A closed period is not opened again.

    Periods are closed in order; all earlier ones must be closed.
    """
    books = open_books()
    row = find(books.periods, period, "period")
    missing = sorted(name for name, is_done in checks.items() if not is_done)
    if missing:
        raise ToolError(f"Period {period} cannot be closed, not confirmed: {', '.join(missing)}")
    earlier = [key for key, other in books.periods.items() if key < period and other["status"] == "open"]
    if earlier:
        raise ToolError(f"Close {earlier[0]} before {period}")
    row |= {"status": "closed", "closed_by": closed_by}
    return row


@TOOLS.add()
def list_tax_rates() -> list[Row]:
    """List the tax rates in use with the country they apply to."""
    return [{"code": code, "country": country, "rate": rate} for code, country, rate in plan.TAX_RATES]


RATE = record(
    {
        "from": choice(CURRENCIES),
        "to": choice(CURRENCIES),
        "on": string(format="date"),
        "rate": number("What one unit of `from` is worth in `to`."),
    },
    required=["from", "to", "on", "rate"],
)


@TOOLS.add(
    {
        "from": choice(CURRENCIES, "Currency to convert from."),
        "to": choice(CURRENCIES, "Currency to convert to.", default="EUR"),
        "on": day("Day of the rate; today when left out. Rates are fixed per month."),
    },
    required=["from"],
    returns=RATE,
    hints=READ,
    title="Get exchange rate",
)
def get_exchange_rate(from_: str, to: str, on: str = "") -> Row:
    """Get the exchange rate that the books use between two currencies on a day."""
    day_ = on or TODAY.isoformat()
    rates = open_books().rates.get(day_[:7])
    if rates is None:
        raise ToolError(f"No rates for {day_}; there are rates from 2025-04-01 to {TODAY}")
    return {"from": from_, "to": to, "on": day_, "rate": round(rates[to] / rates[from_], 6)}


@TOOLS.add(
    {
        "amounts": array(
            record(
                {
                    "amount_cents": integer("Amount in cents."),
                    "currency": choice(CURRENCIES),
                    "on": day("Day of the rate."),
                },
                required=["amount_cents", "currency"],
            ),
            "Amounts to convert.",
            minItems=1,
            maxItems=1_000,
        ),
        "to": choice(CURRENCIES, "Currency of the answer.", default="EUR"),
    },
    required=["amounts"],
    hints=READ,
)
def convert_amounts(amounts: list[Row], to: str) -> list[int]:
    """Convert many amounts at once, each at the rate of its day, and return them in the same order as whole cents."""
    return [
        round(item["amount_cents"] * get_exchange_rate(item["currency"], to, item.get("on", ""))["rate"])
        for item in amounts
    ]
