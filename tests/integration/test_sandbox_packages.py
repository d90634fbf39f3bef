"""numpy and pandas in real guests: everyday programs print what plain CPython prints, and the seal holds."""

import importlib.util
import json
import subprocess
import sys

import anyio
import pytest

from codemode.runs.files import RunFiles
from codemode.state.workspace import Workspace
from sandbox import Limits, RunSpec, open_sandbox
from sandbox.spec import MIB
from tests.support.everyday_programs import DATA_PROGRAMS
from tests.support.running import run

for _name in ("numpy", "pandas"):
    pytest.importorskip(_name, reason=f"did not run: {_name} is not installed")

pytestmark = pytest.mark.anyio

NO_FILES = "there are no files here: keep data in variables, or in `io.StringIO`"
_PLAIN = """
import contextlib, io, json, sys, types, warnings
warnings.simplefilter("ignore")
printed = {}
for name, source in json.loads(sys.stdin.read()).items():
    out, main = io.StringIO(), types.ModuleType("__main__")
    sys.modules["__main__"] = main
    with contextlib.redirect_stdout(out):
        exec(compile(source, name, "exec"), vars(main))
    printed[name] = out.getvalue()
    import numpy, pandas
    numpy.set_printoptions(edgeitems=3, precision=8, suppress=False, threshold=1000)
    pandas.reset_option("display")
print(json.dumps(printed))
"""


@pytest.fixture(scope="module")
async def box():
    async with open_sandbox("process", pool=2, packages=("numpy", "pandas")) as opened:
        yield opened


@pytest.fixture(scope="module")
def printed_plainly():
    """What plain CPython prints for each program, all in one process of its own."""
    asked = json.dumps(DATA_PROGRAMS)
    done = subprocess.run([sys.executable, "-c", _PLAIN], input=asked, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", DATA_PROGRAMS)
async def test_an_everyday_program_prints_what_plain_python_prints(box, printed_plainly, name):
    result = await run(box, DATA_PROGRAMS[name])
    assert result.status == "ok", result.error
    assert result.printed == printed_plainly[name]


async def test_a_package_is_there_at_once_and_its_values_come_back_as_json(box):
    source = "import pandas as pd\ndf = pd.DataFrame({'a': ['x', 'y', 'x'], 'n': [1, 2, 4]})\ndf.groupby('a').sum()"
    result = await run(box, source)
    assert (result.status, result.value) == ("ok", [{"a": "x", "n": 5}, {"a": "y", "n": 2}]), result.error


async def test_a_table_as_last_assignment_is_previewed(box):
    result = await run(box, "import pandas as pd\ndf = pd.DataFrame({'n': range(100)})")
    shape = "DataFrame of 100 rows and 1 columns (n)"
    assert result.value == {"name": "df", "shape": shape, "items": [{"n": 0}, {"n": 1}, {"n": 2}]}


# -- random numbers ---------------------------------------------------------------------------------------------------

DRAW = """
import numpy as np, pandas as pd
r = np.random
[r.rand(), r.default_rng().random(), r.RandomState().rand(), r.Generator(r.PCG64()).random(),
 pd.DataFrame({"n": range(1000)}).sample(3).n.tolist()]
"""


async def test_random_numbers_without_a_seed_are_those_of_the_run(box):
    first, again, other = [(await run(box, DRAW, seed=seed)).value for seed in (1, 1, 2)]
    assert first == again
    assert all(one != another for one, another in zip(first, other, strict=True))


async def test_two_generators_without_a_seed_differ(box):
    result = await run(box, "import numpy as np\n[np.random.default_rng().random() for _ in range(3)]")
    assert len(set(result.value)) == 3


# -- limits -----------------------------------------------------------------------------------------------------------


async def test_an_array_that_is_too_large_ends_with_the_memory_limit(box):
    result = await run(box, "import numpy as np\nnp.ones(2**30)")
    assert (result.status, result.error.code) == ("limit", "limit.memory")


async def test_a_program_can_go_on_after_an_array_that_was_too_large(box):
    source = "import numpy as np\ntry:\n    np.ones(2**30)\nexcept MemoryError:\n    x = np.ones(10)\nfloat(x.sum())"
    assert (await run(box, source)).value == 10.0


async def test_the_memory_of_the_packages_themselves_is_not_the_programs(box):
    source = "import numpy as np\nint(np.ones(480 * 2**20, dtype='u1')[-1])"
    result = await run(box, source, limits=Limits(memory_bytes=512 * MIB))
    assert result.value == 1, result.error


async def test_numpy_starts_no_thread_of_its_own(box):
    source = (
        "import numpy as np, threading\nm = np.random.rand(300, 300)\nm @ m\nnp.linalg.svd(m)\nthreading.active_count()"
    )
    result = await run(box, source, limits=Limits(threads=1))
    assert (result.status, result.value) == ("ok", 1), result.error


# -- what is refused, and how it reads --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "pd.read_csv('data.csv')",
        "pd.DataFrame({'a': [1]}).to_csv('out.csv')",
        "pd.DataFrame({'a': [1]}).to_json('out.json')",
        "pd.read_json('data.json')",
        "np.loadtxt('data.txt')",
        "np.load('data.npy')",
        "np.save('data.npy', np.ones(2))",
        "np.fromfile('data.bin')",
        "np.genfromtxt('data.txt')",
        "np.memmap('data.bin', shape=(2,))",
    ],
)
async def test_a_path_is_refused_with_what_to_do_instead(box, line):
    result = await run(box, f"import numpy as np, pandas as pd\n{line}")
    assert result.error.type in ("PermissionError", "FileNotFoundError"), result.error
    told = [result.error.message, *result.error.notes]
    assert any("libraries cannot open files here: use `open(name)`" in text or NO_FILES in text for text in told)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("pd.DataFrame({'a': [1, 2]}).to_csv('x.csv', index=False)\npd.read_csv('x.csv').a.tolist()", [1, 2]),
        ("pd.DataFrame({'a': [1]}).to_json('x.json', orient='records')\nlen(pd.read_json('x.json'))", 1),
        ("with open('x.csv', 'w') as f: f.write('a\\n5\\n')\npd.read_csv('x.csv').a.tolist()", [5]),
        (
            "import os\nos.mkdir('out')\npd.DataFrame({'a': [1]}).to_csv('out/x.csv')\nopen('out/x.csv').read()",
            ",a\n0,1\n",
        ),
        ("np.save('x.npy', np.ones(2))\nnp.load('x.npy').tolist()", [1.0, 1.0]),
        ("np.savetxt('x.txt', np.ones(2))\nnp.loadtxt('x.txt').tolist()", [1.0, 1.0]),
        ("open('x.txt', 'w').write('1,2')\nnp.genfromtxt('x.txt', delimiter=',').tolist()", [1.0, 2.0]),
    ],
)
async def test_libraries_use_the_files_of_the_run(box, tmp_path, source, value):
    files = RunFiles(Workspace(tmp_path / "s", quota_bytes=1 << 20, max_file_bytes=1 << 20))
    with anyio.fail_after(60):
        result = await box.run(RunSpec(source=f"import numpy as np, pandas as pd\n{source}"), files=files.answer)
    assert (result.status, result.value) == ("ok", value), result.error


