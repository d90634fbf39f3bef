"""Tools about money that comes in, and about customers as debtors."""

from __future__ import annotations

from toolkit import DESTROY, READ, WRITE, Toolbox, ToolError, find, page_of
from words import array, boolean, choice, integer, or_null, record, string

from books.data import Row, open_books, payment_lines
from books.entries import check_period
from books.shapes import ALLOCATIONS, CURRENCIES, CURSOR, CUSTOMER_ID, PAYMENT, PAYMENT_ID, cents, day

TOOLS = Toolbox(closed=True)

BALANCE = record(
    {
        "customer_id": string(),
        "name": string(),
        "currency": choice(CURRENCIES),
        "open_cents": integer("All unpaid invoices, in the customer's currency."),
        "overdue_cents": integer("The part of it that is past due."),
        "open_euro_cents": integer("The same as `open_cents`, in euro cents as booked."),
        "overdue_invoices": array(string(), "Ids, oldest first."),
        "oldest_due_on": or_null(string("Due date of the oldest unpaid invoice.", format="date")),
    },
    required=["customer_id", "name", "currency", "open_cents", "overdue_cents", "overdue_invoices", "oldest_due_on"],
)


@TOOLS.add(
    {
        "customer_id": CUSTOMER_ID,
        "received": record({"from": day("First day."), "to": day("Last day.")}, "Only money received in this range."),
        "unallocated_only": boolean("Only payments with money that is not assigned to an invoice yet.", default=False),
        "limit": integer("Payments per page.", minimum=1, maximum=200, default=50),
        "cursor": CURSOR,
    },
    hints=READ,
)
def list_payments(
    limit: int, cursor: str | None, unallocated_only: bool, customer_id: str = "", received: Row | None = None
) -> Row:
    """List payments received from customers, oldest first, one page at a time.

    Amounts are in the payment's currency.
    """
    period = received or {}
    rows = [
        row
        for row in open_books().payments.values()
        if customer_id in ("", row["customer_id"])
        and period.get("from", row["received_on"]) <= row["received_on"] <= period.get("to", row["received_on"])
        and (not unallocated_only or _unallocated(row))
    ]
    page, following = page_of(rows, cursor, limit)
    return {"payments": page, "next_cursor": following}


def _unallocated(payment: Row) -> int:
    used = sum(part["amount_cents"] for part in payment["allocations"])
    return int(payment["amount_cents"] - payment["refunded_cents"] - used)


@TOOLS.add({"payment_id": PAYMENT_ID}, required=["payment_id"], returns=PAYMENT, hints=READ)
def get_payment(payment_id: str) -> Row:
    """Get one payment with the invoices it was assigned to."""
    return find(open_books().payments, payment_id, "payment")


@TOOLS.add(
    {
        "customer_id": CUSTOMER_ID,
        "received_on": day("Day the money arrived. Its period must be open."),
        "amount_cents": cents("In cents of the customer's currency.", minimum=1),
        "method": choice(["bank_transfer", "card", "direct_debit", "cash"], default="bank_transfer"),
        "allocations": {**ALLOCATIONS, "default": []},
    },
    required=["customer_id", "received_on", "amount_cents"],
    returns=PAYMENT,
    hints=WRITE,
    title="Record payment",
)
def record_payment(customer_id: str, received_on: str, amount_cents: int, method: str, allocations: list[Row]) -> Row:
    """Record money that came in from a customer and, if told so, assign it to invoices at once.

    Without `allocations` the payment stays unassigned until `allocate_payment`. Recording the same payment twice
    books it twice.
    """
    books = open_books()
    customer = find(books.customers, customer_id, "customer")
    check_period(received_on)
    payment = {
        "payment_id": f"P-{len(books.payments) + 1:05}",
        "customer_id": customer_id,
        "received_on": received_on,
        "amount_cents": amount_cents,
        "currency": customer["currency"],
        "method": method,
        "allocations": [],
        "refunded_cents": 0,
    }
    _allocate(payment, allocations)
    books.payments[payment["payment_id"]] = payment
    return payment


