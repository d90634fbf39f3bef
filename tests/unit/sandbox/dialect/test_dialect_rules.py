"""What is refused before anything runs, and what is not."""

# ruff: noqa: E501  # programs stand on one line

from __future__ import annotations

import sys

import pytest

from sandbox.dialect.program import compile_program
from sandbox.dialect.rules import CHECKED_ATTRIBUTES, READABLE, SPECIAL_METHODS, judge_attribute, judge_name
from sandbox.dialect.transformer import Policy
from sandbox.spec import Diagnostic
from tests.support.dialect_driver import run


def refusals(source: str) -> tuple[Diagnostic, ...]:
    made = compile_program(source.encode(), dialect="restricted", filename="<p>", roots=("tools",))
    return tuple(item for item in made.diagnostics if item.severity == "error")


REFUSED = {
    "x.__globals__": "`__globals__`",
    "x.__builtins__": "`__builtins__`",
    "x.__code__": "`__code__`",
    "x.__code__ = y": "`__code__`",
    "del x.__code__": "`__code__`",
    "x.__class__ = y": "`__class__`",
    "x.__dict__ = y": "`__dict__`",
    "x.__subclasses__()": "`__subclasses__`",
    "x.__mro__": "`__mro__`",
    "x.mro()": "`mro`",
    "x.__bases__": "`__bases__`",
    "x.__self__": "`__self__`",
    "x.__func__": "`__func__`",
    "x.__closure__": "`__closure__`",
    "x.__reduce_ex__(2)": "`__reduce_ex__`",
    "x.__getattribute__('a')": "`__getattribute__`",
    "x.__getattr__('a')": "`__getattr__`",
    "x.__get__(y)": "`__get__`",
    "x.__set__(y, z)": "`__set__`",
    "x.__loader__": "`__loader__`",
    "x.__anything_else__": "`__anything_else__`",
    "x._secret": "`_secret`",
    "x.gi_frame": "`gi_frame`",
    "x.cr_await": "`cr_await`",
    "x.ag_code": "`ag_code`",
    "x.tb_frame": "`tb_frame`",
    "x.tb_next": "`tb_next`",
    "x.f_builtins": "`f_builtins`",
    "x.f_generator": "`f_generator`",
    "x.co_code": "`co_code`",
    "x.cell_contents": "`cell_contents`",
    "x.get_loop()": "`get_loop`",
    "x.get_coro()": "`get_coro`",
    "x.print_stack()": "`print_stack`",
    "f'{x.__globals__}'": "`__globals__`",
    "f'{1:{x.__globals__}}'": "`__globals__`",
    "lambda: x.__globals__": "`__globals__`",
    "def f(a=x.__globals__): pass": "`__globals__`",
    "def f(a: x.__globals__): pass": "`__globals__`",
    "def f() -> x.__globals__: pass": "`__globals__`",
    "@x.__globals__\ndef f(): pass": "`__globals__`",
    "class A(x.__globals__): pass": "`__globals__`",
    "y: x.__globals__ = 1": "`__globals__`",
    "for x.__code__ in y: pass": "`__code__`",
    "with y as x.__code__: pass": "`__code__`",
    "[0 for x.__code__ in y]": "`__code__`",
    "x.__code__ += 1": "`__code__`",
    "(x.__code__, *y.__code__) = z": "`__code__`",
    "match x:\n    case object(__globals__=g): pass": "`__globals__`",
    "match x:\n    case object(__class__=g): pass": "`__class__`",
    "match x:\n    case object(gi_frame=g): pass": "`gi_frame`",
    "match x:\n    case str(format=g): pass": "`format`",
    "match x:\n    case object(_secret=g): pass": "`_secret`",
    "match x:\n    case y.__globals__: pass": "`__globals__`",
    "getattr(x, '__globals__')": "`__globals__`",
    "getattr(x, '__globals__', None)": "`__globals__`",
    "setattr(x, '__code__', y)": "`__code__`",
    "delattr(x, '__match_args__')": "`__match_args__`",
    "compile('1', 'a', 'eval')": "`compile`",
    "c = compile": "`compile`",
    "input('? ')": "`input`",
    "breakpoint()": "`breakpoint`",
    "__import__('os')": "`__import__`",
    "__builtins__": "`__builtins__`",
    "__build_class__": "`__build_class__`",
    "__loader__": "`__loader__`",
    "__spec__": "`__spec__`",
    "__file__": "`__file__`",
    "__builtins__ = 1": "`__builtins__`",
    "__name__ = 'json'": "`__name__`",
    "def __builtins__(): pass": "`__builtins__`",
    "class __builtins__: pass": "`__builtins__`",
    "import json as __builtins__": "`__builtins__`",
    "from json import loads as __builtins__": "`__builtins__`",
    "for __builtins__ in x: pass": "`__builtins__`",
    "[__builtins__ for __builtins__ in x]": "`__builtins__`",
    "(__builtins__ := 1)": "`__builtins__`",
    "lambda __builtins__: 1": "`__builtins__`",
    "def f(__builtins__): pass": "`__builtins__`",
    "def f(*__builtins__): pass": "`__builtins__`",
    "def f(**__builtins__): pass": "`__builtins__`",
    "def f():\n    global __builtins__": "`__builtins__`",
    "try: pass\nexcept E as __builtins__: pass": "`__builtins__`",
    "match x:\n    case __builtins__: pass": "`__builtins__`",
    "match x:\n    case [*__builtins__]: pass": "`__builtins__`",
    "match x:\n    case {**__builtins__}: pass": "`__builtins__`",
    "_cm_getattr = 1": "`_cm_getattr`",
    "_cm_getattr": "`_cm_getattr`",
    "del _cm_getattr": "`_cm_getattr`",
    "def f(_cm_getattr, /): pass": "`_cm_getattr`",
    "def f(a, *, _cm_getattr=1): pass": "`_cm_getattr`",
    "lambda _cm_await: 1": "`_cm_await`",
    "f(_cm_x=1)": "`_cm_x`",
    "x._cm_y": "`_cm_y`",
    "class A:\n    _cm_z = 1": "`_cm_z`",
    "class M(type): pass": "class `M` is a metaclass",
    "from abc import ABCMeta\nclass M(ABCMeta): pass": "class `M` is a metaclass",
    "class A(metaclass=M): pass": "a metaclass other than `ABCMeta`",
    "class A(**kw): pass": "`**` in a class statement",
    "class A:\n    __module__ = 'os'": "`__module__`",
    "class A:\n    def __getattribute__(self, n): pass": "`__getattribute__`",
    "class A:\n    def __reduce__(self): pass": "`__reduce__`",
    "class A:\n    def __getstate__(self): pass": "`__getstate__`",
    "class A:\n    def __instancecheck__(self, x): pass": "`__instancecheck__`",
    "class A:\n    def __subclasshook__(self, x): pass": "`__subclasshook__`",
    "class A:\n    @property\n    def __class__(self): pass": "`__class__`",
    "class A:\n    __class__ = int": "`__class__`",
    "class A:\n    __annotations__ = {}": "`__annotations__`",
    "class A:\n    __match_args__ = ('__globals__',)": "`__match_args__`",
    "class A:\n    __match_args__ = ('gi_frame',)": "`__match_args__`",
    "class A:\n    __match_args__ = names": "`__match_args__`",
    "class A:\n    __slots__ = ('__match_args__',)": "`__slots__`",
    "class A:\n    __slots__ = names": "`__slots__`",
    "'{0.__class__}'.format(x)": "the format field `{0.__class__}`",
    "'{a[0].__globals__}'.format(a=x)": "the format field",
    "'{0:{1.__class__}}'.format(x, y)": "the format field",
    "'{a.__class__}'.format_map(x)": "the format field",
    "map('{0.__class__}'.format, x)": "the format field",
    "'{0._secret}'.format(x)": "the format field",
    "try: pass\nexcept* E: pass": "`except*`",
    "import os, sys\nos.system": "`os` has no `system` here",
    "import socket": "`socket` cannot be imported",
    "from subprocess import run": "`subprocess` cannot be imported",
    "if x:\n    import socket": "`socket` cannot be imported",
    "import urllib.request": "`urllib.request` cannot be imported",
    "from . import x": "relative imports",
    "from .a import x": "relative imports",
    "from random import _os": "`random` has no `_os` here",
    "from json import codecs": "`json` has no `codecs` here",
    "import json\njson.codecs": "`json` has no `codecs` here",
    "import json.decoder as d\nd.scanner": "`json.decoder` has no `scanner` here",
    "import json\njson.dumps = f": "library objects are read-only",
    "from json import JSONEncoder\nJSONEncoder.default = f": "library objects are read-only",
    "from typing import ForwardRef": "`typing` has no `ForwardRef` here",
}


