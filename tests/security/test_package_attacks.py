"""The register of attacks in guests that have numpy and pandas loaded, and what code of the packages can do by itself.

With a package allowed the language layer stops nobody: `DataFrame.eval` reads any attribute, `numpy.load` makes any
object by name.
What is shown here is that the kernel walls do not depend on it.
"""

import functools
import json
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox import Limits, open_sandbox
from tests.security.register import ATTACKS
from tests.support.running import run

for _name in ("numpy", "pandas"):
    pytest.importorskip(_name, reason=f"did not run: {_name} is not installed")

ROOT = Path(__file__).resolve().parents[2]
RUNNER = """
import sandbox
from tests.security import attack_runner
packages = ("numpy", "pandas")
attack_runner.open_sandbox = lambda name, **options: sandbox.open_sandbox(name, packages=packages, **options)
attack_runner.main("jailed")
"""

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform != "linux", reason="did not run: needs Linux"),
]


@functools.cache
def outcome():
    """What the runner prints for all attacks."""
    done = subprocess.run([sys.executable, "-c", RUNNER], capture_output=True, text=True, timeout=280, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("attack", [a for a in ATTACKS if "own" not in a.not_held], ids=lambda attack: attack.id)
def test_no_attack_reaches_what_it_is_after_with_packages_loaded(attack):
    if set(attack.not_held) & _lacking():
        pytest.skip("did not run: this machine lacks a layer that stops it, as the register says")
    found = outcome()["attacks"][attack.id]
    assert not found["reached"], found
    assert found["noticed"] == []


def _lacking():
    """The ways of starting (`test_native_attacks`) that this machine is like."""
    isolation = outcome()["isolation"]
    return {"bare", "namespaces"} if isolation["threads"] == "missing" else set()


@pytest.fixture(scope="module")
async def box():
    async with open_sandbox("process", pool=1, packages=("numpy", "pandas")) as opened:
        yield opened


# In the restricted dialect. Text for `eval` reads any attribute, a pickle written by hand makes any object by name.
REACH = """
import io
import numpy as np
import pandas as pd
df = pd.DataFrame({"a": [1]})
modules = df.eval("@df.__class__.__init__.__globals__")["sys"].modules
os = modules["os"]
"""


@pytest.mark.parametrize(
    "expression",
    [
        "os.getpid() > 0",
        "np.load(io.BytesIO(b'cos\\ngetpid\\n(tR.'), allow_pickle=True) > 0",
        "pd.read_pickle(io.BytesIO(b'cos\\ngetpid\\n(tR.')) > 0",
    ],
)
async def test_the_language_layer_does_not_keep_a_package_from_the_operating_system(box, expression):
    result = await run(box, REACH + expression)
    assert result.value is True, result.error


@pytest.mark.parametrize(
    "attempt",
    [
        "os.listdir('/')",
        "os.open('/etc/passwd', os.O_RDONLY)",
        "modules['builtins'].open('/proc/self/environ')",
        "os.fork()",
        "os.posix_spawn('/bin/true', ['true'], {})",
        "modules['socket'].socket()",
        "os.kill(1, 9)",
        "os.mkdir('/tmp/x')",
        "os.memfd_create('x')",
        "modules['mmap'].mmap(-1, 4096, prot=7)",
        "pd.read_pickle(io.BytesIO(b'cos\\nlistdir\\n(S\"/\"\\ntR.'))",
    ],
)
async def test_what_a_package_reaches_by_name_meets_the_kernel(box, attempt):
    result = await run(box, REACH + attempt)
    assert (result.status, result.error and result.error.type) == ("error", "PermissionError"), result.error


@pytest.mark.parametrize("expression", ["@pd.io.common.os.getpid()", "@np.ctypeslib.ctypes", "@pd.core.frame"])
async def test_text_for_eval_finds_no_module_behind_a_facade(box, expression):
    source = f"import numpy as np\nimport pandas as pd\ndf = pd.DataFrame({{'a': [1]}})\ndf.eval({expression!r})"
    result = await run(box, source)
    assert result.status == "error", result.value


async def test_threads_of_numpy_work_count_as_the_programs_own(box):
    source = """
import threading
import numpy as np
gate, started = threading.Event(), 0
for _ in range(64):
    try:
        threading.Thread(target=lambda: (np.linalg.svd(np.ones((20, 20))), gate.wait(30))).start()
    except RuntimeError:
        break
    started += 1
gate.set()
started
"""
    if {layer.name: layer.state for layer in box.isolation.layers}["threads"] == "missing":
        pytest.skip("did not run: threads are not counted on this machine")
    result = await run(box, source, limits=Limits(threads=8))
    assert result.value <= 8, result.error


async def test_a_program_does_not_leave_numpy_changed_for_the_next(box):
    change = "import numpy as np\nnp.set_printoptions(precision=1)\nnp.random.seed(1)\nnp.seterr(all='raise')\n1"
    assert (await run(box, change)).value == 1
    result = await run(box, "import numpy as np\n[np.get_printoptions()['precision'], np.geterr()['divide']]")
    assert result.value == [8, "warn"]
