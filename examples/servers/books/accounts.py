"""Tools about the chart of accounts and the cost centres."""

from __future__ import annotations

from collections import defaultdict

from toolkit import DESTROY, READ, WRITE, Toolbox, ToolError, find
from words import array, boolean, choice, integer, or_null, record, string
from world import TODAY

from books import plan
from books.data import Row, open_books
from books.shapes import ACCOUNT, ACCOUNT_ID, ACCOUNT_TYPES, day

TOOLS = Toolbox(closed=True)


@TOOLS.add(
    {
        "type": choice(ACCOUNT_TYPES, "Only accounts of this type."),
        "include_archived": boolean("Include accounts that take no new postings.", default=False),
    },
    returns=array(ACCOUNT),
    hints=READ,
    title="List accounts",
)
def list_accounts(include_archived: bool, type: str = "") -> list[Row]:
    """List the chart of accounts, ordered by number, without balances.

    For balances of all accounts use `trial_balance`, for the movements of one use `list_entries`.
    """
    accounts = sorted(open_books().accounts.values(), key=lambda row: str(row["account_id"]))
    return [row for row in accounts if type in ("", row["type"]) and (include_archived or not row["is_archived"])]


@TOOLS.add(
    {"account_id": ACCOUNT_ID, "as_of": day("Balance at the end of this day; today when left out.")},
    required=["account_id"],
    returns=record(
        {
            **ACCOUNT["properties"],
            "debit_cents": integer("Sum of debits since the start of the fiscal year, euro cents."),
            "credit_cents": integer("Sum of credits since the start of the fiscal year, euro cents."),
            "balance_cents": integer("Debits less credits."),
            "entries": integer("Number of postings."),
        },
        required=["account_id", "name", "type", "debit_cents", "credit_cents", "balance_cents", "entries"],
    ),
    hints=READ,
    title="Get account",
)
def get_account(account_id: str, as_of: str = "") -> Row:
    """Get one account with its balance on a day.

    Balances are debits less credits, so liabilities, equity and revenue are negative.
    """
    books = open_books()
    account = find(books.accounts, account_id, "account")
    last = as_of or TODAY.isoformat()
    rows = [row for row in books.entries if row["account_id"] == account_id and row["posted_on"] <= last]
    debit, credit = sum(row["debit_cents"] for row in rows), sum(row["credit_cents"] for row in rows)
    sums = {"debit_cents": debit, "credit_cents": credit, "balance_cents": debit - credit, "entries": len(rows)}
    return {**account, **sums}


@TOOLS.add(
    {
        "account_id": ACCOUNT_ID,
        "name": string("Name as it is printed in reports.", minLength=2, maxLength=80),
        "type": choice(ACCOUNT_TYPES, "Decides where the account stands in the statements."),
        "parent_id": or_null(string("Account it is summed up under."), default=None),
    },
    required=["account_id", "name", "type"],
    returns=ACCOUNT,
    hints=WRITE,
    title="Create account",
)
def create_account(account_id: str, name: str, type: str, parent_id: str | None) -> Row:
    """Add an account to the chart of accounts. The number must be free and cannot be changed later."""
    books = open_books()
    if account_id in books.accounts:
        raise ToolError(f"Account {account_id} exists already: {books.accounts[account_id]['name']}")
    if parent_id is not None:
        find(books.accounts, parent_id, "account")
    account = {"account_id": account_id, "name": name, "type": type, "parent_id": parent_id, "is_archived": False}
    books.accounts[account_id] = account
    return account


@TOOLS.add({"account_id": ACCOUNT_ID}, required=["account_id"], hints=DESTROY, title="Archive account")
def archive_account(account_id: str) -> Row:
    """Close an account for new postings for good.

    Its history stays in all reports. Only accounts with a zero balance.
    """
    account = get_account(account_id)
    if account["balance_cents"]:
        raise ToolError(f"Account {account_id} has a balance of {account['balance_cents']} cents; it must be zero")
    open_books().accounts[account_id]["is_archived"] = True
    return {"account_id": account_id, "is_archived": True}


@TOOLS.add(
    {
        "as_of": day("End of this day; today when left out."),
        "skip_zero": boolean("Leave out accounts that have no movement.", default=True),
    },
    returns=record(
        {
            "as_of": string(format="date"),
            "debit_cents": integer("Sum of all debits; equal to the sum of all credits."),
            "credit_cents": integer(),
            "accounts": array(
                record(
                    {
                        "account_id": string(),
                        "name": string(),
                        "type": choice(ACCOUNT_TYPES),
                        "debit_cents": integer(),
                        "credit_cents": integer(),
                        "balance_cents": integer(),
                    },
                    required=["account_id", "name", "type", "debit_cents", "credit_cents", "balance_cents"],
                )
            ),
        },
        required=["as_of", "debit_cents", "credit_cents", "accounts"],
    ),
    hints=READ,
)
def trial_balance(skip_zero: bool, as_of: str = "") -> Row:
    """Compute the trial balance: debits, credits and balance of every account up to a day, in euro cents."""
    books = open_books()
    last = as_of or TODAY.isoformat()
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for row in books.entries:
        if row["posted_on"] <= last:
            sums[row["account_id"]][0] += row["debit_cents"]
            sums[row["account_id"]][1] += row["credit_cents"]
    accounts = []
    for account_id, account in sorted(books.accounts.items()):
        debit, credit = sums[account_id]
        if debit or credit or not skip_zero:
            head = {key: account[key] for key in ("account_id", "name", "type")}
            accounts.append({**head, "debit_cents": debit, "credit_cents": credit, "balance_cents": debit - credit})
    total = {f"{side}_cents": sum(account[f"{side}_cents"] for account in accounts) for side in ("debit", "credit")}
    return {"as_of": last, **total, "accounts": accounts}


@TOOLS.add()
def list_cost_centers() -> list[Row]:
    """List the cost centres that expenses are assigned to."""
    return [{"cost_center": key, "name": name} for key, name in plan.COST_CENTERS]
