"""The prototype's escapes of the language layer (`../shared/design/prototypes/escapes*.py`) have nothing.

Each binds `out`. What is refused there and harmless here gives a value, which is looked at; those are listed with why.
"""

from __future__ import annotations

import ast
import functools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT.parent / "shared" / "design" / "prototypes"
FILES = ("escapes.py", "escapes2.py")

_CLASS = "the class of an object, never a metaclass"
_COPY = "a wrapper of library functions that copies the usual attributes only"
_OWN = "what the program itself has defined"
HARMLESS = {
    **dict.fromkeys(("getattr_dunder", "attrgetter", "attrgetter_from", "reduce_getattr", "func_default_attr"), _CLASS),
    **dict.fromkeys(("super_attr", "functiontype", "partial_getattr", "map_getattr"), _CLASS),
    **dict.fromkeys(("fstring_attr", "string_template", "bytes_fmt", "str_mod"), "text"),
    **dict.fromkeys(("wraps_update", "update_wrapper_globals", "cached_property"), _COPY),
    **dict.fromkeys(("property_fget", "singledispatch", "userdict", "walrus_dunder", "del_method"), _OWN),
    **dict.fromkeys(("super_getattribute", "posonly_shadow_rp"), _OWN),
    "import_os": "a facade of the workspace's files",
    "eval_": "text that is compiled by the same rules",
    "exec_alias": "the same",
    "globals_": "a read-only snapshot of the program's variables",
    "star_import": "the public names of a facade",
    "aiter_": "a builtin",
    "type3": "a class whose names are judged as those of a class statement",
    "forwardref": "a stand-in that compiles text by the same rules",
    "logging_style": "a stand-in whose templates are judged as those of `str.format`",
}

RUNNER = """
import json, sys, warnings
warnings.simplefilter("ignore")
from tests.support.dialect_driver import run
from tests.support.facade_dangers import danger, inside
dumps, out = json.dumps, sys.__stdout__
for name, source in json.load(sys.stdin).items():
    ran = run(source, dialect=sys.argv[1])
    has = "out" in ran.variables
    value = ran.variables.get("out")
    kind = danger(value) or next((danger(item) for _, item in inside(value) if danger(item)), "") if has else ""
    ended = "refused" if ran.refusals else "raised" if ran.error is not None else "ended"
    out.write(dumps({"name": name, "ended": ended, "has": has, "kind": kind, "shown": repr(value)[:200]}) + "\\n")
    out.flush()
"""

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.skipif(not FOLDER.exists(), reason="did not run: no escapes in `../shared/design/prototypes`"),
]


def table(*names: str) -> dict[str, str]:
    """The programs of the prototypes' tables of these names."""
    found = {}
    for file in FILES:
        for node in ast.walk(ast.parse((FOLDER / file).read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)):
                continue
            if isinstance(node.targets[0], ast.Name) and node.targets[0].id in names:
                texts = ((item.arg, item.value) for item in node.value.keywords)
                found |= {name: ast.literal_eval(value) for name, value in texts if name}
    return found


def escapes() -> dict[str, str]:
    """The programs that are after something."""
    return table("E", "X")


@functools.cache
def outcomes(dialect: str, *names: str) -> dict[str, dict[str, Any]]:
    """How each program of the tables ended, in processes of their own; one that died is missing."""
    left, found = table(*names), {}
    while left:
        done = subprocess.run(
            [sys.executable, "-c", RUNNER, dialect],
            input=json.dumps(left),
            capture_output=True,
            text=True,
            timeout=100,
            cwd=ROOT,
            check=False,
        )
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        found |= {line["name"]: line for line in lines}
        left = dict(list(left.items())[len(lines) + 1 :]) if len(lines) < len(left) else {}
    return found


def test_most_of_the_prototypes_escapes_work_on_plain_python() -> None:
    found = outcomes("native", "E", "X")
    assert sum(one["has"] for one in found.values()) > 0.8 * len(escapes()) > 55
    assert sum(bool(one["kind"]) for one in found.values()) >= 10


def test_no_escape_of_the_prototype_has_what_it_is_after() -> None:
    found = outcomes("restricted", "E", "X")
    assert set(found) == set(escapes())
    assert {name: one for name, one in found.items() if one["kind"]} == {}
    had = {name: one["shown"] for name, one in found.items() if one["has"] and one["ended"] == "ended"}
    assert {name: shown for name, shown in had.items() if name not in HARMLESS} == {}


def test_the_prototypes_ordinary_programs_run() -> None:
    found = outcomes("restricted", "S")
    ended = {name: one["ended"] for name, one in found.items()}
    assert len(ended) > 30
    assert {name: how for name, how in ended.items() if how != "ended"} == {}


def test_harmless_names_are_names_of_the_prototype() -> None:
    assert set(HARMLESS) <= set(escapes())