@pytest.mark.parametrize("source", sorted(REFUSED))
def test_this_is_refused_with_its_line_and_a_reason(source: str) -> None:
    found = refusals(source)
    assert any(REFUSED[source] in item.message for item in found), [item.message for item in found]
    assert all(item.code in ("dialect.refused", "guest.syntax") for item in found)
    assert all(0 < item.line <= source.count("\n") + 1 and item.source_line for item in found)
    assert all("\n" not in item.message and len(item.message) < 300 for item in found)


def test_all_refusals_of_a_program_come_at_once_and_in_order() -> None:
    found = refusals("import socket\nx = 1\nx.__globals__\ny = eval\nx._q\nexcept_ = input()\n")
    assert [item.line for item in found] == [1, 3, 5, 6]


def test_refusals_are_bounded() -> None:
    assert len(refusals("\n".join("x.__globals__" for _ in range(500)))) == 100


ALLOWED = [
    "x.__name__, x.__doc__, x.__qualname__, x.__module__",
    "x.__class__.__name__",
    "x.__dict__, vars(x)",
    "x.__len__(), x.__eq__(y), Base.__init__(x, 1), dict.__getitem__(x, 1)",
    "err.__cause__, err.__context__, err.__notes__, err.__traceback__, err.with_traceback(tb)",
    "f.__wrapped__, f.__annotations__, E.__members__",
    "f.__name__ = 'x'; f.__doc__ = 'y'; f.calls = 0; cls.__repr__ = f; cls.__init__ = f",
    "p._replace(x=1), p._asdict(), P._fields, P._make([1])",
    "class A:\n    def f(self):\n        self._x = 1\n        return self._x\nA()._x",
    "class A:\n    _n = 0\n    def __init__(self): self.__p = 1; A._n += 1\n    def g(self): return self.__p",
    "f._cache = {}\nf._cache",
    "_ = 1; __ = 2; _x = 3; __x = 4\n_ + __ + _x + __x",
    "_getattr_ = 1\n_getattr_",
    "def f(_x, *_args, __y=1, **_kw): return _x",
    "__all__ = ['x']; __version__ = '1'; __author__ = 'me'",
    "if __name__ == '__main__': pass",
    "def input(): return 1\ninput()",
    "compile = 1\ncompile",
    "import re\nre.compile('x')",
    "class A(B, frozen=True, total=False): pass",
    "from abc import ABCMeta\nimport abc\nclass A(metaclass=ABCMeta): pass\nclass B(metaclass=abc.ABCMeta): pass",
    "class A:\n    __slots__ = ('x', '_y', '__dict__')\n    __match_args__ = ('x',)\n    __hash__ = None\n    __doc__ = 'd'",
    "class A:\n    __slots__ = ['x']\n    __radd__ = __add__ = lambda s, o: s\n    __iter__ = None",
    "class A:\n    def __getattr__(self, n): return super().__getattr__(n)",
    "class A:\n    def __set__(self, o, v): super().__set__(o, v)\n    def __get__(self, o, t=None): return self",
    "class A:\n    def __setattr__(self, n, v): super().__setattr__(n, v)",
    "class A:\n    def __new__(cls): return super().__new__(cls)\n    def __del__(self): pass",
    "'{0.name} {1[key]} {x:>{w}}'.format(a, b, x=1, w=2)",
    "template.format(1), str.format('{}', 1), '{a}'.format_map(d)",
    "try:\n    import numpy\nexcept ImportError:\n    numpy = None",
    "try:\n    from os import environ_of_nobody\nexcept ValueError:\n    pass"
    if False
    else "import os\nos.path.join('a')",
    "from math import *",
    "import xml.etree.ElementTree as ET, collections.abc, os.path as p, concurrent.futures",
    "from tools import github\nfrom tools.a.b import c as d\nimport tools.x as y\nimport tools",
    "from __future__ import annotations, print_function, division",
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pandas as pd\nelse:\n    pd = None",
    "class A:\n    def f(self): object.__setattr__(self, '_y', 1); return self._y",
    "setattr(a, '_z', 1)\na._z",
    "class A:\n    __slots__ = ('_s',)\n    def f(self): return self._s",
    "x.obj, x.parser, x.register, x.format",
    "type(x), type(x).__name__, type(None)",
    "globals(), locals(), vars(), dir(), dir(x), eval('1'), exec('x = 1')",
    "async def f():\n    async with a as b:\n        async for c in b:\n            yield await c",
    "nonlocal_ = [i async for i in x if await i]",
    "lambda *a, k=1, **kw: (a, k, kw)",
    "del x[0], y.z, w\nx[1:2] += [3]\nd.a.b -= 1\n(a, (b, *c)), d = e",
]


