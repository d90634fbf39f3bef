"""Tools about postings: list, export, post, reverse, import a bank statement."""

from __future__ import annotations

from typing import Any

from toolkit import DESTROY, READ, WRITE, Toolbox, ToolError, find, page_of
from words import array, boolean, choice, integer, or_null, record, string

from books.data import BANK, Line, Row, open_books
from books.shapes import ACCOUNT_ID, COST_CENTER, CURSOR, ENTRY, cents, day

TOOLS = Toolbox(closed=True)


@TOOLS.add(
    {
        "from": day("First day of posting, inclusive."),
        "to": day("Last day of posting, inclusive."),
        "account_ids": array(ACCOUNT_ID, "Only these accounts.", uniqueItems=True),
        "customer_id": string("Only postings for this customer."),
        "cost_center": string("Only postings on this cost centre."),
        "amount": record(
            {
                "min_cents": cents("At least this much.", minimum=0),
                "max_cents": cents("At most this much.", minimum=0),
                "side": choice(["debit", "credit", "either"], default="either"),
            },
            "Limits for the amount, in euro cents.",
            additionalProperties=False,
        ),
        "limit": integer("Entries per page.", minimum=1, maximum=200, default=50),
        "cursor": CURSOR,
    },
    returns=record(
        {
            "entries": array(ENTRY),
            "next_cursor": or_null(string("Pass as `cursor` for the next page; null on the last page.")),
        },
        required=["entries", "next_cursor"],
    ),
    hints=READ,
    title="List entries",
)
def list_entries(limit: int, cursor: str | None, **conditions: Any) -> Row:
    """List ledger entries in order of posting, filtered, one page at a time.

    An entry is one line of a journal and stands on one account. Use this to look at a few postings; to read the whole
    ledger use `export_entries`, which gives larger, numbered pages.
    """
    rows = [row for row in open_books().entries if _matches(row, conditions)]
    page, following = page_of(rows, cursor, limit)
    return {"entries": page, "next_cursor": following}


def _matches(row: Row, wanted: Row) -> bool:
    amount = wanted.get("amount", {})
    sides = {"debit": row["debit_cents"], "credit": row["credit_cents"]}
    size = sides.get(amount.get("side", "either"), max(sides.values()))
    return (
        wanted.get("from_", row["posted_on"]) <= row["posted_on"] <= wanted.get("to", row["posted_on"])
        and row["account_id"] in wanted.get("account_ids", [row["account_id"]])
        and all(row[key] == wanted[key] for key in ("customer_id", "cost_center") if key in wanted)
        and amount.get("min_cents", size) <= size <= amount.get("max_cents", size)
    )


