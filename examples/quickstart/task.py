# Which customers wait for an answer to an urgent ticket and owe us more than 15,000 euro at the same time?
# Who looks after the one with the largest debt, and who is on call for it?
from concurrent.futures import ThreadPoolExecutor

waiting = {"status": ["new", "open", "pending", "on_hold"], "priority": ["urgent"]}
tickets, cursor = [], None
while True:
    page = tools.helpdesk.list_tickets(filter=waiting, limit=20, cursor=cursor)
    tickets += page["tickets"]
    cursor = page["next_cursor"]
    if cursor is None:
        break

# The join: one call to the other server for each customer, eight at a time.
ids = sorted({ticket["customer_id"] for ticket in tickets})
with ThreadPoolExecutor(8) as pool:
    balances = list(pool.map(lambda id: tools.ledger.get_customer_balance(customer_id=id), ids))
debtors = [balance for balance in balances if balance["open_euro_cents"] > 1_500_000]
debtors.sort(key=lambda balance: balance["open_euro_cents"], reverse=True)

# The chain: each call needs the answer of the one before.
customer = tools.helpdesk.get_customer(customer_id=debtors[0]["customer_id"])
contract = tools.helpdesk.get_contract(contract_id=customer["contract_id"])
manager = tools.helpdesk.get_agent(agent_id=contract["account_manager_id"])
plan = tools.helpdesk.get_plan(plan_id=contract["plan_id"])
sla = tools.helpdesk.get_sla(sla_id=plan["sla_id"])
policy = tools.helpdesk.get_escalation_policy(policy_id=sla["escalation_policy_id"])
duty = tools.helpdesk.get_on_call(schedule_id=policy["levels"][0]["target_id"])
on_call = tools.helpdesk.get_agent(agent_id=duty["agent_id"])

for debtor in debtors:
    numbers = [ticket["ticket_id"] for ticket in tickets if ticket["customer_id"] == debtor["customer_id"]]
    euro = debtor["open_euro_cents"] / 100
    print(f"{debtor['customer_id']}  {debtor['name']:<22} {euro:>10,.2f} EUR  {', '.join(numbers)}")

{
    "urgent": len(tickets),
    "customers": len(ids),
    "owing": len(debtors),
    "largest": {"name": customer["name"], "plan": plan["name"], "manager": manager["name"], "on_call": on_call["name"]},
}