@pytest.mark.parametrize("source", ALLOWED)
def test_this_is_not_refused(source: str) -> None:
    assert refusals(source) == ()


NEWER = [
    "def first[T](xs: list[T]) -> T: return xs[0]",
    "class Box[T, *Ts, **P]: pass",
    "type Pair[T] = tuple[T, T]",
    'x = f"{\'a\' + f"{\'b\'}"} {d["k"]}"',
    "class Box[T: (int, str)]:\n    _items: list[T] = []\n    def put(self, x: T) -> None: self._items.append(x)",
]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of Python 3.12")
@pytest.mark.parametrize("source", NEWER)
def test_newer_syntax_is_not_refused(source: str) -> None:
    assert refusals(source) == ()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of Python 3.12")
@pytest.mark.parametrize(
    "source", ["def f[__builtins__](): pass", "type _cm_x = int", "class A[T: x.__globals__]: pass"]
)
def test_newer_syntax_obeys_the_rules(source: str) -> None:
    assert refusals(source) != ()


def test_a_node_that_nobody_knows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for cls in Policy.__mro__[:2]:
        monkeypatch.delattr(cls, "visit_Assign")
    assert [item.message for item in refusals("x = 1")] == ["`Assign` is syntax that the dialect does not know"]


def test_an_optional_import_is_answered_at_run_time() -> None:
    assert (
        run("try:\n    import socket\nexcept ImportError as e:\n    print(type(e).__name__)").printed == "ImportError\n"
    )


