"""Tools about the knowledge base and service reports."""

from __future__ import annotations

from collections import Counter

from toolkit import READ, WRITE, Toolbox, ToolError, find
from words import array, boolean, choice, integer, nullable, string

from desk.data import PRIORITIES, Row, open_desk

TOOLS = Toolbox()


@TOOLS.add(
    {
        "query": string("What the customer asks, in plain words."),
        "accept-language": string("Preferred language of the articles, as in HTTP.", default="en"),
        "max_results": integer("At most this many articles.", minimum=1, maximum=20, default=5),
        "published_only": boolean("Leave out drafts.", default=True),
    },
    required=["query"],
)
def search_articles(query: str, accept_language: str, max_results: int, published_only: bool) -> list[Row]:
    """Search the knowledge base and return the best articles with id, title and tags, best first.

    Ranks by how many of the words occur in title, tags and body. Read an article in full with `get_article`. An empty
    list means that nothing fits; try fewer or other words.
    """
    words = set(query.lower().split())
    ranked: list[tuple[int, str, Row]] = []
    for article in open_desk().articles.values():
        text = f"{article['title']} {article['body']} {' '.join(article['tags'])}".lower()
        hits = sum(word in text for word in words)
        is_wanted = accept_language.startswith((article["locale"], "*")) and (
            article["is_published"] or not published_only
        )
        if hits and is_wanted:
            ranked.append((-hits, article["article_id"], article))
    ranked.sort(key=lambda item: item[:2])
    return [{key: row[key] for key in ("article_id", "title", "tags")} for _, _, row in ranked[:max_results]]


@TOOLS.add(
    {"article_id": string("Article id, for example `KB-105`.")},
    required=["article_id"],
    hints=READ,
)
def get_article(article_id: str) -> str:
    """Get the full text of a knowledge base article as Markdown."""
    body: str = find(open_desk().articles, article_id, "article")["body"]
    return body


@TOOLS.add(
    {
        "title": string("Title as customers see it.", minLength=5, maxLength=120),
        "bodyMarkdown": string("The article. Start with the cause, then what to do."),
        "tags": array(string(), "Tags, used by the search.", default=[]),
        "locale": string("Language, ISO 639-1.", default="en"),
        "publishNow": boolean("Publish at once instead of saving a draft.", default=False),
        "fromTicketId": nullable(string("Ticket whose answer became this article."), default=None),
    },
    required=["title", "bodyMarkdown"],
    hints=WRITE,
    name="createArticle",
)
def create_article(
    title: str, body_markdown: str, tags: list[str], locale: str, publish_now: bool, from_ticket_id: str | None
) -> Row:
    """Create a knowledge base article, as a draft unless `publish_now` is set. Returns its id and state."""
    desk = open_desk()
    if from_ticket_id is not None:
        find(desk.tickets, from_ticket_id, "ticket")
    article_id = f"KB-{101 + len(desk.articles)}"
    desk.articles[article_id] = {
        "article_id": article_id,
        "title": title,
        "tags": tags,
        "locale": locale,
        "is_published": publish_now,
        "body": f"# {title}\n\n{body_markdown}\n",
    }
    return {"articleId": article_id, "state": "published" if publish_now else "draft"}


@TOOLS.add()
def list_tags() -> Row:
    """List all tags in use on tickets with how many tickets have them, most used first."""
    counts = Counter(tag for ticket in open_desk().tickets.values() for tag in ticket["tags"])
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


@TOOLS.add(
    {
        "from": string("First day, inclusive.", format="date"),
        "to": string("Last day, inclusive.", format="date"),
        "group": choice(["priority", "team"], "What the rows are.", default="priority"),
    },
    required=["from", "to"],
    hints=READ,
    title="Service report",
)
def service_report(from_: str, to: str, group: str) -> str:
    """Write the service report of a period as a plain-text table.

    Each row has the tickets opened, the tickets settled and the mean satisfaction.

    Meant for reading and mailing. For numbers to calculate with use `count_tickets` or `export_tickets`.
    """
    if from_ > to:
        raise ToolError(f"`from` ({from_}) is after `to` ({to})")
    desk = open_desk()
    key = "priority" if group == "priority" else "team_id"
    names = list(PRIORITIES)[::-1] if group == "priority" else list(desk.teams)
    lines = [f"Service report {from_} to {to}", f"{group:<18}{'opened':>8}{'settled':>9}{'mean':>7}"]
    tickets = [ticket for ticket in desk.tickets.values() if from_ <= ticket["created_at"][:10] <= to]
    for name in names:
        rows = [ticket for ticket in tickets if ticket[key] == name]
        settled = sum(ticket["status"] in ("solved", "closed") for ticket in rows)
        marks = [ticket["satisfaction"] for ticket in rows if ticket["satisfaction"] is not None]
        mean = f"{sum(marks) / len(marks):.2f}" if marks else "–"
        lines.append(f"{name:<18}{len(rows):>8}{settled:>9}{mean:>7}")
    return "\n".join(lines) + "\n"
