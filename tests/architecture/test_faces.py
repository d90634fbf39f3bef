"""The public faces: short, honest, and lazily imported."""

import ast
import subprocess
import sys

import pytest

import codemode
import sandbox
from tests.architecture.source import ROOT, parse


@pytest.mark.parametrize("package", [codemode, sandbox])
def test_a_face_has_at_most_fifteen_names_and_all_of_them_exist(package):
    assert len(package.__all__) <= 15
    assert list(package.__all__) == sorted(package.__all__)
    assert all(getattr(package, name) is not None for name in package.__all__)


@pytest.mark.parametrize("package", ["codemode", "sandbox"])
def test_importing_a_face_imports_nothing_heavy(package):
    code = f"import sys, {package}; print(sorted({{'mcp', 'anyio', 'pydantic', 'rich'}} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert found.stdout.strip() == "[]"


def _codes(path: str, stages: set[str]) -> set[str]:
    found = set()
    for node in ast.walk(parse(ROOT / path)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            stage, dot, reason = node.value.partition(".")
            if dot and stage in stages and reason.replace("_", "").isalpha() and reason.islower():
                found.add(node.value)
    return found


def test_every_error_code_in_use_is_in_its_table():
    from codemode.errors import CODES as OURS
    from sandbox.errors import CODES as SANDBOXED
    from tests.architecture.source import name_of, python_files

    known = set(OURS) | set(SANDBOXED)
    stages = {code.partition(".")[0] for code in known}
    unknown = {}
    for path in python_files("codemode", "sandbox"):
        extra = _codes(name_of(path), stages) - known
        extra = {code for code in extra if code.partition(".")[0] not in ("config", "run", "sandbox")}
        if extra:
            unknown[name_of(path)] = extra
    assert unknown == {}
