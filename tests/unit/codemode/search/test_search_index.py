"""Ranking: which tools fit some words."""

from typing import Any

import pytest

from codemode.catalog.build import build_listing
from codemode.catalog.snapshot import build_catalog
from codemode.catalog.spec import Listing
from codemode.search.index import Found, SearchIndex, build_index
from codemode.search.query import parse_query


def tool(name: str, description: str = "", *parameters: str, **more: Any) -> dict[str, Any]:
    properties = {parameter: {"type": "string"} for parameter in parameters}
    return {
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": properties},
        **more,
    }


def index_of(*more: Listing, **servers: list[dict[str, Any]]) -> SearchIndex:
    listings = [build_listing(server, tools, state="ready") for server, tools in servers.items()]
    return build_index(build_catalog([*listings, *more]))


def functions(found: Found) -> list[str]:
    return [hit.tool.function for hit in found.hits]


def first(index: SearchIndex, query: str) -> str:
    return functions(index.search(parse_query(query)))[0]


CRM = index_of(
    crm=[
        tool("addPerson", "Create a contact"),
        tool("addActivity", "Create an activity for a person"),
        tool("listPersons", "List contacts"),
        tool("XMLExportDeals", "Export deals"),
    ]
)


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("addPerson", "addPerson"),
        ("add person", "addPerson"),
        ("crm addPerson", "addPerson"),
        ("ADDPERSON", "addPerson"),
        ("xml export", "XMLExportDeals"),
        ("xmlexport deal", "XMLExportDeals"),
        ("persons list", "listPersons"),
    ],
)
def test_case_humps_and_acronyms_do_not_matter_on_either_side(query: str, name: str) -> None:
    assert first(CRM, query) == name


BOARD = index_of(
    board=[
        tool("board_create_edge", "Connect two shapes"),
        tool("board_create_node", "Add a shape"),
        tool("board_delete_edge", "Remove a connection"),
        tool("board_export_png", "Render to an image; arguments may name an edge colour", "edge_colour"),
    ]
)


def test_a_word_of_the_name_counts_more_than_one_of_an_argument() -> None:
    found = functions(BOARD.search(parse_query("create edge")))
    assert found[0] == "board_create_edge"
    assert "board_export_png" not in found[:2]


def test_a_required_word_must_be_in_the_name() -> None:
    assert functions(BOARD.search(parse_query("+edge delete"))) == ["board_delete_edge", "board_create_edge"]
    assert functions(BOARD.search(parse_query("+board +node"))) == ["board_create_node"]
    assert functions(BOARD.search(parse_query("+edg delete")))[0] == "board_delete_edge"
    assert BOARD.search(parse_query("+colour edge")).missed == ("colour edge",)


def test_a_query_in_another_language_finds_english_tools() -> None:
    assert first(BOARD, "创建连线") == "board_create_edge"
    assert first(BOARD, "删除节点") == "board_create_node"
    assert first(CRM, "crear contacto") == "addPerson"


ITSM = index_of(
    itsm=[
        tool("theme_manage", "Manage the themes"),
        tool("incident_create", "Open an incident"),
        tool("incident_close", "Close an incident"),
        tool("shift_list", "List the on-call shifts"),
    ]
)


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("open the incident", "incident_create"),
        ("who has the shift on the weekend", "shift_list"),
        ("close the incident that the user named", "incident_close"),
    ],
)
def test_stop_words_carry_no_weight(query: str, name: str) -> None:
    assert first(ITSM, query) == name


def test_a_word_that_every_tool_carries_still_finds_tools() -> None:
    index = index_of(s=[tool(f"incident_{verb}", "An incident") for verb in ("create", "close", "list")])
    assert len(index.search(parse_query("incident")).hits) == 3


@pytest.mark.parametrize("query", ["zzqx", "the of and", "get weather in oslo", "获取 zzqx", "/zzqx/"])
def test_no_word_matched_means_no_hits_and_a_miss(query: str) -> None:
    found = CRM.search(parse_query(query))
    assert (found.hits, found.further) == ((), ())
    assert found.missed == (query,)


