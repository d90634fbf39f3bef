"""The ledger's data: one fiscal year, built once per process from fixed dice, changed by the tools that write.

`open_books` gives the one `Books` of this process. Every journal balances, in euro cents; receivables (account 1100)
are exactly the invoices less the payments. Ids: invoices `INV-00001`…, payments `P-00001`…, journals `J-00001`…,
entries `E-00001`…
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache
from typing import Any

from world import FIRST_DAY, TODAY, Clock, Dice, build_customers

from books import plan

Row = dict[str, Any]
Line = tuple[str, int, int, str | None]
"""Account, debit, credit, cost centre."""

ENTRY_COUNT = 20_000
INVOICE_COUNT = 2_400
RECEIVABLES, BANK, FOREIGN_BANK, TAX, PAYABLES = "1100", "1010", "1020", "2100", "2000"


@dataclass(slots=True)
class Books:
    """All tables; `entries` in order of posting, the rest by id."""

    customers: dict[str, Row]
    accounts: dict[str, Row] = field(default_factory=dict)
    invoices: dict[str, Row] = field(default_factory=dict)
    payments: dict[str, Row] = field(default_factory=dict)
    journals: dict[str, list[Row]] = field(default_factory=dict)
    entries: list[Row] = field(default_factory=list)
    rates: dict[str, dict[str, float]] = field(default_factory=dict)
    budgets: dict[str, Row] = field(default_factory=dict)
    periods: dict[str, Row] = field(default_factory=dict)
    clock: Clock = field(default_factory=Clock)

    def post(
        self, day: str, source: str, reference: str, customer_id: str | None, text: str, lines: list[Line]
    ) -> list[Row]:
        """Append a journal; the caller has seen to it that the lines balance."""
        journal_id = f"J-{len(self.journals) + 1:05}"
        rows = [
            {
                "entry_id": f"E-{len(self.entries) + offset + 1:05}",
                "journal_id": journal_id,
                "posted_on": day,
                "account_id": account_id,
                "description": text,
                "debit_cents": debit,
                "credit_cents": credit,
                "customer_id": customer_id,
                "cost_center": cost_center,
                "source": source,
                "reference": reference,
            }
            for offset, (account_id, debit, credit, cost_center) in enumerate(lines)
        ]
        self.entries += rows
        self.journals[journal_id] = rows
        return rows

    def euro(self, cents: int, currency: str, day: str) -> int:
        """The amount in euro cents at the rate of the day's month."""
        return round(cents / self.rates[day[:7]][currency])


@cache
def open_books() -> Books:
    """The ledger of this process."""
    books = Books(customers=build_customers())
    dice = Dice(20_000)
    for account_id, name, kind in plan.ACCOUNTS:
        books.accounts[account_id] = {
            "account_id": account_id,
            "name": name,
            "type": kind,
            "parent_id": None if account_id.endswith("00") else f"{account_id[:2]}00",
            "is_archived": False,
        }
    _add_rates(books, dice)
    pending = [*_invoices(books, dice), *_payroll()]
    used = sum(len(lines) for *_, lines in pending)
    pending += _purchases(dice, ENTRY_COUNT - used)
    pending.sort(key=lambda item: (item[0], item[2]))
    for item in pending:
        books.post(*item)
    _add_budgets(books, dice)
    return books


def _add_rates(books: Books, dice: Dice) -> None:
    drift = dict.fromkeys(plan.PER_EURO, 1.0)
    for index in range(12):
        month = f"{2025 + (index + 3) // 12}-{(index + 3) % 12 + 1:02}"
        books.periods[month] = {"period": month, "status": "open" if index >= 10 else "closed", "closed_by": None}
        for currency in drift:
            drift[currency] *= 1 + (dice.below(31) - 15) / 1000
        books.rates[month] = {key: round(base * drift[key], 4) for key, base in plan.PER_EURO.items()}
        books.rates[month]["EUR"] = 1.0


