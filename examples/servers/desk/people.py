"""Tools about people: agents, teams, escalation policies and who is on call."""

from __future__ import annotations

from datetime import date

from toolkit import READ, SEND, Toolbox, ToolError, find
from words import array, boolean, choice, integer, nullable, record, string
from world import TODAY

from desk.data import Row, open_desk
from desk.shapes import AGENT, AGENT_ID, TICKET_ID

TOOLS = Toolbox()

TEAM = record(
    {
        "team_id": string(),
        "name": string(),
        "lead_id": string(),
        "member_ids": array(string()),
        "schedule_id": string("On-call schedule of the team."),
        "escalation_policy_id": string(),
    },
    required=["team_id", "name", "lead_id", "member_ids", "schedule_id", "escalation_policy_id"],
)


@TOOLS.add(
    {
        "team_id": string("Only members of this team."),
        "skill": string("Only agents with this skill, for example `sync`."),
        "language": string("Only agents who speak it, ISO 639-1.", minLength=2, maxLength=2),
        "available_only": boolean("Leave out agents who are away.", default=False),
    },
    returns=array(AGENT),
    hints=READ,
    title="List agents",
)
def list_agents(available_only: bool, team_id: str = "", skill: str = "", language: str = "") -> list[Row]:
    """List support agents, optionally by team, skill, language and availability.

    There are few enough for one answer.
    """
    return [
        agent
        for agent in open_desk().agents.values()
        if team_id in ("", agent["team_id"])
        and (not skill or skill in agent["skills"])
        and (not language or language in agent["languages"])
        and (agent["is_available"] or not available_only)
    ]


@TOOLS.add({"agent_id": AGENT_ID}, required=["agent_id"], returns=AGENT, hints=READ, title="Get agent")
def get_agent(agent_id: str) -> Row:
    """Get one agent with team, role, skills, languages, availability and the id of the manager."""
    return find(open_desk().agents, agent_id, "agent")


@TOOLS.add(
    {
        "agent_id": AGENT_ID,
        "is_available": boolean("Whether the agent takes new tickets."),
        "reason": choice(["vacation", "sick", "training", "other"], "Why not, shown to the team.", default="other"),
        "until": nullable(string("Last day of the absence; null for open end.", format="date"), default=None),
    },
    required=["agent_id", "is_available"],
)
def set_agent_availability(agent_id: str, is_available: bool, reason: str, until: str | None) -> str:
    """Mark an agent as available or away. Tickets already assigned stay where they are."""
    agent = find(open_desk().agents, agent_id, "agent")
    agent["is_available"] = is_available
    if is_available:
        return f"{agent['name']} takes new tickets"
    return f"{agent['name']} is away ({reason})" + (f" until {until}" if until else "")


@TOOLS.add()
def list_teams() -> list[Row]:
    """List all teams with their lead and the number of members.

    For members and on-call data get one with `get_team`.
    """
    return [
        {
            "team_id": team["team_id"],
            "name": team["name"],
            "lead_id": team["lead_id"],
            "members": len(team["member_ids"]),
        }
        for team in open_desk().teams.values()
    ]


@TOOLS.add(
    {"team_id": string("Team id, for example `TM-integrations`.")},
    required=["team_id"],
    returns=TEAM,
    hints=READ,
)
def get_team(team_id: str) -> Row:
    """Get one team.

    It has lead, members, on-call schedule (see `get_on_call`) and escalation policy (see `get_escalation_policy`).
    """
    return find(open_desk().teams, team_id, "team")


@TOOLS.add(
    {"policy_id": string("Escalation policy id, for example `EP-platform`.")},
    required=["policy_id"],
    returns=record(
        {
            "policy_id": string(),
            "name": string(),
            "repeat_times": integer("How often the levels are gone through again when nobody answers."),
            "levels": array(
                record(
                    {
                        "level": integer(minimum=1),
                        "after_minutes": integer("Minutes since the alarm."),
                        "target_type": choice(["schedule", "agent"]),
                        "target_id": string(),
                    },
                    required=["level", "after_minutes", "target_type", "target_id"],
                )
            ),
        },
        required=["policy_id", "name", "repeat_times", "levels"],
    ),
    hints=READ,
)
def get_escalation_policy(policy_id: str) -> Row:
    """Get an escalation policy: who is told first, who next when nobody answers, and after how many minutes.

    A level points to an agent, or to a schedule; ask `get_on_call` who is on duty there.
    """
    return find(open_desk().escalation_policies, policy_id, "escalation policy")


@TOOLS.add(
    {
        "schedule_id": string("Schedule id, for example `SC-platform`."),
        "on": string("Day to look at; today when left out.", format="date"),
    },
    required=["schedule_id"],
    returns=record(
        {
            "schedule_id": string(),
            "on": string(format="date"),
            "agent_id": string("Who is on call."),
            "next_agent_id": string("Who takes over next Monday."),
        },
        required=["schedule_id", "on", "agent_id", "next_agent_id"],
    ),
    hints=READ,
    title="Who is on call",
)
def get_on_call(schedule_id: str, on: str = "") -> Row:
    """Tell who is on call in a schedule on a given day. The duty changes every Monday at 9:00."""
    schedule = find(open_desk().schedules, schedule_id, "schedule")
    day = date.fromisoformat(on) if on else TODAY
    week = (day.toordinal() - 1) // 7  # ordinal 1 was a Monday
    rotation = schedule["rotation"]
    return {
        "schedule_id": schedule_id,
        "on": day.isoformat(),
        "agent_id": rotation[week % len(rotation)],
        "next_agent_id": rotation[(week + 1) % len(rotation)],
    }


@TOOLS.add(
    {
        "policy_id": string("Escalation policy to run, for example `EP-platform`."),
        "ticket_id": TICKET_ID,
        "message": string("What the person reads on the phone.", minLength=5, maxLength=160),
        "channels": array(
            choice(["push", "sms", "call"]),
            "How to reach them, in this order.",
            default=["push"],
            minItems=1,
            uniqueItems=True,
        ),
    },
    required=["policy_id", "ticket_id", "message"],
    hints=SEND,
    title="Page on-call",
)
def page_on_call(policy_id: str, ticket_id: str, message: str, channels: list[str]) -> Row:
    """Wake somebody up: start an escalation policy for a ticket now.

    The first level is told within seconds, at any hour.

    Use it only for urgent tickets with customers waiting. It cannot be called back; the person must acknowledge it.
    """
    desk = open_desk()
    policy = find(desk.escalation_policies, policy_id, "escalation policy")
    ticket = find(desk.tickets, ticket_id, "ticket")
    if ticket["priority"] != "urgent":
        raise ToolError(f"{ticket_id} is {ticket['priority']}; only urgent tickets page the team on call")
    first = policy["levels"][0]
    page = {
        "page_id": f"PG-{len(desk.pages) + 1}",
        "agent_id": get_on_call(first["target_id"])["agent_id"],
        "ticket_id": ticket_id,
        "message": message,
        "channels": channels,
        "sent_at": desk.clock.stamp(),
    }
    desk.pages.append(page)
    return page
