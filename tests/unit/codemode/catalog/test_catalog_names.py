"""Raw names to Python names."""

import pytest

from codemode.catalog.names import MAX_CHARS, function_names, module_names, parameter_names


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("list_issues", "list_issues"),
        ("cost-explorer", "cost_explorer"),
        ("repos/list.all: now", "repos_list_all_now"),
        ("camelCase", "camelCase"),
        ("API-get-user", "API_get_user"),
        ("1st", "n_1st"),
        ("_status", "status"),
        ("__class__", "class_"),
        ("import", "import_"),
        ("None", "None_"),
        ("match", "match"),
        ("set", "set_"),
        ("print", "print_"),
        ("ValueError", "ValueError_"),
        ("tool_search", "tool_search_"),
        ("名前", "名前"),
        ("ｇｅｔ", "get"),
        ("x😀", "xu1f600"),
        ("github_list", "github_list"),
    ],
)
def test_a_tool_name_becomes_a_function_name(raw: str, name: str) -> None:
    assert function_names([raw]) == {raw: name}


def test_parameters_keep_names_of_builtins_but_not_keywords_or_self() -> None:
    assert parameter_names(["filter", "from", "self", "$ref", "_id", "page[size]", "args", "kwargs"]) == {
        "filter": "filter",
        "from": "from_",
        "self": "self_",
        "$ref": "ref",
        "_id": "id",
        "page[size]": "page_size",
        "args": "args",
        "kwargs": "kwargs",
    }


def test_a_module_never_takes_a_name_of_the_runtime() -> None:
    assert module_names(["git-hub", "tools", "__init__", "_runtime", "  "]) == {
        "git-hub": "git_hub",
        "tools": "tools_",
        "__init__": "init",
        "_runtime": "runtime",
        "  ": "server_6c179f21",
    }


COLLIDING = ["read-only", "read_only", "read.only", "readOnly", "READ_ONLY", "read only"]


def test_of_colliding_names_the_exact_one_stays_plain_and_the_others_carry_their_own_hash() -> None:
    names = function_names(COLLIDING)
    assert names["read_only"] == "read_only"
    assert names["readOnly"] == "readOnly"
    assert len({name.casefold() for name in names.values()}) == 6
    assert all(name.isidentifier() for name in names.values())


def test_names_do_not_depend_on_the_order_of_the_list() -> None:
    assert function_names(COLLIDING) == function_names(reversed(COLLIDING))


def test_without_an_exact_one_all_colliding_names_carry_a_hash() -> None:
    names = function_names(["Get", "GET"])
    assert names["Get"].startswith("Get_")
    assert names["GET"].startswith("GET_")


def test_a_keyword_keeps_its_plain_escape_next_to_a_dunder_that_would_take_it() -> None:
    names = parameter_names(["__class__", "class"])
    assert names["class"] == "class_"
    assert names["__class__"].startswith("class_")
    assert names["__class__"] != "class_"


def test_a_look_alike_name_never_passes_for_the_plain_one() -> None:
    cyrillic = "g\u0435t"
    names = function_names(["get", cyrillic])
    assert names["get"] == "get"
    assert names[cyrillic] not in ("get", cyrillic)


def test_parameters_that_differ_by_case_stay_apart_and_plain() -> None:
    assert parameter_names(["id", "Id"]) == {"id": "id", "Id": "Id"}


def test_a_name_listed_to_equal_a_hashed_one_takes_nobody_elses_place() -> None:
    hashed = function_names(["a-b", "a_b"])["a-b"]
    names = function_names(["a-b", "a_b", hashed])
    assert names[hashed] == hashed
    assert len(set(names.values())) == 3


def test_a_long_name_keeps_both_ends_and_a_stable_hash() -> None:
    stem = "generate_cost_comparison_report_for_previous_quarter_by_linked_account"
    names = function_names([f"{stem}_usd", f"{stem}_eur"])
    assert names == function_names([f"{stem}_eur"]) | function_names([f"{stem}_usd"])
    assert all(len(name) <= MAX_CHARS for name in names.values())
    assert "_usd_" in names[f"{stem}_usd"]
    assert "_eur_" in names[f"{stem}_eur"]


def test_nothing_of_a_name_becomes_code() -> None:
    evil = 'x"""\nimport os #'
    assert parameter_names([evil]) == {evil: "x_import_os"}
