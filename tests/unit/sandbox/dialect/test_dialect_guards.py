"""The run-time half: names that are computed are judged as if they stood in the program."""

# ruff: noqa: E501  # programs stand on one line

from __future__ import annotations

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


DUNDER = "d = '__' + 'globals' + '__'\ndef f(): pass\n"


@pytest.mark.parametrize(
    "expression",
    [
        "getattr(f, d)",
        "getattr(f, d, None)",
        "list(map(getattr, [f], [d]))",
        "(lambda g=getattr: g(f, d))()",
    ],
)
def test_getattr_refuses_what_an_attribute_would(expression: str) -> None:
    assert raised(DUNDER + expression).startswith("RefusedAttributeError: `__globals__`: a function's globals")


def test_hasattr_sees_refused_names_as_absent() -> None:
    assert printed(DUNDER + "print(hasattr(f, d), hasattr(f, '__name__'), hasattr(f, 'x'), hasattr(3, 'real'))") == (
        "False True False True\n"
    )


def test_a_str_subclass_cannot_lie_about_a_name() -> None:
    source = "class S(str):\n    def startswith(self, *a): return False\ngetattr((), S('__cla' + 'ss__'))"
    assert raised(source) == "TypeError: attribute name must be a str, got S"


@pytest.mark.parametrize("name", ["__match_args__", "__code__", "__class__", "__dict__", "__module__"])
def test_setattr_and_delattr_refuse_special_names(name: str) -> None:
    source = f"class A: pass\nn = '{name[:4]}' + '{name[4:]}'\n"
    assert "RefusedAttributeError" in raised(source + "setattr(A, n, 1)")
    assert "RefusedAttributeError" in raised(source + "delattr(A, n)")
    assert "RefusedAttributeError" in raised(source + "object.__setattr__(A(), n, 1)")


def test_setattr_writes_ordinary_and_private_names_of_own_objects() -> None:
    assert (
        printed(
            "class A: pass\na = A()\nsetattr(a, 'x', 1)\nsetattr(a, '_y', 2)\nprint(a.x, getattr(a, '_y'))\ndelattr(a, 'x')"
        )
        == "1 2\n"
    )


@pytest.mark.parametrize("target", ["json", "json.JSONEncoder", "dict", "type(json)"])
def test_library_objects_cannot_be_patched(target: str) -> None:
    assert "read-only" in raised(f"import json\nname = 'dumps'\nsetattr({target}, name, len)") or "immutable" in raised(
        f"import json\nname = 'dumps'\nsetattr({target}, name, len)"
    )


def test_a_facade_behind_another_name_cannot_be_patched() -> None:
    assert raised("import json\nj = [json][0]\nj.dumps = len") == (
        "AttributeError: `json.dumps`: library objects are read-only"
    )
    assert "read-only" in raised("import json\nt = type([json][0])\nt.dumps = len")


def test_the_variables_of_a_program_are_shown_also_when_one_holds_them() -> None:
    assert printed("x = 1\nkept = globals()\nprint(kept)") == "{'x': 1, 'kept': {...}}\n"


def test_type_never_hands_out_a_metaclass() -> None:
    source = """
from abc import ABC
from enum import Enum
import typing
class A(ABC): pass
class E(Enum): X = 1
kinds = [type(int), type(A), type(E), A.__class__, type(type(3)), type[int].__origin__, typing.Type[int].__origin__, typing.get_origin(type[int])]
print([k is type for k in kinds], isinstance(A, type), isinstance(3, type), type(3) is int, issubclass(type, type))
"""
    assert printed(source) == f"{[True] * 8} True False True True\n"


@pytest.mark.parametrize("maker", ["type(int)", "type[int]", "type(Enum)", "ABC.__class__", "functools.partial(type)"])
def test_a_class_that_is_made_by_a_call_has_only_names_that_a_statement_could_bind(maker: str) -> None:
    head = f"import functools\nfrom enum import Enum\nfrom abc import ABC\nmake = {maker}\n"
    good = "A = make('A', (dict,), {'x': 1, 'up': lambda self: self.x + 1, '__len__': lambda self: 7})\n"
    assert printed(head + good + "print(A.__name__, A().up(), len(A()), type(A) is type)") == "A 2 7 True\n"
    for table in BAD_TABLES:
        assert raised(head + f"make('X', (), {table})").startswith("TypeError: "), table


