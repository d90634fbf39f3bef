"""The invented business that both servers describe: its customers, its calendar, and dice that always fall the same.

Nothing here is random between two starts: `Dice` uses only `Random.random`, whose sequence Python keeps stable for a
seed. The customer ids are the same in the helpdesk and in the ledger, so a program can join the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any, TypeVar

T = TypeVar("T")

FIRST_DAY = date(2025, 4, 1)
TODAY = date(2026, 3, 31)
"""The books cover the year up to TODAY; both servers live on that day."""

_NAMES = (
    "Alder", "Brightwater", "Copperfield", "Dunmore", "Eastgate", "Fernhill", "Granite", "Halcyon", "Ironbridge",
    "Juniper", "Kestrel", "Larkspur", "Meridian", "Northfold", "Orchard", "Pinecrest", "Quarry", "Redwood", "Saltmarsh",
    "Thornbury", "Umber", "Valewood", "Westerly", "Yarrow", "Zephyr", "Ashcombe", "Birchwood", "Cinder", "Dovetail",
    "Elmhurst",
)  # fmt: skip
_TRADES = (
    "Logistics", "Foods", "Optics", "Robotics", "Textiles", "Energy", "Clinics", "Publishing", "Marine", "Instruments",
    "Hotels", "Ceramics",
)  # fmt: skip
_PLACES = (
    ("DE", "Hamburg", "EUR", "Europe/Berlin"),
    ("FR", "Lyon", "EUR", "Europe/Paris"),
    ("GB", "Leeds", "GBP", "Europe/London"),
    ("US", "Denver", "USD", "America/Denver"),
    ("SE", "Malmö", "SEK", "Europe/Stockholm"),
    ("CH", "Zürich", "CHF", "Europe/Zurich"),
    ("ES", "Valencia", "EUR", "Europe/Madrid"),
    ("PL", "Poznań", "PLN", "Europe/Warsaw"),
    ("CA", "Halifax", "CAD", "America/Halifax"),
)
_STREETS = ("Harbour Road", "Mill Lane", "Station Street", "Foundry Way", "Park Row", "Canal Street")


class Dice:
    """A seeded source of choices."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def below(self, bound: int) -> int:
        """A whole number from 0 to `bound` - 1."""
        return int(self._random.random() * bound)

    def between(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + self.below(high - low + 1)

    def pick(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self.below(len(options))]

    def chance(self, share: float) -> bool:
        """True in this share of the cases."""
        return self._random.random() < share


class Clock:
    """Time of day for writes: starts on the morning of TODAY and moves one minute per reading."""

    def __init__(self) -> None:
        self._now = datetime(TODAY.year, TODAY.month, TODAY.day, 9, tzinfo=UTC)

    def stamp(self) -> str:
        """The next time stamp."""
        self._now += timedelta(minutes=1)
        return stamp(self._now)


def stamp(moment: datetime) -> str:
    """ISO 8601 in UTC, to the second."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def build_customers() -> dict[str, dict[str, Any]]:
    """The 120 customers, by id."""
    dice = Dice(120)
    customers: dict[str, dict[str, Any]] = {}
    for index in range(120):
        country, city, currency, time_zone = dice.pick(_PLACES)
        name = f"{_NAMES[index % 30]} {_TRADES[(index * 7 + index // 30) % 12]}"
        domain = name.lower().replace(" ", "-")
        customers[f"C-{1001 + index}"] = {
            "customer_id": f"C-{1001 + index}",
            "name": name,
            "segment": ("enterprise", "mid_market", "small_business")[min(2, dice.below(6) // 2)],
            "email": f"office@{domain}.example",
            "address": {
                "street": f"{dice.between(1, 180)} {dice.pick(_STREETS)}",
                "city": city,
                "postal_code": f"{dice.between(10000, 99999)}",
                "country": country,
            },
            "currency": currency,
            "time_zone": time_zone,
            "created_on": (date(2019, 1, 7) + timedelta(days=dice.below(2200))).isoformat(),
        }
    return customers
