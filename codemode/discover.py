"""The use case behind `tool_search`: a query becomes hits, and what is shown with a signature becomes loaded.

Enters: a query, a catalog with its index, a session. Leaves: a `Found` value that prose turns into text. Which hits
get a signature is decided by prose's budget, so marking happens through `mark_shown` once the text is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codemode.catalog.snapshot import Catalog
from codemode.catalog.spec import ServerEntry, Tool
from codemode.search.index import Found, SearchIndex
from codemode.search.query import Query, parse_query
from codemode.session import Session

MAX_LIMIT = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a search found.

    Attributes:
        query: the parsed query.
        found: hits, further tools, needs that nothing matched.
        unavailable: servers that took no part (starting, failed, signed out), with their reason.
        catalog: what was searched.
    """

    query: Query
    found: Found
    unavailable: tuple[ServerEntry, ...]
    catalog: Catalog


def discover(text: str, catalog: Catalog, index: SearchIndex, *, limit: int, server: str = "") -> Answer:
    """Search. `limit` is held between 1 and 50; `server` restricts to one server, by module name or raw id."""
    query = parse_query(text)
    found = index.search(query, limit=max(1, min(limit, MAX_LIMIT)), server=server)
    unavailable = tuple(entry for entry in catalog.servers if entry.state in ("starting", "failed", "sign_in"))
    return Answer(query=query, found=found, unavailable=unavailable, catalog=catalog)


def mark_shown(session: Session, tools: Sequence[Tool]) -> None:
    """Remember that these tools' signatures were shown."""
    session.loaded.add(tools)
