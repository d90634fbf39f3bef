# A chain: 33 calls, each of which needs the answer of the one before.
#
# T-10640 is the last of 24 tickets in one case: a closed ticket cannot be reopened, so every answer opened a new one
# that names the one before it. The program walks back to the first report and then asks who must be told today:
# customer, contract, plan, service level, escalation policy, schedule, agent on call, that agent's team, its lead.
# Called directly these are 33 turns of a model, and every ticket passes through its context.
ticket = tools.helpdesk.get_ticket(ticket_id="T-10640")
case = [ticket]
while ticket["parent_id"] is not None:
    ticket = tools.helpdesk.get_ticket(ticket_id=ticket["parent_id"])
    case.append(ticket)

customer = tools.helpdesk.get_customer(customer_id=ticket["customer_id"])
contract = tools.helpdesk.get_contract(contract_id=customer["contract_id"])
plan = tools.helpdesk.get_plan(plan_id=contract["plan_id"])
sla = tools.helpdesk.get_sla(sla_id=plan["sla_id"])
policy = tools.helpdesk.get_escalation_policy(policy_id=sla["escalation_policy_id"])
duty = tools.helpdesk.get_on_call(schedule_id=policy["levels"][0]["target_id"])
agent = tools.helpdesk.get_agent(agent_id=duty["agent_id"])
team = tools.helpdesk.get_team(team_id=agent["team_id"])
lead = tools.helpdesk.get_agent(agent_id=team["lead_id"])

{
    "customer": customer["name"],
    "first_report": {"ticket": ticket["ticket_id"], "on": ticket["created_at"][:10], "subject": ticket["subject"]},
    "tickets": len(case),
    "people_involved": len({step["assignee_id"] for step in case if step["assignee_id"]}),
    "service_level": sla["name"],
    "on_call": agent["name"],
    "team_lead": lead["name"],
}