Pending = tuple[str, str, str, str | None, str, list[Line]]


def _invoices(books: Books, dice: Dice) -> list[Pending]:
    days = sorted(dice.below((TODAY - FIRST_DAY).days + 1) for _ in range(INVOICE_COUNT))
    customers = list(books.customers.values())
    pending: list[Pending] = []
    for index, day in enumerate(days):
        customer = dice.pick(customers)
        invoice = _invoice(books, dice, f"INV-{index + 1:05}", customer, FIRST_DAY + timedelta(days=day))
        books.invoices[invoice["invoice_id"]] = invoice
        if invoice["status"] != "void":
            pending.append((invoice["issued_on"], "invoice", invoice["invoice_id"], customer["customer_id"],
                            f"Invoice {invoice['invoice_id']}", invoice_lines(books, invoice)))  # fmt: skip
        if invoice["status"] == "paid":
            pending.append(_payment(books, dice, invoice))
    return pending


def _invoice(books: Books, dice: Dice, invoice_id: str, customer: Row, issued: date) -> Row:
    tax_rate = 0.19 if customer["address"]["country"] == "DE" else 0.0
    rate = books.rates[issued.isoformat()[:7]][customer["currency"]]
    lines = []
    for _ in range(dice.between(1, 3)):
        text, account_id, price = dice.pick(plan.ITEMS)
        lines.append(
            {
                "description": text,
                "account_id": account_id,
                "quantity": dice.between(1, 6),
                "unit_price_cents": round(price * rate / 100) * 100,
                "tax_rate": tax_rate,
            }
        )
    due = issued + timedelta(days=dice.pick((14, 30, 30, 60)))
    is_paid = issued < TODAY - timedelta(days=21) and dice.chance(0.9)
    status = "void" if dice.chance(0.02) else "paid" if is_paid else "overdue" if due < TODAY else "open"
    return {
        "invoice_id": invoice_id,
        "customer_id": customer["customer_id"],
        "issued_on": issued.isoformat(),
        "due_on": due.isoformat(),
        "status": status,
        "currency": customer["currency"],
        "po_number": f"PO-{dice.between(100, 999)}" if dice.chance(0.4) else None,
        "lines": lines,
        "billing_address": customer["address"],
        **totals(lines),
    }


def totals(lines: list[Row]) -> Row:
    """Net, tax and total of invoice lines, in cents of the invoice's currency."""
    net = sum(line["quantity"] * line["unit_price_cents"] for line in lines)
    tax = sum(round(line["quantity"] * line["unit_price_cents"] * line["tax_rate"]) for line in lines)
    return {"net_cents": net, "tax_cents": tax, "total_cents": net + tax}


def invoice_lines(books: Books, invoice: Row) -> list[Line]:
    """The postings of an invoice: receivable against tax and the revenue account of its first line.

    Revenue takes the rounding difference.
    """
    total = books.euro(invoice["total_cents"], invoice["currency"], invoice["issued_on"])
    tax = books.euro(invoice["tax_cents"], invoice["currency"], invoice["issued_on"])
    lines: list[Line] = [(RECEIVABLES, total, 0, None), (invoice["lines"][0]["account_id"], 0, total - tax, "CC-300")]
    return [*lines, (TAX, 0, tax, None)] if tax else lines


def _payment(books: Books, dice: Dice, invoice: Row) -> Pending:
    issued = date.fromisoformat(invoice["issued_on"])
    paid_on = min(issued + timedelta(days=dice.between(4, 55)), TODAY).isoformat()
    payment_id = f"P-{len(books.payments) + 1:05}"
    books.payments[payment_id] = {
        "payment_id": payment_id,
        "customer_id": invoice["customer_id"],
        "received_on": paid_on,
        "amount_cents": invoice["total_cents"],
        "currency": invoice["currency"],
        "method": dice.pick(("bank_transfer", "bank_transfer", "card", "direct_debit")),
        "allocations": [{"invoice_id": invoice["invoice_id"], "amount_cents": invoice["total_cents"]}],
        "refunded_cents": 0,
    }
    lines = payment_lines(books, invoice, invoice["total_cents"])
    return paid_on, "payment", payment_id, invoice["customer_id"], f"Payment for {invoice['invoice_id']}", lines


