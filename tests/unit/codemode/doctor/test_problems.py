"""Which findings are problems, how grave they are, and what is to be done."""

import pytest

from codemode.doctor.advice import advise
from codemode.doctor.problems import find_problems
from codemode.doctor.report import Held, RuleFinding, ServerFacts
from codemode.errors import ConfigError
from codemode.runs.isolation import Isolation, Layer


def layer(name, state="on", *, required=True):
    return Layer(name=name, state=state, required=required, how_tested="tried", remedy=f"get {name}")


FINE = Isolation(backend="process", mode="user", layers=(layer("seccomp"), layer("cage", "missing", required=False)))


def problems(**parts):
    """What is found, as (weight, about, name, code, to do)."""
    found = find_problems(**{"isolation": FINE, **parts})
    return [(item.weight, item.about, item.name, item.code, item.todo) for item in found]


def test_what_works_is_no_problem_and_neither_is_a_missing_layer_that_is_not_required():
    servers = [ServerFacts(server="a", state=state) for state in ("ready", "disabled", "listing_only")]
    assert problems(servers=servers) == []


def test_every_missing_required_layer_is_named_with_its_own_remedy():
    layers = (layer("files", "missing"), layer("seccomp"), layer("kill", "missing"))
    isolation = Isolation(backend="process", mode="user", layers=layers, code="isolation.layer", message="m", hint="h")
    assert problems(isolation=isolation) == [
        ("blocking", "isolation", "files", "isolation.layer", "get files"),
        ("blocking", "isolation", "kill", "isolation.layer", "get kill"),
    ]


def test_where_nothing_could_be_tried_the_error_itself_is_told():
    for layers in ((), (layer("container", "missing"),)):
        isolation = Isolation(backend="docker", layers=layers, code="isolation.layer", message="no engine", hint="h")
        [found] = find_problems(isolation=isolation)
        assert (found.weight, found.message, found.todo) == ("blocking", "no engine", "h")


@pytest.mark.parametrize("state", ["failed", "ended", "sign_in", "starting"])
def test_a_server_that_cannot_be_used_fails_and_blocks_when_it_is_required(state):
    facts = {"server": "a", "state": state, "code": "upstream.start", "todo": "look"}
    assert problems(servers=[ServerFacts(**facts)]) == [("failing", "server", "a", "upstream.start", "look")]
    assert problems(servers=[ServerFacts(is_required=True, **facts)])[0][0] == "blocking"


def test_noise_held_back_tools_nesting_and_an_old_listing_are_advice():
    facts = ServerFacts(
        server="a", state="ready", is_nested=True, noise_lines=2, held=(Held(tool="t", reason="r"),), known="2 new"
    )
    found = find_problems(isolation=FINE, servers=[facts])
    assert [item.weight for item in found] == ["advice"] * 4
    assert all(item.todo for item in found)
    assert "code mode inside of code mode" in found[0].message


def test_a_state_folder_that_cannot_be_used_blocks_and_a_cache_that_cannot_is_advice():
    fault = ConfigError("the state folder `/x` cannot be used", hint_operator="set it")
    assert problems(state=fault, cache="no cache") == [
        ("blocking", "state", "", "config.key", "set it"),
        ("advice", "state", "", "", "set `cache_dir` to a folder of yours; until then each front waits for its servers"
         " at its start"),
    ]  # fmt: skip


def test_the_gravest_come_first_and_what_is_not_judged_is_left_out():
    found = problems(
        servers=[ServerFacts(server="a", state="failed"), ServerFacts(server="b", state="failed", is_required=True)],
        rules=[RuleFinding(pattern="x.y", kind="deny", state=state, why="w") for state in ("dead", "unjudged")],
        warnings=["`typo` is not known and ignored"],
    )
    assert [item[:3] for item in found] == [
        ("blocking", "server", "b"),
        ("failing", "server", "a"),
        ("advice", "rule", "x.y"),
        ("advice", "configuration", ""),
    ]


@pytest.mark.parametrize(
    ("state", "code", "transport", "hint", "said"),
    [
        ("failed", "upstream.not_found", "stdio", "", "install the command"),
        ("failed", "upstream.timeout", "stdio", "", "raise `start_timeout_s`"),
        ("failed", "upstream.protocol", "http", "look at its log", "correct `url`"),
        ("failed", "upstream.unreachable", "http", "", "correct `url`"),
        ("failed", "config.variable", "stdio", "set the variable", "set the variable"),
        ("sign_in", "upstream.sign_in", "http", "renew the token", "renew the token"),
        ("ended", "upstream.died", "stdio", "", "run its command by hand"),
        ("not_started", "config.server", "stdio", "", "remove the entry"),
        ("failed", "", "stdio", "", "run its command by hand"),
    ],
)
def test_every_way_to_fail_has_one_thing_to_do(state, code, transport, hint, said):
    facts = ServerFacts(server="a", state=state, code=code)
    assert said in advise(facts, transport=transport, hint=hint)
