"""What a program may write attributes of, by whatever name it holds the object."""

# programs stand on one line

from __future__ import annotations

import pytest

from tests.unit.sandbox.dialect.test_dialect_guards import printed, raised


@pytest.mark.parametrize(
    "target",
    [
        "[weakref.WeakSet][0]",
        "weakref.proxy(weakref.WeakSet)",
        "typing.Annotated[weakref.WeakSet, 1]",
        "[json.dumps][0]",
    ],
)
def test_a_library_class_or_function_behind_another_name_is_read_only(target: str) -> None:
    start = f"import functools, json, typing, weakref\ntarget = {target}\n"
    for write in (
        "target.x = 1",
        "del target.x",
        "target.x += 1",
        "setattr(target, 'x', 1)",
        "[0 for target.x in [1]]",
    ):
        assert "read-only" in raised(start + write), write
    assert "read-only" in raised(start + "def f(): pass\nf.x = 1\nfunctools.wraps(f)(target)")


def test_objects_of_a_program_are_written_by_any_name_and_in_any_place() -> None:
    source = """
import threading, types
class A:
    count = 0
    def __init__(self, x): self.x, self._y = x, 2
    @classmethod
    def more(cls): cls.count += 1
    def put(this, x): this.x = x
class B(A, threading.Thread):
    def __init__(self):
        threading.Thread.__init__(self)
        self.kept = 3
def f(): pass
a, ns, thread = A(1), types.SimpleNamespace(), threading.Thread(target=f)
A.more()
A.put(ns, 5)
f.mark = A.extra = ns.deep = a.z = 7
a.x += 1
thread.name = 'mine'
for a.item in range(3): pass
del a.z
print(a.x, a._y, a.item, A.count, A.extra, B().kept, f.mark, ns.x, ns.deep, thread.name, hasattr(a, 'z'))
"""
    assert printed(source) == "2 2 2 1 7 3 7 5 7 mine False\n"


def test_a_method_that_dispatches_carries_the_name_of_its_function() -> None:
    source = """
import functools
class A:
    @functools.singledispatchmethod
    def show(self, x): return 'any'
    @show.register
    def _(self, x: int): return 'int'
print(A().show(1), A().show('a'), A().show.__name__)
"""
    assert printed(source) == "int any show\n"
