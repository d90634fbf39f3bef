"""Tools about tickets: find, read, count, export, create, change, merge, delete."""

from __future__ import annotations

from collections import Counter
from typing import Any

from toolkit import DESTROY, READ, UPDATE, WRITE, Toolbox, ToolError, find, page_of
from words import array, boolean, choice, integer, nullable, record, string

from desk.data import PRIORITIES, STATUSES, TYPES, Row, open_desk
from desk.shapes import AGENT_ID, CURSOR, CUSTOM_FIELDS, CUSTOMER_ID, PERSON, TICKET, TICKET_FILTER, TICKET_ID

TOOLS = Toolbox()
COLUMNS = ["ticket_id", "subject", "status", "priority", "type", "customer_id", "assignee_id", "created_at"]


@TOOLS.add(
    {
        "filter": TICKET_FILTER,
        "sort": record(
            {
                "by": choice(["created_at", "updated_at", "priority"], default="created_at"),
                "direction": choice(["asc", "desc"], default="desc"),
            },
            "Order of the answer; newest first when left out.",
        ),
        "limit": integer("Tickets per page.", minimum=1, maximum=100, default=25),
        "cursor": CURSOR,
    },
    returns=record(
        {
            "tickets": array(TICKET),
            "total": integer("How many tickets match, over all pages."),
            "next_cursor": nullable(string("Pass as `cursor` to get the next page; null on the last page.")),
        },
        required=["tickets", "total", "next_cursor"],
    ),
    hints=READ,
    title="List tickets",
)
def list_tickets(limit: int, filter: Row | None = None, sort: Row | None = None, cursor: str | None = None) -> Row:
    """List tickets that match a filter, one page at a time.

    Use this to find tickets by state, priority, owner, customer, tag or date. To find tickets by what is written in
    them, use `search_tickets`. The answer has full ticket objects without their comments; get those with
    `list_comments`. Follow `next_cursor` until it is null to read everything.
    """
    rows = [ticket for ticket in open_desk().tickets.values() if _matches(ticket, filter or {})]
    order = {"by": "created_at", "direction": "desc", **(sort or {})}
    rows.sort(key=lambda ticket: _rank(ticket, order["by"]), reverse=order["direction"] == "desc")
    page, following = page_of(rows, cursor, limit)
    return {"tickets": page, "total": len(rows), "next_cursor": following}


def _rank(ticket: Row, by: str) -> tuple[Any, str]:
    return (PRIORITIES.index(ticket[by]) if by == "priority" else ticket[by], ticket["ticket_id"])


def _matches(ticket: Row, wanted: Row) -> bool:
    created = ticket["created_at"][:10]
    period = wanted.get("created", {})
    return (
        ticket["status"] in wanted.get("status", STATUSES)
        and ticket["priority"] in wanted.get("priority", PRIORITIES)
        and all(ticket[key] == wanted[key] for key in ("customer_id", "assignee_id", "team_id") if key in wanted)
        and ("tags_any" not in wanted or not set(wanted["tags_any"]).isdisjoint(ticket["tags"]))
        and period.get("from", created) <= created <= period.get("to", created)
    )


@TOOLS.add({"ticket_id": TICKET_ID}, required=["ticket_id"], returns=TICKET, hints=READ, title="Get ticket")
def get_ticket(ticket_id: str) -> Row:
    """Get one ticket by its id.

    `parent_id` names the ticket this one follows up on: a closed ticket cannot be reopened, so an answer to it opens
    a new ticket that points back. Walk `parent_id` to reach the first report of a case. Comments are not included.
    """
    return find(open_desk().tickets, ticket_id, "ticket")


@TOOLS.add(
    {
        "query": string("Words to look for. All of them must occur, in any order; upper and lower case are the same."),
        "in_comments": boolean("Look into public comments too, not only into subjects.", default=True),
        "max_results": integer("At most this many hits.", default=10, minimum=1, maximum=50),
    },
    required=["query"],
)
def search_tickets(query: str, in_comments: bool, max_results: int) -> list[Row]:
    """Full-text search over tickets.

    Returns the newest hits first, each with id, subject, status and the line that matched. Searches subjects and,
    unless switched off, public comments; internal notes are never searched. For searches by field use `list_tickets`.
    """
    words = query.lower().split()
    if not words:
        raise ToolError("`query` has no words")
    desk = open_desk()
    hits: list[Row] = []
    for ticket in reversed(desk.tickets.values()):
        comments = desk.comments[ticket["ticket_id"]] if in_comments else []
        lines = [ticket["subject"], *(comment["body"] for comment in comments if not comment["is_internal"])]
        matched = [line for line in lines if all(word in line.lower() for word in words)]
        if matched:
            hits.append({key: ticket[key] for key in ("ticket_id", "subject", "status")} | {"line": matched[0]})
    return hits[:max_results]