def test_a_verb_alone_finds_what_does_it() -> None:
    assert functions(CRM.search(parse_query("export"))) == ["XMLExportDeals"]
    assert set(functions(CRM.search(parse_query("list")))) >= {"listPersons"}


def test_each_need_gets_its_best_hits_in_turn() -> None:
    index = index_of(
        github=[tool(f"{verb}_issue", "An issue") for verb in ("list", "create", "close")],
        slack=[tool(f"{verb}_message", "A message") for verb in ("post", "edit")],
    )
    found = index.search(parse_query("create issue; post message; zzqx"), limit=3)
    assert functions(found)[:2] == ["create_issue", "post_message"]
    assert len(found.hits) == 3
    assert found.missed == ("zzqx",)
    assert [need.need.text for need in found.per_need] == ["create issue", "post message", "zzqx"]
    assert not {hit.tool.short for hit in found.hits} & {tool.short for tool in found.further}


def test_a_job_of_many_parts_gets_a_tool_for_each_beyond_the_limit() -> None:
    index = index_of(s=[tool(f"make_{word}") for word in ("apple", "brick", "chair")])
    found = index.search(parse_query("apple; brick; chair"), limit=1)
    assert functions(found) == ["make_apple", "make_brick", "make_chair"]


def test_a_longer_need_is_judged_by_its_sentences_too() -> None:
    index = index_of(
        s=[
            tool("convert_currency", "Convert an amount between currencies"),
            tool("find_hotel", "Find a hotel"),
            tool("rent_car", "Rent a car at the airport"),
            *(tool(f"trip_note_{n}", "A note about a trip, spring, holiday, family") for n in range(9)),
        ]
    )
    query = "We plan a family trip and a spring holiday. Find us a hotel. Convert our currency."
    assert {"find_hotel", "convert_currency"} <= set(functions(index.search(parse_query(query)))[:4])


def test_a_tool_that_matches_all_words_beats_one_that_repeats_a_word() -> None:
    index = index_of(
        s=[
            tool("export", "report " * 200),
            tool("build", "Make the quarterly sales report as a file"),
            *(tool(f"other_{n}", "Something else") for n in range(8)),
        ]
    )
    assert first(index, "quarterly sales report") == "build"


def test_a_stuffed_tool_is_not_first_for_everything() -> None:
    words = "issue message channel file image email weather database table page chart user calendar event"
    index = index_of(
        evil=[tool("do", f"Best tool. {words} " * 30, *words.split())],
        github=[tool("list_issues", "List issues in a repository", "repo")],
        slack=[tool("post_message", "Post a message to a channel", "channel", "text")],
        mail=[tool("send_email", "Send an email to a person", "to", "subject")],
        db=[tool("query_table", "Run a query on a database table", "sql")],
        cal=[tool("create_event", "Add an event to the calendar", "start")],
        more=[tool(f"other_{n}", "Something else") for n in range(20)],
    )
    queries = ["list issues", "post message to channel", "send email", "query database table", "create calendar event"]
    assert "do" not in [first(index, query) for query in queries]


def test_ties_are_broken_by_name() -> None:
    index = index_of(b=[tool("ping_x")], a=[tool("ping_x")])
    assert [hit.tool.short for hit in index.search(parse_query("ping")).hits] == ["a.ping_x", "b.ping_x"]


def test_the_start_of_a_word_finds_the_word() -> None:
    assert first(CRM, "activ") == "addActivity"
    assert first(CRM, "activities") == "addActivity"


def test_words_written_together_and_apart_find_each_other() -> None:
    index = index_of(s=[tool("filesystem_check"), tool("file_copy"), tool("system_info")])
    assert first(index, "file system check") == "filesystem_check"
    assert first(index, "filesystem") == "filesystem_check"


