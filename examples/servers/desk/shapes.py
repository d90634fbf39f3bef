"""Schemas that several helpdesk tools share: what they return, and the nested parts of what they take."""

from __future__ import annotations

from words import array, boolean, choice, integer, nullable, record, string

from desk.data import PRIORITIES, STATUSES, TYPES

TICKET_ID = string("Ticket id, for example `T-10482`.", pattern=r"^T-\d{5}$")
CUSTOMER_ID = string("Customer id, for example `C-1042`. The ledger uses the same ids.", pattern=r"^C-\d{4}$")
AGENT_ID = string("Agent id, for example `A-07`.", pattern=r"^A-\d{2}$")
CURSOR = nullable(string("`next_cursor` of the page before. Leave out for the first page."), default=None)

PERSON = record({"name": string(), "email": string(format="email")}, required=["name", "email"])

CUSTOM_FIELDS = array(
    record(
        {"field": string("Key of the field."), "value": string("New value; an empty string clears the field.")},
        required=["field", "value"],
    ),
    "Values of custom fields by key. Fields that are not named keep their value.",
)

ADDRESS = record(
    {
        "street": string("Street and house number."),
        "city": string(),
        "postal_code": string(),
        "country": string("ISO 3166-1 alpha-2 code.", minLength=2, maxLength=2),
    },
    "A postal address.",
    required=["street", "city", "postal_code", "country"],
)

PERIOD = record(
    {
        "from": string("First day, inclusive.", format="date"),
        "to": string("Last day, inclusive.", format="date"),
    },
    "A range of days. Both ends are optional.",
)

TICKET_FILTER = record(
    {
        "status": array(choice(STATUSES), "Any of these states.", uniqueItems=True),
        "priority": array(choice(PRIORITIES), "Any of these priorities.", uniqueItems=True),
        "customer_id": CUSTOMER_ID,
        "assignee_id": nullable(string("Agent the ticket is assigned to; null finds tickets that nobody has.")),
        "team_id": string("Team that owns the ticket, for example `TM-frontline`."),
        "tags_any": array(string(), "At least one of these tags."),
        "created": PERIOD,
    },
    "Conditions that must all hold. An empty object matches every ticket.",
    additionalProperties=False,
)

TICKET = record(
    {
        "ticket_id": string(),
        "subject": string(),
        "status": choice(STATUSES),
        "priority": choice(PRIORITIES),
        "type": choice(TYPES),
        "product": string(),
        "customer_id": string(),
        "requester": PERSON,
        "team_id": string(),
        "assignee_id": nullable(string()),
        "parent_id": nullable(string("The ticket this one follows up on.")),
        "tags": array(string()),
        "created_at": string(format="date-time"),
        "updated_at": string(format="date-time"),
        "satisfaction": nullable(integer(minimum=1, maximum=5)),
        "custom_fields": array(record({"field": string(), "value": string()}, required=["field", "value"])),
    },
    required=[
        "ticket_id",
        "subject",
        "status",
        "priority",
        "customer_id",
        "team_id",
        "assignee_id",
        "parent_id",
        "tags",
    ],
)

COMMENT = record(
    {
        "comment_id": string(),
        "author": string("Name of the requester, or the id of an agent."),
        "is_internal": boolean(),
        "body": string(),
        "created_at": string(format="date-time"),
        "attachment_ids": array(string()),
    },
    required=["comment_id", "author", "is_internal", "body", "created_at", "attachment_ids"],
)

CUSTOMER = record(
    {
        "customer_id": string(),
        "name": string(),
        "segment": choice(["enterprise", "mid_market", "small_business"]),
        "email": string(format="email"),
        "address": record({key: string() for key in ("street", "city", "postal_code", "country")}),
        "currency": string("ISO 4217 code."),
        "time_zone": string("IANA name."),
        "contract_id": string(),
        "created_on": string(format="date"),
    },
    required=["customer_id", "name", "segment", "email", "address", "currency", "contract_id"],
)

AGENT = record(
    {
        "agent_id": string(),
        "name": string(),
        "email": string(format="email"),
        "phone": string(),
        "team_id": string(),
        "role": choice(["agent", "senior", "lead"]),
        "languages": array(string()),
        "skills": array(string()),
        "manager_id": nullable(string("None for the lead of a team.")),
        "is_available": boolean(),
    },
    required=["agent_id", "name", "email", "team_id", "role", "manager_id", "is_available"],
)
