"""A wrong guess about a result through the whole way: a real server, bindings, guest, host, and the text to read."""

# ruff: noqa: E501  # answers as the model reads them

import re

import anyio
import pytest
from inline_snapshot import snapshot

from codemode import Host, load_config
from codemode.prose.run_answer import run_answer
from tests.support.front_process import write_config
from tests.support.small_catalog import marks

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def host(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    with anyio.fail_after(90):
        async with Host.open(load_config(write_config(folder)), state_dir=folder / "state") as opened:
            await opened.wait_ready(None, 60)
            yield opened


async def _answer(host, program):
    session = host.session()
    await session.tool_search("select:tracker.list_issues,tracker.get_issue")
    outcome = await session.execute(program)
    return re.sub(r"\d+(\.\d+)? m?s\b", "T", run_answer(outcome, marks).text, count=1)


async def test_a_misspelt_key_is_answered_with_the_real_keys(host):
    program = "issues = tools.tracker.list_issues(repo='a/b')\nfor issue in issues:\n    print(issue['titel'])"
    assert await _answer(host, program) == snapshot("""\
r1 failed at line 3 after 1 call and T: KeyError: 'titel'
Traceback (most recent call last):
  File "<program>", line 3, in <module>
    print(issue['titel'])
          ~~~~~^^^^^^^^^
KeyError: 'titel'
Shape: `issue` is result[0] of tools.tracker.list_issues(...), line 1: {"number": int, "title": str}
  No key "titel"; nearest: "title".
  {"number": 1, "title": "issue 1 of a/b"}
Next: execute(code="<the corrected program>")  # variables are gone; files and `store` are kept\
""")


async def test_an_object_taken_for_a_list_is_answered_with_its_keys(host):
    program = "for issue in tools.tracker.get_issue(number=3):\n    print(issue['title'])"
    assert await _answer(host, program) == snapshot("""\
r1 failed at line 2 after 1 call and T: TypeError: string indices must be integers, not 'str'
Traceback (most recent call last):
  File "<program>", line 2, in <module>
    print(issue['title'])
          ~~~~~^^^^^^^^^
TypeError: string indices must be integers, not 'str'
Shape: `issue` is a key: iterating a dict gives its keys. The dict is the result of tools.tracker.get_issue(...), line 1: {"number": int, "title": str, "next": int}
  The dict itself has the key "title": leave the loop out.
  {"number": 3, "title": "issue 3", "next": 4}
Next: execute(code="<the corrected program>")  # variables are gone; files and `store` are kept\
""")


async def test_a_get_that_missed_is_noted_in_the_answer(host):
    program = "issue = tools.tracker.get_issue(number=3)\nlen(issue.get('comments', []))"
    assert await _answer(host, program) == snapshot("""\
r1 ok, 1 call and T.
0
Note: line 2: `issue.get('comments', [])` found no key "comments". It is the result of tools.tracker.get_issue(...), line 1: {"number": int, "title": str, "next": int}\
""")


async def test_an_error_of_the_programs_own_has_no_shape(host):
    program = "issue = tools.tracker.get_issue(number=3)\n{}[issue['number']]"
    assert await _answer(host, program) == snapshot("""\
r1 failed at line 2 after 1 call and T: KeyError: 3
Traceback (most recent call last):
  File "<program>", line 2, in <module>
    {}[issue['number']]
    ~~^^^^^^^^^^^^^^^^^
KeyError: 3
Next: execute(code="<the corrected program>")  # variables are gone; files and `store` are kept\
""")


async def test_raw_results_are_explained_too(host):
    program = "answer = raw(tools.tracker.get_issue, number=3)\nanswer['structured_content']"
    assert "`answer` is the result of raw(...), line 1" in await _answer(host, program)
