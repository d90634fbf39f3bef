"""A general ledger as an MCP server on stdin and stdout: accounts, entries, invoices, payments, budgets, reports.

Start: `python ledger.py [--log FILE]`. The data is in memory and the same at every start; writes change it until the
process ends. Needs nothing but the `mcp` package. Customer ids are those of `helpdesk.py`.
"""

from __future__ import annotations

from books import accounts, entries, invoices, payments, planning, reports
from toolkit import serve

INSTRUCTIONS = """\
Books of a software company for the fiscal year 2025-04-01 to 2026-03-31, kept in euro cents. Invoices and payments are
in the customer's currency. Debits are positive, credits negative. Customer ids are the same in the helpdesk."""

if __name__ == "__main__":
    serve(
        "ledger",
        title="Ledger",
        instructions=INSTRUCTIONS,
        boxes=(accounts.TOOLS, entries.TOOLS, invoices.TOOLS, payments.TOOLS, planning.TOOLS, reports.TOOLS),
    )
