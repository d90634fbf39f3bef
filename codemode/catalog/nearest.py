"""The names closest to a misspelt one, by shared pairs of letters and shared words.

Enters: the tools of a catalog, once; a name. Leaves: tools, best first, the server that was named before others. The
cost of a look-up follows the tools that share letters with the name, so a query full of wrong names stays cheap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from codemode.catalog.spec import Tool
from codemode.catalog.words import split_words

MAX_NEAREST = 5
_MAX_ASKED_CHARS = 160
_ENOUGH_ALIKE = 0.45  # chosen: `list_isues` has 0.8 with `list_issues`; unrelated names of one server stay below 0.35
_WORTH_A_LOOK = 0.2  # names that share fewer letter pairs are not compared by words
_WORD_SHARE = 0.9  # the same words in another order are a little less alike than the same letters


class NearestNames:
    """An index of function names by their letter pairs. Immutable."""

    __slots__ = ("_places", "_sizes", "_tools")

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = tools
        self._places: dict[str, list[int]] = {}
        self._sizes: list[int] = []
        for place, tool in enumerate(tools):
            pairs = _letter_pairs(tool.function.lower())
            self._sizes.append(len(pairs))
            for pair in pairs:
                self._places.setdefault(pair, []).append(place)

    def find(self, name: str) -> tuple[Tool, ...]:
        """At most five tools with names like a misspelt `<module>.<function>`, or like a bare function name."""
        asked = name.strip().removeprefix("tools.")[:_MAX_ASKED_CHARS].lower()
        module, dot, function = asked.rpartition(".")
        modules: dict[str, float] = {}
        scored: list[tuple[float, str, Tool]] = []
        for place, alike in self._alike(function):
            tool = self._tools[place]
            if dot and tool.module not in modules:
                modules[tool.module] = _likeness(module, tool.module.lower())
            of_module = modules.get(tool.module, 0.0)
            scored.append((-alike - (1.0 if of_module == 1.0 else of_module / 2), tool.short, tool))
        scored.sort(key=lambda item: item[:2])
        return tuple(tool for _, _, tool in scored[:MAX_NEAREST])

    def _alike(self, function: str) -> list[tuple[int, float]]:
        pairs = _letter_pairs(function)
        shared = Counter(place for pair in pairs for place in self._places.get(pair, ()))
        alike: list[tuple[int, float]] = []
        for place, count in shared.items():
            if 2 * count / (len(pairs) + self._sizes[place]) >= _WORTH_A_LOOK:
                likeness = _likeness(function, self._tools[place].function.lower())
                if likeness >= _ENOUGH_ALIKE:
                    alike.append((place, likeness))
        return alike


def _likeness(one: str, other: str) -> float:
    """How alike two names are, from 0 to 1; 1 only when they are equal."""
    if one == other:
        return 1.0
    by_letters = _share(_letter_pairs(one), _letter_pairs(other))
    by_words = _share(frozenset(split_words(one)), frozenset(split_words(other)))
    return 0.99 * max(by_letters, _WORD_SHARE * by_words)


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 0.0


def _letter_pairs(name: str) -> frozenset[str]:
    padded = f" {name} "
    return frozenset(padded[at : at + 2] for at in range(len(padded) - 1))
