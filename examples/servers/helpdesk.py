"""A helpdesk as an MCP server on stdin and stdout: tickets, comments, customers, agents, escalation, knowledge base.

Start: `python helpdesk.py [--log FILE]`. The data is in memory and the same at every start; writes change it until the
process ends. Needs nothing but the `mcp` package. Customer ids are those of `ledger.py`.
"""

from __future__ import annotations

from desk import conversations, customers, knowledge, people, tickets
from toolkit import serve

INSTRUCTIONS = """\
Support desk of a software company. Ids: tickets T-10001…, customers C-1001…, agents A-01…, contracts K-2001….
A reopened case is a row of tickets linked by `parent_id`, newest first. Customer ids are the same in the ledger."""

if __name__ == "__main__":
    serve(
        "helpdesk",
        title="Helpdesk",
        instructions=INSTRUCTIONS,
        boxes=(tickets.TOOLS, conversations.TOOLS, customers.TOOLS, people.TOOLS, knowledge.TOOLS),
    )