@TOOLS.add(
    {
        "page": integer("Number of the page, from 1.", minimum=1, default=1),
        "page_size": integer("Entries per page.", minimum=1, maximum=20_000, default=1_000),
    },
    returns=record(
        {
            "entries": array(ENTRY),
            "page": integer(),
            "pages": integer("How many pages there are at this size."),
            "total": integer("How many entries there are."),
        },
        required=["entries", "page", "pages", "total"],
    ),
    hints=READ,
    title="Export entries",
)
def export_entries(page: int, page_size: int) -> Row:
    """Export all ledger entries of the fiscal year, in order of posting, in numbered pages of up to 20,000.

    Pages do not depend on each other and can be fetched at the same time. A page past the end is empty. The answers are
    large, about 270 bytes an entry: filter and add up in code, do not read them.
    """
    entries = open_books().entries
    part = entries[(page - 1) * page_size : page * page_size]
    return {"entries": part, "page": page, "pages": -(-len(entries) // page_size), "total": len(entries)}


@TOOLS.add(
    {"journal_id": string("Journal id, for example `J-00042`; every entry names its own.", pattern=r"^J-\d{5}$")},
    required=["journal_id"],
    hints=READ,
)
def get_journal(journal_id: str) -> Row:
    """Get a journal: the entries that were posted together and balance each other, with the document behind them."""
    journals = open_books().journals
    if journal_id not in journals:
        raise ToolError(f"No journal with id {journal_id!r}")
    rows = journals[journal_id]
    head = {key: rows[0][key] for key in ("journal_id", "posted_on", "source", "reference", "description")}
    keys = ("entry_id", "account_id", "debit_cents", "credit_cents", "cost_center")
    return {**head, "entries": [{key: row[key] for key in keys} for row in rows]}


JOURNAL_LINE = record(
    {
        "account_id": ACCOUNT_ID,
        "debit_cents": cents("Amount on the debit side, 0 for a credit.", minimum=0, default=0),
        "credit_cents": cents("Amount on the credit side, 0 for a debit.", minimum=0, default=0),
        "cost_center": COST_CENTER,
    },
    required=["account_id"],
    additionalProperties=False,
)


@TOOLS.add(
    {
        "posted_on": day("Day of posting. Its period must be open."),
        "description": string("What the journal is for.", minLength=3, maxLength=200),
        "lines": array(JOURNAL_LINE, "The lines. Debits and credits must be equal.", minItems=2, maxItems=100),
        "reference": string("Number of the document behind it.", default="manual"),
        "customer_id": or_null(string("Customer it concerns."), default=None),
        "dry_run": boolean("Check everything, post nothing.", default=False),
    },
    required=["posted_on", "description", "lines"],
    hints=WRITE,
    title="Post journal",
)
def post_journal(
    posted_on: str, description: str, lines: list[Row], reference: str, customer_id: str | None, dry_run: bool
) -> Row:
    """Post a journal by hand, in euro cents.

    Refused when debits and credits differ, when a line has both or neither, when an account does not exist or is
    archived, and when the period of `posted_on` is closed. Nothing is posted then. A posted journal cannot be
    changed, only reversed with `reverse_journal`.
    """
    books = open_books()
    check_period(posted_on)
    rows: list[Line] = []
    for number, line in enumerate(lines, start=1):
        debit, credit = line.get("debit_cents", 0), line.get("credit_cents", 0)
        if bool(debit) == bool(credit):
            raise ToolError(f"Line {number} must have either a debit or a credit")
        if find(books.accounts, line["account_id"], "account")["is_archived"]:
            raise ToolError(f"Line {number}: account {line['account_id']} is archived")
        rows.append((line["account_id"], debit, credit, line.get("cost_center")))
    debits, credits = sum(row[1] for row in rows), sum(row[2] for row in rows)
    if debits != credits:
        raise ToolError(
            f"The journal does not balance: debits {debits}, credits {credits}, difference {debits - credits} cents"
        )
    if dry_run:
        return {"journal_id": None, "entries": len(rows), "total_cents": debits}
    posted = books.post(posted_on, "manual", reference, customer_id, description, rows)
    return {"journal_id": posted[0]["journal_id"], "entries": len(rows), "total_cents": debits}


def check_period(posted_on: str) -> None:
    """Raise ToolError unless the day lies in an open period."""
    period = open_books().periods.get(posted_on[:7])
    if period is None:
        raise ToolError(f"There is no period {posted_on[:7]} in this fiscal year")
    if period["status"] != "open":
        raise ToolError(f"Period {posted_on[:7]} is closed; post into an open one")


@TOOLS.add(
    {
        "journal_id": string("Journal to reverse.", pattern=r"^J-\d{5}$"),
        "posted_on": day("Day of the reversal. Its period must be open."),
        "reason": string("Why; stands on the new journal.", minLength=3),
    },
    required=["journal_id", "posted_on", "reason"],
    hints=DESTROY,
    title="Reverse journal",
)
def reverse_journal(journal_id: str, posted_on: str, reason: str) -> Row:
    """Reverse a journal: post the same lines with debit and credit swapped. Both stay in the ledger."""
    books = open_books()
    if journal_id not in books.journals:
        raise ToolError(f"No journal with id {journal_id!r}")
    check_period(posted_on)
    rows = books.journals[journal_id]
    lines = [(row["account_id"], row["credit_cents"], row["debit_cents"], row["cost_center"]) for row in rows]
    posted = books.post(posted_on, "reversal", journal_id, rows[0]["customer_id"], f"Reversal: {reason}", lines)
    return {"journal_id": posted[0]["journal_id"], "reverses": journal_id, "entries": len(lines)}


@TOOLS.add(
    {
        "accountNumber": string("IBAN of the statement."),
        "statementDate": day("Date of the statement."),
        "transactions": array(
            record(
                {
                    "bookedOn": day("Day of booking."),
                    "amountCents": integer("Negative for money going out."),
                    "counterparty": string("Name of the other side."),
                    "purpose": string("Text of the transfer."),
                    "endToEndId": or_null(string("Reference that was given to the bank.")),
                },
                required=["bookedOn", "amountCents", "counterparty"],
            ),
            "Transactions in the order of the statement.",
            minItems=1,
            maxItems=500,
        ),
    },
    required=["accountNumber", "statementDate", "transactions"],
    name="importBankStatement",
)
def import_bank_statement(account_number: str, statement_date: str, transactions: list[Row]) -> Row:
    """Import a bank statement. Each transaction is posted against account 4900 or 6990 and can be reclassified later.

    Importing the same statement twice posts it twice.
    """
    books = open_books()
    for transaction in transactions:
        check_period(transaction["bookedOn"])
    for transaction in transactions:
        amount = transaction["amountCents"]
        money: Line = (BANK, max(amount, 0), max(-amount, 0), None)
        other: Line = ("4900", 0, amount, None) if amount > 0 else ("6990", -amount, 0, "CC-500")
        text = f"{transaction['counterparty']} {transaction.get('purpose', '')}".strip()
        books.post(transaction["bookedOn"], "bank", f"{account_number} {statement_date}", None, text, [money, other])
    total = sum(transaction["amountCents"] for transaction in transactions)
    return {"imported": len(transactions), "netCents": total}
