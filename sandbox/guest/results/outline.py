"""The shape of a value in few words, as data: types, keys, lengths, samples; and the key that a wrong one meant.

Enters: any value, foreign as a rule. Leaves: single lines of bounded length. Foreign text stands in double quotes with
everything escaped that is not printable, so that it can neither end its quotes nor start a line. Equal values give
equal text. Only objects whose type is exactly one of JSON's are looked into.

    {"number": int, "title": str, "user": {"login": str} | None, "labels": [0-3 × str], "closed"?: str}

`[30 × T]` is a list of 30, `[0-3 × T]` stands for several lists; `"k"?` is missing in some of the objects it describes.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

OUTLINE_CHARS = 420
SAMPLE_CHARS = 160
KEY_CHARS = 48
PATH_CHARS = 120
TEXT_CHARS = 40
_DEPTH = 4
_MERGED = 20  # chosen: items of a list whose shapes are put together
_KEYS = 40
_SAMPLE_KEYS = 8
_SAMPLE_ITEMS = 2
_COMPARED = 500
_CONTAINERS = (dict, list, tuple)


def quoted(text: str, limit: int = TEXT_CHARS) -> str:
    """A text in double quotes, cut to `limit` characters, or to less where many of them are escaped."""
    cut = text[:limit] + "…" if len(text) > limit else text
    found = json.dumps(cut, ensure_ascii=not cut.isprintable())
    return found if len(found) <= 2 * limit or limit < 8 else quoted(text, limit // 2)


def key_text(key: object) -> str:
    """A key or an index as a program would write it."""
    return quoted(key, KEY_CHARS) if type(key) is str else scalar_text(key)


def scalar_text(value: object) -> str:
    """A value that is no text and holds nothing."""
    if type(value) is int and value.bit_length() > 128:
        return f"<int of {value.bit_length()} bits>"
    if value is None or type(value) in (bool, int, float):
        return repr(value)
    name = type(value).__name__
    return f"<{name[:40]}>" if name.isidentifier() else "<object>"


def path_text(steps: Iterable[object]) -> str:
    """Steps into a call's value as an expression, cut where it gets long."""
    text = "result" + "".join(f"[{key_text(step)}]" for step in steps)
    return text if len(text) <= PATH_CHARS else f"{text[:PATH_CHARS]}…"


# -- shape ----------------------------------------------------------------------------------------------------------


def outline(value: Any, room: int = OUTLINE_CHARS) -> str:
    """The shape of a value, as deep as it fits."""
    if type(value) is str:
        return f"str of {len(value):,} characters"
    text = ""
    for depth in range(_DEPTH, 0, -1):
        text = _type([value], depth, room if depth == 1 else 0)
        if len(text) <= room:
            return text
    return f"{text[: room - 1]}…"


def _type(values: list[Any], depth: int, room: int = 0) -> str:
    """One type for several values; with `room`, as many keys as fit."""
    kinds: dict[type, list[Any]] = {}
    for value in values:
        kinds.setdefault(type(value), []).append(value)
    parts = []
    for kind, group in kinds.items():
        if kind is dict:
            parts.append(_object(group, depth, room))
        elif kind in (list, tuple):
            parts.append(_array(group, depth, room))
        else:
            parts.append("None" if group[0] is None else kind.__name__[:40] if kind.__name__.isidentifier() else "?")
    return " | ".join(sorted(parts, key=lambda part: part == "None"))


def _object(group: list[dict[Any, Any]], depth: int, room: int) -> str:
    keys = dict.fromkeys(key for one in group for key in islice(one, _KEYS))
    total = max(map(len, group))
    if not keys:
        return "{}"
    if depth <= 0:
        return f"{{{total} {'key' if total == 1 else 'keys'}}}"
    parts: list[str] = []
    used = 0
    for key in islice(keys, _KEYS):
        found = [one[key] for one in group if key in one]
        mark = "" if len(found) == len(group) else "?"
        part = f"{key_text(key)}{mark}: {_type(found, depth - 1)}"
        used += len(part) + 2
        if room and used > room - 24:
            break
        parts.append(part)
    left = max(total, len(keys)) - len(parts)
    return f"{{{', '.join([*parts, f'… {left} more keys'] if left > 0 else parts)}}}"