@pytest.mark.parametrize(
    ("source", "type_"),
    [
        ("pd.read_csv('nope.csv')", "FileNotFoundError"),
        ("pd.DataFrame().to_csv('no/folder.csv')", "FileNotFoundError"),
        ("pd.read_csv('/etc/passwd')", "PermissionError"),
        ("np.loadtxt('../x')", "PermissionError"),
    ],
)
async def test_libraries_hear_what_open_says(box, tmp_path, source, type_):
    files = RunFiles(Workspace(tmp_path / "s", quota_bytes=1 << 20, max_file_bytes=1 << 20))
    with anyio.fail_after(60):
        result = await box.run(RunSpec(source=f"import numpy as np, pandas as pd\n{source}"), files=files.answer)
    assert (result.error.type, result.error.notes) == (type_, ()), result.error


async def test_an_address_is_refused_with_what_to_do_instead(box):
    result = await run(box, "import pandas as pd\npd.read_csv('https://example.org/data.csv')")
    assert result.error.notes == ("there is no network here: call a tool",)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("import numpy as np\nnp.float", "`np.float` was a deprecated alias"),
        ("import pandas as pd\npd.os", "has no attribute 'os'"),
        ("import pandas as pd\npd.io.common", "`pandas.io.common` is a module that the package uses itself"),
        ("from numpy import f2py", "`numpy.f2py` is a module that the package uses itself"),
        ("import numpy as np\nnp.array = None", "read-only"),
        ("import pandas as pd\npd.DataFrame({'a': [1]}).plot()", "matplotlib is required"),
    ],
)
async def test_what_is_not_there_says_why(box, source, text):
    result = await run(box, source)
    assert text in (result.error.message if result.error else "")


async def test_an_optional_import_of_what_is_not_there_can_be_caught(box):
    caught = "try:\n    import {}\nexcept ImportError as error:\n    print(error)\n"
    source = caught.format("scipy") + caught.format("numpy.f2py")
    printed = (await run(box, source)).printed.splitlines()
    assert printed[0] == "not installed here; use `numpy` and `pandas`"
    assert printed[1].startswith("`numpy` has here: char, dtypes, ")


async def test_text_for_exec_may_import_what_the_program_may(box):
    result = await run(box, "exec('import numpy as np\\nx = int(np.arange(4).sum())')\nx")
    assert result.value == 6, result.error


async def test_what_nobody_allowed_is_not_loaded_beside_an_allowed_package(box):
    beside = {"pytest", "_pytest", "pygments", "charset_normalizer"}  # found by the same packages without the rule
    assert all(importlib.util.find_spec(name) for name in ("pytest", "pygments"))
    result = await run(box, "import sys\nsorted({n.partition('.')[0] for n in sys.modules})", dialect="native")
    assert {"numpy", "pandas"} <= set(result.value)
    assert beside & set(result.value) == set()


async def test_without_the_setting_there_is_no_package():
    async with open_sandbox("process", pool=0) as box:
        result = await run(box, "import numpy")
        assert "whoever runs this sandbox can allow it: setting `packages`" in result.error.notes[0]
        assert (await run(box, "import sys\n'numpy' in sys.modules", dialect="native")).value is False


async def test_numpy_alone_comes_without_pandas():
    async with open_sandbox("process", pool=0, packages=("numpy",)) as box:
        assert (await run(box, "import numpy as np\nint(np.arange(4).sum())")).value == 6
        assert "setting `packages`" in (await run(box, "import pandas")).error.notes[0]