@TOOLS.add(
    {
        "group_by": choice(["status", "priority", "type", "team_id", "product", "customer_id"], "What to count by."),
        "filter": TICKET_FILTER,
    },
    required=["group_by"],
    returns=record(
        {
            "total": integer(),
            "groups": array(record({"key": string(), "tickets": integer()}, required=["key", "tickets"])),
        },
        required=["total", "groups"],
    ),
    hints=READ,
)
def count_tickets(group_by: str, filter: Row | None = None) -> Row:
    """Count tickets in groups, largest group first.

    Much cheaper than listing when only numbers are needed, for example the backlog by team or open incidents by
    product.
    """
    counts = Counter(ticket[group_by] for ticket in open_desk().tickets.values() if _matches(ticket, filter or {}))
    groups = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return {"total": sum(counts.values()), "groups": [{"key": key, "tickets": count} for key, count in groups]}


@TOOLS.add(
    {
        "page": integer("Page to export, from 1.", minimum=1, default=1),
        "page_size": integer("Tickets per page.", minimum=1, maximum=500, default=200),
        "columns": array(
            choice(COLUMNS),
            "Columns of the export, in this order. All of them when left out.",
            uniqueItems=True,
        ),
    },
    hints=READ,
)
def export_tickets(page: int, page_size: int, columns: list[str] | None = None) -> Row:
    """Export tickets in bulk, as rows of values under a list of column names.

    Pages are numbered and stable, so several can be fetched at the same time. `pages` says how many there are.
    """
    rows = list(open_desk().tickets.values())
    names = columns or COLUMNS
    part = rows[(page - 1) * page_size : page * page_size]
    return {
        "columns": names,
        "rows": [[ticket[name] for name in names] for ticket in part],
        "page": page,
        "pages": -(-len(rows) // page_size),
    }


@TOOLS.add(
    {
        "subject": string("One line that says what is wrong.", minLength=3, maxLength=200),
        "body": string("First public comment, Markdown. What happened, what was expected, since when."),
        "customer_id": CUSTOMER_ID,
        "requester": record(
            PERSON["properties"], "Who reports it; the office address if left out.", required=["email"]
        ),
        "priority": choice(PRIORITIES, "How urgent it is. Urgent tickets page the team on call.", default="normal"),
        "type": choice(TYPES, default="question"),
        "product": string("Product the ticket is about: Relay, Atlas, Beacon or Console.", default="Relay"),
        "team_id": string("Team that gets the ticket.", default="TM-frontline"),
        "assignee_id": nullable(string("Agent to assign at once. Null leaves it to the team."), default=None),
        "parent_id": nullable(string("Ticket this one follows up on."), default=None),
        "tags": array(string(maxLength=40), "Tags to set.", default=[], maxItems=20),
        "custom_fields": CUSTOM_FIELDS,
    },
    required=["subject", "body", "customer_id"],
    hints=WRITE,
    title="Create ticket",
)
def create_ticket(subject: str, body: str, customer_id: str, **fields: Any) -> Row:
    """Create a ticket for a customer and put the body on it as its first public comment.

    The requester gets a confirmation by e-mail. Search first: a second ticket for the same problem splits the
    conversation. Returns the ticket as it was stored.
    """
    desk = open_desk()
    customer = find(desk.customers, customer_id, "customer")
    team = find(desk.teams, fields["team_id"], "team")
    if fields["parent_id"] is not None:
        find(desk.tickets, fields["parent_id"], "ticket")
    ticket_id = f"T-{10001 + len(desk.comments)}"
    now = desk.clock.stamp()
    requester = {"name": customer["name"], "email": customer["email"], **fields.get("requester", {})}
    ticket = {
        "ticket_id": ticket_id,
        "subject": subject,
        "status": "new" if fields["assignee_id"] is None else "open",
        "customer_id": customer_id,
        "requester": requester,
        "team_id": team["team_id"],
        **{key: fields[key] for key in ("priority", "type", "product", "assignee_id", "parent_id", "tags")},
        "created_at": now,
        "updated_at": now,
        "satisfaction": None,
        "custom_fields": fields.get("custom_fields", []),
    }
    desk.tickets[ticket_id] = ticket
    desk.comments[ticket_id] = []
    desk.say(ticket, requester["name"], body)
    return ticket


CHANGES = record(
    {
        "subject": string(minLength=3, maxLength=200),
        "status": choice(STATUSES),
        "priority": choice(PRIORITIES),
        "type": choice(TYPES),
        "team_id": string(),
        "tags": array(string(), "Replaces all tags."),
        "custom_fields": CUSTOM_FIELDS,
    },
    "Fields to change. What is left out stays as it is.",
    minProperties=1,
    additionalProperties=False,
)


@TOOLS.add(
    {"ticket_id": TICKET_ID, "changes": CHANGES},
    required=["ticket_id", "changes"],
    returns=TICKET,
    hints=UPDATE,
    title="Update ticket",
)
def update_ticket(ticket_id: str, changes: Row) -> Row:
    """Change fields of a ticket and return it as it is afterwards.

    Only the given fields change. A closed ticket cannot be changed; create a follow-up with `parent_id` instead. To
    change the owner use `assignTicket`, to answer the customer use `add_comment`.
    """
    return _change(find(open_desk().tickets, ticket_id, "ticket"), changes)


def _change(ticket: Row, changes: Row) -> Row:
    if ticket["status"] == "closed":
        raise ToolError(f"{ticket['ticket_id']} is closed and cannot be changed; create a follow-up with `parent_id`")
    if "team_id" in changes:
        find(open_desk().teams, changes["team_id"], "team")
    values = {field["field"]: field["value"] for field in ticket["custom_fields"] + changes.get("custom_fields", [])}
    ticket |= changes
    ticket["custom_fields"] = [{"field": key, "value": value} for key, value in values.items() if value]
    ticket["updated_at"] = open_desk().clock.stamp()
    return ticket


@TOOLS.add(
    {
        "updates": array(
            record({"ticket_id": TICKET_ID, "changes": CHANGES}, required=["ticket_id", "changes"]),
            "The changes, one entry per ticket.",
            minItems=1,
            maxItems=100,
        ),
        "dry_run": boolean("Only check what would happen.", default=False),
    },
    required=["updates"],
    hints=UPDATE,
)
def bulk_update_tickets(updates: list[Row], dry_run: bool) -> Row:
    """Change up to 100 tickets in one call.

    Each entry is applied on its own: the answer lists the tickets that changed and, for the others, why they did not.
    """
    changed: list[str] = []
    failed: list[Row] = []
    for update in updates:
        try:
            ticket = find(open_desk().tickets, update["ticket_id"], "ticket")
            _change(dict(ticket) if dry_run else ticket, update["changes"])
            changed.append(update["ticket_id"])
        except ToolError as error:
            failed.append({"ticket_id": update["ticket_id"], "reason": str(error)})
    return {"changed": changed, "failed": failed, "dry_run": dry_run}


@TOOLS.add(
    {
        "ticketId": TICKET_ID,
        "assigneeId": nullable(AGENT_ID),
        "notifyAssignee": boolean("Send the agent an e-mail.", default=True),
    },
    required=["ticketId", "assigneeId"],
    name="assignTicket",
)
def assign_ticket(ticket_id: str, assignee_id: str | None, notify_assignee: bool) -> str:
    """Assign a ticket to an agent, or to nobody with null.

    The ticket moves to the agent's team and to the state `open`.
    """
    desk = open_desk()
    ticket = find(desk.tickets, ticket_id, "ticket")
    if assignee_id is None:
        ticket["assignee_id"] = None
        return f"{ticket_id} is assigned to nobody"
    agent = find(desk.agents, assignee_id, "agent")
    ticket |= {"assignee_id": assignee_id, "team_id": agent["team_id"], "status": "open"}
    return f"{ticket_id} is assigned to {agent['name']}" + (", who was told by e-mail" if notify_assignee else "")


@TOOLS.add(
    {
        "target_id": TICKET_ID,
        "source_ids": array(TICKET_ID, "Tickets that end up in the target.", minItems=1, maxItems=10),
        "comment": string("Public comment on the target.", default="Merged with other reports of the same problem."),
    },
    required=["target_id", "source_ids"],
    hints=DESTROY,
)
def merge_tickets(target_id: str, source_ids: list[str], comment: str) -> Row:
    """Merge tickets into one. This cannot be undone.

    All comments of the sources move to the target in order of time, the sources are closed and point to the target as
    their parent. All tickets must belong to the same customer.
    """
    desk = open_desk()
    target = find(desk.tickets, target_id, "ticket")
    sources = [find(desk.tickets, source_id, "ticket") for source_id in source_ids if source_id != target_id]
    if any(source["customer_id"] != target["customer_id"] for source in sources):
        raise ToolError(f"All tickets must belong to {target['customer_id']}; nothing was merged")
    for source in sources:
        desk.comments[target_id] += desk.comments[source["ticket_id"]]
        desk.comments[source["ticket_id"]] = []
        source |= {"status": "closed", "parent_id": target_id}
    desk.comments[target_id].sort(key=lambda item: (item["created_at"], item["comment_id"]))
    desk.say(target, "system", comment)
    return {"ticket_id": target_id, "merged": [source["ticket_id"] for source in sources]}


@TOOLS.add({"ticket_id": TICKET_ID}, required=["ticket_id"], hints=DESTROY, title="Delete ticket")
def delete_ticket(ticket_id: str) -> str:
    """Delete a ticket with its comments and attachments for good.

    Only for spam and for personal data that must go; everything else is closed, not deleted. There is no undo.
    """
    desk = open_desk()
    find(desk.tickets, ticket_id, "ticket")
    del desk.tickets[ticket_id]
    desk.comments[ticket_id] = []
    return f"Deleted {ticket_id}"