def _array(group: list[Any], depth: int, room: int) -> str:
    lengths = sorted({len(one) for one in group})
    count = str(lengths[0]) if len(lengths) == 1 else f"{lengths[0]}-{lengths[-1]}"
    items = list(islice((item for one in group for item in one), _MERGED))
    if not items:
        return "[]"
    return (
        f"[{count} × {_type(items, depth if depth == 1 and room else depth - 1, room)}]" if depth > 0 else f"[{count}]"
    )


# -- samples --------------------------------------------------------------------------------------------------------


def samples(value: Any) -> list[str]:
    """Lines that show what a value holds: the first two items of a list, else all of it; none for an empty one."""
    if type(value) in (list, tuple):
        return [f"[{index}] {sample(item)}" for index, item in enumerate(value[:_SAMPLE_ITEMS])]
    if value is None or (type(value) in _CONTAINERS and not value):
        return []
    return [sample(value)]


def sample(value: Any, room: int = SAMPLE_CHARS) -> str:
    """A value as data, cut to `room` characters."""
    if type(value) is str:
        limit = room - 10
        while len(text := quoted(value, limit)) > room:
            limit //= 2
        return text
    text = _data(value, 3)
    return text if len(text) <= room else f"{text[: room - 1]}…"


def _data(value: Any, depth: int) -> str:
    if type(value) is str:
        return quoted(value)
    if type(value) is dict:
        if depth <= 0 and value:
            return f"{{{len(value)} keys}}"
        parts = [f"{key_text(key)}: {_data(item, depth - 1)}" for key, item in islice(value.items(), _SAMPLE_KEYS)]
        return f"{{{', '.join([*parts, '…'] if len(value) > _SAMPLE_KEYS else parts)}}}"
    if type(value) in (list, tuple):
        parts = [_data(item, depth - 1) for item in value[:_SAMPLE_ITEMS]] if depth > 0 else []
        left = len(value) - len(parts)
        return f"[{', '.join([*parts, f'… {left} more'] if left else parts)}]"
    return scalar_text(value)


# -- keys -----------------------------------------------------------------------------------------------------------


def nearest_key(wanted: object, keys: Iterable[object]) -> object:
    """The key that was probably meant, or None: another spelling, a part of it, a number as text."""
    known = list(islice(keys, _COMPARED))
    if type(wanted) is not str:
        text = str(wanted) if type(wanted) in (int, float) else None
        return text if text is not None and text in known else None
    if wanted.lstrip("-").isdigit() and len(wanted) < 18 and int(wanted) in known:
        return int(wanted)
    plain = {_plain(key): key for key in reversed(known) if type(key) is str and len(key) <= 80}
    target = _plain(wanted[:80])
    if target in plain:
        return plain[target]
    close = difflib.get_close_matches(target, plain, 1, 0.7)
    if not close:
        close = sorted((one for one in plain if _is_part(one, target)), key=len)
    return plain[close[0]] if close else None


def _plain(key: str) -> str:
    return "".join(char for char in key.lower() if char.isalnum())


def _is_part(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return 2 < len(short) <= len(long) <= 4 * len(short) and short in long


def below(value: Any, key: object, *, depth: int = 3, budget: int = 2_000) -> tuple[Any, ...] | None:
    """The steps to the nearest place under a value that has the key; of a list its first item is looked at."""
    level: list[tuple[Any, tuple[Any, ...]]] = [(value, ())]
    for _ in range(depth):
        following: list[tuple[Any, tuple[Any, ...]]] = []
        for holder, steps in level:
            for step, part in _parts(holder):
                budget -= 1
                if budget < 0:
                    return None
                if type(part) is dict and key in part:
                    return (*steps, step, key)
                if type(part) in (dict, list):
                    following.append((part, (*steps, step)))
        level = following
    return None


def lists_in(value: dict[Any, Any]) -> list[tuple[Any, int]]:
    """The keys of an object that hold lists of something, with their lengths; the longest first."""
    found = [(key, len(part)) for key, part in islice(value.items(), _COMPARED) if type(part) is list and part]
    return sorted(found, key=lambda item: -item[1])[:3]


def _parts(holder: Any) -> Iterator[tuple[Any, Any]]:
    return islice(holder.items(), 100) if type(holder) is dict else enumerate(holder[:1])
