"""What facts and claims of a start mean, and that a missing required layer refuses it."""

import pytest

from sandbox.backends import isolation
from sandbox.backends.base import create_backend
from sandbox.errors import IsolationError, SpecError
from sandbox.guest.control import Ready

CONTROLLERS = frozenset({"memory", "pids"})


def report(ready, claims, *, is_killed, controllers=CONTROLLERS):
    return isolation.report(ready, claims, is_killed=is_killed, controllers=controllers)


FULL = Ready(mode="root", namespaces=True, empty_root=True, landlock_abi=7, slots=1024, nproc_counts=True, data_bytes=1)
POOR = Ready(mode="user", namespaces=False, empty_root=False, landlock_abi=0, slots=0, nproc_counts=False, data_bytes=1)
NAMES = [layer.name for layer in report(FULL, {}, is_killed=False).layers]
ALL = dict.fromkeys(NAMES, True)
REQUIRED = [layer.name for layer in report(FULL, {}, is_killed=False).layers if layer.required]


def states(found):
    return {layer.name: layer.state for layer in found.layers}


def test_everything_in_force_is_on_or_extra():
    found = report(FULL, ALL, is_killed=True)
    assert set(states(found).values()) == {"on", "extra"}
    assert all((layer.state == "on") is layer.required for layer in found.layers)
    found.require()


@pytest.mark.parametrize("name", REQUIRED)
def test_each_required_layer_refuses_the_start_by_its_name(name):
    claims = {**ALL, name: False, **({"landlock": False, "empty-root": False} if name == "files" else {})}
    found = report(FULL, claims, is_killed=name != "kill")
    with pytest.raises(IsolationError) as caught:
        found.require()
    assert caught.value.code == "isolation.layer"
    assert f"`{name}`" in caught.value.message
    assert caught.value.hint_operator == found.layer(name).remedy


def test_files_need_landlock_or_an_empty_root():
    assert report(FULL, {**ALL, "landlock": False}, is_killed=True).layer("files").state == "on"
    assert report(POOR, ALL, is_killed=True).layer("files").state == "on"
    assert report(POOR, {**ALL, "landlock": False}, is_killed=True).layer("files").state == "missing"


def test_extras_may_be_missing():
    found = report(POOR, ALL, is_killed=True, controllers=frozenset())
    assert [layer.name for layer in found.layers if layer.state == "missing"] == [
        "namespaces",
        "empty-root",
        "own-user",
        "threads",
        "cgroup-memory",
        "cgroup-pids",
    ]
    found.require()


def test_threads_are_counted_by_a_group_where_no_limit_counts_them_for_one_guest():
    assert report(POOR, ALL, is_killed=True).layer("threads").state == "extra"
    assert report(POOR, {**ALL, "cgroup-pids": False}, is_killed=True).layer("threads").state == "missing"
    assert report(POOR, {**ALL, "threads": False}, is_killed=True).layer("threads").state == "missing"


def test_groups_that_a_guest_entered_count_only_with_their_effect():
    found = report(FULL, {**ALL, "cgroup-memory": False}, is_killed=True, controllers=CONTROLLERS)
    assert (found.layer("cgroup-memory").state, found.layer("cgroup-pids").state) == ("missing", "extra")
    found = report(FULL, ALL, is_killed=True, controllers=frozenset({"memory"}))
    assert (found.layer("cgroup-memory").state, found.layer("cgroup-pids").state) == ("extra", "missing")


def test_nothing_is_assumed_that_was_not_claimed():
    assert {layer.state for layer in report(POOR, {}, is_killed=False).layers} == {"missing"}


def test_every_layer_says_how_it_was_tested_and_what_to_do():
    assert all(layer.how_tested and layer.remedy for layer in report(FULL, {}, is_killed=False).layers)
    with pytest.raises(KeyError):
        report(FULL, {}, is_killed=False).layer("none")


def test_an_unknown_backend_is_refused_with_those_that_exist():
    with pytest.raises(SpecError, match="`process`"):
        create_backend("cluster")


def test_an_unknown_option_is_refused():
    with pytest.raises(SpecError, match="options"):
        create_backend("process", colour="blue")
