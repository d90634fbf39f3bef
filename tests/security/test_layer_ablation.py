"""What each layer stops by itself, and what gets through without it: the table in `sandbox/README.md`, cell by cell.

Each arrangement leaves layers out of a throw-away sandbox (`layer_runner`) and runs the attacks that stand for the
threats. "alone" has one layer and none of the others; "without" has all layers but one.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from tests.security.threats import LAYERS, THREATS, cell_id, text_of, written_rows
from tests.support.real_guests import descendants, gone, still_there

HERE = Path(__file__).resolve().parent

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(
        sys.platform != "linux" or os.geteuid() != 0, reason="did not run: needs Linux and root, who has every layer"
    ),
]


@pytest.fixture(scope="module")
def reached(once):
    """A function: ids of the attacks that reach something without these layers."""

    def without(*left_out):
        return set(once("without-" + ",".join(left_out), lambda: _run(left_out)))

    return without


def _run(left_out):
    runner = [sys.executable, str(HERE / "layer_runner.py"), ",".join(left_out) or "-"]
    done = subprocess.run(runner, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr[-2000:]
    return [name for name, is_reached in json.loads(done.stdout).items() if is_reached]


def test_without_any_layer_every_attack_works(reached):
    assert reached(*LAYERS) == {name for names in THREATS.values() for name in names}


def test_with_all_layers_none_does(reached):
    assert reached() == set()


CELLS = [pytest.param(layer, threat, id=cell_id(layer, threat)) for layer in LAYERS for threat in THREATS]


@pytest.mark.parametrize(("layer", "threat"), CELLS)
def test_a_cell_is_what_the_attacks_show(reached, layer, threat):
    """`stopped`, `limited` or `–` for the layer alone; bold where an attack succeeds without it."""
    attacks = set(THREATS[threat])
    through = attacks & reached(*(other for other in LAYERS if other != layer))
    word = "stopped" if not through else "–" if through == attacks else "limited"
    shown = f"**{word}**" if attacks & reached(layer) else word
    assert text_of(written_rows()[threat][LAYERS.index(layer)]) == shown


# -- layers that no attack from inside can show ----------------------------------------------------------------------

HOST = """
import sys, anyio
from sandbox import RunSpec, open_sandbox
from tests.security import layer_runner
layer_runner.leave_out(set(sys.argv[1].split(",")))
async def main():
    async with open_sandbox("process", pool=0) as box:
        try:
            await box.run(RunSpec(source="print('spins', flush=True)\\nwhile True: pass", dialect="native"))
        except Exception as error:
            print(type(error).__name__, error, flush=True)
anyio.run(main)
"""


def test_without_no_new_privs_no_guest_can_be_sealed():
    done = subprocess.run(
        [sys.executable, "-c", HOST, "no-new-privs"], capture_output=True, text=True, timeout=60, cwd=HERE.parents[1]
    )
    assert done.stdout.startswith("IsolationError")
    assert "landlock" in done.stdout


async def _spinning(host):
    """The process below the host that computes and computes."""
    with anyio.fail_after(60):
        while True:
            for pid in reversed(descendants(host)):
                if _ticks(pid) > 50:
                    return pid
            await anyio.sleep(0.02)


def _ticks(pid):
    """Processor time of a process in its own words (proc(5), /proc/PID/stat, fields 14 and 15)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return int(fields[11]) + int(fields[12])


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("left_out", "lives_on"), [("-", False), ("namespaces", False), ("parent-death", False), ("both", True)]
)
async def test_a_spinning_guest_outlives_a_killed_host_only_without_parent_death_and_namespaces(left_out, lives_on):
    layers = "parent-death,namespaces,empty-root" if left_out == "both" else left_out
    with subprocess.Popen([sys.executable, "-c", HOST, layers], cwd=HERE.parents[1]) as host:
        guest = await _spinning(host.pid)
        family = descendants(host.pid)
        host.kill()
    try:
        if lives_on:
            await gone([pid for pid in family if pid != guest])
        else:
            await gone(family)
        assert bool(still_there([guest])) is lives_on
    finally:
        for pid in still_there([guest]):
            os.kill(pid, signal.SIGKILL)
