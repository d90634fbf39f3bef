"""No function of the allowed library evaluates text, opens a file or imports by name, as far as its code tells."""

from __future__ import annotations

import builtins
import dis
import inspect
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from sandbox.dialect.modules import build_facades

POWERS = frozenset(("eval", "exec", "compile", "__import__", "open"))

# Name in the library → what it names, looked at one by one.
HARMLESS = {
    "ast.literal_eval": "compiles to a tree, never to code",
    "platform.python_implementation": "reads `sys.version`; the file is looked at for distributions only",
    "platform.python_version": "the same",
    "platform.python_version_tuple": "the same",
}


def codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for item in code.co_consts:
        if isinstance(item, CodeType):
            yield from codes(item)


def functions(value: Any) -> Iterator[FunctionType]:
    if isinstance(value, FunctionType):
        yield value
    elif isinstance(value, classmethod | staticmethod):
        yield from functions(value.__func__)
    elif isinstance(value, property):
        for part in (value.fget, value.fset, value.fdel):
            yield from functions(part)


def powers_of(function: FunctionType, seen: set[FunctionType]) -> set[str]:
    """The powers that a function calls by name, itself or through functions of its module.

    `re.compile` is an attribute: only names that are not bound in the module count, where they can be told apart.
    """
    if function in seen:
        return set()
    seen.add(function)
    found: set[str] = set()
    for code in codes(function.__code__):
        for name in globals_of(code):
            value = function.__globals__.get(name)
            if isinstance(value, FunctionType):
                found |= powers_of(value, seen)
            elif name in POWERS and value is None and is_real(function, name):
                found.add(name)
    return found


def is_real(function: FunctionType, name: str) -> bool:
    """Whether the function gets the interpreter's own builtin: a private copy of a module has others."""
    return function.__builtins__.get(name) is getattr(builtins, name)


def globals_of(code: CodeType) -> set[str]:
    return {str(step.argval) for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}


def exposed() -> Iterator[tuple[str, FunctionType]]:
    for path, facade in sorted(build_facades({}).items()):
        for name in dir(facade):
            value = getattr(facade, name)
            yield from ((f"{path}.{name}", function) for function in functions(value))
            for base in value.__mro__[:-1] if isinstance(value, type) else ():
                for key, member in vars(base).items():
                    yield from ((f"{path}.{name}.{key}", function) for function in functions(member))


def test_no_function_of_the_library_evaluates_opens_or_imports() -> None:
    found = {path: powers_of(function, set()) for path, function in exposed()}
    assert {path: powers for path, powers in found.items() if powers and path not in HARMLESS} == {}


def test_the_search_finds_what_it_looks_for() -> None:
    assert powers_of(inspect.Signature.from_callable.__func__, set()) >= {"eval"}  # type: ignore[attr-defined]
