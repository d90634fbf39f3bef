"""The one walk over a program: it meets every node, and what it says about names."""

from __future__ import annotations

import ast
import gc
import sys
from collections import Counter
from pathlib import Path

import pytest

from sandbox.dialect import walk
from sandbox.dialect.modules import Importable
from sandbox.dialect.program import compile_program
from sandbox.dialect.transformer import MAX_REFUSALS, Policy, check
from sandbox.dialect.walk import scan

ROOT = Path(__file__).resolve().parents[4]
EVERYTHING = """
import a.b as c, d
from e import f as g, h
async def one(p, /, q: int = 1, *r: str, s, t: int = 2, **u: dict) -> list:
    async with p as x, q: pass
    async for y in r: await y
    else: pass
    return [z async for z in s if z if not z for w in z]
@d.e(1, *f, k=2, **g)
class Two(c.B, metaclass=M):
    x: int
    y: str = "a"
    def m(self, n=lambda v, *w: v): yield from n
def three():
    nonlocal_ = global_ = 1
    def four():
        nonlocal nonlocal_
        global five
        five, *six = yield
        raise ValueError from None
    del nonlocal_, global_.a[1:2:3], (b, [c])
    assert d, "e"
match x:
    case {"a": [1, *rest], **others} | Point(x=0, y=None) as whole if whole: pass
    case [_, -1, "b", a.b]: pass
try:
    while x < 1 <= y not in z: break
    else: x += {**a, "b": {1, *c}, (yield_ := 2): {k: v for k, v in {}}}
except (A, B) as e: continue_ = ...
except C: pass
else: x = y if z else ~w @ 2 or q and s
finally: print(f"{x!r:>{width}} {y}", {s for s in t}, (g for g in h), b"", sep="")
for i in range(3):
    if i: continue
    elif TYPE_CHECKING: import late
"""
NEWER = "type A[T: int, *Ts, **P] = list[T]\nclass B[T]: pass\ndef f[T](x: T) -> T: return x"


def met(tree: ast.AST) -> Counter[ast.AST]:
    return Counter(node for nodes in scan(tree).nodes.values() for node in nodes)  # type: ignore[arg-type]  # any tree


def everything(tree: ast.AST) -> Counter[ast.AST]:
    """What the library's own walk finds, but for nodes that hold nothing."""
    return Counter(node for node in ast.walk(tree) if not isinstance(node, walk._LEAVES))


def test_every_node_of_a_program_is_met_once() -> None:
    for path in (ROOT / "sandbox").rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        assert met(tree) == everything(tree), path


def test_every_kind_of_node_is_met_once() -> None:
    tree = ast.parse(EVERYTHING)
    assert met(tree) == everything(tree)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of Python 3.12")
def test_every_newer_kind_of_node_is_met_once() -> None:
    tree = ast.parse(NEWER)
    assert met(tree) == everything(tree)


class Unheard(ast.expr):
    """A kind of node that a newer Python might add."""

    _fields = ("parts",)


def test_a_kind_that_nobody_knows_is_walked_and_refused() -> None:
    tree = ast.parse("x = 1")
    node, inside = Unheard(lineno=1, col_offset=4), ast.parse("y.__globals__", mode="eval").body
    node.parts = [inside]  # type: ignore[attr-defined]  # the field of the new kind
    tree.body[0].value = node  # type: ignore[attr-defined]  # an assignment
    refused = check(scan(tree), Importable(()))
    assert {item.message.split("`")[1] for item in refused} == {"Unheard", "__globals__"}


def test_a_field_that_a_newer_python_adds_to_a_known_kind_is_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ast, "Unheard", Unheard, raising=False)
    monkeypatch.setattr(walk, "_HANDLERS", walk._Handlers(walk._HANDLERS))
    monkeypatch.setattr(walk, "_FIELDS", dict(walk._FIELDS))
    walk._handles("Unheard", "known")(lambda walker, node: None)
    node = Unheard()
    node.parts = [ast.Name("a", ast.Load())]  # type: ignore[attr-defined]  # the field of the new kind
    facts = scan(ast.Expression(node))
    assert [name.id for name in facts.of(ast.Name)] == ["a"]


def test_the_visitors_taken_over_from_restrictedpython_neither_rewrite_nor_refuse() -> None:
    facts = scan(ast.parse(EVERYTHING))
    policy = Policy(facts, Importable(()))
    inherited = [kind for kind in facts.nodes if f"visit_{kind.__name__}" not in vars(Policy)]
    assert len(inherited) > 20
    for kind in inherited:
        for node in facts.nodes[kind]:
            assert getattr(policy, f"visit_{kind.__name__}")(node) is node
    assert policy.found == []


def test_the_self_of_a_method_is_fixed_where_nothing_in_it_binds_the_name() -> None:
    template = "class A:\n    def m({0}, other=self):\n        {1}\n        return self"
    fixed = ["", "def g(): return self", "global x", "lambda: self", "x = [self for y in self]"]
    moved = [
        "self = 1",
        "del self",
        "import self",
        "import self.a",
        "from a import b as self",
        "for self in x: pass",
        "for [a, *self] in x: pass",
        "with x as self: pass",
        "(self := 1)",
        "[self for self in x]",
        "[(self := y) for y in x]",
        "self += 1",
        "self: int = 1",
        "def self(): pass",
        "class self: pass",
        "def g(self): pass",
        "def g(*self): pass",
        "lambda *, self: 1",
        "def g():\n            nonlocal self\n            self = 1",
        "try: pass\n        except E as self: pass",
        "match x:\n            case self: pass",
        "match x:\n            case {**self}: pass",
        "match x:\n            case [*self]: pass",
    ]
    for text in (*fixed, *moved):
        facts = scan(ast.parse(template.format("self", text or "pass")))
        (method,) = [scope for scope in facts.owners.values() if scope.function is not None][:1]
        while method.parent is not None and not method.parent.class_name:
            method = method.parent
        assert (text, method.fixed_self) == (text, "self" if text in fixed else "")


@pytest.mark.parametrize(
    "head",
    ["def m(__self)", "def m(_A__self)", "def m(*self)", "def m(*, self)", "def m()", "@staticmethod\n    def m(self)"],
)
def test_a_parameter_that_may_be_anything_is_no_fixed_self(head: str) -> None:
    facts = scan(ast.parse(f"class A:\n    {head}: return x"))
    assert {scope.fixed_self for scope in facts.owners.values()} == {""}


def test_the_first_refusals_in_the_order_of_the_text_are_told() -> None:
    source = "\n".join(["x.__globals__", "import socket", "__builtins__"] * MAX_REFUSALS)
    made = compile_program(source.encode(), dialect="restricted", filename="<p>", roots=())
    assert [item.line for item in made.diagnostics] == list(range(1, MAX_REFUSALS + 1))


@pytest.mark.parametrize("source", ["x = 1", "x.__globals__", "x = = 1"])
@pytest.mark.parametrize("is_collecting", [True, False])
def test_compiling_leaves_the_collector_as_it_was(source: str, is_collecting: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if is_collecting else gc.disable)()
        compile_program(source.encode(), dialect="restricted", filename="<p>", roots=())
        assert gc.isenabled() is is_collecting
    finally:
        (gc.enable if before else gc.disable)()
