"""References inside one schema: where `#/…` leads, what loops, how large it grows.

Enters: a schema of bounded size and depth. Leaves: the target of a pointer, the references that can never end, the
size after writing references out. Never fetches: anything but `#…` is for `schemas.py` to refuse.

Source: JSON Schema 2020-12 core, section 8.2; RFC 6901. Graphs are walked with lists of their own: a server may
chain thousands of definitions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from codemode.catalog import bounds

# Which keywords hold schemas, and how. Everything else is data or unknown and is never walked as a schema.
MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
SINGLES = frozenset(
    {
        "items", "additionalProperties", "additionalItems", "unevaluatedItems", "unevaluatedProperties",
        "propertyNames", "contains", "not", "if", "then", "else", "contentSchema",
    }
)  # fmt: skip
# Applied to the value itself, not to a part of it: a loop of only these never ends.
IN_PLACE = frozenset({"$ref", "anyOf", "oneOf", "allOf", "not", "if", "then", "else", "dependentSchemas"})
_MAX_POINTER_CHARS = 1_024
MISSING = object()
_INDEX = re.compile(r"[0-9]{1,6}")

_Place = tuple[str, ...]


def pointer_tokens(reference: str) -> _Place | None:
    """The steps of `#/a/b`; `()` for `#`; None for an anchor, a malformed or an overlong one."""
    if reference == "#":
        return ()
    if not reference.startswith("#/") or len(reference) > _MAX_POINTER_CHARS:
        return None
    return tuple(unquote(part).replace("~1", "/").replace("~0", "~") for part in reference[2:].split("/"))


def follow(root: object, tokens: _Place) -> object:
    """What stands at the place, or `MISSING`."""
    here = root
    for token in tokens:
        if isinstance(here, dict) and token in here:
            here = here[token]
        elif isinstance(here, list) and _INDEX.fullmatch(token) and int(token) < len(here):
            here = here[int(token)]
        else:
            return MISSING
    return here


def is_schema_place(tokens: _Place) -> bool:
    """Whether a pointer leads through keywords that hold schemas only, and ends at a schema."""
    rest = list(reversed(tokens))
    while rest:
        keyword = rest.pop()
        if keyword in MAPS or keyword in LISTS:
            if not rest:
                return False
            rest.pop()
        elif keyword == "items":
            if rest and _INDEX.fullmatch(rest[-1]):
                rest.pop()
        elif keyword not in SINGLES:
            return False
    return True


def subschemas(schema: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Each (keyword, schema) directly inside a schema, in the order of the keys."""
    for keyword in sorted(schema):
        value = schema[keyword]
        if keyword in MAPS and isinstance(value, dict):
            for name in sorted(value):
                yield keyword, value[name]
        elif keyword in LISTS and isinstance(value, list):
            for item in value:
                yield keyword, item
        elif keyword in SINGLES:
            if isinstance(value, list):
                for item in value:
                    yield keyword, item
            else:
                yield keyword, value


@dataclass(slots=True)
class _Region:
    """What one schema holds: its size, and the references below it (in place: on the value itself)."""

    size: int = 0
    targets: list[_Place] = field(default_factory=list)
    in_place: list[tuple[_Place, dict[str, object]]] = field(default_factory=list)


def _region(schema: object) -> _Region:
    region = _Region()
    todo: list[tuple[object, bool]] = [(schema, True)]
    while todo:
        node, is_in_place = todo.pop()
        region.size += 1
        if not isinstance(node, dict):
            continue
        reference = node.get("$ref")
        tokens = pointer_tokens(reference) if isinstance(reference, str) else None
        if tokens is not None:
            region.targets.append(tokens)
            if is_in_place:
                region.in_place.append((tokens, node))
        for keyword, child in subschemas(node):
            if keyword not in ("$defs", "definitions"):  # counted where they are referred to
                todo.append((child, is_in_place and keyword in IN_PLACE))
    return region


def _regions(root: object) -> dict[_Place, _Region]:
    """One region for the root and for every place that is referred to."""
    regions: dict[_Place, _Region] = {(): _region(root)}
    todo = list(regions[()].targets)
    while todo:
        tokens = todo.pop()
        if tokens not in regions:
            regions[tokens] = _region(follow(root, tokens))
            todo.extend(regions[tokens].targets)
    return regions


def cut_endless(root: object) -> int:
    """Remove every `$ref` that leads back to its own place without passing a part of the value; how many there were.

    Changes `root`, which has to be the caller's own copy. `{"$ref": "#/$defs/A"}` inside A says nothing about a
    value, and a validator that follows it does not come back.
    """
    regions = _regions(root)
    edges = {place: [target for target, _ in region.in_place] for place, region in regions.items()}
    _, back = _post_order(edges)
    removed = 0
    for place, index in back:
        node = regions[place].in_place[index][1]
        if "$ref" in node:
            del node["$ref"]
            removed += 1
    return removed


def growth_fault(root: object) -> str:
    """Why the schema is too much once its references are written out, or "". A loop counts once."""
    regions = _regions(root)
    order, back = _post_order({place: region.targets for place, region in regions.items()})
    loops = set(back)
    size: dict[_Place, int] = {}
    depth: dict[_Place, int] = {}
    for place in order:
        region = regions[place]
        onward = [target for index, target in enumerate(region.targets) if (place, index) not in loops]
        size[place] = min(region.size + sum(size[target] for target in onward), bounds.MAX_EXPANSION + 1)
        depth[place] = 1 + max((depth[target] for target in onward), default=-1)
    if size[()] > bounds.MAX_EXPANSION:
        return f"its references expand to more than {bounds.MAX_EXPANSION} values"
    if depth[()] > bounds.MAX_REFERENCE_DEPTH:
        return f"more than {bounds.MAX_REFERENCE_DEPTH} references in a row"
    return ""


def _post_order(edges: Mapping[_Place, list[_Place]]) -> tuple[list[_Place], list[tuple[_Place, int]]]:
    """Places below the root, deepest first, and the edges (place, index) that close a loop."""
    order: list[_Place] = []
    back: list[tuple[_Place, int]] = []
    open_places: set[_Place] = set()
    done: set[_Place] = set()
    for start in sorted(edges):
        stack: list[tuple[_Place, int]] = [(start, 0)]
        while stack:
            place, index = stack.pop()
            if place in done:
                continue
            open_places.add(place)
            targets = edges[place]
            while index < len(targets) and targets[index] in done:
                index += 1
            if index == len(targets):
                open_places.discard(place)
                done.add(place)
                order.append(place)
            elif targets[index] in open_places:
                back.append((place, index))
                stack.append((place, index + 1))
            else:
                stack.append((place, index))
                stack.append((targets[index], 0))
    return order, back
