"""Which values came from which calls, and where inside of them an object is.

Enters: each value that a call gave, with the bytes it came as. Leaves: a `Place` for an object that is one of these
values or a part of one, found by identity. Nothing here calls code of the program's.

Bounds. Values are held while they are among the last 10,000 and their payloads together are within `max_bytes`; a
single one above a quarter of that is not held. Of a value that is not held only identities are kept (of the last
4,000): it is found again while a variable of the program holds it, or a part directly below a dict.
"""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from itertools import islice
from types import CodeType, FrameType
from typing import Any, NamedTuple, Protocol

from sandbox.guest.results.outline import path_text

MAX_HELD = 10_000  # chosen: as many as a run may make calls by default
MAX_KNOWN = 4_000
_OVERHEAD = 64  # bytes that even the smallest value counts for: what stands here for each
_FRAMES_UP = range(4)  # chosen: between a program's line and the call stand two frames of ours at most
_PARTS = 50
_MARKED = 8
_LABEL_CHARS = 100
SEARCHED = 1_000_000  # measured: below 0.5 s; items looked at for one program's end

Site = tuple[CodeType, int]
"""Where a program called: a code object of it and the offset of the instruction."""

Step = str | int | float | bool | None


class Named(Protocol):
    """What calls: it has a name for notes."""

    def label(self) -> str:
        """The dotted name as a program writes it."""


class Origin:
    """One call and what it gave; `value` is None when it `is_held` no longer."""

    __slots__ = ("function", "is_held", "site", "value")

    def __init__(self, function: Named, site: Site | None, value: Any, *, is_held: bool = True) -> None:
        self.function = function
        self.site = site
        self.value = value
        self.is_held = is_held

    @property
    def line(self) -> int:
        """The line of the call, 0 when no line of the program made it."""
        position = positions(*self.site)[0] if self.site is not None else None
        return position or 0


_Held = tuple[Named, Site | None, Any, int]  # function, site, value, bytes: made for every call, so nothing more


class Place(NamedTuple):
    """A part of a call's value: `steps` lead from the value to it."""

    origin: Origin
    steps: tuple[Step, ...] = ()

    def below(self, step: Step) -> Place:
        """The part under one more key or index."""
        return Place(self.origin, (*self.steps, step))


def where_from(place: Place) -> str:
    """A place in words: the path in the value, the call, its line."""
    origin = place.origin
    line = f", line {origin.line}" if origin.line else ""
    part = path_text(place.steps) if place.steps else "the result"
    return f"{part} of {origin.function.label()[:_LABEL_CHARS]}(...){line}"


class _Known(NamedTuple):
    place: Place
    mark: tuple[object, ...]


Position = tuple[int | None, int | None, int | None, int | None]