def _allocate(payment: Row, allocations: list[Row]) -> None:
    books = open_books()
    wanted = sum(part["amount_cents"] for part in allocations)
    if wanted > _unallocated(payment):
        raise ToolError(f"The allocations add up to {wanted} cents, only {_unallocated(payment)} are left")
    for part in allocations:
        invoice = find(books.invoices, part["invoice_id"], "invoice")
        if invoice["customer_id"] != payment["customer_id"] or invoice["status"] not in ("open", "overdue"):
            raise ToolError(f"{part['invoice_id']} is {invoice['status']} and belongs to {invoice['customer_id']}")
        if part["amount_cents"] != invoice["total_cents"]:
            raise ToolError(
                f"{part['invoice_id']} is for {invoice['total_cents']} cents; part payments are not supported"
            )
    for part in allocations:
        invoice = books.invoices[part["invoice_id"]]
        invoice["status"] = "paid"
        payment["allocations"].append(part)
        lines = payment_lines(books, invoice, part["amount_cents"])
        text = f"Payment for {part['invoice_id']}"
        books.post(payment["received_on"], "payment", payment["payment_id"], payment["customer_id"], text, lines)


@TOOLS.add(
    {"payment_id": PAYMENT_ID, "allocations": ALLOCATIONS},
    required=["payment_id", "allocations"],
    returns=PAYMENT,
    hints=WRITE,
)
def allocate_payment(payment_id: str, allocations: list[Row]) -> Row:
    """Assign money of a payment to unpaid invoices of the same customer. All parts are assigned, or none."""
    payment = find(open_books().payments, payment_id, "payment")
    _allocate(payment, allocations)
    return payment


@TOOLS.add(
    {
        "payment_id": PAYMENT_ID,
        "amount_cents": or_null(cents("How much to pay back; everything when null.", minimum=1), default=None),
        "reason": choice(["duplicate", "cancelled", "goodwill", "other"], "For the statistics.", default="other"),
        "note": string("Free text for the customer.", default=""),
    },
    required=["payment_id"],
    hints=DESTROY,
    title="Refund payment",
)
def refund_payment(payment_id: str, amount_cents: int | None, reason: str, note: str) -> Row:
    """Pay money back to a customer. The transfer leaves the bank within minutes and cannot be stopped."""
    payment = find(open_books().payments, payment_id, "payment")
    left = payment["amount_cents"] - payment["refunded_cents"]
    amount = left if amount_cents is None else amount_cents
    if not 0 < amount <= left:
        raise ToolError(f"{amount} cents cannot be refunded, {left} are left")
    payment["refunded_cents"] += amount
    return {
        "payment_id": payment_id,
        "refunded_cents": amount,
        "currency": payment["currency"],
        "reason": reason,
        "note": note,
    }


@TOOLS.add(
    {
        "with_balance": choice(["any", "open", "overdue"], "Only customers who owe something.", default="any"),
        "currency": choice(CURRENCIES, "Only customers who are invoiced in this currency."),
        "limit": integer("Customers per page.", minimum=1, maximum=120, default=60),
        "cursor": CURSOR,
    },
    hints=READ,
)
def list_customers(limit: int, cursor: str | None, with_balance: str, currency: str = "") -> Row:
    """List customers as debtors with what they owe, ordered by id. For their contracts and tickets ask the helpdesk."""
    rows = [get_customer_balance(key) for key in open_books().customers]
    field = {"open": "open_cents", "overdue": "overdue_cents"}.get(with_balance)
    kept = [row for row in rows if currency in ("", row["currency"]) and (field is None or row[field])]
    page, following = page_of(kept, cursor, limit)
    return {"customers": page, "next_cursor": following}


@TOOLS.add({"customer_id": CUSTOMER_ID}, required=["customer_id"], returns=BALANCE, hints=READ)
def get_customer_balance(customer_id: str) -> Row:
    """Tell what a customer owes: the sum of unpaid invoices, the overdue part, and which invoices are overdue."""
    books = open_books()
    customer = find(books.customers, customer_id, "customer")
    unpaid = [
        row
        for row in books.invoices.values()
        if row["customer_id"] == customer_id and row["status"] in ("open", "overdue")
    ]
    overdue = [row for row in unpaid if row["status"] == "overdue"]
    return {
        "customer_id": customer_id,
        "name": customer["name"],
        "currency": customer["currency"],
        "open_cents": sum(row["total_cents"] for row in unpaid),
        "overdue_cents": sum(row["total_cents"] for row in overdue),
        "open_euro_cents": sum(books.euro(row["total_cents"], row["currency"], row["issued_on"]) for row in unpaid),
        "overdue_invoices": [row["invoice_id"] for row in overdue],
        "oldest_due_on": min((row["due_on"] for row in unpaid), default=None),
    }
