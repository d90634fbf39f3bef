"""Which modules a program can import, and the objects it gets: facades of the allowed standard library.

Enters: the hand-written tables and what the guest supplies. Leaves: facades, the list of modules to preload, and the
answers of the compile-time import check. Must never hand out a module object.
"""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Collection, Mapping
from types import ModuleType

from sandbox.dialect import loops, records
from sandbox.dialect.facades import Facade, make_facade
from sandbox.dialect.logging_lite import logging_parts
from sandbox.dialect.markup import markup_parts
from sandbox.dialect.nearest import nearest as _nearest
from sandbox.dialect.packages import modules_of, package_facades
from sandbox.dialect.printing import StandardStream, Stream, printing_parts
from sandbox.dialect.replacements import REPLACEMENTS
from sandbox.dialect.rules import judge_attribute, words
from sandbox.dialect.standins.parts import supplied_parts
from sandbox.dialect.standins.workspace import Workspace
from sandbox.dialect.tables import data, runtime, text
from sandbox.dialect.tables.entry import Entry
from sandbox.dialect.zones import preload_zones, zone_names

ENTRIES: dict[str, Entry] = {**data.ENTRIES, **text.ENTRIES, **runtime.ENTRIES}
"""Module name → its row; a parent of an allowed module is allowed itself."""

_CHILDREN: dict[str, tuple[str, ...]] = {
    name: tuple(other.rpartition(".")[2] for other in ENTRIES if other.rpartition(".")[0] == name) for name in ENTRIES
}

_EMPTY = frozenset(("urllib", "xml", "xml.etree", "xml.dom", "xml.sax", "concurrent", "email.mime"))

PRELOAD: tuple[str, ...] = (
    *(entry.real or name for name, entry in ENTRIES.items() if entry.names),
    # What the library imports late, by itself, from C or inside of functions.
    "_strptime",
    "_datetime",
    "_zoneinfo",
    "_uuid",
    "stringprep",
    "heapq",
    "locale",
    "copyreg",
    "weakref",
    "linecache",
    "tokenize",
    "traceback",
    "concurrent.futures.thread",
    "asyncio.taskgroups",
    "asyncio.timeouts",
    "xml.etree.cElementTree",
    "xml.dom.expatbuilder",
    "pyexpat",
    "html.entities",
    "email.parser",
    "email.feedparser",
    "email.generator",
    "email.headerregistry",
    "email._header_value_parser",
    "email.contentmanager",
    "email.base64mime",
    "email.quoprimime",
    "email.encoders",
    "email.charset",
    "email.mime.nonmultipart",
    "calendar",
    "unicodedata",
    "tomllib._parser",
    "importlib.resources",
    "tzdata",
    *(
        f"encodings.{name}"
        for name in words(
            """aliases ascii base64_codec big5 bz2_codec charmap cp1250 cp1251 cp1252 cp1253 cp1254 cp437 cp850
        cp932 cp949 euc_jp euc_kr gb18030 gb2312 gbk hex_codec idna iso2022_jp iso8859_1 iso8859_15 iso8859_2 koi8_r
        latin_1 mac_roman mbcs punycode quopri_codec raw_unicode_escape rot_13 shift_jis unicode_escape utf_16
        utf_16_be utf_16_le utf_32 utf_32_be utf_32_le utf_7 utf_8 utf_8_sig zlib_codec"""
        )
    ),
)
"""Real module names that the guest imports before it is sealed; one that does not exist on this Python is skipped."""


def preload() -> tuple[str, ...]:
    """Imports everything of `PRELOAD` that this Python has, reads the time zones, and gives the names it has not."""
    missing = []
    for name in dict.fromkeys(PRELOAD):
        try:
            importlib.import_module(name)
        except ImportError:
            missing.append(name)
    preload_zones()
    return tuple(missing)


def build_facades(
    overrides: Mapping[str, Mapping[str, object]] | None = None, packages: tuple[str, ...] = ()
) -> dict[str, Facade]:
    """The facades of one run; `overrides` (module → name → object) win over table and stand-ins.

    A name that an override brings is shown even when the table does not list it. `packages` are allowed ones.
    """
    given = dict(overrides or {})
    streams = given.get("sys", {})
    stdout = _stream(streams.get("stdout"), "<stdout>")
    stderr = _stream(streams.get("stderr"), "<stderr>")
    files = Workspace(given)
    supplied = _merged(
        REPLACEMENTS,
        records.PARTS,
        printing_parts(stdout, stderr),
        markup_parts(files),
        supplied_parts(stdout, stderr, files),
        {
            "logging": logging_parts(stderr, files),
            "asyncio": loops.loop_parts(given.get("asyncio", {}).get("run", loops.run)),  # type: ignore[arg-type]
            "locale": {"setlocale": _setlocale},
            "zoneinfo": {"available_timezones": zone_names},
        },
    )
    facades: dict[str, Facade] = package_facades(packages)
    # Children first: a parent shows them as attributes.
    for name in sorted(ENTRIES, key=lambda name: -name.count(".")):
        values = _real_values(name, ENTRIES[name])
        values.update(supplied.get(name, {}))
        values.update(given.get(name, {}))
        values.update({child: facades[f"{name}.{child}"] for child in _CHILDREN[name]})
        facades[name] = make_facade(name, values, explain)
    return facades


