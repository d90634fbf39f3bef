"""The phrases the helpdesk's tickets, comments, articles and macros are put together from."""

from __future__ import annotations

PRODUCTS = ("Relay", "Atlas", "Beacon", "Console")

PROBLEMS = (
    ("export", "Export stops after {n} rows"),
    ("login", "Single sign-on loops for new users"),
    ("billing", "Invoice shows {n} seats, contract says fewer"),
    ("performance", "Dashboard needs {n} seconds to open"),
    ("sync", "Sync with the warehouse is {n} minutes behind"),
    ("email", "Notifications arrive twice"),
    ("api", "API answers 429 after {n} requests"),
    ("permissions", "Read-only users can see the settings page"),
    ("import", "Import refuses a file with {n} columns"),
    ("mobile", "App logs out after {n} minutes in the background"),
)
"""Tag and subject of a ticket."""

REOPENED = "Still happening: {subject}"

CUSTOMER_LINES = (
    "We see this on every attempt since yesterday morning.",
    "Two of our teams are blocked, please treat this as urgent.",
    "It worked before the last update. Nothing changed on our side.",
    "Thank you, the work-around helps, but we need a real fix.",
    "Attached is what we see. The time in it is local time.",
    "Closing the browser and signing in again makes no difference.",
)

AGENT_LINES = (
    "Thank you for the report. I can reproduce it and have passed it on.",
    "Could you send the request id from the answer's header?",
    "A change that should help went out last night. Please try again.",
    "This is the same cause as in the ticket before this one.",
    "I have raised the priority and told the team on call.",
)

INTERNAL_LINES = (
    "Internal: the queue was behind when this came in, see the status page.",
    "Internal: the customer's contract allows a call back within the hour.",
    "Internal: likely a regression of the last release, checking the log.",
)

LOG_LINES = (
    "INFO  worker started",
    "INFO  batch {n} accepted",
    "WARN  retry {n} after timeout",
    "ERROR upstream closed the connection after {n} bytes",
    "INFO  batch {n} finished",
)

FIRST_NAMES = (
    "Amara", "Bjørn", "Chiara", "Dinesh", "Elif", "Farid", "Greta", "Hugo", "Irina", "Jonas", "Katya", "Leandro",
    "Mina", "Noor", "Olek", "Priya", "Quentin", "Rosa", "Sana", "Tomás", "Uma", "Viktor", "Wanda", "Yusuf",
)  # fmt: skip

LAST_NAMES = (
    "Abara", "Brandt", "Castel", "Dahl", "Eklund", "Ferreira", "Gallo", "Hoang", "Ivanova", "Jensen", "Kowal",
    "Lindqvist", "Moreau", "Nakata", "Okafor", "Petit", "Quiroga", "Rahimi", "Sato", "Toivonen",
    "Urban", "Varga", "Weiss", "Zeman",
)  # fmt: skip

ARTICLES = (
    (
        "export",
        "Why an export stops early",
        "Exports are cut at the plan's row limit.",
        "Ask for the next page, or use the bulk export.",
    ),
    (
        "login",
        "Single sign-on loops",
        "The identity provider sends an assertion without an e-mail.",
        "Map the e-mail claim and sign in again.",
    ),
    (
        "billing",
        "How seats are counted",
        "A seat is counted on the first sign-in of a month.",
        "Deactivate users before the first of the month.",
    ),
    (
        "performance",
        "Slow dashboards",
        "Each tile asks the warehouse on its own.",
        "Set a shared filter and switch on caching.",
    ),
    (
        "sync",
        "When a sync falls behind",
        "Large tables are read in full after a schema change.",
        "Confirm the new columns, then start a full sync at night.",
    ),
    (
        "email",
        "Duplicate notifications",
        "A user belongs to two groups with the same rule.",
        "Move the rule to the parent group.",
    ),
    (
        "api",
        "Rate limits of the API",
        "Limits are counted per key and minute.",
        "Honour the Retry-After header and spread the calls.",
    ),
    (
        "permissions",
        "What read-only users see",
        "Settings are shown without their values.",
        "Hide the page with the role `viewer-minimal`.",
    ),
    (
        "import",
        "Files the import refuses",
        "More than 200 columns are refused.",
        "Split the file, keep the key column in each part.",
    ),
    (
        "mobile",
        "Signed out in the background",
        "The session ends with the phone's battery saver.",
        "Allow background activity for the app.",
    ),
)
"""Tag, title, cause and remedy of a knowledge base article."""

MACROS = (
    ("Ask for the request id", "pending", "Could you send us the request id from the response header?", ()),
    (
        "Solved by the last release",
        "solved",
        "The release of this week contains the fix. We close this ticket.",
        ("fixed",),
    ),
    ("Escalate to engineering", "open", "Engineering is looking at this now.", ("escalated",)),
    ("Known issue", "on_hold", "This is a known issue; we write here when it is fixed.", ("known-issue",)),
    ("Close without answer", "closed", "We have not heard from you and close this ticket for now.", ("no-reply",)),
    ("Point to the article", "pending", "Our knowledge base has an article about this.", ("self-service",)),
)
"""Title, new status, comment and tags of a macro."""