def test_native_programs_are_not_checked() -> None:
    made = compile_program(b"x.__globals__\nimport os", dialect="native", filename="<p>", roots=())
    assert made.code is not None


def test_packages_that_are_allowed_can_be_imported() -> None:
    source = b"import numpy as np\nfrom pandas.api import types\nfrom numpy.linalg import svd\nnp.array"
    made = compile_program(source, dialect="restricted", filename="<p>", roots=(), packages=("numpy", "pandas"))
    assert made.diagnostics == ()


@pytest.mark.parametrize(
    ("source", "message", "hint"),
    [
        ("import numpy.linalgg", "`numpy.linalgg` cannot be imported", "did you mean `numpy.linalg`?"),
        ("from pandas.core import frame", "`pandas.core` cannot be imported", "`pandas` has here: api, "),
        ("from numpy import _core", "`_core` is private to `numpy`", "import public names"),
        ("import scipy.stats", "`scipy.stats` cannot be imported", "not installed here; use `numpy` and `pandas`"),
        ("import panda", "`panda` cannot be imported", "did you mean `pandas`?"),
    ],
)
def test_parts_of_packages_that_are_not_shown_are_refused_with_what_there_is(
    source: str, message: str, hint: str
) -> None:
    made = compile_program(
        source.encode(), dialect="restricted", filename="<p>", roots=("tools",), packages=("numpy", "pandas")
    )
    assert made.diagnostics[0].message == message
    assert made.diagnostics[0].hint.startswith(hint)


def test_tables_of_names_do_not_contradict_each_other() -> None:
    assert not READABLE & CHECKED_ATTRIBUTES
    for name in READABLE:
        assert judge_attribute(name, frozenset()).mode == "native"
    for name in SPECIAL_METHODS:
        assert judge_name(name, is_store=True).mode == "native"
    for name in ("__class__", "__reduce__", "__module__", "__dict__"):
        assert judge_name(name, is_store=True).mode == "refused"
