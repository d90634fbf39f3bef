"""Tool calls overlap where a program treats them as awaitables, and keep their meaning everywhere else."""

# ruff: noqa: E501  # programs stand on one line

from __future__ import annotations

import pytest

from tests.support.dialect_driver import Ran, Tool, run


def run_with_tool(source: str, dialect: str = "restricted") -> tuple[Ran, list[str]]:
    log: list[str] = []
    tool = Tool(lambda n=0: n * 10, log)
    ran = run(source, tools={"gh.issue": tool}, dialect=dialect)
    assert ran.refusals == []
    assert ran.error is None, repr(ran.error)
    return ran, log


CONCURRENT = {
    "await": ("await tools.gh.issue(3)", 30),
    "await with more": ("await tools.gh.issue(3) + 1", 31),
    "gather": ("import asyncio\nawait asyncio.gather(tools.gh.issue(1), tools.gh.issue(2))", [10, 20]),
    "gather star list": ("import asyncio\nawait asyncio.gather(*[tools.gh.issue(i) for i in (1, 2)])", [10, 20]),
    "gather star generator": ("import asyncio\nawait asyncio.gather(*(tools.gh.issue(i) for i in (1, 2)))", [10, 20]),
    "gather star map": ("from asyncio import gather\nawait gather(*map(tools.gh.issue, [1, 2]))", [10, 20]),
    "gather star sum": (
        "import asyncio as aio\nawait aio.gather(*([tools.gh.issue(1)] + [tools.gh.issue(i) for i in (2,)]))",
        [10, 20],
    ),
    "gather of list()": ("import asyncio\nawait asyncio.gather(*list(tools.gh.issue(i) for i in (1, 2)))", [10, 20]),
    "conditional": (
        "import asyncio\nawait asyncio.gather(*[tools.gh.issue(i) if i else tools.gh.issue(5) for i in (0, 2)])",
        [50, 20],
    ),
    "nested gather": (
        "import asyncio\nawait asyncio.gather(tools.gh.issue(1), asyncio.gather(tools.gh.issue(2)))",
        [10, [20]],
    ),
    "named list": ("import asyncio\nts = [tools.gh.issue(i) for i in (1, 2)]\nawait asyncio.gather(*ts)", [10, 20]),
    "appended": (
        "import asyncio\nts = []\nfor i in (1, 2):\n    ts.append(tools.gh.issue(i))\n"
        "if ts:\n    r = await asyncio.gather(*ts)\nprint(len(ts))\nr",
        [10, 20],
    ),
    "extended": (
        "import asyncio\nts: list = []\nts += [tools.gh.issue(1)]\nts.extend([tools.gh.issue(2)])\nawait asyncio.gather(*ts)",
        [10, 20],
    ),
    "two names": ("a = tools.gh.issue(1)\nb = tools.gh.issue(2)\n(await a) + (await b)", 30),
    "dict values": (
        "import asyncio\nd = {k: tools.gh.issue(k) for k in (1, 2)}\ndict(zip(d, await asyncio.gather(*d.values())))",
        {1: 10, 2: 20},
    ),
    "dict items": (
        "ts = {}\nfor k in (1, 2):\n    ts[k] = tools.gh.issue(k)\nout = {}\nfor k, t in ts.items():\n    out[k] = await t\nout",
        {1: 10, 2: 20},
    ),
    "loop over list": ("ts = [tools.gh.issue(i) for i in (1, 2)]\n[await t for t in ts]", [10, 20]),
    "loop over zip": (
        "ids = 'ab'\nts = [tools.gh.issue(i) for i in (1, 2)]\n{k: await t for k, t in zip(ids, ts)}",
        {"a": 10, "b": 20},
    ),
    "wait_for": ("import asyncio\nawait asyncio.wait_for(tools.gh.issue(1), timeout=5)", 10),
    "create_task": ("import asyncio\nt = asyncio.create_task(tools.gh.issue(1))\nawait t", 10),
    "task group": (
        "import asyncio\nasync with asyncio.TaskGroup() as tg:\n    t = tg.create_task(tools.gh.issue(1))\nt.result()",
        10,
    ),
    "as_completed": (
        "import asyncio\nts = [tools.gh.issue(i) for i in (1, 2)]\nsorted([await t for t in asyncio.as_completed(ts)])",
        [10, 20],
    ),
    "inside async def": (
        "import asyncio\nasync def one(i):\n    return await tools.gh.issue(i)\nawait asyncio.gather(*(one(i) for i in (1, 2)))",
        [10, 20],
    ),
    "alias": ("import asyncio\nfrom tools.gh import issue as f\nawait asyncio.gather(f(1), f(2))", [10, 20]),
}


