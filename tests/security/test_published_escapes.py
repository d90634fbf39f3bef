"""Escapes that were published of RestrictedPython, of what is built on it, and of other ways to run a model's Python.

`published_escapes.txt` has one program each, in the form that was published; it hands what it got hold of to `reach`.
Each is first shown to get it on plain Python; then the dialect stops it, also inside of text for `eval` and `exec`; and
with the dialect off a guest reaches nothing of the host's that way. Sources: the advisories of RestrictedPython and
AccessControl, their CHANGES up to 9.0 and 7.8, the GitHub advisory database and the CVE list up to November 2026.

What has no program here: RestrictedPython 8.5 (lazy imports and unpacking in comprehensions are syntax of Python 3.15)
and 9.0 (builtins that iterate without `_getiter_`, a guard that the dialect does not have); fall-backs to a weaker
sandbox (CVE-2026-2275, CVE-2026-2287, CVE-2026-57144: `test_process_backend_refusals.py`); calls beyond a limit
(GHSA-3589-pxp7-3gj8: `test_sandbox_limits.py`); advisories without a published form (CVE-2026-49444).
"""

from __future__ import annotations

import ast
import functools
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import anyio
import pytest

from sandbox import Limits, RunSpec, open_sandbox
from sandbox.dialect.modules import Importable
from sandbox.dialect.transformer import Policy
from sandbox.dialect.walk import scan
from tests.security.language_gadgets import MORE_GADGETS
from tests.security.test_language_attacks import GADGETS, answers
from tests.support.dialect_driver import run

pytestmark = pytest.mark.timeout(180)


def _read() -> dict[str, str]:
    text = Path(__file__).with_name("published_escapes.txt").read_text(encoding="utf-8")
    parts = text.removeprefix("### ").split("\n### ")
    return {name: source + "\n" for name, _, source in (part.partition("\n") for part in parts)}


ESCAPES = _read()
TELLS = "def reach(got):\n    print('GOT', type(got).__name__)\n"
INSIDE_OF = {
    "exec": "exec({!r})",
    "exec in a function": "def run(text):\n    exec(text)\nrun({!r})",
    "exec in an f-string": "text = {!r}\nf'{{exec(text)}}'",
    "exec in eval in exec": "exec('eval(\"exec(text)\")', {{'text': {!r}}})",
}

OF_ALL_ATTACKS = ("exec", "exec in eval in exec")  # the others differ in the frame alone


@functools.cache
def outcomes(dialect: str) -> dict[str, dict[str, Any] | None]:
    found = answers([TELLS + source for source in ESCAPES.values()], dialect=dialect, timeout_s=160)
    return dict(zip(ESCAPES, found, strict=True))


@pytest.mark.parametrize("name", ESCAPES)
def test_a_published_escape_works_on_plain_python_and_not_in_the_dialect(name: str) -> None:
    bare, guarded = outcomes("native")[name], outcomes("restricted")[name]
    assert bare is not None
    assert "GOT" in bare["printed"], bare
    assert guarded is not None
    assert "GOT" not in guarded["printed"], guarded
    assert guarded["refusals"] or guarded["error"] or not guarded["printed"], guarded


@pytest.mark.parametrize("how", INSIDE_OF)
def test_honest_text_is_evaluated(how: str) -> None:
    assert run(INSIDE_OF[how].format("print('fine')")).printed == "fine\n"


@pytest.mark.parametrize("how", INSIDE_OF)
def test_no_attack_works_inside_of_text_that_is_evaluated(how: str) -> None:
    attacks = {name: TELLS + source for name, source in ESCAPES.items()}
    if how in OF_ALL_ATTACKS:
        attacks |= {**GADGETS, **MORE_GADGETS}
    found = answers([INSIDE_OF[how].format(source) for source in attacks.values()], timeout_s=160)
    bad = {
        name: answer
        for name, answer in zip(attacks, found, strict=True)
        if answer is None or "GOT" in answer["printed"] or not (answer["refusals"] or answer["error"])
    }
    assert bad == {}


SPLIT = (
    "class Group(ExceptionGroup):\n    def split(self, kind):\n        return 'x'\n"
    "try:\n    raise Group('g', [ValueError()])\nexcept* ValueError:\n    reach(1)\n"
)


def test_cve_2025_22153_a_group_that_splits_into_something_else_is_refused_before_it_runs() -> None:
    (answer,) = answers([TELLS + SPLIT])
    assert answer is not None
    assert answer["refusals"] == ["`except*`: a hostile exception group crashes CPython 3.11-3.13 there"]


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="did not run: CPython 3.13.2 has the type confusion no more")
def test_cve_2025_22153_a_group_that_splits_into_something_else_confuses_plain_python() -> None:
    (answer,) = answers([TELLS + SPLIT], dialect="native")
    assert answer is None or "TypeError" not in answer["error"]


