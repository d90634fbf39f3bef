"""What claims and engine facts mean for the docker backend."""

import pytest

from sandbox.backends.docker_layers import report
from sandbox.errors import IsolationError
from sandbox.guest.control import Ready

READY = Ready(
    mode="user", namespaces=False, empty_root=False, landlock_abi=0, slots=0, nproc_counts=False, data_bytes=1
)


def judged(claims, **facts):
    return report(READY, claims, **{"is_killed": True, "has_limits": True, "has_profile": True, **facts})


NAMES = [layer.name for layer in judged({}).layers]
ALL = dict.fromkeys([*NAMES, "namespaces"], True)
REQUIRED = [layer.name for layer in judged({}).layers if layer.required]


@pytest.mark.parametrize("name", REQUIRED)
def test_each_required_layer_of_the_docker_backend_refuses_the_start_by_its_name(name):
    claim = "namespaces" if name == "container" else name
    with pytest.raises(IsolationError, match=f"docker backend needs `{name}`") as caught:
        judged({**ALL, claim: False}, is_killed=name != "kill").require()
    assert caught.value.hint_operator


def test_what_the_engine_does_not_confirm_is_missing_and_not_required():
    found = judged(ALL, has_limits=False, has_profile=False)
    found.require()
    assert {layer.name for layer in found.layers if layer.state == "missing"} == {
        "container-limits",
        "container-seccomp",
        "threads",
    }


def test_a_guest_that_claims_a_thread_limit_is_not_believed_where_threads_are_counted_together():
    assert judged(ALL).layer("threads").state == "missing"


def test_nothing_is_assumed_that_was_neither_claimed_nor_confirmed():
    found = judged({}, is_killed=False, has_limits=False, has_profile=False)
    assert {layer.state for layer in found.layers} == {"missing"}