@pytest.mark.parametrize("name", sorted(CONCURRENT))
def test_a_call_that_is_awaited_is_started_at_once(name: str) -> None:
    source, value = CONCURRENT[name]
    # Python's own create_task takes coroutines alone; the guest's replacement takes calls that are on their way.
    dialects = ("restricted",) if name in ("create_task", "task group") else ("restricted", "native")
    for dialect in dialects:
        ran, log = run_with_tool(source, dialect)
        assert ran.value == value
        assert set(log) == {"start"}


PLAIN = {
    "value": ("tools.gh.issue(1) + 1", 11),
    "argument of a call": ("import asyncio\nx = tools.gh.issue(tools.gh.issue(1))\nx", 100),
    "list that is also read": ("xs = [tools.gh.issue(i) for i in (1, 2)]\ns = sum(xs)\nawait xs[0]\ns", 30),
    "name that is also tested": ("t = tools.gh.issue(2)\nbig = t > 5\nawait t\nbig", True),
    "single call with len": ("class L(list): pass\nt = tools.gh.issue(2)\nprint(str(t))\nawait t", 20),
    "zip that is read": (
        "ts = [tools.gh.issue(i) for i in (1, 2)]\nr = [t + 1 for _, t in zip('ab', ts)]\nawait ts[0]\nr",
        [11, 21],
    ),
    "method named like a consumer": (
        "class Board:\n    def create_task(self, x):\n        return x + 1\nb = Board()\nb.create_task(tools.gh.issue(1))",
        11,
    ),
    "function named gather": ("def gather(*a):\n    return sum(a)\ngather(tools.gh.issue(1), tools.gh.issue(2))", 30),
    "own asyncio": (
        "class asyncio:\n    @staticmethod\n    def gather(*a):\n        return list(a)\nasyncio.gather(tools.gh.issue(1))",
        [10],
    ),
    "returned list": (
        "def make():\n    ts = [tools.gh.issue(1)]\n    return ts\nts = make()\nx = ts[0] + 1\nx",
        11,
    ),
    "name with another binding": ("t = tools.gh.issue(1)\nfor t in [5]:\n    pass\nawait t", 5),
    "keyword argument": ("import asyncio\nawait asyncio.sleep(0, result=tools.gh.issue(1))", 10),
    "items of a tuple": (
        "import asyncio\nrows = [('a', tools.gh.issue(1))]\nawait asyncio.sleep(0)\nrows",
        [("a", 10)],
    ),
}


@pytest.mark.parametrize("name", sorted(PLAIN))
def test_a_call_whose_value_is_used_stays_a_plain_call(name: str) -> None:
    source, value = PLAIN[name]
    ran, log = run_with_tool(source)
    assert ran.value == value
    assert "start" not in log


def test_await_takes_plain_values() -> None:
    assert run_with_tool("x = [1, 2]\nawait x")[0].value == [1, 2]


def test_asyncio_run_drives_a_main_that_awaits_tools() -> None:
    ran, log = run_with_tool(
        "import asyncio\nasync def main():\n    return await tools.gh.issue(2)\nasyncio.run(main())"
    )
    assert (ran.value, log) == (20, ["start"])


def test_a_program_without_await_is_compiled_as_it_is() -> None:
    ran, log = run_with_tool("xs = [tools.gh.issue(i) for i in (1, 2)]\nxs")
    assert (ran.value, log) == ([10, 20], ["call", "call"])
