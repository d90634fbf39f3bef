"""One thing that is wrong with a call's arguments, and the words for it.

Enters: paths, names and values. Leaves: `Problem`s and short texts.

Safety: names and values are a guest's or a server's. Every text is bounded and on one line, so that it can stand in
an error message.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from codemode.catalog.text import clean_line, has_surrogate
from codemode.jsonvalue import Json, compact, is_object

MAX_PROBLEMS: Final = 8
NAME_CHARS: Final = 60
_MAX_DEPTH: Final = 64
_MAX_COMPARED: Final = 200
_PATH_CHARS: Final = 200
_VALUE_CHARS: Final = 60

Path: TypeAlias = tuple["str | int", ...]
ProblemKind = Literal["value", "missing", "unknown", "hint", "schema"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong with a call's arguments.

    Attributes:
        path: where, as `$.items[2].price`; `$` for the arguments as a whole.
        text: one line: what was expected, what came, where; no final full stop.
        parts: the path as keys and indexes.
        wanted: JSON types that would be taken there, when the type is what is wrong.
        kind: "missing" a required name; "unknown" a name that the schema refuses; "hint" a name that is no parameter
            but would be let through; "schema" the schema cannot be used; "value" everything else.
    """

    path: str
    text: str
    parts: Path = ()
    wanted: frozenset[str] = frozenset()
    kind: ProblemKind = "value"


def path_text(parts: Path) -> str:
    """A path as `$.items[2].price`; keys that are no plain names are quoted."""
    out = "$"
    for part in parts:
        if isinstance(part, int):
            out += f"[{part}]"
        elif part.isascii() and part.isidentifier() and len(part) <= NAME_CHARS:
            out += f".{part}"
        else:
            out += f"[{quoted(part)}]"
    return out if len(out) <= _PATH_CHARS else f"{out[: _PATH_CHARS // 2]}…{out[-_PATH_CHARS // 2 :]}"


def quoted(name: str) -> str:
    """A foreign name as a bounded literal."""
    text = name if len(name) <= NAME_CHARS else f"{name[: NAME_CHARS - 1]}…"
    return repr(text)


def shown(value: Json) -> str:
    """A value as bounded JSON with its type."""
    if value is None:
        return "null"
    kind = type_name(value)
    try:
        # A long string is cut before it is written: the value may have megabytes.
        text = compact(value[: _VALUE_CHARS + 1] if isinstance(value, str) else _pruned(value, 3))
    except (ValueError, TypeError, RecursionError):
        return kind
    if isinstance(value, bool):
        return text
    return f"{clean_line(text, _VALUE_CHARS)} ({kind})"


def _pruned(value: Json, depth: int) -> Json:
    if isinstance(value, str):
        return value[:_VALUE_CHARS]
    if is_object(value):
        return {k[:_VALUE_CHARS]: _pruned(value[k], depth - 1) for k in list(value)[:8]} if depth else {}
    if isinstance(value, Sequence):
        return [_pruned(one, depth - 1) for one in value[:8]] if depth else []
    return value


def type_name(value: Json) -> str:
    """The JSON type of a value: "integer" for whole numbers without a point."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "object" if is_object(value) else "array"


def nearest(name: str, names: Iterable[str]) -> str:
    """The name most like another, or ""; looks at the shapes of words, then at one name inside the other."""
    # Bounded on both sides: a server may list thousands of long names that are all alike.
    lower = {one[:NAME_CHARS].lower().replace("-", "_"): one for one in list(names)[:_MAX_COMPARED]}
    wanted = name[:NAME_CHARS].lower().replace("-", "_")
    close = difflib.get_close_matches(wanted, lower, 1, 0.6)
    if close:
        return lower[close[0]]
    if len(wanted) < 3:
        return ""
    inside = [one for key, one in lower.items() if wanted in key or (len(key) > 2 and key in wanted)]
    return inside[0] if len(inside) == 1 else ""


def not_unicode(value: Json) -> Problem:
    """The problem of a value that UTF-8 cannot carry."""
    parts = _half_pair(value, ()) or ()
    text = f"`{path_text(parts)}`: holds half of a surrogate pair, which cannot be sent"
    return Problem(path=path_text(parts), text=text, parts=parts)


def _half_pair(value: Json, parts: Path) -> Path | None:
    """Where the first text stands that is no Unicode, or None."""
    if isinstance(value, str):
        return parts if has_surrogate(value) else None
    inside: Iterable[tuple[str | int, Json]] = ()
    if is_object(value):
        broken = next((key for key in value if has_surrogate(key)), None)
        if broken is not None:
            return (*parts, broken)
        inside = value.items()
    elif isinstance(value, Sequence):
        inside = enumerate(value)
    if len(parts) < _MAX_DEPTH:
        for key, item in inside:
            found = _half_pair(item, (*parts, key))
            if found is not None:
                return found
    return None


def unknown_text(name: str, names: Iterable[str], parts: Path = (), likely: str = "") -> str:
    """The line about a name that is no parameter or key. `likely` is named when no name is like it."""
    listed = list(names)
    what = "parameter" if not parts else "key"
    inside = f" in `{path_text(parts)}`" if parts else ""
    close = nearest(name, listed) or likely
    text = f"no {what} `{clean_line(name, NAME_CHARS)}`{inside}"
    if close:
        return f"{text}; did you mean `{clean_line(close, NAME_CHARS)}`?"
    if not listed:
        return text
    some = ", ".join(f"`{clean_line(one, 40)}`" for one in listed[:12])
    return f"{text}; there are {some}{', ...' if len(listed) > 12 else ''}"
