"""Programs in real guests of the process backend: values, prints, errors, modules, limits."""

import json

import anyio
import pytest

from sandbox import Limits, Reply, RunSpec, SpecError, open_sandbox
from tests.support.running import BINDING, echo, run

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def box():
    async with open_sandbox("process", pool=2) as opened:
        yield opened


# -- values and prints ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("1 + 1", 2),
        ("x = 3\nx * 2", 6),
        ("[n * n for n in range(4)]", [0, 1, 4, 9]),
        ("'text'", "text"),
        ("return 5\nprint('never')", 5),
        ("for n in range(10):\n    if n == 3:\n        return n", 3),
        ("try:\n    return 1\nfinally:\n    print('done')", 1),
        ("try:\n    return 1\nexcept:\n    return 2", 1),
        ("import asyncio\nawait asyncio.sleep(0, 7)", 7),
        ("import asyncio\nasync def main():\n    return 4\nasyncio.run(main())", 4),
        ("await 5", 5),
        ("import asyncio\nawait asyncio.gather(1, asyncio.sleep(0, 2))", [1, 2]),
        ("from concurrent.futures import ThreadPoolExecutor\nlist(ThreadPoolExecutor().map(abs, [-1, -2]))", [1, 2]),
        ("def f():\n    global n\n    n = 2\nf()\nn", 2),
        ("from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int = 1\nP(2)", {"x": 2}),
    ],
)
async def test_the_value_of_a_run_is_its_last_expression_or_its_return(box, source, value):
    result = await run(box, source)
    assert (result.status, result.value) == ("ok", value), result.error


async def test_a_program_that_ends_in_an_assignment_shows_a_preview(box):
    result = await run(box, "rows = [{'a': n} for n in range(100)]")
    assert result.value_form == "preview"
    assert result.value == {"name": "rows", "shape": "list of 100 items", "items": [{"a": 0}, {"a": 1}, {"a": 2}]}


async def test_nothing_at_all_is_nothing(box):
    result = await run(box, "None")
    assert (result.status, result.value_form, result.printed) == ("ok", "none", "")


async def test_prints_come_back_in_order(box):
    result = await run(box, "for n in range(1000):\n    print(n, end=' ')\nprint()")
    assert result.printed == " ".join(map(str, range(1000))) + " \n"
    assert result.usage.printed_bytes == len(result.printed)


async def test_stderr_is_kept_apart(box):
    source = "import sys, logging\nprint('a')\nprint('b', file=sys.stderr)\nlogging.warning('c')"
    result = await run(box, source)
    assert (result.printed, result.complaints.splitlines()[0]) == ("a\n", "b")
    assert "c" in result.complaints.splitlines()[1]


async def test_the_result_of_a_started_call_can_be_awaited_twice(box):
    source = "import asyncio\nfrom tools import echo\nt = asyncio.create_task(echo(n=1))\n[await t, await t]"
    result = await run(box, source, call=echo, modules={"tools": BINDING})
    assert result.value == [{"n": 1}, {"n": 1}], result.error


async def test_a_hundred_megabytes_of_prints_end_with_the_output_limit_and_keep_both_ends(box):
    result = await run(box, "for n in range(100):\n    print(n, 'x' * 1_000_000)")
    assert (result.status, result.error.code) == ("limit", "limit.output")
    assert result.printed.startswith("0 xxx")
    assert "bytes of prints left out" in result.printed
    assert len(result.printed) < 300_000


async def test_every_run_starts_fresh(box):
    await run(box, "import json\njson.loads\nleft = 1\nimport random\nrandom.seed(1)")
    result = await run(box, "left")
    assert (result.status, result.error.type) == ("error", "NameError")


async def test_equal_seeds_give_equal_random_numbers(box):
    source = "import random\n[random.random() for _ in range(3)]"
    first, second, other = [await run(box, source, seed=seed) for seed in (5, 5, 6)]
    assert first.value == second.value != other.value


# -- errors -----------------------------------------------------------------------------------------------------------


async def test_an_exception_comes_with_the_models_own_line(box):
    result = await run(box, "print('before')\nrows = {'a': 1}\nrows['b']")
    assert (result.status, result.error.code, result.error.type) == ("error", "guest.raised", "KeyError")
    assert (result.error.line, result.error.source_line, result.printed) == (3, "rows['b']", "before\n")
    assert "sandbox" not in result.error.traceback


async def test_a_syntax_error_has_line_and_text_and_nothing_runs(box):
    result = await run(box, "print('x')\nfor n in range(3)\n    print(n)")
    assert (result.status, result.error.code, result.error.line) == ("refused", "guest.syntax", 2)
    assert result.printed == ""


