"""Raw names of servers, tools and parameters → Python names: one-to-one, stable, independent of order.

Enters: the raw names of one scope (all servers; the tools of one server; the parameters of one tool). Leaves: a
mapping raw → Python name. The raw name stays the identity; a Python name is only how a program writes it.

The rule, in order:
1. NFKC; a run of ASCII characters that cannot stand in an identifier becomes `_` (none at the end), any other such
   character becomes `u` and its code point.
2. Leading underscores go (the runtime's own names start with one); `__dunder__` loses both sides.
3. A leading digit gets `n_` in front; nothing left gives `server`, `tool` or `arg`.
4. Over 64 characters: beginning and end stay (names of one family often differ at the end).
5. A keyword gets `_` behind it. Soft keywords stay. For modules and functions so does a name whose import would hide
   a builtin or one of the names a program is given: after `from tools.redis import set` a program's own `set(xs)`
   would call the server, so it is `set_`. Parameters keep such names: a keyword argument hides nothing.
6. Names that are equal after this, after case folding and with look-alike letters folded, get `_` and 8 digits of a
   hash of the raw name. The one whose raw name is the plain name in lower case keeps it, else the one that only got
   its `_` by rule 5. Parameters are compared exactly: they never become files and are written only beside the
   signature that shows them.
7. A name that was emptied or shortened always gets the hash, so it does not change when others come and go.

Source: design after published name-cleaning failures (a cleaned name used as an identity routes calls to the wrong
tool); Python language reference, section 2.3.
"""

from __future__ import annotations

import hashlib
import keyword
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

MAX_CHARS = 64  # chosen: the longest tool name met in public servers has 45
_HASH_DIGITS = 8
_TAIL_CHARS = 20
_PUNCTUATION = re.compile(r"[^0-9A-Za-z_\u0080-\U0010ffff]+")

# Written out: a new builtin in a later Python must not rename a tool. `credits`, `exit` and the like hide nothing
# that a program needs and are left out.
_BUILTIN_NAMES = """
    abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile complex
    delattr dict dir divmod enumerate eval exec filter float format frozenset getattr globals hasattr hash help hex id
    input int isinstance issubclass iter len list locals map max memoryview min next object oct open ord pow print
    property range repr reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip
    ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup BufferError ConnectionError
    EOFError Ellipsis Exception ExceptionGroup FileExistsError FileNotFoundError ImportError IndexError IOError
    KeyError KeyboardInterrupt LookupError MemoryError NameError NotImplemented NotImplementedError OSError
    OverflowError PermissionError RecursionError RuntimeError StopAsyncIteration StopIteration SyntaxError SystemExit
    TimeoutError TypeError UnicodeDecodeError UnicodeEncodeError UnicodeError ValueError Warning ZeroDivisionError
"""
_BUILTINS = frozenset(_BUILTIN_NAMES.split())
_GIVEN = frozenset({"tools", "store", "tool_search", "show", "raw", "progress", "ToolError"})
_IMPORT_HIDES = _BUILTINS | _GIVEN
# `self` is the first parameter of a binding's own call method; `__debug__` cannot be assigned at all.
_NOT_PARAMETERS = frozenset({"self"})

# Letters that look like Latin ones (Cyrillic, Greek); only for comparing, never for naming.
_PAIRS = "аa еe оo рp сc уy хx іi јj ѕs ԁd һh ӏl ԛq ԝw кk мm тt вb нh αa οo ρp νv ιi κk τt υu χx ηn γy ωw"
_LOOK_ALIKES = {ord(pair[0]): pair[1] for pair in _PAIRS.split()}


def module_names(server_ids: Iterable[str]) -> dict[str, str]:
    """Raw server id → module name below `tools`, for all servers of a catalog at once."""
    return _assign(server_ids, "server", _IMPORT_HIDES, _folded)


def function_names(raw_names: Iterable[str]) -> dict[str, str]:
    """Raw tool name → function name, for all tools of one server at once."""
    return _assign(raw_names, "tool", _IMPORT_HIDES, _folded)