SHADOWS = {
    "positional-only": "def f(_cm_getattr, /):\n    return text.format\n",
    "with a default": "def f(_cm_getattr=take, /):\n    return text.format\n",
    "of a lambda": "f = lambda _cm_getattr, /: text.format\n",
    "keyword-only": "def f(*, _cm_getattr=take):\n    return text.format\n",
}
_TAKEN = "text = 'a'\nseen = []\ndef take(*given):\n    seen.append(given)\n"
_USED = "f() if {default} else f(take)\n"


@pytest.mark.parametrize("name", SHADOWS)
def test_cve_2026_55830_a_parameter_that_shadows_a_guard_is_refused(name: str) -> None:
    """With names of parameters unchecked, as RestrictedPython had it before 8.3, the guard is the attacker's."""
    source = _TAKEN + SHADOWS[name] + _USED.format(default="=take" in SHADOWS[name])

    class Unchecked(Policy):
        def visit_arg(self, node: ast.arg) -> None:
            """Nothing is judged here."""

    tree = ast.parse(source)
    policy = Unchecked(scan(tree), Importable(("tools",)))
    policy.judge()
    policy.rewrite()
    names: dict[str, Any] = {"_cm_getattr": getattr}
    exec(compile(ast.fix_missing_locations(tree), "<program>", "exec"), names)
    assert policy.found == []
    assert names["seen"] == [("a", "format")]

    refused = [item.message for item in run(source).compiled.diagnostics]
    assert refused == ["`_cm_getattr`: names that start with `_cm_` are reserved"]


@pytest.mark.anyio
@pytest.mark.parametrize(
    "source", ["import numpy\nnumpy.ma.core.inspect.sys", "from numpy.ma.core import inspect", "import numpy.ma.core"]
)
async def test_cve_2026_27952_modules_behind_a_package_are_not_handed_out(source: str) -> None:
    """Agenta: RestrictedPython with numpy reached `sys` through a module that numpy imports."""
    pytest.importorskip("numpy", reason="did not run: numpy is not installed")
    async with open_sandbox("process", pool=1, packages=("numpy",)) as box:
        with anyio.fail_after(120):
            result = await box.run(RunSpec(source=source))
    assert result.error is not None
    assert (result.error.type, result.error.code) in [("AttributeError", "guest.raised"), ("", "dialect.refused")]


# What a program does that has got out, whatever it got hold of: it looks for the host's own things.
HOST = """
def reach(got):
    print("GOT", type(got).__name__)
    import os, sys, _io
    def attempt(what, function):
        try:
            print("HAD", what, function())
        except BaseException as error:
            print("not had:", what, type(error).__name__)
    attempt("file", lambda: _io.open({secret!r}).read())
    attempt("folder", lambda: os.listdir({folder!r}))
    attempt("write", lambda: os.open({folder!r} + "/written", os.O_CREAT | os.O_WRONLY))
    attempt("variable", lambda: os.environ["ESCAPE_CANARY"])
    attempt("process", lambda: os.spawnv(os.P_WAIT, {python!r}, ["python", "-c", "pass"]))
    def connect():
        import _socket
        _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM).connect(("127.0.0.1", {port}))
    attempt("network", connect)
"""


@pytest.mark.anyio
@pytest.mark.skipif(sys.platform != "linux", reason="did not run: needs Linux")
async def test_with_the_dialect_off_no_published_escape_has_anything_of_the_hosts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ESCAPE_CANARY", "canary-5519")
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as listener:
        secret = Path(folder, "secret.txt")
        secret.write_text("canary-5519")
        port = listener.getsockname()[1]
        host = HOST.format(secret=str(secret), folder=folder, python=sys.executable, port=port)
        shown = subprocess.run(
            [sys.executable, "-c", host + "reach(1)"], capture_output=True, text=True, timeout=60, check=True
        ).stdout
        assert shown.count("HAD") == 6, shown
        Path(folder, "written").unlink()
        listener.settimeout(30)
        listener.accept()[0].close()

        found: dict[str, str] = {}
        async with open_sandbox("process", pool=2) as box:
            for name, source in ESCAPES.items():
                spec = RunSpec(source=host + source, dialect="native", limits=Limits(wall_s=30, threads=16))
                with anyio.fail_after(60):
                    result = await box.run(spec)
                found[name] = f"{result.printed} {result.error}"
        assert {name: text for name, text in found.items() if "HAD" in text or "canary" in text} == {}
        assert sum("GOT" in text for text in found.values()) > len(found) * 0.9, found
        assert list(Path(folder).iterdir()) == [secret]
        listener.settimeout(0)
        with pytest.raises(BlockingIOError):
            listener.accept()


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["SystemExit", "KeyboardInterrupt", "GeneratorExit", "BaseException"])
async def test_cve_2026_55244_an_exception_that_nobody_catches_ends_its_own_run_only(name: str) -> None:
    """asteval, and PythonScripts of Zope (CVE-2008-5102): such an exception ended the program around it."""
    async with open_sandbox("process", pool=1) as box:
        with anyio.fail_after(60):
            result = await box.run(RunSpec(source=f"raise {name}('over')"))
            after = await box.run(RunSpec(source="40 + 2"))
    assert result.error is not None
    assert result.error.type == name
    assert after.value == 42