async def test_a_refused_program_names_line_and_reason_of_all_refusals(box):
    result = await run(box, "().__class__.__bases__\n(lambda: 0).__globals__\n")
    assert (result.status, result.error.code, result.error.line) == ("refused", "dialect.refused", 1)
    assert any("line 2" in note for note in result.error.notes)


async def test_an_empty_program_is_refused(box):
    assert (await run(box, "  \n\n")).status == "refused"


async def test_a_source_at_the_limit_runs(box):
    """It is larger than what a unix socket takes at once."""
    source = "x = 1\n" * 40_000 + "x"
    source += "#" * (256 * 1024 - len(source))
    assert (await run(box, source)).value == 1


async def test_a_source_above_the_limit_is_refused_before_a_guest_is_taken(box):
    with pytest.raises(SpecError) as caught:
        await run(box, "x = 1\n" * 60_000)
    assert caught.value.code == "limit.source"


async def test_a_program_larger_than_a_socket_holds_reaches_its_guest(box):
    source = f"len('{'a' * 3_000_000}')"
    result = await run(box, source, limits=Limits(source_bytes=4 << 20))
    assert (result.status, result.value) == ("ok", 3_000_000), result.error


@pytest.mark.parametrize(
    "source",
    ["(" * 10_000 + ")" * 10_000, "x = " + "-" * 100_000 + "1", "a." * 50_000 + "b", "[" * 100_000, "\0", "\xff"],
)
async def test_sources_that_are_hard_to_compile_are_refused_inside_the_guest(box, source):
    result = await run(box, source)
    assert result.status in ("refused", "error")
    assert (await run(box, "1")).value == 1


async def test_a_crash_of_the_interpreter_ends_its_own_run_only(box):
    crash = await run(box, "import ctypes\nctypes.string_at(0)", dialect="native")
    assert crash.status == "error"
    assert crash.error.code in ("guest.died", "guest.raised")
    assert (await run(box, "1")).value == 1


# -- calls and modules ------------------------------------------------------------------------------------------------


async def test_modules_are_loaded_on_demand_and_once(box):
    asked = []

    def load(name):
        asked.append(name)
        return BINDING if name == "tools" else None

    source = "import tools\nfrom tools import echo\nimport tools as t\n[tools.echo(a=1), echo(a=2), t.echo(a=3)]"
    result = await run(box, source, call=echo, load=load)
    assert result.value == [{"a": 1}, {"a": 2}, {"a": 3}]
    assert asked.count("tools") == 1
    assert result.usage.calls == 3


async def test_a_module_that_the_host_does_not_know_is_an_import_error(box):
    result = await run(box, "import tools.nothing", modules={"tools": ""})
    assert (result.status, result.error.type) == ("error", "ModuleNotFoundError")


async def test_prepare_tells_names_and_calls_and_runs_nothing(box):
    source = "print('x')\nfrom tools.github import list_issues as f\nf(repo='a', n=len('x'))\ngitlab.g(1)"
    with anyio.fail_after(30):
        async with await box.prepare(RunSpec(source=source)) as prepared:
            assert {(item.path, item.is_free) for item in prepared.names} >= {
                ("tools.github.list_issues", False),
                ("gitlab.g", True),
            }
            (call,) = [item for item in prepared.calls if item.path == "tools.github.list_issues"]
            assert call.keywords["repo"] == "a"
            assert repr(call.keywords["n"]) == "UNKNOWN"


IMPORTS = "import asyncio\nfrom concurrent.futures import ThreadPoolExecutor\nfrom tools import echo\n"
STYLES = {
    "gather": "len(await asyncio.gather(*[echo(n=n) for n in range(8)]))",
    "gather of a list made before": "calls = [echo(n=n) for n in range(8)]\nlen(await asyncio.gather(*calls))",
    "a list that grows": (
        "calls = []\nfor n in range(8):\n    calls.append(echo(n=n))\nlen(await asyncio.gather(*calls))"
    ),
    "own coroutines": (
        "async def one(n):\n    return await echo(n=n)\n"
        "async def main():\n    return len(await asyncio.gather(*map(one, range(8))))\nasyncio.run(main())"
    ),
    "task group": (
        "async def main():\n    async with asyncio.TaskGroup() as group:\n"
        "        tasks = [group.create_task(echo(n=n)) for n in range(8)]\n    return len(tasks)\nasyncio.run(main())"
    ),
    "as completed": (
        "async def one(n):\n    return await echo(n=n)\n"
        "count = 0\nfor item in asyncio.as_completed([one(n) for n in range(8)]):\n"
        "    await item\n    count += 1\ncount"
    ),
    "threads": "len(list(ThreadPoolExecutor(8).map(lambda n: echo(n=n), range(8))))",
    "to_thread": "len(await asyncio.gather(*[asyncio.to_thread(echo, n=n) for n in range(8)]))",
}


