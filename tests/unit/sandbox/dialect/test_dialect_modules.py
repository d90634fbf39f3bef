"""The allowlist of the standard library and the objects that programs get for it."""

# ruff: noqa: E501  # programs stand on one line

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable
from types import ModuleType

import pytest

from sandbox.dialect.facades import Facade
from sandbox.dialect.modules import ENTRIES, PRELOAD, build_facades, explain, import_facade, nearest, preload
from sandbox.dialect.nearest import _BY_NAME
from sandbox.dialect.rules import words
from tests.support.dialect_driver import run

FACADES = build_facades({})


@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_a_facade_shows_only_what_its_row_names(name: str) -> None:
    facade = FACADES[name]
    children = {other.rpartition(".")[2] for other in ENTRIES if other.rpartition(".")[0] == name}
    assert set(dir(facade)) <= ENTRIES[name].all_names() | children
    for shown in dir(facade):
        value = getattr(facade, shown)
        assert not isinstance(value, ModuleType), shown
        assert isinstance(value, Facade) == (shown in children), shown


@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_every_name_of_a_row_exists_on_some_python_we_support(name: str) -> None:
    # Calendar's month names are plain constants from Python 3.12 on.
    newer = words(
        """Buffer batched Placeholder sumprod fma kde kde_random binomialvariate TypeAliasType ReadOnly TypeIs override
        QueueShutDown ShutDown PatternError Day Month QUOTE_NOTNULL QUOTE_STRINGS UTC replace exception z85decode z85encode
        exp2 cbrt APRIL AUGUST DECEMBER FEBRUARY JANUARY JULY JUNE MARCH MAY NOVEMBER OCTOBER SEPTEMBER"""
    )
    missing = {key for key in ENTRIES[name].names.split() if not hasattr(FACADES[name], key)}
    assert missing <= newer


def test_every_row_that_leaves_something_out_says_why() -> None:
    for name in ("typing", "functools", "operator", "os", "sys", "logging", "traceback", "inspect"):
        assert ENTRIES[name].left_out


def test_a_parent_of_an_allowed_module_is_allowed() -> None:
    for name in ENTRIES:
        parent = name.rpartition(".")[0]
        assert not parent or parent in ENTRIES, name


def test_everything_that_is_preloaded_can_be_imported_here() -> None:
    optional = {"xml.etree.cElementTree", "_pydatetime", "tzdata", "encodings.mbcs", "_uuid"}
    assert set(preload()) <= optional
    assert all(name in sys.modules for name in set(PRELOAD) - optional)


def test_a_facade_is_read_only_at_every_level() -> None:
    facade = FACADES["json"]
    changes: list[Callable[[], None]] = [
        lambda: setattr(facade, "dumps", len),
        lambda: setattr(facade, "new", len),
        lambda: delattr(facade, "dumps"),
        lambda: setattr(type(facade), "dumps", len),
        lambda: delattr(type(facade), "dumps"),
    ]
    for change in changes:
        with pytest.raises(AttributeError, match="read-only"):
            change()
    assert facade.dumps is importlib.import_module("json").dumps


def test_a_name_that_is_not_there_is_explained() -> None:
    with pytest.raises(AttributeError) as caught:
        FACADES["os"].system  # noqa: B018  # the read is the test
    assert str(caught.value) == "`os.system` is not part of the dialect: there are no processes here: call a tool"
    assert explain("typing", "ForwardRef") == (
        "`typing.ForwardRef` is not part of the dialect: write the name of the class as text"
    )


def test_facades_of_two_runs_share_no_state() -> None:
    other = build_facades({})
    assert other["logging"].getLogger("x") is not FACADES["logging"].getLogger("x")
    assert other["json"] is not FACADES["json"]


def test_overrides_win_and_may_add_names() -> None:
    made = build_facades({"asyncio": {"run": len, "extra": 1}, "pathlib": {"Path": int}, "os.path": {"exists": bool}})
    assert made["asyncio"].run is len
    assert made["asyncio"].extra == 1
    assert made["asyncio"].Runner().run is len
    assert made["asyncio"].get_event_loop().run_until_complete is len
    assert made["pathlib"].Path is int
    assert made["os"].path.exists is bool


def test_streams_of_the_guest_reach_everything_that_prints() -> None:
    class Sink:
        def __init__(self) -> None:
            self.text = ""

        def write(self, text: str, /) -> int:
            self.text += text
            return len(text)

    out, err = Sink(), Sink()
    made = build_facades({"sys": {"stdout": out, "stderr": err}})
    made["pprint"].pprint([1])
    made["pprint"].PrettyPrinter(width=20).pprint({"a": 1})
    made["logging"].getLogger("a").warning("late %d", 1)
    try:
        raise KeyError("k")
    except KeyError:
        made["traceback"].print_exc()
    assert made["sys"].stdout is out
    assert out.text == "[1]\n{'a': 1}\n"
    assert err.text.startswith("late 1\n")
    assert err.text.endswith("KeyError: 'k'\n")


