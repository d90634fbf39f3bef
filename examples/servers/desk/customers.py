"""Tools about customers and what they bought: contracts, plans, service levels."""

from __future__ import annotations

from toolkit import READ, UPDATE, Toolbox, ToolError, find, page_of
from words import array, boolean, choice, integer, nullable, record, string

from desk.data import PRIORITIES, Row, open_desk
from desk.shapes import ADDRESS, CURSOR, CUSTOMER, CUSTOMER_ID

TOOLS = Toolbox()


@TOOLS.add(
    {
        "name_contains": string("Part of the name; upper and lower case are the same."),
        "segment": choice(["enterprise", "mid_market", "small_business"], "Only this segment."),
        "country": string("Only customers in this country, ISO 3166-1 alpha-2.", minLength=2, maxLength=2),
        "limit": integer("Customers per page.", minimum=1, maximum=100, default=50),
        "cursor": CURSOR,
    },
    returns=record(
        {"customers": array(CUSTOMER), "next_cursor": nullable(string())}, required=["customers", "next_cursor"]
    ),
    hints=READ,
    title="List customers",
)
def list_customers(
    limit: int, name_contains: str = "", segment: str = "", country: str = "", cursor: str | None = None
) -> Row:
    """List customers by name, segment and country, ordered by id, one page at a time.

    All conditions are optional and must hold together. For billing data of the same customers ask the ledger with the
    same `customer_id`.
    """
    rows = [
        customer
        for customer in open_desk().customers.values()
        if name_contains.lower() in customer["name"].lower()
        and segment in ("", customer["segment"])
        and country in ("", customer["address"]["country"])
    ]
    page, following = page_of(rows, cursor, limit)
    return {"customers": page, "next_cursor": following}


@TOOLS.add({"customer_id": CUSTOMER_ID}, required=["customer_id"], returns=CUSTOMER, hints=READ, title="Get customer")
def get_customer(customer_id: str) -> Row:
    """Get one customer with address, currency, time zone and the id of the contract in force (see `get_contract`)."""
    return find(open_desk().customers, customer_id, "customer")


@TOOLS.add(
    {
        "customer_id": CUSTOMER_ID,
        "email": string("New office address.", format="email"),
        "address": ADDRESS,
        "time_zone": string("IANA name, for example `Europe/Madrid`."),
        "contacts": array(
            record(
                {
                    "name": string("Full name."),
                    "email": string(format="email"),
                    "role": choice(["technical", "billing", "executive"], default="technical"),
                    "phone": nullable(string("E.164."), default=None),
                },
                required=["name", "email"],
            ),
            "Replaces the list of contacts.",
            maxItems=20,
        ),
    },
    required=["customer_id"],
    returns=CUSTOMER,
    hints=UPDATE,
    title="Update customer",
)
def update_customer(customer_id: str, **changes: object) -> Row:
    """Change a customer's master data and return the customer as it is afterwards.

    Only the given fields change; an address is replaced as a whole. Name and segment come from the contract and
    cannot be changed here.
    """
    if not changes:
        raise ToolError("Nothing to change: give at least one of `email`, `address`, `time_zone`, `contacts`")
    customer = find(open_desk().customers, customer_id, "customer")
    customer |= changes
    return customer


@TOOLS.add(
    {"contract_id": string("Contract id, for example `K-2042`. A customer has it as `contract_id`.")},
    required=["contract_id"],
    returns=record(
        {
            "contract_id": string(),
            "customer_id": string(),
            "plan_id": string(),
            "account_manager_id": string("Agent who looks after the customer."),
            "seats": integer(minimum=0),
            "starts_on": string(format="date"),
            "ends_on": string(format="date"),
            "renews_automatically": boolean(),
        },
        required=["contract_id", "customer_id", "plan_id", "account_manager_id", "seats", "starts_on", "ends_on"],
    ),
    hints=READ,
)
def get_contract(contract_id: str) -> Row:
    """Get a contract: the plan (see `get_plan`), seats, term, and the agent who is the customer's account manager."""
    return find(open_desk().contracts, contract_id, "contract")


@TOOLS.add(
    {"plan_id": choice(["PL-scale", "PL-team", "PL-start"], "Plan id; a contract names it.")},
    required=["plan_id"],
    returns=record(
        {
            "plan_id": string(),
            "name": string(),
            "included_seats": integer(),
            "monthly_price_cents": integer("List price in euro cents."),
            "sla_id": string("Service level that comes with the plan."),
            "features": array(string()),
        },
        required=["plan_id", "name", "included_seats", "monthly_price_cents", "sla_id", "features"],
    ),
    hints=READ,
)
def get_plan(plan_id: str) -> Row:
    """Get a plan: list price, included seats, features and the service level (see `get_sla`) that comes with it."""
    return find(open_desk().plans, plan_id, "plan")


@TOOLS.add(
    {"sla_id": string("Service level id, for example `SLA-gold`. A plan names it.")},
    required=["sla_id"],
    returns=record(
        {
            "sla_id": string(),
            "name": string(),
            "hours": choice(["24x7", "business"]),
            "escalation_policy_id": string(),
            "targets": array(
                record(
                    {
                        "priority": choice(PRIORITIES),
                        "first_response_minutes": integer(),
                        "resolution_hours": integer(),
                    },
                    required=["priority", "first_response_minutes", "resolution_hours"],
                )
            ),
        },
        required=["sla_id", "name", "hours", "escalation_policy_id", "targets"],
    ),
    hints=READ,
)
def get_sla(sla_id: str) -> Row:
    """Get a service level agreement.

    It has targets for first response and resolution by priority, and the policy that says who is told when one is
    missed.

    Minutes and hours count around the clock for `24x7`, else from 9:00 to 17:00 on working days in the customer's
    time zone.
    """
    return find(open_desk().slas, sla_id, "service level")
