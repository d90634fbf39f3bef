"""Fits values and prints into a budget, cut where a reader expects it, with a mark that says how much is missing.

Enters: JSON bytes or text of any size, and the room there is in UTF-8 bytes. Leaves: text that is not larger (the mark
included) unless the room is smaller than a mark. Work is bounded by the size of the input; nothing is decoded that is
not shown: arrays and objects are split into their parts as raw bytes.

Safety: the bytes are a guest's claim. What is not JSON, or nested too deep to split, is cut as text.
"""

from __future__ import annotations

from typing import Final

import msgspec

_MIN_ROOM: Final = 64  # chosen: below this a mark takes more than what it stands for
_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])


def shorten_text(text: str, room: int, *, tail_share: float = 0.5) -> str:
    """The beginning and the end of a text, cut at line ends where there are any nearby.

    `tail_share` is the part of the room that the end gets.
    """
    raw = text.encode("utf-8", "replace")
    if len(raw) <= room:
        return text
    mark_room = len(f"\n… {len(text):,} characters left out …\n".encode())
    left = max(0, room - mark_room)
    tail_size = int(left * tail_share)
    head = _until_line_end(raw[: left - tail_size].decode("utf-8", "ignore"))
    tail = _from_line_start(raw[len(raw) - tail_size :].decode("utf-8", "ignore")) if tail_size else ""
    missing = len(text) - len(head) - len(tail)
    return f"{head}\n… {missing:,} characters left out …\n{tail}".rstrip("\n")


def shorten_json(raw: bytes, room: int) -> str:
    """JSON text; too long arrays keep their first items, too long objects shorten their largest values.

    The result of a cut is no JSON any more: the mark stands where items are missing.
    """
    if len(raw) <= room:
        return raw.decode("utf-8", "replace")
    try:
        return _shorten(raw, room)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return shorten_text(raw.decode("utf-8", "replace"), room, tail_share=0.25)


def count_items(raw: bytes) -> int | None:
    """How many items a JSON array or keys a JSON object has; None for everything else."""
    try:
        first = raw.lstrip()[:1]
        if first == b"[":
            return len(_ARRAY.decode(raw))
        return len(_OBJECT.decode(raw)) if first == b"{" else None
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return None


def _shorten(raw: bytes, room: int) -> str:
    if len(raw) <= room:
        return raw.decode("utf-8", "replace")
    first = raw.lstrip()[:1]
    if first == b"[":
        return _shorten_array(_ARRAY.decode(raw), room)
    if first == b"{":
        return _shorten_object(_OBJECT.decode(raw), room)
    if first == b'"':
        return _shorten_string(raw.decode("utf-8", "replace"), room)
    return shorten_text(raw.decode("utf-8", "replace"), room, tail_share=0.25)


def _shorten_array(items: list[msgspec.Raw], room: int) -> str:
    total = len(items)
    left = room - len(f"[, … {total:,} of {total:,} items left out]".encode())
    kept: list[str] = []
    for item in items:
        raw = bytes(item)
        if len(raw) + 1 > left:
            if not kept and left >= _MIN_ROOM:
                kept.append(_shorten(raw, left))
            break
        kept.append(raw.decode("utf-8", "replace"))
        left -= len(raw) + 1
    missing = total - len(kept)
    if not missing:
        return f"[{','.join(kept)}]"
    mark = f"… {missing:,} of {total:,} items left out"
    return f"[{', '.join([','.join(kept), mark]) if kept else mark}]"


def _shorten_object(pairs: dict[str, msgspec.Raw], room: int) -> str:
    """Small values stay whole; what is left of the room is shared by the large ones, then by whole keys."""
    keys = {key: msgspec.json.encode(key) for key in pairs}
    left = room - 2 - sum(len(raw) + 2 for raw in keys.values())
    share = _largest_share([memoryview(value).nbytes for value in pairs.values()], left)
    if share < _MIN_ROOM:
        return _shorten_keys(pairs, keys, room)
    parts = [f"{keys[key].decode('utf-8', 'replace')}:{_shorten(bytes(value), share)}" for key, value in pairs.items()]
    return f"{{{','.join(parts)}}}"


def _shorten_keys(pairs: dict[str, msgspec.Raw], keys: dict[str, bytes], room: int) -> str:
    total = len(pairs)
    left = room - len(f"{{, … {total:,} of {total:,} keys left out}}".encode())
    kept: list[str] = []
    for key, value in pairs.items():
        part = f"{keys[key].decode('utf-8', 'replace')}:{_shorten(bytes(value), _MIN_ROOM)}"
        size = len(part.encode("utf-8", "replace")) + 1
        if size > left:
            break
        kept.append(part)
        left -= size
    mark = f"… {total - len(kept):,} of {total:,} keys left out"
    return f"{{{', '.join([','.join(kept), mark]) if kept else mark}}}"


def _shorten_string(text: str, room: int) -> str:
    body = text.strip()[1:-1]
    left = max(0, room - len(f'"… {len(body):,} characters left out"'.encode()))
    kept = body.encode("utf-8", "replace")[:left].decode("utf-8", "ignore")
    # An escape must not be cut in two; the longest is twelve characters (a surrogate pair).
    slash = kept.rfind("\\", len(kept) - 12)
    kept = kept[:slash] if slash >= 0 else kept
    return f'"{kept}… {len(body) - len(kept):,} characters left out"'


def _largest_share(sizes: list[int], room: int) -> int:
    """The largest bound on each size such that the bounded sizes fit into the room together."""
    left, count = room, len(sizes)
    for size in sorted(sizes):
        if size * count > left:
            return max(0, left // count)
        left -= size
        count -= 1
    return max(sizes, default=0)


def _until_line_end(text: str) -> str:
    at = text.rfind("\n")
    return text[:at] if at > len(text) * 3 // 4 else text


def _from_line_start(text: str) -> str:
    at = text.find("\n")
    return text[at + 1 :] if 0 <= at < len(text) // 4 else text
