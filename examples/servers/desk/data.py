"""The helpdesk's data, in memory: built once per process from fixed dice, changed by the tools that write.

`open_desk` gives the one `Desk` of this process. Ids: tickets `T-10001`…, customers `C-1001`…, agents `A-01`…
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any

from world import TODAY, Clock, Dice, build_customers, stamp

from desk import texts

Row = dict[str, Any]

FIRST_TICKET = 10001
TICKET_COUNT = 640
FOLLOW_UPS = 24
"""The newest ticket is the last of this many in one row: a case that was reopened again and again."""

PRIORITIES = ("low", "normal", "high", "urgent")
STATUSES = ("new", "open", "pending", "on_hold", "solved", "closed")
TYPES = ("question", "incident", "problem", "task")
MORNING = datetime(TODAY.year, TODAY.month, TODAY.day, 8, tzinfo=UTC)
"""Nothing in the data is later than this."""


@dataclass(slots=True)
class Desk:
    """All tables by id."""

    customers: dict[str, Row]
    agents: dict[str, Row] = field(default_factory=dict)
    teams: dict[str, Row] = field(default_factory=dict)
    schedules: dict[str, Row] = field(default_factory=dict)
    escalation_policies: dict[str, Row] = field(default_factory=dict)
    slas: dict[str, Row] = field(default_factory=dict)
    plans: dict[str, Row] = field(default_factory=dict)
    contracts: dict[str, Row] = field(default_factory=dict)
    tickets: dict[str, Row] = field(default_factory=dict)
    comments: dict[str, list[Row]] = field(default_factory=dict)
    articles: dict[str, Row] = field(default_factory=dict)
    macros: dict[str, Row] = field(default_factory=dict)
    pages: list[Row] = field(default_factory=list)
    clock: Clock = field(default_factory=Clock)

    def say(self, ticket: Row, author: str, body: str, *, is_internal: bool = False) -> Row:
        """Put a comment on a ticket and return it."""
        comments = self.comments[ticket["ticket_id"]]
        comment = {
            "comment_id": f"{ticket['ticket_id']}-{len(comments) + 1}",
            "author": author,
            "is_internal": is_internal,
            "body": body,
            "created_at": self.clock.stamp(),
            "attachment_ids": [],
        }
        comments.append(comment)
        ticket["updated_at"] = comment["created_at"]
        return comment


@cache
def open_desk() -> Desk:
    """The helpdesk of this process."""
    desk = Desk(customers=build_customers())
    dice = Dice(640)
    _add_people(desk, dice)
    _add_terms(desk, dice)
    _add_tickets(desk, dice)
    _add_knowledge(desk)
    return desk


def _add_people(desk: Desk, dice: Dice) -> None:
    teams = (
        ("frontline", "Frontline", 10),
        ("integrations", "Integrations", 5),
        ("billing", "Billing desk", 4),
        ("platform", "Platform", 5),
    )
    number = 0
    for key, name, size in teams:
        members = [f"A-{number + offset + 1:02}" for offset in range(size)]
        team_id = f"TM-{key}"
        for agent_id in members:
            first, last = texts.FIRST_NAMES[number], texts.LAST_NAMES[(number * 5 + 3) % 24]
            desk.agents[agent_id] = {
                "agent_id": agent_id,
                "name": f"{first} {last}",
                "email": f"{agent_id.lower()}@desk.example",
                "phone": f"+49 40 555 {1000 + number}",
                "team_id": team_id,
                "role": "lead" if agent_id == members[0] else dice.pick(("agent", "agent", "senior")),
                "languages": sorted({"en", dice.pick(("de", "fr", "es", "pl", "sv"))}),
                "skills": sorted({dice.pick(texts.PROBLEMS)[0] for _ in range(3)}),
                "manager_id": None if agent_id == members[0] else members[0],
                "is_available": not dice.chance(0.15),
            }
            number += 1
        schedule_id, policy_id = f"SC-{key}", f"EP-{key}"
        desk.teams[team_id] = {
            "team_id": team_id,
            "name": name,
            "lead_id": members[0],
            "member_ids": members,
            "schedule_id": schedule_id,
            "escalation_policy_id": policy_id,
        }
        desk.schedules[schedule_id] = {"schedule_id": schedule_id, "team_id": team_id, "rotation": members[1:]}
        desk.escalation_policies[policy_id] = {
            "policy_id": policy_id,
            "name": f"{name}, around the clock",
            "repeat_times": 2,
            "levels": [
                {"level": 1, "after_minutes": 0, "target_type": "schedule", "target_id": schedule_id},
                {"level": 2, "after_minutes": 15, "target_type": "agent", "target_id": members[0]},
                {"level": 3, "after_minutes": 45, "target_type": "schedule", "target_id": "SC-platform"},
            ],
        }


def _add_terms(desk: Desk, dice: Dice) -> None:
    for sla_id, name, response, resolution, policy in (
        ("SLA-gold", "Gold", (15, 30, 120, 240), (4, 8, 24, 72), "EP-platform"),
        ("SLA-silver", "Silver", (60, 120, 240, 480), (8, 24, 48, 120), "EP-integrations"),
        ("SLA-bronze", "Bronze", (240, 480, 960, 1440), (48, 72, 120, 240), "EP-frontline"),
    ):
        desk.slas[sla_id] = {
            "sla_id": sla_id,
            "name": name,
            "hours": "24x7" if sla_id == "SLA-gold" else "business",
            "escalation_policy_id": policy,
            "targets": [
                {"priority": priority, "first_response_minutes": response[rank], "resolution_hours": resolution[rank]}
                for rank, priority in enumerate(reversed(PRIORITIES))
            ],
        }
    for plan_id, name, seats, price, sla_id in (
        ("PL-scale", "Scale", 500, 249_000, "SLA-gold"),
        ("PL-team", "Team", 80, 59_000, "SLA-silver"),
        ("PL-start", "Start", 10, 9_900, "SLA-bronze"),
    ):
        desk.plans[plan_id] = {
            "plan_id": plan_id,
            "name": name,
            "included_seats": seats,
            "monthly_price_cents": price,
            "sla_id": sla_id,
            "features": sorted({"export", "api", "sync"} if seats > 10 else {"export"}),
        }
    plan_of = {"enterprise": "PL-scale", "mid_market": "PL-team", "small_business": "PL-start"}
    for index, customer in enumerate(desk.customers.values()):
        starts = date(2025, 1, 1) + timedelta(days=dice.below(360))
        contract_id = f"K-{2001 + index}"
        customer["contract_id"] = contract_id
        desk.contracts[contract_id] = {
            "contract_id": contract_id,
            "customer_id": customer["customer_id"],
            "plan_id": plan_of[customer["segment"]],
            "account_manager_id": f"A-{dice.between(1, 24):02}",
            "seats": dice.between(3, 400),
            "starts_on": starts.isoformat(),
            "ends_on": (starts + timedelta(days=730)).isoformat(),
            "renews_automatically": dice.chance(0.7),
        }


def _add_tickets(desk: Desk, dice: Dice) -> None:
    case = _case_numbers()
    case_customer = "C-1042"
    start = datetime(TODAY.year, TODAY.month, TODAY.day, tzinfo=UTC) - timedelta(days=TICKET_COUNT // 4)
    for index in range(TICKET_COUNT):
        number = FIRST_TICKET + index
        tag, subject = dice.pick(texts.PROBLEMS)
        subject = subject.format(n=dice.between(12, 900))
        created = start + timedelta(hours=6 * index, minutes=dice.below(300))
        age = TICKET_COUNT - index
        is_settled = age > 60 and dice.chance(0.85)
        status = dice.pick(("solved", "closed")) if is_settled else dice.pick(STATUSES[:4])
        customer_id = f"C-{dice.between(1001, 1120)}"
        parent = number - dice.between(1, 40) if index > 60 and dice.chance(0.1) else None
        if number in case:
            position = case.index(number)
            parent = case[position - 1] if position else None
            customer_id, tag = case_customer, "sync"
            subject = "Sync with the warehouse is 40 minutes behind"
            subject = texts.REOPENED.format(subject=subject) if position else subject
            status = "open" if position == len(case) - 1 else "closed"
        team_id = {"billing": "TM-billing", "sync": "TM-integrations", "api": "TM-integrations"}.get(
            tag, "TM-frontline"
        )
        ticket = _ticket(desk, dice, number=number, created=created, customer_id=customer_id, team_id=team_id)
        ticket |= {"subject": subject, "status": status, "tags": [tag]}
        ticket["parent_id"] = f"T-{parent}" if parent else None
        ticket["satisfaction"] = dice.between(1, 5) if is_settled and dice.chance(0.4) else None
        desk.tickets[ticket["ticket_id"]] = ticket
        desk.comments[ticket["ticket_id"]] = _comments(dice, ticket, created)


def _case_numbers() -> list[int]:
    """The tickets of the reopened case, oldest first; the newest ticket of all is its last."""
    dice = Dice(24)
    numbers = [FIRST_TICKET + TICKET_COUNT - 1]
    while len(numbers) < FOLLOW_UPS:
        numbers.append(numbers[-1] - dice.between(8, 30))
    return numbers[::-1]


def _ticket(desk: Desk, dice: Dice, *, number: int, created: datetime, customer_id: str, team_id: str) -> Row:
    requester = f"{dice.pick(texts.FIRST_NAMES)} {dice.pick(texts.LAST_NAMES)}"
    domain = desk.customers[customer_id]["email"].partition("@")[2]
    return {
        "ticket_id": f"T-{number}",
        "subject": "",
        "status": "new",
        "priority": dice.pick(("low", "normal", "normal", "normal", "high", "high", "urgent")),
        "type": dice.pick(TYPES),
        "product": dice.pick(texts.PRODUCTS),
        "customer_id": customer_id,
        "requester": {"name": requester, "email": f"{requester.split()[0].lower()}@{domain}"},
        "team_id": team_id,
        "assignee_id": dice.pick(desk.teams[team_id]["member_ids"]) if dice.chance(0.9) else None,
        "parent_id": None,
        "tags": [],
        "created_at": stamp(created),
        "updated_at": stamp(min(created + timedelta(hours=dice.between(1, 40)), MORNING)),
        "satisfaction": None,
        "custom_fields": [{"field": "region", "value": desk.customers[customer_id]["address"]["country"]}],
    }


def _comments(dice: Dice, ticket: Row, created: datetime) -> list[Row]:
    comments: list[Row] = []
    for index in range(dice.between(1, 4)):
        is_internal = index > 0 and dice.chance(0.2)
        from_customer = index % 2 == 0 and not is_internal
        lines = texts.INTERNAL_LINES if is_internal else texts.CUSTOMER_LINES if from_customer else texts.AGENT_LINES
        kind = dice.pick(("log", "log", "screenshot")) if from_customer and dice.chance(0.3) else None
        comment_id = f"{ticket['ticket_id']}-{index + 1}"
        comments.append(
            {
                "comment_id": comment_id,
                "author": ticket["requester"]["name"] if from_customer else ticket["assignee_id"] or "system",
                "is_internal": is_internal,
                "body": dice.pick(lines),
                "created_at": stamp(created + timedelta(hours=index, minutes=dice.below(50))),
                "attachment_ids": [f"{comment_id}.{'png' if kind == 'screenshot' else 'log'}"] if kind else [],
            }
        )
    return comments


def _add_knowledge(desk: Desk) -> None:
    for index, (tag, title, cause, remedy) in enumerate(texts.ARTICLES):
        article_id = f"KB-{101 + index}"
        desk.articles[article_id] = {
            "article_id": article_id,
            "title": title,
            "tags": [tag],
            "locale": "en",
            "is_published": True,
            "body": f"# {title}\n\n**Cause.** {cause}\n\n**What to do.** {remedy}\n",
        }
    for index, (title, status, comment, tags) in enumerate(texts.MACROS):
        macro_id = f"M-{index + 1}"
        desk.macros[macro_id] = {
            "macro_id": macro_id,
            "title": title,
            "set_status": status,
            "comment": comment,
            "add_tags": list(tags),
        }
