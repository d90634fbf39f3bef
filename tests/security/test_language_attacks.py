"""Attacks on the language layer: none reaches a power that the dialect withholds.

The kernel jail is the wall and is tested with the dialect off; here the dialect stands alone, in a throw-away
process. Each attack of our own is first shown to work on plain Python.
"""

# ruff: noqa: E501  # programs stand on one line

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.security.language_gadgets import MORE_GADGETS
from tests.support.dialect_driver import ROOT, run_apart

CORPUS = ROOT.parent / "shared" / "data" / "escapes" / "language.jsonl"


def answers(sources: list[str], **options: Any) -> list[dict[str, Any] | None]:
    """One answer per program; None where the process died, after which the rest runs in a new one."""
    out: list[dict[str, Any] | None] = []
    while len(out) < len(sources):
        got = run_apart(sources[len(out) :], **options)
        out.extend(got)
        if len(out) < len(sources):
            out.append(None)
    return out


def test_no_entry_of_the_language_corpus_gets_its_power(tmp_path: Path) -> None:
    if not CORPUS.exists():
        pytest.skip("`../shared` is not beside this checkout: the language corpus was not run")
    secret = tmp_path / "token.txt"
    secret.write_text("CANARY-file-4711\n")
    outside = tmp_path / "outside"
    outside.mkdir()
    tokens = {"SECRET_FILE": secret, "SECRET_DIR": tmp_path, "ENV_NAME": "ESC_HOST_SECRET", "OUTSIDE_DIR": outside}
    entries = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]
    sources = []
    for entry in entries:
        source = entry["code"]
        for key, value in tokens.items():
            source = source.replace(f"@@{key}@@", str(value))
        sources.append(source)
    got = answers(sources, env={**os.environ, "ESC_HOST_SECRET": "CANARY-env-4711"})
    bad = []
    for entry, answer in zip(entries, got, strict=True):
        text = json.dumps(answer)
        wanted = {entry["must"], *entry["also_ok"]}
        is_hit = "CANARY-" in text or f"GOT:{entry['id']}" in text
        ended = (
            "error" if answer and answer["error"] else "refused_at_compile" if answer and answer["refusals"] else "ok"
        )
        if answer is None or is_hit or not ({ended, "contained"} & wanted):
            bad.append((entry["id"], ended, answer))
    assert bad == []
    assert list(outside.iterdir()) == []