BAD_TABLES = (
    "{'__instancecheck__': len}",
    "{'__getattribute__': len}",
    "{'__class__': int}",
    "{'__reduce_ex__': len}",
    "{'_cm_x': 1}",
    "{'__match_args__': ('__globals__',)}",
    "{'__match_args__': ['x']}",
    "{'__slots__': ('__class__',)}",
    "{1: 2}",
    "dict",
)


@pytest.mark.parametrize(
    "call", ["type('A', (type,), {})", "type('A', (), {}, metaclass=len)", "type('1', (), {})", "type(1, 2)"]
)
def test_a_class_made_by_a_call_is_no_metaclass(call: str) -> None:
    assert raised(call).startswith("TypeError: ")


def test_a_class_made_by_a_call_belongs_to_the_program() -> None:
    assert printed("A = type('A', (), {'__module__': 'json'})\nprint(A.__module__)") == "__main__\n"


def test_type_cannot_be_subclassed_behind_another_name() -> None:
    assert "metaclasses are not part of the dialect" in raised("t = type\nclass M(t): pass")


def test_vars_and_dict_give_the_real_table_of_own_instances() -> None:
    source = "class A:\n    def __init__(self): self.x = 1\na = A()\na.__dict__.update(y=2)\nvars(a)['z'] = 3\nprint(a.x, a.y, a.z, vars(a))"
    assert printed(source) == "1 2 3 {'x': 1, 'y': 2, 'z': 3}\n"


@pytest.mark.parametrize("target", ["dict", "str", "type", "json.JSONEncoder"])
def test_the_table_of_a_library_class_is_not_handed_out(target: str) -> None:
    assert "a library class's table is not handed out" in raised(f"import json\nvars({target})")
    assert "a library class's table is not handed out" in raised(f"import json\n{target}.__dict__")


def test_the_table_of_an_own_class_is_a_snapshot_that_no_operator_opens() -> None:
    source = """
class Raw:
    def __ror__(self, other): return other
class A:
    x = 1
opened = A.__dict__ | Raw()
opened['x'] = 2
print(A.x, sorted(k for k in A.__dict__ if not k.startswith('__')), '__dict__' in A.__dict__)
"""
    assert printed(source) == "1 ['x'] False\n"


def test_scope_functions_show_own_variables_alone() -> None:
    source = """
x = 1
def f(a):
    b = 2
    return sorted(locals()), sorted(vars()), dir()
print(f(0), 'x' in globals(), globals()['x'], '__builtins__' in globals(), any(k.startswith('_') for k in globals()))
print('{a} {b}'.format(**(lambda a=1, b=2: locals())()))
"""
    assert printed(source) == "(['a', 'b'], ['a', 'b'], ['a', 'b']) True 1 False False\n1 2\n"


def test_globals_set_what_an_assignment_could_and_nothing_else() -> None:
    source = (
        "globals()['x'] = 1\nlocals()['y'] = 2\nvars().update(z=3)\ndel globals()['z']\nprint(x, y, 'z' in globals())"
    )
    assert printed(source) == "1 2 False\n"
    for name in ("__builtins__", "__import__", "_cm_getattr", "_cm_x"):
        assert raised(f"globals()[{name!r}] = len").startswith("RefusedAttributeError"), name
        assert raised(f"globals()[{name!r}]").startswith("KeyError"), name
        assert raised(f"del globals()[{name!r}]").startswith("RefusedAttributeError"), name
    assert raised("class S(str): pass\nglobals()[S('x')] = 1").startswith("TypeError")
    assert "does not support item assignment" in raised("class A:\n    locals()['x'] = 1")