def test_an_import_statement_gets_the_top_or_the_module() -> None:
    assert import_facade(FACADES, "xml.etree.ElementTree", None) is FACADES["xml"]
    assert import_facade(FACADES, "xml.etree.ElementTree", ("parse",)) is FACADES["xml.etree.ElementTree"]
    assert import_facade(FACADES, "socket", None) is None


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("requests", "there is no network: call a tool"),
        ("urllib.request", "there is no network: call a tool"),
        ("http.client", "there is no network: call a tool"),
        ("socket", "there is no network: call a tool"),
        ("subprocess", "there are no processes"),
        ("multiprocessing", "ThreadPoolExecutor"),
        ("numpy", "not allowed here; use lists, dicts"),
        ("pandas.core.frame", "can allow it: setting `packages`"),
        ("scipy", "not installed here; use lists, dicts"),
        ("shelve", "in the session's workspace"),
        ("signal", "asyncio.timeout"),
        ("getpass", "nobody sits at a keyboard"),
        ("atexit", "finally"),
        ("pickle", "use `json`"),
        ("pytz", "zoneinfo"),
        ("nest_asyncio", "leave the line out"),
        ("importlib", "write `import name`"),
        ("ctypes", "nothing takes its place"),
        ("getopt", "use `argparse`"),
        ("jsn", "did you mean `json`?"),
        ("collection", "did you mean `collections`?"),
        ("quite_unknown_thing", "can be imported: `tools`, asyncio, collections"),
    ],
)
def test_a_refused_import_names_the_nearest_way(name: str, part: str) -> None:
    assert part in nearest(name)
    assert "\n" not in nearest(name)


def test_no_allowed_module_is_listed_as_refused() -> None:
    assert not set(_BY_NAME) & set(ENTRIES)


def test_c_code_may_import_through_the_programs_builtins() -> None:
    sys.modules.pop("_strptime", None)
    ran = run("from datetime import datetime\nprint(datetime.strptime('2024-01-02', '%Y-%m-%d').date())")
    assert (ran.error, ran.printed) == (None, "2024-01-02\n")


BAD_CALLS = {
    "operator.attrgetter": "import operator\noperator.attrgetter('real.__class__')(1).__name__ and operator.attrgetter('__self__')(len)",
    "operator.methodcaller": "import operator\noperator.methodcaller('__reduce_ex__', 2)(1)",
    "dataclass field names": "import dataclasses, typing\nT = typing.TypedDict('T', {'a=print(1)': int})\ndataclasses.dataclass(T)",
    "dataclass base fields": "import dataclasses\n@dataclasses.dataclass\nclass A:\n    x: int = 0\n"
    "dataclasses.fields(A)[0].name = 'x=print(1)'\n@dataclasses.dataclass\nclass B(A): pass",
    "dataclass frame field": "import dataclasses\n@dataclasses.dataclass\nclass A:\n    gi_frame: int = 0",
    "namedtuple frame field": "import collections\ncollections.namedtuple('N', ['gi_frame'])",
    "enum special member": "import enum\nenum.Enum('E', {'__reduce_ex__': len, 'A': 1})",
    "singledispatch text": "import functools\n@functools.singledispatch\ndef f(x): pass\n@f.register\ndef _(x: '().x'): pass",
    "timeit text": "import timeit\ntimeit.timeit('print(1)', number=1)",
    "ABCMeta by hand": "import abc\nabc.ABCMeta('A', (), {'__match_args__': ('__globals__',)})",
    "ABCMeta special": "import abc\nabc.ABCMeta('A', (), {'__instancecheck__': len})",
    "ElementTree path": "import xml.etree.ElementTree as ET\nET.parse('/etc/hostname')",
    "ElementTree write": "import xml.etree.ElementTree as ET\nET.ElementTree(ET.Element('a')).write('/tmp/x')",
    "logging file": "import logging\nlogging.basicConfig(filename='../x')",
    "logging braces": "import logging\nlogging.basicConfig(format='{name.__class__}', style='{')\nlogging.error('')",
    "locale": "import locale\nlocale.setlocale(locale.LC_ALL, 'de_DE')",
    "signature eval": "import inspect\ninspect.signature(len, eval_str=True)",
    "traceback of a fake": "import traceback\nclass E: pass\ntraceback.format_exception(E())",
    "Runner private": "import copy, json\ncopy.deepcopy(json)",
}


