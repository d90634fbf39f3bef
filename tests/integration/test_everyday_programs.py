"""Ordinary programs print and end in real guests as on plain CPython."""

import functools
import json
import subprocess
import sys

import pytest

from sandbox import open_sandbox
from tests.architecture.source import ROOT
from tests.support.everyday_programs import SANDBOX_PROGRAMS
from tests.support.running import run

pytestmark = pytest.mark.anyio

# What a guest fixes for every run: the seed, the time zone. The value is the last expression's.
_PLAIN = """
import ast, asyncio, io, json, logging, os, random, sys, time, types, warnings
from sandbox.guest.values import render
os.environ["TZ"] = "UTC0"
time.tzset()
warnings.simplefilter("ignore")
answer = {}
for name, source in json.load(sys.stdin).items():
    main, ends = types.ModuleType("__main__"), []
    sys.modules["__main__"], sys.stdout = main, io.StringIO()
    logging.root.handlers.clear()
    random.seed(0)
    tree = ast.parse(source)
    if isinstance(tree.body[-1], ast.Expr):
        tree.body[-1].value = ast.Call(ast.Name("_end", ast.Load()), [tree.body[-1].value], [])
    main._end = ends.append
    code = compile(ast.fix_missing_locations(tree), "<program>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    try:
        made = eval(code, vars(main))
        if made is not None:
            asyncio.run(made)
    except SystemExit:
        pass
    value = render(ends[0]).data.decode() if ends and ends[0] is not None else ""
    answer[name] = [sys.stdout.getvalue(), value]
json.dump(answer, sys.__stdout__)
"""


@functools.cache
def plain():
    """What the programs print and end with on plain CPython, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", _PLAIN],
        input=json.dumps(SANDBOX_PROGRAMS),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        cwd=ROOT,
    )
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
async def box():
    async with open_sandbox("process", pool=2) as opened:
        yield opened


@pytest.mark.parametrize("name", sorted(SANDBOX_PROGRAMS))
async def test_an_everyday_program_does_in_a_guest_what_it_does_on_plain_python(box, name):
    result = await run(box, SANDBOX_PROGRAMS[name])
    assert result.status == "ok", result.error
    assert [result.printed, result.value_raw.decode()] == plain()[name]
    assert result.notes == ()