@pytest.mark.parametrize("style", STYLES)
async def test_calls_made_at_once_overlap(box, style):
    """Each call waits until all of them have arrived: only calls that overlap can end."""
    arrived = 0
    everybody = anyio.Event()

    async def call(call):
        nonlocal arrived
        arrived += 1
        if arrived == 8:
            everybody.set()
        await everybody.wait()
        return Reply(payload=call.arguments)

    source = IMPORTS + STYLES[style]
    result = await run(box, source, call=call, modules={"tools": BINDING}, limits=Limits(wall_s=20))
    assert result.value == 8, result.error


async def test_a_forgotten_await_still_makes_the_call(box):
    seen = []

    async def call(call):
        await anyio.sleep(0)
        seen.append(json.loads(call.arguments))
        return Reply(payload=b"1")

    source = "import asyncio\nfrom tools import echo\nasyncio.ensure_future(echo(n=1))\nawait echo(n=2)"
    result = await run(box, source, call=call, modules={"tools": BINDING})
    assert (result.status, result.value) == ("ok", 1)
    assert {item["n"] for item in seen} == {1, 2}


async def test_a_time_out_in_the_program_cancels_the_call_on_the_host(box):
    cancelled = anyio.Event()

    async def call(call):
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            cancelled.set()
            raise

    source = (
        "import asyncio\nfrom tools import echo\ntry:\n    await asyncio.wait_for(echo(), 0.05)\n"
        "except TimeoutError:\n    print('too slow')\n"
    )
    result = await run(box, source, call=call, modules={"tools": BINDING})
    assert result.printed == "too slow\n"
    with anyio.fail_after(5):
        await cancelled.wait()


async def test_a_failed_call_is_an_exception_that_the_program_catches(box):
    def call(call):
        return Reply(ok=False, payload=b'{"message": "locked"}')

    source = "from tools import echo\ntry:\n    echo()\nexcept Exception as e:\n    print(type(e).__name__, e)"
    result = await run(box, source, call=call, modules={"tools": BINDING})
    assert result.printed == "ValueError locked\n"


async def test_a_fault_of_the_callback_is_the_programs_exception_and_not_ours(box):
    def call(call):
        raise RuntimeError("secret text")

    result = await run(box, "from tools import echo\necho()", call=call, modules={"tools": BINDING})
    assert result.status == "error"
    assert "secret text" not in str(result)


async def test_a_large_answer_arrives_whole(box):
    payload = json.dumps(["x" * 100] * 100_000).encode()
    result = await run(
        box, "from tools import echo\nlen(echo())", call=lambda call: Reply(payload=payload), modules={"tools": BINDING}
    )
    assert result.value == 100_000


async def test_leaving_with_sys_exit_is_a_clean_end_and_with_a_number_it_is_none(box):
    clean = await run(box, "import sys\nprint('a')\nsys.exit(0)")
    assert (clean.status, clean.printed) == ("ok", "a\n")
    failed = await run(box, "import sys\nsys.exit(3)")
    assert (failed.status, failed.error.message) == ("error", "the program left with sys.exit(3)")


async def test_a_memory_limit_says_what_was_allowed(box):
    result = await run(box, "x = [0] * 10 ** 10", limits=Limits(memory_bytes=64 << 20))
    assert result.error.message == "the program needs more memory than `memory_bytes` allows (64 MiB)"


@pytest.mark.parametrize(
    "source",
    [
        "async def main():\n    return 5\nmain()",
        "import asyncio\nasync def main():\n    return 5\nawait asyncio.sleep(0)\nmain()",
    ],
)
async def test_a_coroutine_as_the_last_expression_is_awaited_and_said_so(box, source):
    result = await run(box, source)
    assert (result.status, result.value) == ("ok", 5), result.error
    assert any("was awaited" in note for note in result.notes)


async def test_a_coroutine_that_nobody_awaits_is_told(box):
    result = await run(box, "async def main():\n    print('x')\nmain()\n1")
    assert (result.value, result.printed) == (1, "")
    assert any("never awaited" in note for note in result.notes)


async def test_open_says_that_there_are_no_files(box):
    result = await run(box, "open('notes.txt')")
    assert (result.error.type, "io.StringIO" in result.error.message) == ("PermissionError", True)


async def test_a_guest_has_no_network_code_and_no_trace_of_rehearsals(box):
    source = (
        "import linecache, sys\n"
        "loaded = [n for n in ('ssl', '_ssl', 'urllib.request', 'http.client') if sys.modules.get(n) is not None]\n"
        "loaded, [n for n in linecache.cache if 'rehearsal' in n], len(sys.meta_path)"
    )
    first, second = await run(box, source, dialect="native"), await run(box, source, dialect="native")
    assert first.value[:2] == [[], []]
    assert first.value == second.value
