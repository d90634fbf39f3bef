"""File and function ceilings of STYLE section 4. The lists of exceptions may shrink, not grow quietly."""

import ast
import statistics

from tests.architecture.source import name_of, parse, python_files

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
MEDIAN_FUNCTION_LINES = 10

LONGER_FILES: dict[str, str] = {}
LONGER_FUNCTIONS: dict[str, str] = {}


def _functions():
    for path in python_files("codemode", "sandbox"):
        for node in ast.walk(parse(path)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield path, node, (node.end_lineno or node.lineno) - node.lineno + 1


def test_no_file_is_longer_than_the_ceiling():
    long = {
        name_of(path): lines
        for path in python_files("codemode", "sandbox", "tests", "examples")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > MAX_FILE_LINES
    }
    assert set(long) <= set(LONGER_FILES), long


def test_no_function_is_longer_than_the_ceiling():
    long = {f"{name_of(path)}:{node.name}": n for path, node, n in _functions() if n > MAX_FUNCTION_LINES}
    assert set(long) <= set(LONGER_FUNCTIONS), long


def test_the_median_function_is_short():
    assert statistics.median(n for _, _, n in _functions()) <= MEDIAN_FUNCTION_LINES
