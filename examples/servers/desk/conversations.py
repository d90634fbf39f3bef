"""Tools about what is said on a ticket: comments, attachments, macros."""

from __future__ import annotations

from picture import bar_chart
from toolkit import DESTROY, READ, WRITE, Document, Png, Toolbox, ToolError, find
from words import array, boolean, choice, nullable, record, string
from world import Dice

from desk import texts
from desk.data import Row, open_desk
from desk.shapes import AGENT_ID, COMMENT, TICKET_ID

TOOLS = Toolbox()


@TOOLS.add(
    {
        "ticket_id": TICKET_ID,
        "include_internal": boolean("Include notes that the customer cannot see.", default=True),
        "order": choice(["oldest_first", "newest_first"], default="oldest_first"),
    },
    required=["ticket_id"],
    returns=array(COMMENT),
    hints=READ,
    title="List comments",
)
def list_comments(ticket_id: str, include_internal: bool, order: str) -> list[Row]:
    """List the comments of a ticket: the customer's, the agents' answers and, unless left out, internal notes.

    A comment names its attachments by id; read one with `download-attachment`.
    """
    desk = open_desk()
    find(desk.tickets, ticket_id, "ticket")
    comments = [row for row in desk.comments[ticket_id] if include_internal or not row["is_internal"]]
    return comments if order == "oldest_first" else comments[::-1]


@TOOLS.add(
    {
        "ticket_id": TICKET_ID,
        "body": string("The text, Markdown.", minLength=1, maxLength=10_000),
        "is_internal": boolean("A note for agents only. Public comments are mailed to the requester.", default=False),
        "author_id": nullable(AGENT_ID, default=None),
        "then": record(
            {
                "status": choice(["open", "pending", "on_hold", "solved"], "State after the comment."),
                "add_tags": array(string(), "Tags to add."),
            },
            "What to change on the ticket in the same step.",
        ),
    },
    required=["ticket_id", "body"],
    hints=WRITE,
    title="Add comment",
)
def add_comment(ticket_id: str, body: str, is_internal: bool, author_id: str | None, then: Row | None = None) -> Row:
    """Add a comment to a ticket, public unless `is_internal` is set, and optionally change the ticket's state with it.

    A public comment goes out by e-mail at once and cannot be called back. Closed tickets take no comments.
    """
    desk = open_desk()
    ticket = find(desk.tickets, ticket_id, "ticket")
    if ticket["status"] == "closed":
        raise ToolError(f"{ticket_id} is closed and takes no comments; create a follow-up with `parent_id`")
    if author_id is not None:
        find(desk.agents, author_id, "agent")
    comment = desk.say(ticket, author_id or "system", body, is_internal=is_internal)
    changes = then or {}
    ticket["status"] = changes.get("status", ticket["status"])
    ticket["tags"] = ticket["tags"] + [tag for tag in changes.get("add_tags", []) if tag not in ticket["tags"]]
    return {"comment_id": comment["comment_id"], "ticket_id": ticket_id, "status": ticket["status"]}


@TOOLS.add(
    {
        "comment_id": string("Comment id, for example `T-10482-2`."),
        "text": string("The exact words to black out."),
    },
    required=["comment_id", "text"],
    hints=DESTROY,
)
def redact_comment(comment_id: str, text: str) -> Row:
    """Black out words in a comment for good, for example a password or a card number that a customer sent.

    Every occurrence is replaced by ▇ characters. The original cannot be restored, also not from the history.
    """
    ticket_id = comment_id.rpartition("-")[0]
    for comment in open_desk().comments.get(ticket_id, []):
        if comment["comment_id"] == comment_id:
            found = comment["body"].count(text)
            if not found:
                raise ToolError(f"{comment_id} does not contain these words")
            comment["body"] = comment["body"].replace(text, "▇" * len(text))
            return {"comment_id": comment_id, "redacted": found}
    raise ToolError(f"No comment with id {comment_id!r}")


@TOOLS.add({"ticket_id": TICKET_ID}, required=["ticket_id"])
def list_attachments(ticket_id: str) -> list[Row]:
    """List the files attached to a ticket's comments with their type. Returns an empty list when there are none."""
    desk = open_desk()
    find(desk.tickets, ticket_id, "ticket")
    return [
        {
            "attachment_id": attachment_id,
            "comment_id": comment["comment_id"],
            "content_type": "image/png" if attachment_id.endswith(".png") else "text/plain",
        }
        for comment in desk.comments[ticket_id]
        for attachment_id in comment["attachment_ids"]
    ]


@TOOLS.add(
    {"attachment-id": string("Id from `list_attachments` or from a comment, for example `T-10482-1.log`.")},
    required=["attachment-id"],
    hints=READ,
    name="download-attachment",
    title="Download attachment",
)
def download_attachment(attachment_id: str) -> Document | Png:
    """Download an attachment. Screenshots come as an image, logs as a text resource."""
    comments = open_desk().comments.get(attachment_id.partition(".")[0].rpartition("-")[0], [])
    if not any(attachment_id in comment["attachment_ids"] for comment in comments):
        raise ToolError(f"No attachment with id {attachment_id!r}")
    dice = Dice(sum(attachment_id.encode()))
    if attachment_id.endswith(".png"):
        return Png(bar_chart([dice.between(1, 40) for _ in range(12)]))
    lines = [f"09:{minute:02}:00 {dice.pick(texts.LOG_LINES)}" for minute in range(20)]
    text = "\n".join(line.format(n=dice.between(10, 9000)) for line in lines)
    return Document(f"helpdesk://attachments/{attachment_id}", "text/plain", text + "\n")


@TOOLS.add()
def list_macros() -> list[Row]:
    """List the macros: canned answers that comment on a ticket, set its state and add tags in one step."""
    return list(open_desk().macros.values())


@TOOLS.add(
    {
        "macro_id": string("Macro id from `list_macros`, for example `M-3`."),
        "ticket_ids": array(TICKET_ID, "Tickets to apply it to.", minItems=1, maxItems=50),
        "author_id": AGENT_ID,
    },
    required=["macro_id", "ticket_ids", "author_id"],
    hints=WRITE,
)
def apply_macro(macro_id: str, ticket_ids: list[str], author_id: str) -> Row:
    """Apply a macro to one or more tickets in an agent's name. Closed tickets are skipped and named in the answer."""
    desk = open_desk()
    macro = find(desk.macros, macro_id, "macro")
    find(desk.agents, author_id, "agent")
    tickets = [find(desk.tickets, ticket_id, "ticket") for ticket_id in ticket_ids]
    applied = [ticket for ticket in tickets if ticket["status"] != "closed"]
    for ticket in applied:
        desk.say(ticket, author_id, macro["comment"])
        ticket["status"] = macro["set_status"]
        ticket["tags"] = ticket["tags"] + [tag for tag in macro["add_tags"] if tag not in ticket["tags"]]
    done = [ticket["ticket_id"] for ticket in applied]
    return {"applied": done, "skipped": [ticket_id for ticket_id in ticket_ids if ticket_id not in done]}