def payment_lines(books: Books, invoice: Row, cents: int) -> list[Line]:
    """The postings of money received for an invoice, at the invoice's own rate: a paid one leaves nothing open."""
    amount = books.euro(cents, invoice["currency"], invoice["issued_on"])
    bank = BANK if invoice["currency"] == "EUR" else FOREIGN_BANK
    return [(bank, amount, 0, None), (RECEIVABLES, 0, amount, None)]


def _payroll() -> list[Pending]:
    pending: list[Pending] = []
    for index in range(12):
        month = f"{2025 + (index + 3) // 12}-{(index + 3) % 12 + 1:02}"
        for rank, (cost_center, name) in enumerate(plan.COST_CENTERS):
            salary = 6_200_000 - rank * 710_000 + index * 11_000
            lines: list[Line] = [
                ("6000", salary, 0, cost_center),
                ("6010", salary // 5, 0, cost_center),
                ("2200", 0, salary + salary // 5, None),
            ]
            pending.append(
                (f"{month}-28", "payroll", f"PR-{month}-{cost_center}", None, f"Payroll {name} {month}", lines)
            )
    return pending


def _purchases(dice: Dice, lines_left: int) -> list[Pending]:
    pending: list[Pending] = []
    while lines_left > 0:
        day = (FIRST_DAY + timedelta(days=dice.below(365))).isoformat()
        account_id, text, low, high = dice.pick(plan.PURCHASES)
        cost_center = dice.pick(plan.COST_CENTERS)[0]
        cents = dice.between(low, high)
        text = text.format(month=day[:7], n=dice.between(2, 99))
        lines: list[Line] = [(account_id, cents, 0, cost_center), (PAYABLES, 0, cents, None)]
        if lines_left == 3:  # an odd rest: one purchase with its input tax apart
            lines = [
                (account_id, cents, 0, cost_center),
                ("1400", cents // 5, 0, None),
                (PAYABLES, 0, cents + cents // 5, None),
            ]
        pending.append((day, "purchase", f"B-{len(pending) + 1:05}", None, text, lines))
        lines_left -= len(lines)
    return pending


def _add_budgets(books: Books, dice: Dice) -> None:
    """A budget for each cost centre and quarter, near what was spent, so that some are overrun."""
    spent = spending(books)
    for cost_center, name in plan.COST_CENTERS:
        for quarter in ("2025-Q2", "2025-Q3", "2025-Q4", "2026-Q1"):
            budget_id = f"BG-{quarter}-{cost_center}"
            accounts = ("5000", "6000", "6010", "6100", "6200", "6400", "6410")
            books.budgets[budget_id] = {
                "budget_id": budget_id,
                "name": f"{name}, {quarter}",
                "cost_center": cost_center,
                "quarter": quarter,
                "lines": [
                    {"account_id": key, "amount_cents": _rounded_up(spent[cost_center, quarter, key], dice)}
                    for key in accounts
                ],
            }


def _rounded_up(spent: int, dice: Dice) -> int:
    """75 to 140 % of what was spent, in steps of 500 euro."""
    return 50_000 * (1 + spent * dice.between(75, 140) // 5_000_000)


def spending(books: Books) -> Counter[tuple[str, str, str]]:
    """Debits less credits by cost centre, quarter and account, for the entries that have a cost centre."""
    sums: Counter[tuple[str, str, str]] = Counter()
    for row in books.entries:
        if row["cost_center"]:
            year, month = row["posted_on"][:4], int(row["posted_on"][5:7])
            key = (row["cost_center"], f"{year}-Q{(month + 2) // 3}", row["account_id"])
            sums[key] += row["debit_cents"] - row["credit_cents"]
    return sums
