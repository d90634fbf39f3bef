"""`.get` calls on results that find nothing: noted when no result has the key, silent when it is optional data."""

# ruff: noqa: E501  # notes as the model reads them

import json

import pytest
from inline_snapshot import snapshot

from sandbox import Limits, Reply, open_sandbox
from tests.support.shop import run_program

pytestmark = pytest.mark.anyio

ISSUES = "issues = tools.shop.list_issues()\n"
DATA = "data = tools.shop.search()\n"


@pytest.fixture(scope="module")
async def box():
    async with open_sandbox("process", pool=2) as opened:
        yield opened


MISSES = [
    (DATA + "rows = data.get('itms', [])\nlen(rows)", "line 2", "itms", "items"),
    ("len(tools.shop.search().get('itms', []))", "line 1", "itms", "items"),
    (DATA + "for item in data.get('items', []):\n    print(item.get('nme'))", "line 3", "nme", "name"),
    (ISSUES + "sum(i.get('stars', 0) for i in issues)", "line 2", "stars", ""),
    (ISSUES + "[i.get('createdAt', '') for i in issues]", "line 2", "createdAt", "created_at"),
    (ISSUES + "[(i.get('user') or {}).get('name') for i in issues]", "line 2", "name", ""),
    (ISSUES + "[i['user'].get('logn') for i in issues]", "line 2", "logn", "login"),
    (ISSUES + "sorted(issues, key=lambda i: i.get('created', ''))[0]['number']", "line 2", "created", "created_at"),
    (ISSUES + "def f(i):\n    return i.get('titel')\n[f(i) for i in issues]", "line 3", "titel", "title"),
    (ISSUES + "def f(i):\n    return i.get('titel')\nlist(map(f, issues))", "line 3", "titel", "title"),
    (DATA + "data = data['items']\n[d.get('nme') for d in data]", "line 3", "nme", "name"),
    (
        "rows = []\nfor n in range(3):\n    page = tools.shop.search()\n    rows.extend(page['items'])\n"
        "[r.get('nme') for r in rows]",
        "line 5",
        "nme",
        "name",
    ),
    (
        "pages = [tools.shop.search() for n in range(3)]\n[p.get('total') for p in pages]",
        "line 2",
        "total",
        "total_count",
    ),
    (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "pages = list(ThreadPoolExecutor().map(lambda n: tools.shop.search(), range(3)))\n"
        "[p.get('total') for p in pages]",
        "line 3",
        "total",
        "total_count",
    ),
    (
        "import asyncio\npages = await asyncio.gather(*[tools.shop.search() for n in range(3)])\n"
        "[p.get('total') for p in pages]",
        "line 3",
        "total",
        "total_count",
    ),
    (
        "async def one():\n    return await tools.shop.search()\ndata = await one()\ndata.get('total')",
        "line 4",
        "total",
        "total_count",
    ),
]


@pytest.mark.parametrize(("source", "line", "key", "nearest"), MISSES)
async def test_a_get_that_no_result_can_answer_is_noted(box, source, line, key, nearest):
    result = await run_program(box, source)
    assert result.status == "ok", result.error
    (note,) = result.notes
    assert note.startswith(f"{line}: `")
    assert f'found no key "{key}"' in note
    assert f'nearest: "{nearest}"' in note or not nearest


SILENT = [
    (ISSUES + "[i.get('closed_by') for i in issues]", "one item has the key"),
    (ISSUES + "issues[0].get('closed_by')", "one remembered item at another index has it"),
    (DATA + "data.get('results') or data.get('items')", "another try hit"),
    (DATA + "data.get('results', data.get('items'))", "another try hit"),
    (DATA + "if 'error' in data:\n    print(data.get('error'))", "the program asks first"),
    (DATA + "counts = {}\nfor i in data['items']:\n    counts[i['name']] = counts.get(i['name'], 0) + 1", "own dict"),
    ("own = {'a': 1}\nown.get('b')\ntools.shop.count()", "own dict"),
    (ISSUES + "for i in issues:\n    i['score'] = 1\n[i.get('score') for i in issues]", "set by the program"),
    (ISSUES + "names = {i['number']: i for i in issues}\nnames.get('x')", "own dict"),
    ("tools.shop.empty()\n[i.get('name') for i in tools.shop.empty()]", "nothing met"),
    (ISSUES + "key = 'x'\nissues[0].get(key)", "not a literal"),
    ("class A:\n    def get(self, k):\n        return 1\nA().get('x')\ntools.shop.count()", "another `get`"),
]


@pytest.mark.parametrize(("source", "why"), SILENT)
async def test_a_get_that_may_be_right_gives_no_note(box, source, why):
    result = await run_program(box, source)
    assert (result.status, result.notes) == ("ok", ()), why


async def test_a_key_that_one_of_many_answers_has_gives_no_note(box):
    source = "[tools.shop.search(n=n).get('next') for n in range(40)]"
    result = await run_program(
        box, source, call=lambda call: _reply({"next": 1} if b"17" in call.arguments else {"a": 1})
    )
    assert (result.status, result.notes) == ("ok", ())


async def test_answers_that_are_no_longer_held_give_no_note(box):
    source = "for n in range(60):\n    x = tools.shop.search(n=n).get('next')\nx"
    pad = "x" * 20_000  # 60 of them are more than is held of this memory

    def found(call):
        return _reply({"next": 1, "pad": pad} if json.loads(call.arguments)["n"] < 5 else {"a": 1, "pad": pad})

    result = await run_program(box, source, call=found, limits=Limits(memory_bytes=64 << 20))
    assert (result.status, result.notes) == ("ok", ())


async def test_five_notes_are_shown_and_the_others_counted(box):
    source = DATA + "".join(f"data.get('key{n}')\n" for n in range(8))
    result = await run_program(box, source)
    assert [note.partition(" found")[0] for note in result.notes] == snapshot(
        [
            "line 2: `data.get('key0')`",
            "line 3: `data.get('key1')`",
            "line 4: `data.get('key2')`",
            "line 5: `data.get('key3')`",
            "line 6: `data.get('key4')`",
            "3 further `.get` calls",
        ]
    )


async def test_a_run_that_fails_elsewhere_says_what_a_get_missed(box):
    source = "rows = tools.shop.search().get('itms', [])\nsum(r['stars'] for r in rows) / len(rows)"
    result = await run_program(box, source)
    assert (result.error.type, result.error.shape) == ("ZeroDivisionError", "")
    assert result.notes == snapshot(
        (
            'line 1: `tools.shop.search().get(\'itms\', [])` found no key "itms"; nearest: "items". It is the result of tools.shop.search(...), line 1: {"total_count": int, "items": [2 × {"id": int, "name": str, "stars": int}], "page": {"next": None}}',
        )
    )


def _reply(value):
    return Reply(form="structured", payload=json.dumps({"result": value}).encode())


async def test_names_that_are_bound_over_and_over_end_the_search_and_not_the_run(box):
    names = [f"n{n}" for n in range(12)]
    lines = [f"{name} = {other}" for name in names for other in names if name != other]
    source = DATA + "n0 = data\nif False:\n    pass\n" + "".join(f"{name} = data\n" for name in names)
    source += "\n".join(lines) + "\nx = n3.get('nme')\nn4['nme']"
    result = await run_program(box, source)
    assert (result.error.type, "`n4` is the result" in result.error.shape) == ("KeyError", True)
    result = await run_program(box, source.rpartition("\n")[0])
    assert result.status == "ok"