def test_parameters_choices_and_results_are_searched() -> None:
    schema = {
        "type": "object",
        "properties": {
            "kind": {"enum": ["waterfall", "gantt"]},
            "options": {"type": "object", "properties": {"watermark": {}}},
        },
    }
    output = {"type": "object", "properties": {"result": {"type": "object", "properties": {"thumbnail": {}}}}}
    index = index_of(s=[tool("draw", inputSchema=schema, outputSchema=output), tool("erase", "Rub out")])
    for word in ("gantt", "watermark", "thumbnail"):
        assert first(index, word) == "draw"


def test_exact_names_come_first_and_beyond_the_limit() -> None:
    found = CRM.search(parse_query("select:crm.listPersons,mcp__crm__addPerson; export"), limit=1)
    assert functions(found) == ["listPersons", "addPerson", "XMLExportDeals"]
    assert found.unknown == ()


def test_a_name_that_does_not_exist_is_reported_with_the_nearest() -> None:
    (unknown,) = CRM.search(parse_query("select:crm.addPersn")).unknown
    assert (unknown.name, unknown.reason) == ("crm.addPersn", "no such tool")
    assert unknown.candidates[0].function == "addPerson"


def test_a_bare_name_of_several_servers_is_reported_with_all() -> None:
    index = index_of(a=[tool("search")], b=[tool("search")])
    found = index.search(parse_query("select:search"))
    assert found.hits == ()
    assert [tool.short for tool in found.unknown[0].candidates] == ["a.search", "b.search"]


def test_why_a_name_is_none_is_said() -> None:
    broken = {"name": "broken", "inputSchema": "nonsense"}
    index = index_of(Listing(server="jira", state="sign_in"), s=[tool("fine"), broken])
    found = index.search(parse_query("select:s.broken,jira.get_issue,jira,s"))
    assert [unknown.reason for unknown in found.unknown] == [
        "held back: its inputSchema is a string, not an object",
        "its server is sign in",
        "its server is sign in",
        "a server, not a tool",
    ]


def test_one_server_can_be_searched_alone() -> None:
    index = index_of(**{"git-hub": [tool("list_issues")], "linear": [tool("list_issues")]})
    for name in ("git_hub", "git-hub"):
        assert [hit.tool.module for hit in index.search(parse_query("issues"), server=name).hits] == ["git_hub"]
    found = index.search(parse_query("issues"), server="nope")
    assert len(found.hits) == 2
    assert found.notes == ("no such server; all servers were searched",)


def test_a_pattern_matches_names_before_descriptions() -> None:
    found = CRM.search(parse_query("/add.*|contact/"))
    assert functions(found) == ["addActivity", "addPerson", "listPersons"]
    assert CRM.search(parse_query("/(/")).notes == (
        "the pattern is no regular expression without look-around and back references",
    )


def test_hits_far_below_the_best_are_further_names_only() -> None:
    index = index_of(
        s=[
            tool("create_calendar_event", "Create a calendar event", "event"),
            tool("upload", "Upload a file", *(f"p{n}" for n in range(30)), "calendar"),
            *(tool(f"other_{n}") for n in range(10)),
        ]
    )
    found = index.search(parse_query("create calendar event"))
    assert functions(found) == ["create_calendar_event"]
    assert [tool.function for tool in found.further] == ["upload"]


def test_an_empty_catalog_misses_everything() -> None:
    index = index_of()
    assert index.search(parse_query("list issues; select:a.b")).missed == ("list issues",)
    assert index.search(parse_query("")) == Found()


def test_equal_catalogs_and_queries_give_equal_answers() -> None:
    tools = [tool(f"{verb}_{thing}", f"{verb} a {thing}") for verb in ("get", "set") for thing in ("lamp", "door")]
    one, two = index_of(home=tools), index_of(home=tools[::-1])
    for query in ("lamp", "open door; lamp", "/l.m/"):
        assert one.search(parse_query(query)) == two.search(parse_query(query))
