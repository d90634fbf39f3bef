"""The values that a session's programs keep for later ones: text by key, bounded.

Enters: keys and JSON texts of programs. Leaves: the same texts. In memory: they end with the session. The texts are
never decoded here; a program gets back what one of the same session has put in.
"""

from __future__ import annotations

from codemode.errors import StoreError

MAX_KEYS = 10_000  # chosen: more is a table, and belongs into a file
MAX_KEY_CHARS = 1_024  # chosen: keys are names
_ALL_BYTES = 512 << 20  # chosen: what all sessions of one process may keep in memory


class StoreTotal:
    """What all stores of a process hold together."""

    def __init__(self, allowed_bytes: int = _ALL_BYTES) -> None:
        self.allowed_bytes = allowed_bytes
        self.used_bytes = 0


class Store:
    """One session's values. `used_bytes` counts keys and texts as UTF-8."""

    def __init__(self, *, quota_bytes: int, total: StoreTotal | None = None) -> None:
        self.used_bytes = 0
        self._quota_bytes = quota_bytes
        self._total = total or StoreTotal()
        self._values: dict[str, str] = {}

    def get(self, key: str) -> str | None:
        """The text under a key, or None."""
        return self._values.get(key)

    def keys(self) -> list[str]:
        """All keys, oldest first."""
        return list(self._values)

    def set(self, key: str, text: str) -> None:
        """Keep a text; one that is there is replaced.

        Raises:
            StoreError: it does not fit, or the key is too long; what was there stays.
        """
        if len(key) > MAX_KEY_CHARS:
            raise StoreError(f"a key of the store may have {MAX_KEY_CHARS:,} characters, this has {len(key):,}")
        if key not in self._values and len(self._values) >= MAX_KEYS:
            raise StoreError(f"the store is full: there are {len(self._values):,} of {MAX_KEYS:,} keys")
        more = _size(key, text) - self._size_at(key)
        if more > 0 and self.used_bytes + more > self._quota_bytes:
            raise StoreError(
                f"the store is full: {self.used_bytes:,} of {self._quota_bytes:,} bytes are used, this needs "
                f"{more:,} more"
            )
        if more > 0 and self._total.used_bytes + more > self._total.allowed_bytes:
            raise StoreError("the stores of all sessions together are full")
        self._values[key] = text
        self._count(more)

    def drop(self, key: str) -> bool:
        """Forget a key; False when it is not there."""
        size = self._size_at(key)
        if self._values.pop(key, None) is None:
            return False
        self._count(-size)
        return True

    def clear(self) -> None:
        """Forget everything."""
        self._values.clear()
        self._count(-self.used_bytes)

    def _size_at(self, key: str) -> int:
        text = self._values.get(key)
        return _size(key, text) if text is not None else 0

    def _count(self, more: int) -> None:
        self.used_bytes += more
        self._total.used_bytes += more


def _size(key: str, text: str) -> int:
    return len(key.encode("utf-8", "surrogatepass")) + len(text.encode("utf-8", "surrogatepass"))
