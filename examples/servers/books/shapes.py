"""Schemas that several ledger tools share: what they return, and the nested parts of what they take."""

from __future__ import annotations

from words import Schema, array, boolean, choice, integer, number, or_null, record, string

CURRENCIES = ("EUR", "GBP", "USD", "SEK", "CHF", "PLN", "CAD")
ACCOUNT_TYPES = ("asset", "liability", "equity", "revenue", "expense")
INVOICE_STATES = ("draft", "open", "overdue", "paid", "void")

ACCOUNT_ID = string("Account number in the chart of accounts, for example `1100`.", pattern=r"^\d{4}$")
CUSTOMER_ID = string("Customer id, for example `C-1042`. The helpdesk uses the same ids.", pattern=r"^C-\d{4}$")
INVOICE_ID = string("Invoice id, for example `INV-00042`.", pattern=r"^INV-\d{5}$")
PAYMENT_ID = string("Payment id, for example `P-00042`.", pattern=r"^P-\d{5}$")
PERIOD = string("Accounting period, a month written as `2026-03`.", pattern=r"^\d{4}-\d{2}$")
COST_CENTER = or_null(string("Cost centre, for example `CC-200`; see `list_cost_centers`."))
CURSOR = or_null(string("`next_cursor` of the page before. Leave out or pass null for the first page."), default=None)


def day(description: str) -> Schema:
    """A calendar day."""
    return string(description, format="date")


def cents(description: str, **keywords: object) -> Schema:
    """An amount in the smallest unit of its currency."""
    return integer(description, **keywords)


ENTRY = record(
    {
        "entry_id": string(),
        "journal_id": string("Entries with the same journal balance each other."),
        "posted_on": string(format="date"),
        "account_id": string(),
        "description": string(),
        "debit_cents": integer("Euro cents."),
        "credit_cents": integer("Euro cents."),
        "customer_id": or_null(string()),
        "cost_center": or_null(string()),
        "source": choice(["invoice", "payment", "purchase", "payroll", "manual", "bank", "reversal"]),
        "reference": string("Id of the invoice, payment or receipt behind the entry."),
    },
    required=[
        "entry_id",
        "journal_id",
        "posted_on",
        "account_id",
        "debit_cents",
        "credit_cents",
        "customer_id",
        "source",
    ],
)

ACCOUNT = record(
    {
        "account_id": string(),
        "name": string(),
        "type": choice(ACCOUNT_TYPES),
        "parent_id": or_null(string()),
        "is_archived": boolean(),
    },
    required=["account_id", "name", "type", "parent_id", "is_archived"],
)

INVOICE_LINE = record(
    {
        "description": string("Text on the invoice.", maxLength=200),
        "account_id": string("Revenue account, 4000 to 4999."),
        "quantity": number("How many; fractions are allowed.", exclusiveMinimum=0),
        "unit_price_cents": integer("Net price of one, in cents of the invoice's currency.", minimum=0),
        "tax_rate": number("Share, 0.19 for 19 %.", minimum=0, maximum=1, default=0),
    },
    required=["description", "account_id", "quantity", "unit_price_cents"],
)

ADDRESS = record(
    {
        "street": string(),
        "city": string(),
        "postal_code": string(),
        "country": string("ISO 3166-1 alpha-2.", minLength=2, maxLength=2),
    },
    required=["street", "city", "postal_code", "country"],
)

INVOICE = record(
    {
        "invoice_id": string(),
        "customer_id": string(),
        "issued_on": string(format="date"),
        "due_on": string(format="date"),
        "status": choice(INVOICE_STATES),
        "currency": choice(CURRENCIES),
        "po_number": or_null(string("The customer's order number.")),
        "net_cents": integer(),
        "tax_cents": integer(),
        "total_cents": integer(),
        "lines": array(INVOICE_LINE),
        "billing_address": ADDRESS,
    },
    required=["invoice_id", "customer_id", "issued_on", "due_on", "status", "currency", "total_cents", "lines"],
)

ALLOCATIONS = array(
    record(
        {"invoice_id": INVOICE_ID, "amount_cents": cents("Part of the payment for this invoice.", minimum=1)},
        required=["invoice_id", "amount_cents"],
    ),
    "Which invoices the money is for. The sum must not exceed the payment.",
    maxItems=50,
)

PAYMENT = record(
    {
        "payment_id": string(),
        "customer_id": string(),
        "received_on": string(format="date"),
        "amount_cents": integer("In cents of `currency`."),
        "currency": choice(CURRENCIES),
        "method": choice(["bank_transfer", "card", "direct_debit", "cash"]),
        "allocations": array(
            record({"invoice_id": string(), "amount_cents": integer()}, required=["invoice_id", "amount_cents"])
        ),
        "refunded_cents": integer(),
    },
    required=["payment_id", "customer_id", "received_on", "amount_cents", "currency", "allocations", "refunded_cents"],
)