def parameter_names(wire_names: Iterable[str]) -> dict[str, str]:
    """Property name on the wire → keyword name, for all parameters of one tool (or one object) at once."""
    return _assign(wire_names, "arg", _NOT_PARAMETERS, str)


def _folded(name: str) -> str:
    """What two names must differ in: look-alikes and case do not count (nor do they in many file systems)."""
    return unicodedata.normalize("NFKC", name).casefold().translate(_LOOK_ALIKES)


def _assign(raw_names: Iterable[str], empty: str, avoid: frozenset[str], key: Callable[[str], str]) -> dict[str, str]:
    plain = {raw: _plain(raw, empty, avoid) for raw in sorted(set(raw_names))}
    sharing = Counter(key(name) for name, is_whole in plain.values() if is_whole)
    names: dict[str, str] = {}
    suffixed: list[str] = []
    for raw, (name, is_whole) in plain.items():
        if is_whole and (sharing[key(name)] == 1 or raw == _owner(key(name), plain)):
            names[raw] = name
        else:
            suffixed.append(raw)
    taken = Counter(key(name) for name in names.values())
    turn = 0
    while suffixed:
        # A server may list a name that equals another's suffixed one; every further turn costs it one more name.
        tried = {raw: _with_hash(plain[raw][0], raw, turn) for raw in suffixed}
        held = taken + Counter(key(name) for name in tried.values())
        settled = {raw: name for raw, name in tried.items() if held[key(name)] == 1}
        names.update(settled)
        taken.update(key(name) for name in settled.values())
        suffixed = [raw for raw in suffixed if raw not in settled]
        turn += 1
    return names


def _owner(name: str, plain: Mapping[str, tuple[str, bool]]) -> str:
    """Which of several raw names may keep the plain one: the equal one, else the one that only got its `_`."""
    for raw in (name, name[:-1]):
        if plain.get(raw) == (name, True):
            return raw
    return ""


def _plain(raw: str, empty: str, avoid: frozenset[str]) -> tuple[str, bool]:
    """The name by rules 1 to 5, and whether it still stands for the whole raw name (else it needs the hash)."""
    text = raw if raw.isascii() else unicodedata.normalize("NFKC", raw[: 4 * 1024])
    name = _identifier_part(text[: 4 * MAX_CHARS])
    if name.startswith("_"):
        name = name.strip("_") if name.startswith("__") and name.endswith("__") else name.lstrip("_")
    if not name.strip("_"):
        return empty, False
    if not name.isidentifier():
        name = f"n_{name}"
    if len(name) > MAX_CHARS or len(text) > 4 * MAX_CHARS:
        return _shortened(name, text), False
    if keyword.iskeyword(name) or name in avoid:
        name += "_"
    return name, len(name) <= MAX_CHARS


def _identifier_part(text: str) -> str:
    """The text with runs of ASCII punctuation as one `_` (none at the end) and other strange characters escaped."""
    name = _PUNCTUATION.sub("_", text)
    if name.endswith("_") and not text.endswith("_"):
        name = name.rstrip("_")
    if not name.isascii():
        name = "".join(char if f"a{char}".isidentifier() else f"u{ord(char):x}" for char in name)
    return unicodedata.normalize("NFKC", name)


def _shortened(name: str, text: str) -> str:
    room = MAX_CHARS - _HASH_DIGITS - 1
    tail = _identifier_part(text[-_TAIL_CHARS:])[-_TAIL_CHARS:].strip("_")
    return f"{name[: room - len(tail) - 1].rstrip('_')}_{tail}"


def _with_hash(name: str, raw: str, turn: int) -> str:
    seed = raw if turn == 0 else f"{turn}:{raw}"
    digits = hashlib.sha256(seed.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_DIGITS]
    return f"{name[: MAX_CHARS - _HASH_DIGITS - 1].rstrip('_')}_{digits}"
