"""What to write instead of an expression that failed on the value of a call: one line.

Enters: what the expression stood for, and the key, attribute or loop that failed on it. Leaves: a sentence, or "".
"""

from __future__ import annotations

from typing import Any

from sandbox.guest.results.outline import below, key_text, lists_in, nearest_key, path_text, quoted
from sandbox.guest.results.reading import Found
from sandbox.guest.results.remembered import Finder

UNHASHABLE = "It cannot be a key: use one of the values in it."
_DICT_METHODS = frozenset(name for name in dir(dict) if not name.startswith("_"))


def for_subscript(found: Found, wanted: Any, source: str, finder: Finder) -> str:
    """For `source[wanted]`; `wanted` is None for a slice."""
    value = found.value
    if found.role == "missed":
        return for_key(found, found.key, finder)
    if found.role == "key" and wanted in found.holder:
        return f"The dict itself has the key {key_text(wanted)}: leave the loop out."
    if found.role == "key" or type(value) is dict:
        return for_key(found, wanted, finder)
    if type(value) in (list, tuple):
        if type(wanted) is int:
            return f"It has {len(value)} items, the last is [{len(value) - 1}]." if value else "It is empty."
        return _for_list(value, wanted, source)
    if type(value) is str:
        is_json = value.lstrip()[:1] in ("{", "[") and type(wanted) is str
        return "It is text that looks like JSON: `json.loads` it." if is_json else "It is text, not an object."
    return for_none(found)


def for_key(found: Found, wanted: Any, finder: Finder) -> str:
    """For a key that is not in a dict: where it is, which one was probably meant, or where the lists are."""
    holder = found.value if found.role == "part" else found.holder
    if wanted in holder:
        return ""
    near = nearest_key(wanted, holder)
    if type(wanted) is str:
        missing = f"No key {key_text(wanted)}"
        steps = below(holder, wanted)
        if found.place is not None and steps is not None:
            return f"{missing} here; there is one at {path_text((*found.place.steps, *steps))}."
        if found.place is not None and any(type(one) is dict and wanted in one for one in finder.alike(found.place)):
            return f"{missing} in this one, but in others: use .get({key_text(wanted)})."
        return f"{missing}; nearest: {key_text(near)}." if near is not None else f"{missing} here."
    return _for_lists(holder, "A dict has no positions") if near is None else f"Its keys are texts: {key_text(near)}."


def for_attribute(found: Found, attribute: str, source: str, finder: Finder) -> str:
    """For `source.attribute`."""
    value, name = found.value, source or "it"
    if found.role == "missed":
        return for_key(found, found.key, finder)
    if found.role == "key":
        return _for_lists(found.holder, f"Its value is under {quoted(str(value))}")
    if type(value) is dict:
        if attribute in _DICT_METHODS and attribute not in value:
            return f"It is a method: {name}.{attribute}(...)."
        near = attribute if attribute in value else nearest_key(attribute, value)
        if near is None:
            return for_key(found, attribute, finder)
        return f"A dict has keys, not attributes: write {name}[{key_text(near)}]."
    if type(value) in (list, tuple):
        return _for_list(value, None if attribute in _DICT_METHODS else attribute, source)
    return "It is text, not an object." if type(value) is str else for_none(found)


def for_loop(found: Found, source: str, finder: Finder) -> str:
    """For `for ... in source`."""
    value = found.value
    if found.role == "missed":
        return for_key(found, found.key, finder)
    if type(value) is dict:
        return _for_lists(value, f"Iterating a dict gives its keys; pairs come from {source or 'it'}.items()")
    if type(value) in (list, tuple) and value and type(value[0]) is dict:
        return "Its items are dicts: take their values by key."
    return for_none(found)


def for_none(found: Found) -> str:
    """For a part that is None."""
    return "Check it for None first." if found.value is None and found.role == "part" else ""


def _for_list(value: Any, wanted: Any, source: str) -> str:
    if not value:
        return "It is an empty list."
    first, key = value[0], ""
    if type(first) is dict and type(wanted) is str:
        near = wanted if wanted in first else nearest_key(wanted, first)
        key = f"[{key_text(near)}]" if near is not None else ""
    return f"It is a list: take its items, such as {source or 'it'}[0]{key}."


def _for_lists(holder: dict[Any, Any], otherwise: str) -> str:
    lists = lists_in(holder)
    if not lists:
        return f"{otherwise}."
    return f"{otherwise}; lists in it: {', '.join(f'[{key_text(key)}] with {size}' for key, size in lists)}."
