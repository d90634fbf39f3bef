# A bulk job: 20,000 ledger entries, 5 MB of JSON, in 20 calls that run at the same time. A summary comes back.
#
# The first call tells how many pages there are; the others do not depend on each other.
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

first = tools.ledger.export_entries(page=1, page_size=1000)
with ThreadPoolExecutor(8) as pool:
    others = pool.map(lambda page: tools.ledger.export_entries(page=page, page_size=1000), range(2, first["pages"] + 1))
    entries = [entry for page in (first, *others) for entry in page["entries"]]

names = {account["account_id"]: account for account in tools.ledger.list_accounts()}
balance, owed = Counter(), Counter()
for entry in entries:
    amount = entry["debit_cents"] - entry["credit_cents"]
    balance[entry["account_id"]] += amount
    if entry["account_id"] == "1100":
        owed[entry["customer_id"]] += amount
costs = Counter({key: cents for key, cents in balance.items() if names[key]["type"] == "expense"})

{
    "entries": len(entries),
    "journals": len({entry["journal_id"] for entry in entries}),
    "balances": sum(balance.values()) == 0,
    "largest_costs_eur": {names[key]["name"]: round(cents / 100) for key, cents in costs.most_common(3)},
    "receivables_eur": round(balance["1100"] / 100),
    "largest_debtors_eur": {key: round(cents / 100) for key, cents in owed.most_common(3)},
}
