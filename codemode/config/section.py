"""Reads one JSON object of a configuration key by key, and says exactly where a value is wrong.

Enters: a parsed object with its path and the places of its keys. Leaves: typed values, or a `ConfigError` that names
file, line and key. It never puts a value into a message unless the caller says that values may be shown: server
entries hold secrets.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from codemode.config.positions import Path, show_path
from codemode.errors import ConfigError
from codemode.jsonvalue import Json, JsonObject, is_object

_Word = TypeVar("_Word", bound=str)


@dataclass(frozen=True, slots=True)
class Places:
    """Path → "file, line N". A path that is not known gives the place of the nearest one above it."""

    known: Mapping[Path, str] = field(default_factory=dict)
    otherwise: str = "configuration"

    def of(self, path: Path) -> str:
        """Where this path, or the nearest one above it, is written."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.known:
                return self.known[path[:length]]
        return self.otherwise


@dataclass(slots=True)
class Section:
    """One object under `path`; every read marks its key as known."""

    value: JsonObject
    path: Path
    places: Places
    shows_values: bool = False
    code: str = "config.key"
    read: set[str] = field(default_factory=set)

    def error(self, problem: str, *steps: str | int, hint: str = "") -> ConfigError:
        """An error about the key at `steps` below this section."""
        path = (*self.path, *steps)
        return ConfigError(
            f"{self.places.of(path)}: `{show_path(path)}` {problem}",
            code=self.code,
            hint_operator=hint,
            details={"key": show_path(path)},
        )

    def _get(self, key: str) -> Json:
        self.read.add(key)
        return self.value.get(key)

    def _wrong(self, key: str, wanted: str, value: Json, *steps: int) -> ConfigError:
        return self.error(f"must be {wanted}, got {_describe(value, shown=self.shows_values)}", key, *steps)

    def text(self, key: str, default: str = "") -> str:
        """A string, or the default when the key is missing or null."""
        value = self._get(key)
        if value is None:
            return default
        if not isinstance(value, str):
            raise self._wrong(key, "a string", value)
        if "\0" in value:
            raise self.error("must not hold a NUL character", key)
        return value

    def flag(self, key: str, default: bool = False) -> bool:
        """A boolean."""
        value = self._get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self._wrong(key, "true or false", value)
        return value

    def number(self, key: str, default: float, bounds: tuple[float, float]) -> float:
        """A number within bounds, both ends included."""
        value = self._get(key)
        if value is None:
            return default
        low, high = bounds
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
            raise self._wrong(key, f"a number between {low:g} and {high:g}", value)
        return float(value)

    def whole(self, key: str, default: int, bounds: tuple[float, float]) -> int:
        """A whole number within bounds, both ends included; `5.0` counts as whole."""
        value = self._get(key)
        if value is None:
            return default
        low, high = bounds
        is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not is_whole or not low <= value <= high:
            raise self._wrong(key, f"a whole number between {low:g} and {high:g}", value)
        return int(value)

    def word(self, key: str, default: _Word, words: tuple[_Word, ...]) -> _Word:
        """One of the given words."""
        if self._get(key) is None:
            return default
        return self.needed_word(key, words)

    def needed_word(self, key: str, words: tuple[_Word, ...]) -> _Word:
        """One of the given words, which must be there."""
        value = self._get(key)
        if value is None:
            raise self.error(f"needs `{key}`")
        for word in words:
            if value == word:
                return word
        raise self._wrong(key, f"one of {', '.join(f'`{word}`' for word in words)}", value)

    def words(self, key: str, words: tuple[_Word, ...]) -> tuple[_Word, ...]:
        """A list of the given words, in the order of `words`, each once."""
        found = self.texts(key)
        for index, item in enumerate(found):
            if item not in words:
                raise self._wrong(key, f"one of {', '.join(f'`{word}`' for word in words)}", item, index)
        return tuple(word for word in words if word in found)

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings."""
        value = self._get(key)
        if value is None:
            return ()
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise self._wrong(key, "a list of strings", value)
        out: list[str] = []
        for index, item in enumerate(value):
            if not isinstance(item, str):
                raise self._wrong(key, "a string", item, index)
            if "\0" in item:
                raise self.error("must not hold a NUL character", key, index)
            out.append(item)
        return tuple(out)

    def text_map(self, key: str) -> dict[str, str]:
        """An object of strings; numbers and booleans are taken as their JSON text, as other hosts do."""
        value = self._get(key)
        if value is None:
            return {}
        if not is_object(value):
            raise self._wrong(key, "an object of strings", value)
        inner = Section(value, (*self.path, key), self.places, self.shows_values, self.code)
        out: dict[str, str] = {}
        for name, item in value.items():
            if isinstance(item, bool):
                out[name] = "true" if item else "false"
            elif isinstance(item, (int, float)):
                out[name] = str(item)
            elif item is not None:
                out[name] = inner.text(name)
        return out

    def section(self, key: str) -> Section:
        """The object under this key, or an empty one."""
        value = self._get(key)
        if value is None:
            value = {}
        if not is_object(value):
            raise self._wrong(key, "an object", value)
        return Section(value, (*self.path, key), self.places, self.shows_values, self.code)

    def sections(self, key: str) -> list[Section]:
        """The objects in the list under this key."""
        value = self._get(key)
        if value is None:
            return []
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise self._wrong(key, "a list of objects", value)
        out: list[Section] = []
        for index, item in enumerate(value):
            if not is_object(item):
                raise self._wrong(key, "an object", item, index)
            out.append(Section(item, (*self.path, key, index), self.places, self.shows_values, self.code))
        return out

    def unread(self) -> list[str]:
        """Keys that nothing asked for, in file order."""
        return [key for key in self.value if key not in self.read]

    def refuse_unread(self) -> None:
        """Raise for a key that nothing asked for, naming the nearest one that exists."""
        for key in self.unread():
            near = difflib.get_close_matches(key, sorted(self.read), n=1, cutoff=0.4)
            known = f"did you mean `{near[0]}`?" if near else f"known keys: {', '.join(sorted(self.read))}"
            raise self.error(f"is not a known key; {known}", key)


def _describe(value: Json, *, shown: bool) -> str:
    """What kind of value this is; the value itself only when values may be shown."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, (int, float)):
        return f"{value}"[:40] if shown else "a number"
    if isinstance(value, str):
        return f"the string `{value[:40]}`" if shown else "a string"
    return "an object" if is_object(value) else "a list"