def positions(code: CodeType, offset: int) -> Position:
    """First line, last line, first column and last column of an instruction, as `co_positions` counts them."""
    return next(islice(code.co_positions(), offset // 2, None), (None, None, None, None))


class Results:
    """The values of one run's calls. Any thread may add to it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a collection inside of it may run a program's `__del__`, which may call
        self._filename = ""
        self._max_bytes = 0  # bytes
        self._held: deque[_Held] = deque()
        self._held_bytes = 0
        self._known: OrderedDict[int, _Known] = OrderedDict()
        self.not_held: list[Origin] = []

    def begin(self, filename: str, max_bytes: int) -> None:
        """Forget everything, and remember from now on for the program of that file name."""
        self._held.clear()
        self._held_bytes = 0
        self._known.clear()
        self.not_held.clear()
        self._filename = filename
        self._max_bytes = max_bytes

    def site(self) -> Site | None:
        """Where the program is that made the running call; None in a thread that calls a function itself."""
        frame: FrameType | None = sys._getframe(2)
        for _ in _FRAMES_UP:
            if frame is None:
                return None
            code = frame.f_code
            if code.co_filename == self._filename:
                return code, frame.f_lasti
            frame = frame.f_back
        return None

    def add(self, function: Named, site: Site | None, value: Any, size: int) -> None:
        """Remember what a call gave; `size` is the bytes it came as."""
        dropped = None  # the last references end after the lock
        with self._lock:
            self._held_bytes += size + _OVERHEAD
            if size > self._max_bytes // 4:
                self._let_go((function, site, value, size))
                return
            self._held.append((function, site, value, size))
            if self._held_bytes > self._max_bytes or len(self._held) > MAX_HELD:
                dropped = self._trim()
        del dropped

    def _trim(self) -> list[Any]:
        """Let the oldest values go while there is too much of them; gives them back."""
        dropped = []
        while self._held_bytes > self._max_bytes or len(self._held) > MAX_HELD:
            dropped.append(self._let_go(self._held.popleft()))
        return dropped

    def _let_go(self, held: _Held) -> Any:
        function, site, value, size = held
        self._held_bytes -= size + _OVERHEAD
        origin = Origin(function, site, None, is_held=False)
        if len(self.not_held) < MAX_KNOWN:
            self.not_held.append(origin)
        self._know(value, Place(origin))
        if type(value) is dict:
            for key, part in islice(value.items(), _PARTS):
                self._know(part, Place(origin, (key,)))
        return value

    def _know(self, value: Any, place: Place) -> None:
        if type(value) in (dict, list) and value:
            self._known[id(value)] = _Known(place, _mark(value))
            if len(self._known) > MAX_KNOWN:
                self._known.popitem(last=False)

    def held(self) -> list[Origin]:
        """The calls whose values are held, newest first."""
        with self._lock:
            return [Origin(function, site, value) for function, site, value, _ in reversed(self._held)]

    def known(self, value: Any) -> Place | None:
        """The place of a value that is not held but is still the same object, as far as can be told."""
        known = self._known.get(id(value))
        return known.place if known is not None and known.mark == _mark(value) else None


def _mark(value: Any) -> tuple[object, ...]:
    """What a value that took a dead one's identity would hardly share with it."""
    if type(value) not in (dict, list):
        return ()
    return type(value), len(value), *(id(item) for item in islice(value, _MARKED))


class Finder:
    """Looks objects up in the remembered values, with one budget for all look-ups.

    `variables` are objects that the program still holds by name: among them are values that are not held here.
    """

    def __init__(self, results: Results, variables: Iterable[Any] = ()) -> None:
        self._left = SEARCHED
        held = results.held()
        self.roots: list[tuple[Any, Place]] = [(origin.value, Place(origin)) for origin in held]
        self.origins = [*held, *reversed(results.not_held)]
        for value in variables:
            place = results.known(value) if type(value) in (dict, list) else None
            if place is not None:
                self.roots.append((value, place))

    def find(self, target: Any) -> Place | None:
        """Where an exact `dict`, `list` or `str` object is; None when it is no part of a remembered value.

        Texts of less than two characters are never found: equal ones are one object everywhere.
        """
        kind = type(target)
        if kind is not dict and kind is not list and (kind is not str or len(target) < 2):
            return None
        for root, place in self.roots:
            if root is target:
                return place
        for root, place in self.roots:
            steps = self._search(root, target)
            if steps is not None:
                return Place(place.origin, (*place.steps, *steps))
        return None

    def alike(self, place: Place) -> Iterator[Any]:
        """What is at the same path, at any index of its lists, in every held value of the same function."""
        for origin in self.origins:
            if origin.is_held and origin.function is place.origin.function:
                yield from self._at(origin.value, place.steps)

    def _at(self, value: Any, steps: tuple[Step, ...]) -> Iterator[Any]:
        self._left -= 1
        if not steps or self._left < 0:
            yield value
        elif type(value) is list and type(steps[0]) is int:
            for item in value:
                yield from self._at(item, steps[1:])
        elif type(value) is dict and steps[0] in value:
            yield from self._at(value[steps[0]], steps[1:])

    def _search(self, root: Any, target: Any) -> tuple[Step, ...] | None:
        """The steps from a value down to an object below it, nearest first."""
        waiting: deque[tuple[Any, _Trail | None]] = deque()
        if type(root) in (dict, list):
            waiting.append((root, None))
        while waiting and self._left > 0:
            holder, trail = waiting.popleft()
            self._left -= len(holder)
            for step, part in holder.items() if type(holder) is dict else enumerate(holder):
                if part is target:
                    return _steps((trail, step))
                kind = type(part)
                if (kind is dict or kind is list) and part:
                    waiting.append((part, (trail, step)))
        return None


_Trail = tuple[Any, Any]  # (the trail above or None, a step)


def _steps(trail: _Trail | None) -> tuple[Step, ...]:
    steps: list[Step] = []
    while trail is not None:
        trail, step = trail
        steps.append(step)
    return tuple(reversed(steps))
