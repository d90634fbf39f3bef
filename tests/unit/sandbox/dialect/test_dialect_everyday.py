"""Ordinary programs print under the dialect what plain CPython prints."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.dialect_driver import ROOT, run
from tests.support.everyday_programs import PROGRAMS

SHARED = ROOT.parent / "shared"


_PLAIN = """
import ast, asyncio, io, json, logging, sys, types, warnings
warnings.simplefilter("ignore")
answer = {}
for name, source in json.load(sys.stdin).items():
    main = types.ModuleType("__main__")
    logging.root.handlers.clear()
    sys.modules["__main__"], sys.stdout = main, io.StringIO()
    code = compile(source, "<program>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    made = eval(code, vars(main))
    if made is not None:
        asyncio.run(made)
    answer[name] = sys.stdout.getvalue()
json.dump(answer, sys.__stdout__)
"""


@functools.cache
def plain() -> dict[str, str]:
    """What the programs print on plain CPython, in a process of its own."""
    asked = json.dumps(PROGRAMS)
    done = subprocess.run([sys.executable, "-c", _PLAIN], input=asked, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_an_everyday_program_prints_what_plain_python_prints(name: str) -> None:
    ran = run(PROGRAMS[name])
    assert ran.refusals == []
    assert ran.error is None, repr(ran.error)
    assert ran.printed == plain()[name]
    assert ran.printed


def corpus(path: Path) -> Any:
    if not path.exists():
        pytest.skip(f"`../shared` has no {path.name} beside this checkout: the corpus was not run")
    text = path.read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else json.loads(text)


def test_every_snippet_of_the_language_bench_gives_its_value() -> None:
    failed = {}
    for entry in corpus(SHARED / "bench" / "snippets.json"):
        ran = run(entry["code"])
        value = json.loads(json.dumps(ran.value, default=list)) if ran.error is None and not ran.refusals else None
        if value != entry["expect"]:
            failed[entry["name"]] = (ran.refusals, repr(ran.error), value)
    assert failed == {}


@pytest.mark.filterwarnings("ignore")
def test_every_ordinary_program_of_the_escape_corpus_prints_its_text() -> None:
    failed = {}
    for entry in corpus(SHARED / "data" / "escapes" / "benign.jsonl"):
        ran = run(entry["code"])
        printed = ran.printed.replace("\r\n", "\n").replace("calendar.THURSDAY", "3")  # an enum from 3.12 on
        if printed != entry["expect"]:
            failed[entry["id"]] = (ran.refusals, repr(ran.error), ran.printed)
    assert failed == {}


def test_the_programs_of_the_semantics_case_give_the_values_of_plain_python() -> None:
    (case,) = [corpus(path) for path in sorted((SHARED / "data" / "cases").glob("020*.json"))] or [None]
    if case is None:
        pytest.skip("`../shared` has no case 020 beside this checkout")
    values = [json.loads(json.dumps(run(program).value)) for program in case["given"]["programs"]]
    assert values == case["then"]["check"]["results"]