def test_text_for_exec_may_be_given_the_variables_themselves() -> None:
    source = "x = 1\nexec('x += 1; y = x', globals())\ndef f():\n    z = 5\n    exec('w = 3', globals())\n"
    source += "    return eval('z + x', globals(), locals())\nprint(f(), x, y, w)"
    assert printed(source) == "7 2 2 3\n"
    assert raised("exec('_cm_x = 1', globals())").startswith("SyntaxError")


@pytest.mark.parametrize("function", ["globals", "locals", "vars"])
def test_a_library_frame_is_never_looked_into(function: str) -> None:
    source = f"""
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(1) as pool:
    print(dict(pool.submit({function}).result()))
"""
    assert printed(source) == "{}\n"


def test_eval_and_exec_obey_the_dialect() -> None:
    assert raised("eval('().__class__.__base__')").startswith("SyntaxError: `__base__`: class hierarchies")
    assert raised("exec('import socket')").startswith("SyntaxError: `socket` cannot be imported")
    assert raised("eval(b'1')") == "TypeError: `eval` takes text, got bytes"
    assert raised("eval('1', {'_cm_getattr': len})").startswith("TypeError: `eval` takes plain dicts")


def test_eval_and_exec_work_on_text() -> None:
    source = """
x = 3
exec('y = x + 1')
def f(a):
    return eval('a * x')
ns = {}
exec('def g(n):\\n    return n + 1', ns)
print(y, f(5), ns['g'](1), sorted(ns), eval('[i for i in range(3)]'), eval('a + b', {'a': 1}, {'b': 2}))
"""
    assert printed(source) == "4 15 2 ['g'] [0, 1, 2] 3\n"


def test_eval_as_a_callback_of_a_library_is_refused() -> None:
    source = "from concurrent.futures import ThreadPoolExecutor\nThreadPoolExecutor(1).submit(eval, '1').result()"
    assert "is called by the program itself" in raised(source)


def test_builtins_given_to_eval_are_replaced() -> None:
    assert printed("ns = {'__builtins__': {}}\nprint(eval('len([1])', ns), sorted(ns))") == "1 []\n"


class TestFormat:
    def test_values_items_and_public_attributes_are_formatted(self) -> None:
        source = """
class P:
    def __init__(self): self.name, self.tags = 'n', {'k': [1, 2]}
t = '{0.name} {0.tags[k][1]} {x:>{w}} {y!r}'
print(t.format(P(), x=1, w=3, y='q'), str.format('{}-{}', 1, 2), ''.join(map('<{}>'.format, 'ab')), '{a}'.format_map({'a': 5}))
"""
        assert printed(source) == "n 2   1 'q' 1-2 <a><b> 5\n"

    @pytest.mark.parametrize(
        "call",
        [
            "t.format(f)",
            "str.format(t, f)",
            "list(map(t.format, [f]))",
            "t.format_map({'0': f})",
            "type('')('x').join([t]).format(f)",
            "getattr(t, 'format')(f)",
            "operator.methodcaller('format', f)(t)",
            "operator.attrgetter('format')(t)(f)",
            "S(t).format(f)",
            "S(t).up(f)",
            "getattr(str, 'format')(t, f)",
            "functools.partial(str.format, t)(f)",
        ],
    )
    def test_a_computed_template_cannot_dig(self, call: str) -> None:
        source = f"""
import operator, functools
class S(str):
    def up(self, *a): return super().format(*a)
    def __str__(self): return 'harmless'
def f(): pass
t = '{{0.__glo' + 'bals__}}'
print({call})
"""
        assert "which a template may not" in raised(source)

    def test_a_nested_specification_is_looked_into(self) -> None:
        assert "which a template may not" in raised("t = '{0:{1.__cla' + 'ss__}}'\nt.format(1, 2)")

    def test_objects_of_other_kinds_keep_their_format(self) -> None:
        source = "class F:\n    def format(self, x): return f'<{x}>'\n    parser = 1\nprint(F().format(3), F().parser, format(2.5, '.2f'))"
        assert printed(source) == "<3> 1 2.50\n"


