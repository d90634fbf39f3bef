"""The process backend in real systemd services, in a user-mode Linux that systemd is the first process of.

That kernel has no Landlock, so files need namespaces there. Needs `linux.uml` on the path and systemd on the machine.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.uml_systemd import ROOT, unit_of_the_readme

SYSTEMD = Path("/lib/systemd/systemd")
GROUPS = ("cgroup-memory", "cgroup-pids")
REQUIRED = ("descriptors", "environment", "identity", "parent-death", "dumpable", "no-new-privs", "memory", "files")

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def found(once):
    """What each service found: layer → state, or the code of its refusal."""
    kernel = shutil.which("linux.uml")
    if kernel is None or not SYSTEMD.exists():
        pytest.skip("did not run: needs systemd and `linux.uml` (Debian: apt install systemd user-mode-linux)")

    def run():
        init = [f"init={sys.executable}", "--", "-B", str(ROOT / "tests" / "support" / "uml_systemd.py")]
        root = ["root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", "mem=1024M", "quiet"]
        groups = "systemd.unified_cgroup_hierarchy=1"
        done = subprocess.run(
            [kernel, *root, groups, "con=null", "con0=fd:0,fd:1", *init],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=290,
        )
        lines = [line[6:].strip().partition(" = ") for line in done.stdout.splitlines() if line.startswith("FOUND ")]
        assert lines, (done.stdout + done.stderr)[-2000:]
        return {name: json.loads(text) for name, _, text in lines}

    return once("systemd", run)


def test_the_unit_of_the_readme_gives_a_plain_user_every_required_layer_and_groups(found):
    result = found["as in the readme"]
    assert {result[name] for name in (*REQUIRED, "seccomp", "kill")} == {"on"}
    assert {result[name] for name in ("namespaces", "empty-root", "threads", *GROUPS)} == {"extra"}
    assert result["value"] == 42


def test_a_service_without_delegation_lacks_the_groups_only(found):
    result = found["not delegated"]
    assert {result[name] for name in REQUIRED} == {"on"}
    assert {result[name] for name in GROUPS} == {"missing"}
    assert result["value"] == 42


def test_a_service_as_root_has_a_user_id_for_each_guest(found):
    assert found["root"]["own-user"] == "extra"
    assert found["root"]["value"] == 42


@pytest.mark.parametrize(("name", "layer"), [("no namespaces", "files"), ("few calls", "seccomp")])
def test_a_service_that_takes_a_required_layer_away_is_refused_with_its_name(found, name, layer):
    assert found[name]["code"] == "isolation.layer"
    assert f"`{layer}`" in found[name]["message"]


def test_a_filter_of_calls_with_those_of_the_readme_is_enough(found):
    assert found["those calls"]["value"] == 42


def test_systemd_has_nothing_against_the_unit_of_the_readme(tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("did not run: needs systemd-analyze")
    unit = tmp_path / "codemode.service"
    unit.write_text(unit_of_the_readme(), encoding="utf-8")
    done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
