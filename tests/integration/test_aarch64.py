"""The process backend on aarch64: every layer and every attack of the register under a real kernel of that machine.

Emulated (tests/support/aarch64_machine.py), so it takes minutes: it runs where `.ci/aarch64-machine .aarch64_machine`
was called, which `.ci/run` does not do.
"""

import json

import pytest

from tests.security.register import ATTACKS
from tests.support import aarch64_machine

SHOWN_BARE = (
    "files.read",
    "network.tcp",
    "network.abstract",
    "process.fork",
    "process.kill",
    "process.ptrace",
    "process.read-memory",
    "process.signal-by-descriptor",
    "memory.executable-later",
)
"""Attacks that are first shown to work there, one of each kind: an emulated machine is slow."""
REQUIRED = (
    "descriptors",
    "environment",
    "identity",
    "parent-death",
    "dumpable",
    "no-new-privs",
    "memory",
    "files",
    "seccomp",
)
EXTRA = ("namespaces", "empty-root", "landlock", "own-user", "threads", "cgroup-memory", "cgroup-pids")

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def found(once, tmp_path_factory):
    """What the machine's kernel is, what the jailed attacks reached, what the others did."""

    def run():
        lines = aarch64_machine.boot(
            tmp_path_factory.mktemp("aarch64"),
            "busybox uname -m",
            f"/usr/bin/python3 tests/security/attack_runner.py bare {' '.join(SHOWN_BARE)}",
            "/usr/bin/python3 tests/security/slow_machine_runner.py",
            timeout_s=880,
        )
        results = [json.loads(line) for line in lines if line.startswith('{"')]
        assert len(results) == 2, "\n".join(lines)[-3000:]
        return {"machine": lines[0].strip(), "bare": results[0]["attacks"], **results[1]}

    return once("aarch64", run)


def test_the_kernel_is_one_for_aarch64(found):
    assert found["machine"] == "aarch64"


def test_every_required_layer_is_on_and_extra_ones_are_there(found):
    isolation = found["isolation"]
    assert [isolation[name] for name in (*REQUIRED, "kill")] == ["on"] * (len(REQUIRED) + 1)
    assert [isolation[name] for name in EXTRA] == ["extra"] * len(EXTRA)


@pytest.mark.parametrize("attack", SHOWN_BARE)
def test_an_attack_works_there_without_the_sandbox(found, attack):
    assert found["bare"][attack]["reached"] or found["bare"][attack]["noticed"], found["bare"][attack]


def test_no_attack_reaches_what_it_is_after(found):
    assert sorted(found["attacks"]) == sorted(attack.id for attack in ATTACKS)
    reached = {name: one for name, one in found["attacks"].items() if one["reached"] or one["noticed"]}
    assert reached == {}