@pytest.mark.parametrize("name", sorted(BAD_CALLS))
def test_a_library_function_that_takes_names_as_text_refuses(name: str) -> None:
    ran = run(BAD_CALLS[name])
    assert ran.refusals == []
    assert ran.error is not None
    assert isinstance(ran.error, TypeError | ValueError | AttributeError | OSError)
    assert "1" not in ran.printed


COPIED = ("__module__", "__name__", "__qualname__", "__doc__", "__wrapped__")  # and type parameters, from 3.12 on


def test_wraps_copies_the_usual_attributes_and_no_other() -> None:
    source = """
import functools
class Catch:
    def __setattr__(self, name, value): print(name)
def f(): 'doc'
functools.wraps(f, assigned=('__globals__',))(Catch())
"""
    assert set(run(source).printed.split()) - {"__type_params__"} == set(COPIED)


def test_the_table_of_a_class_is_not_copied_by_wraps() -> None:
    source = "import functools\nclass A: pass\na = functools.wraps(type(lambda: 0))(A())\nprint(sorted(a.__dict__))"
    assert set(ast.literal_eval(run(source).printed)) - {"__type_params__"} == set(COPIED)


def test_library_classes_can_be_subclassed() -> None:
    source = """
import json, threading, collections, html.parser, string, random, contextlib
class A(json.JSONEncoder): pass
class B(threading.Thread):
    def run(self): print('ran')
class C(dict): pass
class D(Exception): pass
class E(collections.UserDict): pass
class F(html.parser.HTMLParser): pass
class G(string.Template): delimiter = '%'
class H(random.Random): pass
class I(contextlib.ContextDecorator):
    def __enter__(self): return self
    def __exit__(self, *a): return False
class J(collections.Counter): pass
b = B(); b.start(); b.join()
print(A().encode([1]), C(a=1), E({'k': 1})['k'], G('%x').substitute(x=2), H(1).random() < 1, J('aab')['a'])
"""
    ran = run(source)
    assert (ran.error, ran.printed) == (None, "ran\n[1] {'a': 1} 1 2 True 2\n")


def test_classes_are_found_by_the_library_under_the_programs_main() -> None:
    source = """
import dataclasses, typing, enum
@dataclasses.dataclass
class A:
    x: 'int'
    y: 'typing.ClassVar[int]' = 3
class N(typing.NamedTuple):
    a: 'A'
E = enum.Enum('E', 'X')
print(A.__module__, N.__module__, E.__module__, [f.name for f in dataclasses.fields(A)], repr(E.X))
"""
    assert run(source).printed == "__main__ __main__ __main__ ['x'] <E.X: 1>\n"


def test_a_signature_shows_its_parameters_and_binds_arguments() -> None:
    ran = run(
        "import inspect\ndef f(a: int, *, b='x') -> str: ...\nsig = inspect.signature(f)\nbound = sig.bind(1)\n"
        "bound.apply_defaults()\nprint(sig, list(sig.parameters), sig.return_annotation, bound.arguments, bound.kwargs)\n"
        "print(isinstance(sig, inspect.Signature), sig.parameters['a'].default is inspect.Parameter.empty)\n"
        "try:\n    sig.bind()\nexcept TypeError as error:\n    print(error)\n"
    )
    assert ran.printed == (
        "(a: int, *, b='x') -> str ['a', 'b'] <class 'str'> {'a': 1, 'b': 'x'} {'b': 'x'}\n"
        "True True\nmissing a required argument: 'a'\n"
    )


def test_wraps_copies_annotations_onto_functions_and_not_onto_classes() -> None:
    ran = run(
        "import functools\ndef f(a: int): ...\n@functools.wraps(f)\ndef g(*a): ...\nclass C: ...\n"
        "functools.update_wrapper(C, f)\nprint(g.__annotations__, C.__annotations__)"
    )
    assert ran.printed == "{'a': <class 'int'>} {}\n"


def test_a_variable_of_the_environment_is_the_programs_own_or_has_a_default() -> None:
    source = "import os\nos.environ['A'] = 'x'\nprint(os.environ['A'], os.getenv('B', 'y'), 'B' in os.environ, dict(os.environ))"
    assert run(source).printed == "x y False {'A': 'x'}\n"
    for read in ("os.environ['B']", "os.environ.get('B')", "os.getenv('B')"):
        error = run(f"import os\n{read}").error
        assert isinstance(error, KeyError)
        assert "programs get no environment variables" in str(error)
        assert "os.environ.get('B', default)" in str(error)


def test_settings_are_never_read_from_a_literal_name_outside() -> None:
    head = "import configparser\nc = configparser.ConfigParser()\n"
    assert run(head + "c.read(['a.ini', '/etc/x.ini'])").refusals == ["`/etc/x.ini` is outside of the workspace"]
    assert run(head + "print(c.read('a.ini'))").printed == "[]\n"
    assert run("def f(x): return x.read('/etc/x.ini')").refusals == []
