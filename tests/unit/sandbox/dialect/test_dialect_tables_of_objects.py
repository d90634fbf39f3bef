"""What programs see of tables, private names and copies: their own things whole, others' in part."""

# programs stand on one line

from __future__ import annotations

from types import ModuleType

import pytest

from tests.support.dialect_driver import run


def printed(source: str) -> str:
    ran = run(source)
    assert ran.refusals == []
    assert ran.error is None, repr(ran.error)
    return ran.printed


def raised(source: str) -> str:
    ran = run(source)
    assert ran.refusals == []
    assert ran.error is not None
    return f"{type(ran.error).__name__}: {ran.error}"


def made_module(source: str) -> ModuleType:
    """A module as the guest makes it from the host's text: compiled natively, with Python's own builtins."""
    made = ModuleType("tools.shop")
    exec(source, vars(made))
    return made


@pytest.mark.parametrize("expression", ["vars(shop)", "shop.__dict__", "getattr(shop, '__di' + 'ct__')"])
def test_the_table_of_a_module_shows_only_what_its_attributes_are(expression: str) -> None:
    shop = made_module("import json as _json\nimport os\n__all__ = ['find']\n_cm_x = 1\ndef find(): return 1")
    ran = run(f"print(sorted({expression}))\n{expression}['find'] = 0\nprint(shop.find())", extra={"shop": shop})
    assert (ran.error, ran.printed) == (None, "['find']\n1\n")


def test_the_table_of_an_own_object_stays_the_object_s() -> None:
    source = """
import functools, types
class A: pass
a, n = A(), types.SimpleNamespace()
def f(): pass
for x in (a, n, f):
    x._y = 0
    vars(x)["_y"] = 1
    x.__dict__.update(z=2)
    print(x._y, x.z, sorted(vars(x)))
"""
    assert printed(source) == "1 2 ['_y', 'z']\n" * 3


def test_private_names_of_own_objects_are_read_wherever_they_stand() -> None:
    source = """
import collections.abc, functools, types
from dataclasses import dataclass
class Money:
    _made = 0
    def __init__(self, cents):
        "Docstring."
        self._cents, self.__hidden = cents, [cents]
        Money._made += 1
        self._cents += 0
    def __eq__(self, other): return self._cents == other._cents and self.__hidden == other.__hidden
    def more(self, others): return [self._cents + other._cents for other in others]
    @classmethod
    def count(cls): return cls._made
    @staticmethod
    def of(money): return money._cents
@functools.lru_cache
def f(): pass
f._calls = 1
f._calls += 1
n = types.SimpleNamespace()
n._a = 3
e = ValueError("x")
e._why = 4
@dataclass
class Bag(collections.abc.Sized):
    _items: list
    def __len__(self): return len(self._items)
a, b = Money(5), Money(5)
a._cents += 1
match Bag([1, 2]):
    case Bag(items): pass
print(a == b, Money(5) == b, a.more([b]), Money.count(), Money.of(a), f._calls, n._a, e._why, items, len(Bag([1])))
print(Money.__eq__.__name__, Money.__init__.__doc__)
"""
    assert printed(source) == "False True [11] 3 6 2 3 4 [1, 2] 1\n__eq__ Docstring.\n"


def test_cached_property_computes_once_and_can_be_forgotten() -> None:
    source = """
from functools import cached_property
class A:
    @cached_property
    def x(self):
        "The x."
        print("made")
        return 1
    @cached_property
    def _y(self): return self.x + 1
a = A()
print(a.x, a.x, a._y, A.x.__doc__, A.x.attrname, sorted(vars(a)))
del a.x
print(a.x)
"""
    assert printed(source) == "made\n1 1 2 The x. x ['_y', 'x']\nmade\n1\n"


def test_exec_changes_the_dicts_that_it_is_given() -> None:
    source = """
ns, names = {"a": 1, "gone": 2}, {"k": 1}
exec("b = a + 1\\ndel gone\\nclass C:\\n    x: int = 1\\ndef f(): return b", ns)
exec("k = k + b", ns, names)
try:
    exec("c = 3\\n1 / 0", ns)
except ZeroDivisionError:
    pass
print(sorted(ns), names, ns["f"](), ns["C"].x, ns["C"].__module__)
"""
    assert printed(source) == "['C', 'a', 'b', 'c', 'f'] {'k': 3} 2 1 __main__\n"


def test_exec_in_a_function_changes_none_of_its_variables() -> None:
    assert printed("def f(x):\n    exec('x = 2')\n    return x\nprint(f(1))") == "1\n"
