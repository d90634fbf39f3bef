"""The fixed part of the books: chart of accounts, cost centres, tax and exchange rates, what is sold and bought."""

from __future__ import annotations

ACCOUNTS = (
    ("1000", "Cash", "asset"),
    ("1010", "Bank, euro", "asset"),
    ("1020", "Bank, foreign currency", "asset"),
    ("1100", "Trade receivables", "asset"),
    ("1200", "Prepaid expenses", "asset"),
    ("1400", "Input tax", "asset"),
    ("1600", "Office equipment", "asset"),
    ("1610", "Computers", "asset"),
    ("2000", "Trade payables", "liability"),
    ("2100", "Value added tax payable", "liability"),
    ("2200", "Payroll liabilities", "liability"),
    ("2300", "Deferred revenue", "liability"),
    ("3000", "Share capital", "equity"),
    ("3100", "Retained earnings", "equity"),
    ("4000", "Subscriptions", "revenue"),
    ("4010", "Usage fees", "revenue"),
    ("4100", "Professional services", "revenue"),
    ("4200", "Training", "revenue"),
    ("4900", "Other revenue", "revenue"),
    ("5000", "Hosting", "expense"),
    ("5010", "Third-party software", "expense"),
    ("5100", "Payment fees", "expense"),
    ("6000", "Salaries", "expense"),
    ("6010", "Social security", "expense"),
    ("6100", "Contractors", "expense"),
    ("6200", "Travel", "expense"),
    ("6300", "Rent", "expense"),
    ("6310", "Energy", "expense"),
    ("6400", "Marketing", "expense"),
    ("6410", "Events", "expense"),
    ("6500", "Legal and audit", "expense"),
    ("6600", "Insurance", "expense"),
    ("6700", "Training of staff", "expense"),
    ("6800", "Office supplies", "expense"),
    ("6900", "Depreciation", "expense"),
    ("6990", "Bank charges", "expense"),
)
"""Number, name, type."""

COST_CENTERS = (
    ("CC-100", "Engineering"),
    ("CC-200", "Support"),
    ("CC-300", "Sales"),
    ("CC-400", "Marketing"),
    ("CC-500", "Finance"),
    ("CC-600", "Operations"),
)

TAX_RATES = (
    ("DE-standard", "DE", 0.19),
    ("DE-reduced", "DE", 0.07),
    ("reverse-charge", "EU", 0.0),
    ("export", "XX", 0.0),
)

PER_EURO = {"EUR": 1.0, "GBP": 0.8452, "USD": 1.0871, "SEK": 11.2903, "CHF": 0.9467, "PLN": 4.2718, "CAD": 1.4839}

ITEMS = (
    ("Subscription, Scale plan", "4000", 249_000),
    ("Subscription, Team plan", "4000", 59_000),
    ("Subscription, Start plan", "4000", 9_900),
    ("Additional seats", "4010", 1_900),
    ("API calls over plan, per 100,000", "4010", 4_500),
    ("Onboarding day", "4100", 118_000),
    ("Migration, per day", "4100", 126_000),
    ("Administrator course, per seat", "4200", 39_000),
)
"""What is invoiced: text, revenue account, price in cents."""

PURCHASES = (
    ("5000", "Hosting, {month}", 4_000, 90_000),
    ("5010", "Software licences", 1_500, 40_000),
    ("5100", "Card fees, batch {n}", 90, 2_400),
    ("6100", "Contractor invoice {n}", 40_000, 600_000),
    ("6200", "Train tickets", 2_500, 38_000),
    ("6200", "Hotel, {n} nights", 9_000, 95_000),
    ("6310", "Electricity, {month}", 20_000, 90_000),
    ("6400", "Online advertising, campaign {n}", 5_000, 180_000),
    ("6410", "Trade fair stand {n}", 60_000, 900_000),
    ("6500", "Legal advice", 30_000, 250_000),
    ("6700", "Course for staff", 15_000, 120_000),
    ("6800", "Office supplies", 800, 12_000),
    ("6990", "Bank charges", 150, 2_000),
)
"""What is bought: expense account, text, price from and to in cents."""