GADGETS = {
    "metaclass by type of a class": "import json\nT = type(int)\nM = T('M', (T,), {'__instancecheck__': lambda c, i: True})\nX = M('X', (), {'__match_args__': ('__globals__',)})\nmatch json.dumps:\n    case X(g):\n        print('GOT', len(g))",
    "virtual subclass and match_args": "from abc import ABC\ndef g(): yield 1\nclass A(ABC): pass\nsetattr(A, '__match_' + 'args__', ('gi_frame',))\nA.register(type(g()))\nmatch g():\n    case A(f):\n        print('GOT', f)",
    "virtual subclass and namedtuple": "from abc import ABC\nfrom collections import namedtuple\ndef g(): yield 1\nclass A(ABC, namedtuple('N', ['gi_frame'])): pass\nA.register(type(g()))\nmatch g():\n    case A(f):\n        print('GOT', f)",
    "virtual subclass and dataclass": "from abc import ABC\nfrom dataclasses import dataclass\ndef g(): yield 1\n@dataclass\nclass A(ABC):\n    gi_frame: int\nA.register(type(g()))\nmatch g():\n    case A(f):\n        print('GOT', f)",
    "generic alias of type": "X = type[int]('X', (), {'__match_args__': ('gi_frame',)})\nprint('GOT', X)",
    "origin of Type": "import typing\nprint('GOT', typing.get_origin(typing.Type[int])('X', (), {'__instancecheck__': len}))",
    "enum by names": "import copy, enum\nclass Target: pass\nE = enum.Enum('E', {'__reduce_ex__': lambda s, p: (lambda: Target, (), (None, {'__match_args__': ('x',)})), '__copy__': None, 'A': 1})\ncopy.copy(E.A)\nprint('GOT', getattr(Target, '__match_' + 'args__'))",
    "copy sets attributes": "import copy\nclass Target: pass\nclass A:\n    def __reduce_ex__(self, p):\n        return (lambda: Target, (), (None, {'__match_args__': ('x',)}))\ncopy.copy(A())\nprint('GOT', getattr(Target, '__match_' + 'args__'))",
    "copy state": "import copy\nclass Target: pass\nclass A:\n    def __new__(cls, *a): return Target if a or cls.on else object.__new__(cls)\n    on = False\n    def __getstate__(self): return (None, {'__match_args__': ('x',)})\na = A()\nA.on = True\ncopy.copy(a)\nprint('GOT', getattr(Target, '__match_' + 'args__'))",
    "wraps copies a chosen attribute": "import functools\nclass Catch: pass\nc = functools.wraps(len, assigned=('__self__',), updated=())(Catch())\nprint('GOT', vars(c)['__self__'])",
    "wraps copies the table of a type": "import functools\nclass Catch: pass\nc = functools.wraps(type(lambda: 0))(Catch())\nprint('GOT', vars(c)['__globals__'].__get__(lambda: 0))",
    "dataclass source by annotations": "import dataclasses\nclass A: a: int = 0\nA.__annotations__['a,print(\"GOT\")'] = int\nA = dataclasses.dataclass(init=False, repr=False, match_args=False)(A)\nA() == A()\ndataclasses.fields(A)[1]",
    "dataclass source by a base field": "import dataclasses\n@dataclasses.dataclass\nclass A:\n    a: int = 0\ndataclasses.fields(A)[0].name = 'a,print(\"GOT\")'\n@dataclasses.dataclass(init=False, repr=False, match_args=False)\nclass B(A): pass\nB() == B()",
    "field renamed while a class is made": "import dataclasses\n@dataclasses.dataclass\nclass A:\n    a: int = 0\nclass D:\n    def __get__(self, o, t=None):\n        dataclasses.fields(A)[0].name = 'a,print(\"GOT\")'\n        return 1\n@dataclasses.dataclass(init=False, repr=False, match_args=False)\nclass B(A):\n    y: int = D()\nB() == B()\ndataclasses.fields(B)[0].gone",
    "field kept and renamed": "import dataclasses\nf = dataclasses.field(default=0)\nclass D:\n    def __get__(self, o, t=None):\n        f.name = 'a,print(\"GOT\")'\n        return 1\n@dataclasses.dataclass(init=False, repr=False, match_args=False)\nclass B:\n    a: int = f\n    y: int = D()\nB() == B()",
    "field of a string class": "import dataclasses\n@dataclasses.dataclass(init=False)\nclass S(str):\n    format: int\ndef f(): pass\nprint('GOT', dataclasses.asdict(S('{0.__glo' + 'bals__}'))['format'](f))",
    "fields table": "import dataclasses\n@dataclasses.dataclass\nclass A:\n    a: int = 0\nprint('GOT', A.__dataclass_fields__['a'] is A.__dataclass_fields__['a'] or 1 / 0)",
    "abstract class of a lying dict": "import abc\nclass Lie(dict):\n    def __iter__(self): return iter(())\n    def items(self): return ()\ndef g(): yield 1\nP = abc.ABCMeta('P', (), Lie(__match_args__=('gi_frame',)))\nP.register(type(g()))\nmatch g():\n    case P(f):\n        print('GOT', f)",
    "augmented assignment reads": "class Raw:\n    def __radd__(self, other):\n        print('GOT', other(f))\ndef f(): pass\nt = '{0.__glo' + 'bals__}'\nt.format += Raw()",
    "singledispatch evaluates text": "import functools\n@functools.singledispatch\ndef f(x): pass\n@f.register\ndef _(x: 'print(\"GOT\") or int'): pass",
    "singledispatchmethod evaluates text": "import functools\nclass C:\n    @functools.singledispatchmethod\n    def f(self, x): pass\n    @f.register\n    def _(self, x: 'print(\"GOT\") or int'): pass",
    "signature class evaluates text": "import inspect\ndef f(x: 'print(\"GOT\")'): pass\ninspect.Signature.from_callable(f, eval_str=True)",
    "signature subclass evaluates text": "from inspect import Signature\nclass S(Signature): pass\ndef f(x: 'print(\"GOT\")'): pass\nS.from_callable(f, eval_str=True)",
    "bound arguments lead to the signature": "import inspect\ndef f(x: 'print(\"GOT\")' = 1): pass\ntype(inspect.signature(f).bind(1).signature).from_callable(f, eval_str=True)",
    "signature evaluates text": "import inspect\ndef f(x: 'print(\"GOT\")'): pass\ntype(inspect.signature(f)).from_callable(f, eval_str=True)",
    "hints evaluate text": "import typing\nclass A: x: 'print(\"GOT\", len.__self__) or int'\ntyping.get_type_hints(A)",
    "timeit evaluates text": "import timeit\ntimeit.timeit('print(\"GOT\")', number=1)",
    "globals as a callback": "from concurrent.futures import ThreadPoolExecutor\nprint('GOT', ThreadPoolExecutor(1).submit(globals).result()['threading'])",
    "locals as a callback": "from concurrent.futures import ThreadPoolExecutor\nprint('GOT', ThreadPoolExecutor(1).submit(locals).result()['self'])",
    "format through super": "class S(str):\n    def up(self, *a): return super().format(*a)\ndef f(): pass\nt = S('{0.__glo' + 'bals__}')\nprint('GOT', t.up(f))",
    "format through UserString": "from collections import UserString\ndef f(): pass\nprint('GOT', UserString('{0.__glo' + 'bals__}').format(f))",
    "thread streams": "import threading\nclass T(threading.Thread):\n    def f(self): self._other = self._stderr\n    def g(self): self._stderr = 1\nt = T()\nt.f()\nprint('GOT', t._other)",
    "module behind a path": "from pathlib import PurePosixPath\nclass A:\n    _flavour = parser = 1\np = PurePosixPath('a')\nf = getattr(p, 'parser', None) or p._flavour\nprint('GOT', getattr(f, 'pathmod', f).os)",
    "mapping proxy of a type": "class Raw:\n    def __ror__(self, d): return d\nd = vars(dict) | Raw()\nprint('GOT', type(d))",
    "warnings module": "import warnings\nclass A: _module = 1\nprint('GOT', warnings.catch_warnings()._module.sys)",
    "loop of a task": "import asyncio\nasync def f():\n    return asyncio.current_task().get_loop().subprocess_exec\nprint('GOT', await f())",
    "private loop": "import asyncio\nclass A: _loop = 1\nasync def f():\n    return asyncio.current_task()._loop.subprocess_exec\nprint('GOT', await f())",
    "dom opens addresses": "from xml.dom import minidom\nd = minidom.parseString('<a/>')\nprint('GOT', d.implementation.createDOMBuilder(1, None))",
    "reduce over getattr": "from functools import reduce\nprint('GOT', reduce(getattr, ['__self__', 'open'], len))",
    "attrgetter": "from operator import attrgetter\nprint('GOT', attrgetter('__self__.open')(len))",
    "methodcaller": "from operator import methodcaller\nprint('GOT', methodcaller('__reduce_ex__', 2)(()))",
    "class by the descriptor of a property": "class A:\n    x = property(lambda s: 1)\nd = A.__dict__['__dict__']\nprint('GOT', d.__get__(A()))",
    "generator in a comprehension": "x = (i for i in [1])\nprint('GOT', x.gi_code.co_consts)",
    "own subclasses": "print('GOT', [c for c in object.__subclasses__() if c.__name__ == 'Popen' or True][:1])",
    "builtins of a function": "def f(): pass\nprint('GOT', f.__builtins__)",
    "exit traceback": "class C:\n    def __enter__(self): pass\n    def __exit__(self, k, v, tb):\n        print('GOT', tb.tb_frame.f_builtins)\n        return True\nwith C():\n    1 / 0",
    "finaliser of an async generator": "async def g():\n    yield 1\nprint('GOT', g().ag_frame)",
    "help of eval": "print('GOT', eval('().__class__.__base__.__subclasses__()')[:1])",
    "eval with other builtins": "import builtins\nprint('GOT', eval('open', {'__builtins__': builtins}))",
    "exec of an import": "exec('import os as o')\nprint('GOT', o.getcwd())",
    "class keywords": "class M(type):\n    def __call__(cls, *a): return open\nclass A(metaclass=M): pass\nprint('GOT', A())",
    "metaclass by unpacking": "class A(**{'metaclass': lambda n, b, ns: print('GOT', ns['__module__'])}): pass",
    "patched library": "import json\njson.dumps = lambda x: 'mine'\nprint('GOT' if json.dumps(1) == 'mine' else 'no')",
    "patched library behind a list": "import json\nj = [json][0]\nj.dumps = lambda x: 'mine'\nprint('GOT' if json.dumps(1) == 'mine' else 'no')",
    "codecs by name": "import codecs\nprint('GOT', codecs.open('/etc/hostname'))",
    "private field of a library subclass": "import warnings\nfrom dataclasses import dataclass\n@dataclass(init=False)\nclass W(warnings.catch_warnings):\n    _module: int\nmatch W():\n    case W(m):\n        print('GOT', m.sys)",
    "private field and a library base later": "import warnings\nfrom dataclasses import dataclass\n@dataclass(init=False)\nclass A:\n    _module: int\nclass W(A, warnings.catch_warnings):\n    def __init__(self): warnings.catch_warnings.__init__(self)\nmatch W():\n    case A(m):\n        print('GOT', m)",
    "private field and replace": "import warnings\nfrom dataclasses import dataclass, replace\n@dataclass\nclass A:\n    _module: int = 0\nclass W(A, warnings.catch_warnings):\n    def __init__(self, **k):\n        if k: print('GOT', k)\n        else: warnings.catch_warnings.__init__(self)\nreplace(W())",
    "private match_args by hand": "import warnings, abc\nW = abc.ABCMeta('W', (warnings.catch_warnings,), {'__match_args__': ('_module',)})\nmatch W():\n    case W(m):\n        print('GOT', m)",
    "private match_args of a task": "import asyncio, abc\nD = abc.ABCMeta('D', (asyncio.Task,), {'__match_args__': ('_loop',)})\nasync def f(): pass\nasync def g():\n    d = D(f())\n    match d:\n        case D(loop):\n            print('GOT', loop)\n    await d\nawait g()",
    "private name in a pattern": "import contextlib\nclass A:\n    def __init__(self): self._exit_callbacks = 1\nmatch contextlib.ExitStack():\n    case contextlib.ExitStack(_exit_callbacks=x):\n        print('GOT', x)",
    "checked field compared": "from dataclasses import dataclass\n@dataclass(init=False)\nclass W:\n    format: int\nclass M(W):\n    def __init_subclass__(cls): pass\nclass S(M, str): pass\nclass R:\n    def __eq__(self, o): print('GOT', o); return True\nb = S('x')\nb.format = R()\nS('{0.__class__}') == b",
    "checked field and match_args": "from dataclasses import dataclass\n@dataclass(init=False, eq=False, repr=False, match_args=True)\nclass W:\n    format: int\nclass S(W, str): pass\nmatch S('{0.__class__}'):\n    case W(g):\n        print('GOT', g(1))",
    "field subclass": "import dataclasses\nfrom dataclasses import MISSING\nclass F(dataclasses.Field):\n    @property\n    def name(self): return 'x,print(\"GOT\")'\n    @name.setter\n    def name(self, v): pass\n@dataclasses.dataclass(init=False, repr=False, match_args=False)\nclass A:\n    x: int = F(MISSING, MISSING, True, True, None, True, None, False)\na, b = A(), A()\na.x = b.x = 1\na == b",
    "field of a base renamed by a default": "import dataclasses\nclass S:\n    def __get__(self, o, c):\n        dataclasses.fields(Base)[0].name = \"a,print('GOT')\"\n        return 1\n@dataclasses.dataclass\nclass Base:\n    a: int = 0\n@dataclasses.dataclass(init=False, repr=False, match_args=False)\nclass D(Base):\n    b: int = S()\nD() == D()",
    "eval of a table in itself": "d = {}\nd['d'] = d\nprint('GOT', eval(\"d['__builtins__']\", d))",
    "exec with guards of its own in locals": "d = {}\nclass R:\n    def __radd__(self, o): print('GOT', o)\nexec(\"d['_cm_augmentable'] = lambda o, n: o\\nt.format += R()\", {'t': 'x', 'R': R, 'd': d}, d)",
    "exec with guards of its own in locals only": "d = {}\nclass R:\n    def __radd__(self, o): print('GOT', o)\nd.update(d=d, R=R, t='x')\nd['_cm_' + 'augmentable'] = lambda o, n: o\nexec('t.format += R()', None, d)",
    "exec with builtins of its own": "d = {}\nclass R:\n    def __radd__(self, o): print('GOT', o)\nd.update(d=d, R=R, t='x')\nexec(\"d['__builtins__'] = {'_cm_augmentable': lambda o, n: o}\\ndef f(t):\\n    t.format += R()\\nf(t)\", d)",
    "private name of a library object": "import contextlib\nclass A:\n    def __init__(self): self._exit_callbacks = 1\nprint('GOT', contextlib.ExitStack()._exit_callbacks)",
    "private name by a method called by hand": "import contextlib\nclass A:\n    def __init__(self): self._exit_callbacks = 1\n    def f(self): return [self._exit_callbacks for x in [1]]\nprint('GOT', A.f(contextlib.ExitStack()))",
    "private name of another self": "import contextlib\nclass A:\n    def __init__(self): self._exit_callbacks = 1\n    def f(self):\n        self = contextlib.ExitStack()\n        return self._exit_callbacks\nprint('GOT', A().f())",
    "private name of a mangled self": "import contextlib\nclass A:\n    def __init__(own): own._exit_callbacks = 1\n    def f(__self):\n        _A__self = contextlib.ExitStack()\n        return __self._exit_callbacks\nprint('GOT', A().f())",
    "private name of a self spelt mangled": "import contextlib\nclass A:\n    def __init__(own): own._exit_callbacks = 1\n    def f(_A__self):\n        __self = contextlib.ExitStack()\n        return _A__self._exit_callbacks\nprint('GOT', A().f())",
    "private name of a mangled self in a class inside": "import contextlib\n_B__self = contextlib.ExitStack()\nclass A:\n    def __init__(own): own._exit_callbacks = 1\n    def f(__self):\n        class B:\n            def g(own): return __self._exit_callbacks\n        return B().g()\nprint('GOT', A().f())",
    "private name of a self outside": "import contextlib\nself = contextlib.ExitStack()\nclass A:\n    def __init__(self): self._exit_callbacks = 1\n    def f(self, x=self._exit_callbacks): return self._exit_callbacks, x\nprint('GOT', A().f())",
    "private name of a static method": "import contextlib\nclass A:\n    def __init__(self): self._exit_callbacks = 1\n    @staticmethod\n    def f(self): return self._exit_callbacks\nprint('GOT', A.f(contextlib.ExitStack()))",
    "private name by augmented assignment": "import contextlib\nclass A:\n    def __init__(self): self._exit_callbacks = 1\nclass R:\n    def __radd__(self, o): print('GOT', o)\ne = contextlib.ExitStack()\ne._exit_callbacks += R()",
    "library private by augmented assignment": "import warnings\nclass R:\n    def __radd__(self, o): print('GOT', o)\nclass A:\n    def f(self): self._module += R()\nclass B(A, warnings.catch_warnings): pass\nB().f()",
    "cached property of a module": "import functools\nclass C(functools.cached_property):\n    def go(self, o): return super().__get__(o, type(o))\nc = C(lambda o: 1)\nc.__set_name__(C, '__loa' + 'der__')\nimport tools\nprint('GOT', c.go(tools))",
    "cached property renamed": "import functools\nclass C(functools.cached_property):\n    def go(self, o): return super().__get__(o, type(o))\nc = C(lambda o: 1)\nc.attrname = '__loa' + 'der__'\nimport tools\nprint('GOT', c.go(tools))",
    "obj through an alias": "import types\nclass E(AttributeError): pass\nprint('GOT', types.GenericAlias(E('a', obj=len), ()).obj)",
    "obj through a typing alias": "import typing\nclass E(AttributeError): pass\nprint('GOT', typing.Annotated[E('a', obj=len), 1].obj)",
    "obj through a method": "import types\nclass E(AttributeError):\n    def __call__(self): pass\nprint('GOT', types.MethodType(E('a', obj=len), 1).obj)",
    "obj through super": "class E(AttributeError):\n    def f(self): return super().obj\nprint('GOT', E('a', obj=len).f())",
    "obj through a proxy of an alias": "import types, weakref\nclass E(AttributeError): pass\ng = types.GenericAlias(E('a', obj=len), ())\nprint('GOT', weakref.proxy(g).obj)",
    "table of a module": "import tools\nprint('GOT', vars(tools)['__loader__'])",
    "table of a module as an attribute": "import tools\nprint('GOT', tools.__dict__['__loader__'])",
    "table of a module through super": "import tools\nclass M(type(tools)):\n    def f(self): return super().__dict__\nprint('GOT', M('x').f()['__loader__'])",
    "table of a library function": "import json\nvars(json.dumps).update(x=1)\nprint('GOT', json.dumps.x)",
    "table of a module of one's own": "import tools\nclass M(type(tools)): pass\nprint('GOT', vars(M('x'))['__loader__'])",
    "wide identifiers": "def f(): pass\nprint('GOT', f.__\uff47\uff4c\uff4f\uff42\uff41\uff4c\uff53__)",
}

GADGETS |= MORE_GADGETS


@pytest.fixture(scope="module")
def outcomes() -> dict[str, tuple[dict[str, Any] | None, dict[str, Any] | None]]:
    names, sources = list(GADGETS), list(GADGETS.values())
    bare, guarded = answers(sources, dialect="native"), answers(sources)
    return {name: (bare[index], guarded[index]) for index, name in enumerate(names)}


@pytest.mark.parametrize("name", sorted(GADGETS))
def test_a_gadget_that_works_on_plain_python_does_not_work_here(
    name: str, outcomes: dict[str, tuple[dict[str, Any] | None, dict[str, Any] | None]]
) -> None:
    bare, guarded = outcomes[name]
    assert bare is not None
    assert "GOT" in bare["printed"], bare
    assert guarded is not None
    assert "GOT" not in guarded["printed"], guarded
    assert guarded["refusals"] or guarded["error"], guarded
