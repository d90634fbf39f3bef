"""Tools about invoices: list, read, create, send, void."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from toolkit import DESTROY, READ, SEND, WRITE, Toolbox, ToolError, find, page_of
from words import array, boolean, choice, integer, nullable, or_null, record, string
from world import TODAY

from books.data import Row, invoice_lines, open_books, totals
from books.entries import check_period
from books.shapes import (
    ADDRESS,
    CURRENCIES,
    CURSOR,
    CUSTOMER_ID,
    INVOICE,
    INVOICE_ID,
    INVOICE_LINE,
    INVOICE_STATES,
    cents,
    day,
)

TOOLS = Toolbox(closed=True)


@TOOLS.add(
    {
        "customer_id": CUSTOMER_ID,
        "status": array(choice(INVOICE_STATES), "Any of these states.", uniqueItems=True),
        "issued": record({"from": day("First day."), "to": day("Last day.")}, "Only invoices issued in this range."),
        "total": record(
            {"min_cents": cents("At least.", minimum=0), "max_cents": cents("At most.", minimum=0)},
            "Limits for the total, in cents of the invoice's currency.",
        ),
        "currency": choice(CURRENCIES, "Only this currency."),
        "limit": integer("Invoices per page.", minimum=1, maximum=200, default=50),
        "cursor": CURSOR,
    },
    returns=record(
        {
            "invoices": array(INVOICE),
            "total": integer("How many invoices match, over all pages."),
            "next_cursor": or_null(string()),
        },
        required=["invoices", "total", "next_cursor"],
    ),
    hints=READ,
    title="List invoices",
)
def list_invoices(limit: int, cursor: str | None, **conditions: Any) -> Row:
    """List invoices with their lines, oldest first, one page at a time.

    `overdue` invoices are past their due date and not paid; `open` ones are not due yet. Amounts are in the invoice's
    own currency: convert with `get_exchange_rate` before adding up over currencies. What a single customer owes in
    total is answered faster by `get_customer_balance`.
    """
    rows = [invoice for invoice in open_books().invoices.values() if _matches(invoice, conditions)]
    page, following = page_of(rows, cursor, limit)
    return {"invoices": page, "total": len(rows), "next_cursor": following}


def _matches(invoice: Row, wanted: Row) -> bool:
    issued, total = wanted.get("issued", {}), wanted.get("total", {})
    day_, cents_ = invoice["issued_on"], invoice["total_cents"]
    return (
        all(invoice[key] == wanted[key] for key in ("customer_id", "currency") if key in wanted)
        and invoice["status"] in wanted.get("status", INVOICE_STATES)
        and issued.get("from", day_) <= day_ <= issued.get("to", day_)
        and total.get("min_cents", cents_) <= cents_ <= total.get("max_cents", cents_)
    )


@TOOLS.add({"invoice_id": INVOICE_ID}, required=["invoice_id"], returns=INVOICE, hints=READ, title="Get invoice")
def get_invoice(invoice_id: str) -> Row:
    """Get one invoice with its lines, address and state."""
    return find(open_books().invoices, invoice_id, "invoice")


@TOOLS.add(
    {
        "customer_id": CUSTOMER_ID,
        "issued_on": day("Date of the invoice; today when left out. Its period must be open."),
        "payment_terms_days": integer("Days until it is due.", minimum=0, maximum=120, default=30),
        "currency": nullable(choice(CURRENCIES, "The customer's currency when null."), default=None),
        "lines": array({"$ref": "#/$defs/InvoiceLine"}, "What is charged.", minItems=1, maxItems=100),
        "billing_address": {"anyOf": [{"$ref": "#/$defs/Address"}, {"type": "null"}], "default": None},
        "po_number": or_null(string("The customer's order number, printed on the invoice."), default=None),
        "as_draft": boolean("Save a draft that is not posted yet.", default=False),
    },
    required=["customer_id", "lines"],
    hints=WRITE,
    title="Create invoice",
    **{"$defs": {"InvoiceLine": INVOICE_LINE, "Address": ADDRESS}},
)
def create_invoice(customer_id: str, lines: list[Row], as_draft: bool, **fields: Any) -> Row:
    """Create an invoice for a customer and post it to the ledger, unless it is a draft.

    Tax follows from the lines' `tax_rate`; nothing is added on its own. The address is taken from the customer unless
    one is given. An invoice that was posted cannot be edited; void it and create a new one. Returns id, totals and
    state.
    """
    books = open_books()
    customer = find(books.customers, customer_id, "customer")
    issued_on = fields.get("issued_on", TODAY.isoformat())
    check_period(issued_on)
    for line in lines:
        if find(books.accounts, line["account_id"], "account")["type"] != "revenue":
            raise ToolError(f"{line['account_id']} is no revenue account")
    invoice_id = f"INV-{len(books.invoices) + 1:05}"
    rows = [{"tax_rate": 0, **line} for line in lines]
    invoice = {
        "invoice_id": invoice_id,
        "customer_id": customer_id,
        "issued_on": issued_on,
        "due_on": (date.fromisoformat(issued_on) + timedelta(days=fields["payment_terms_days"])).isoformat(),
        "status": "draft" if as_draft else "open",
        "currency": fields["currency"] or customer["currency"],
        "po_number": fields["po_number"],
        "lines": rows,
        "billing_address": fields["billing_address"] or customer["address"],
        **totals(rows),
    }
    books.invoices[invoice_id] = invoice
    if not as_draft:
        books.post(
            issued_on, "invoice", invoice_id, customer_id, f"Invoice {invoice_id}", invoice_lines(books, invoice)
        )
    return {
        key: invoice[key]
        for key in ("invoice_id", "status", "currency", "net_cents", "tax_cents", "total_cents", "due_on")
    }


@TOOLS.add(
    {
        "invoice_id": INVOICE_ID,
        "recipients": array(string(format="email"), "Addresses; the customer's office when left out.", maxItems=10),
        "message": string("Text of the mail.", default="Please find our invoice attached.", maxLength=2000),
        "attach_statement": boolean("Attach a list of all open invoices.", default=False),
    },
    required=["invoice_id"],
    hints=SEND,
    title="Send invoice",
)
def send_invoice(invoice_id: str, message: str, attach_statement: bool, recipients: list[str] | None = None) -> Row:
    """Mail an invoice to the customer as a PDF. Sending again sends a copy. Drafts and void invoices are not sent."""
    books = open_books()
    invoice = find(books.invoices, invoice_id, "invoice")
    if invoice["status"] in ("draft", "void"):
        raise ToolError(f"{invoice_id} is {invoice['status']} and is not sent")
    to = recipients or [books.customers[invoice["customer_id"]]["email"]]
    return {"invoice_id": invoice_id, "sent_to": to, "sent_at": books.clock.stamp(), "with_statement": attach_statement}


@TOOLS.add(
    {
        "invoice_id": INVOICE_ID,
        "reason": string("Printed on the cancellation.", minLength=5, maxLength=200),
    },
    required=["invoice_id", "reason"],
    hints=DESTROY,
    title="Void invoice",
)
def void_invoice(invoice_id: str, reason: str) -> Row:
    """Cancel an invoice for good: its postings are reversed as of today and the customer is told.

    There is no undo. Paid invoices cannot be voided; refund the payment first.
    """
    books = open_books()
    invoice = find(books.invoices, invoice_id, "invoice")
    if invoice["status"] in ("paid", "void"):
        raise ToolError(f"{invoice_id} is {invoice['status']} and cannot be voided")
    if invoice["status"] != "draft":
        lines = [(account, credit, debit, center) for account, debit, credit, center in invoice_lines(books, invoice)]
        text = f"Cancellation of {invoice_id}: {reason}"
        books.post(TODAY.isoformat(), "reversal", invoice_id, invoice["customer_id"], text, lines)
    invoice["status"] = "void"
    return {"invoice_id": invoice_id, "status": "void"}