def _merged(*parts: Mapping[str, Mapping[str, object]]) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = {}
    for part in parts:
        for module, values in part.items():
            found.setdefault(module, {}).update(values)
    return found


def _real_values(name: str, entry: Entry) -> dict[str, object]:
    if name in _EMPTY or not entry.names:
        return {}
    module = sys.modules.get(entry.real or name) or importlib.import_module(entry.real or name)
    found = {key: getattr(module, key) for key in entry.names.split() if hasattr(module, key)}
    wrong = [key for key, value in found.items() if isinstance(value, ModuleType)]
    if wrong:
        raise AssertionError(f"the table of `{name}` lists modules: {', '.join(wrong)}")
    return found


def _stream(given: object, name: str) -> Stream:
    return given if given is not None else StandardStream(name)  # type: ignore[return-value]  # the guest's own stream


def _setlocale(category: int, locale: object = None) -> str:
    """`locale.setlocale`: reads, and accepts what is set already."""
    if locale not in (None, "", "C", "POSIX"):
        raise ValueError("the locale is fixed, so that a run can be repeated; format with f-strings: `f'{n:,.2f}'`")
    return "C"


def nearest(name: str, packages: Collection[str] = ()) -> str:
    """One line that names the nearest allowed way for a module that cannot be imported."""
    top, _, wanted = name.partition(".")
    if top not in packages:
        return _nearest(name, (*ENTRIES, *packages), packages)
    parts = sorted(part.partition(".")[2] for part in modules_of((top,)) if part != top)
    close = difflib.get_close_matches(wanted, parts, n=1, cutoff=0.75)
    return f"did you mean `{top}.{close[0]}`?" if close else f"`{top}` has here: {', '.join(parts)}"


def explain(module: str, name: str) -> str:
    """Why `module.name` is not there, and what to write."""
    entry = ENTRIES.get(module, Entry())
    hint = dict(entry.hints).get(name, "")
    text = f"`{module}.{name}` is not part of the dialect"
    if hint:
        return f"{text}: {hint}"
    return f"{text}: {entry.left_out}" if entry.left_out else text


class Importable:
    """What the import statements of one program may name."""

    def __init__(self, roots: tuple[str, ...], packages: tuple[str, ...] = ()) -> None:
        self.roots = frozenset(roots)
        self.packages = frozenset(packages)
        self._parts = modules_of(packages)

    def problem(self, module: str, name: str) -> tuple[str, str, bool] | None:
        """Why `import module` or `from module import name` is refused: message, hint, and whether an `except
        ImportError` around it may answer at run time."""
        top = module.partition(".")[0]
        if top in self.roots or top in self.packages:
            private = next((part for part in (*module.split("."), name) if part.startswith("_")), "")
            if private and (private != "__version__" or top in self.roots):
                return f"`{private}` is private to `{top}`", "import public names", False
            if top in self.packages and module not in self._parts:
                return f"`{module}` cannot be imported", nearest(module, self.packages), True
            return None
        entry = ENTRIES.get(module)
        if entry is None:
            return f"`{module}` cannot be imported", nearest(module, self.packages), True
        if name and name != "*" and name not in entry.all_names() and f"{module}.{name}" not in ENTRIES:
            return f"`{module}` has no `{name}` here", _instead(module, name, entry), False
        return None

    def missing(self, path: str, name: str) -> tuple[str, str] | None:
        """Why `path.name` is refused where `path` can only be an imported module, or None."""
        if path.partition(".")[0] in self.roots:
            is_private = name.startswith("_") and judge_attribute(name, frozenset()).mode == "refused"
            return (f"`{name}` is private to `{path}`", "use public names") if is_private else None
        entry = ENTRIES.get(path)
        if entry is None or name.startswith("__"):
            return None
        if name in entry.all_names() or f"{path}.{name}" in ENTRIES:
            return None
        return f"`{path}` has no `{name}` here", _instead(path, name, entry)

    def is_library(self, path: str) -> bool:
        """Whether a dotted path starts at an allowed module of the standard library."""
        return path.partition(".")[0] in ENTRIES or path.partition(".")[0] in self.roots


_FEW = 8  # names of a module that are simply listed


def _instead(module: str, name: str, entry: Entry) -> str:
    """Why a name is left out, and what to write."""
    hint = dict(entry.hints).get(name, "")
    if hint:
        return hint
    names = sorted(entry.all_names())
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.75)
    there = f"see `dir({module})` for what there is"
    if close:
        there = f"did you mean `{close[0]}`?"
    elif 0 < len(names) <= _FEW:
        there = f"it has {', '.join(f'`{one}`' for one in names)}"
    return f"{entry.left_out}; {there}" if entry.left_out else there


def import_facade(facades: Mapping[str, Facade], name: str, fromlist: object) -> Facade | None:
    """What an import statement of an allowed module gives, or None when the module is not a facade."""
    found = facades.get(name)
    if found is None:
        return None
    return found if fromlist else facades[name.partition(".")[0]]