def test_the_object_behind_an_attribute_error_is_not_handed_out() -> None:
    assert "the object behind an attribute error" in raised("try:\n    [].x\nexcept AttributeError as e:\n    e.obj")
    assert printed("class A: pass\na = A()\na.obj = 1\nprint(a.obj, memoryview(b'x').obj)") == "1 b'x'\n"


def test_private_names_of_the_library_stay_closed_even_when_the_program_uses_the_same() -> None:
    source = """
import threading
class Own:
    def __init__(self): self._stderr = 'mine'
print(Own()._stderr)
class T(threading.Thread):
    def peek(self): return self._stderr
T().peek()
"""
    assert "`_stderr`: the name is private to a library" in raised(source)


def test_private_names_of_the_library_are_free_for_values_of_the_program() -> None:
    source = """
import threading
class T(threading.Thread):
    def __init__(self):
        super().__init__()
        self._stream, self._module, self._loop = [1], 'm', None
    def run(self):
        print(self._stream, self._module, self._loop)
t = T()
t.start()
t.join()
"""
    assert printed(source) == "[1] m None\n"


def test_augmented_assignment_to_a_checked_name_looks_at_the_object() -> None:
    source = """
class Raw:
    def __radd__(self, other):
        print('captured', other)
        return other
"""
    assert "it is checked when it is read" in raised(source + "t = '{0.x}'\nt.format += Raw()")
    assert "it is checked when it is read" in raised(
        source + "try:\n    [].nope\nexcept AttributeError as e:\n    e.obj += Raw()"
    )
    assert (
        printed("class A: pass\na = A()\na.obj = 1\na.obj += 2\na.format = 'x'\na.format *= 2\nprint(a.obj, a.format)")
        == "3 xx\n"
    )


def test_modules_behind_the_roots_have_no_private_names() -> None:
    for source in (
        "from tools.gh import __builtins__",
        "from tools._runtime import parts",
        "import tools._runtime as r",
        "tools.gh._json",
        "class A: _json = 1\ntools.gh._json",
        "import tools.gh as g\nclass A: _x = 1\ng._x",
    ):
        (refusal,) = run(source).refusals
        assert "is private to" in refusal
    assert "read-only" in run("tools.gh.f = 1").refusals[0]
    assert "private to a library" in raised("class A: _json = 1\nm = [tools][0]\nm._json")


def test_an_abstract_class_registers_own_classes_only() -> None:
    source = "from abc import ABC\nclass A(ABC): pass\n@A.register\nclass B: pass\nprint(isinstance(B(), A))\n"
    assert printed(source) == "True\n"
    assert "only classes of this program can be registered" in raised(source + "A.register(type(len))")


def test_annotations_are_a_copy() -> None:
    source = "class A:\n    x: int = 1\nA.__annotations__['y=1): pass'] = int\nprint(A.__annotations__)"
    assert printed(source) == "{'x': <class 'int'>}\n"


def test_a_builtin_that_is_refused_says_why_when_only_a_local_hides_it() -> None:
    source = "def ask(): return input('?')\ndef other(input): return input\nask()"
    assert raised(source) == "RuntimeError: `input`: nobody sits at a keyboard; write the value into the program"


def test_exit_ends_the_program() -> None:
    for call in ("exit()", "quit(1)", "import sys\nsys.exit('x')", "raise SystemExit"):
        ran = run(call)
        assert isinstance(ran.error, SystemExit)


def test_a_mangled_name_is_read_off_own_objects_and_off_no_others() -> None:
    own = "class A:\n    def __init__(self): self.__x = 5\nprint(A()._A__x, getattr(A(), '_A__x'))"
    foreign = (
        "import contextlib\nclass A:\n    def __init__(self): self.__x = 5\nprint(contextlib.ExitStack()._ExitStack__x)"
    )
    assert run(own).printed == "5 5\n"
    assert "private to a library" in str(run(foreign).error)
