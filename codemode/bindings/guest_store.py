"""Runs in the guest as `tools._store`: `store`, the session's values on the host as a mutable mapping.

Enters: keys and values of a program. Leaves: requests to the host with values as JSON text, encoded as arguments of
tools are. Shipped as text through `load` when a program names `store`; standard library only.

A value comes back as JSON has it: a tuple as a list, a set as a sorted list, a date as its text, keys of a dict as
text. What is read is a copy: `store["k"].append(1)` changes nothing on the host, `store["k"] = [*store["k"], 1]` does.
"""

from __future__ import annotations

import errno as _errno
import json as _json
from collections.abc import Iterator, MutableMapping
from importlib import import_module as _import_module
from typing import Any

from sandbox.guest.remote import Remote

_TARGET = "@store"


class _Ask(Remote):
    """One request: `ask("get", key)`."""

    def encode(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, bytes]:
        return _TARGET, _json.dumps(dict(zip(("do", "key", "value"), args, strict=False))).encode("ascii")

    def decode(self, form: str, payload: bytes) -> Any:
        return _json.loads(payload)

    def fail(self, payload: bytes) -> BaseException:
        facts = _json.loads(payload)
        if facts.get("code") == "store.full":
            return OSError(_errno.ENOSPC, facts.get("message"))
        return ValueError(facts.get("message"))


class Store(MutableMapping[str, Any]):
    """Values that later programs of this session find again.

    Safety: programs hold it. Its state has names that start with `_cm_`, which the dialect never hands out.
    """

    def __init__(self, ask: Remote) -> None:
        self._cm_ask = ask

    def __getitem__(self, key: str) -> Any:
        text = self._cm_ask("get", _key(key))
        if text is None:
            raise KeyError(key)
        return _json.loads(text)

    def __setitem__(self, key: str, value: Any) -> None:
        self._cm_ask("set", _key(key), _encoded(key, value))

    def __delitem__(self, key: str) -> None:
        if not self._cm_ask("drop", _key(key)):
            raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and bool(self._cm_ask("has", str(key)))

    def __iter__(self) -> Iterator[str]:
        return iter(self._cm_ask("keys"))

    def __len__(self) -> int:
        return len(self._cm_ask("keys"))

    def __repr__(self) -> str:
        return f"<store of {len(self)} values>"

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"`store` has no `{name}`: it keeps values, as in store['key'] = value; "
            "functions of a server are below `tools`"
        )

    def clear(self) -> None:
        """Forget everything."""
        self._cm_ask("clear")


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"keys of the store are text, got {type(key).__name__}")
    return str(key)


def _encoded(key: str, value: Any) -> str:
    """JSON text of a value.

    Raises:
        TypeError: JSON has no form for it.
    """
    encode = _json.JSONEncoder(
        separators=(",", ":"), allow_nan=False, default=lambda other: _import_module("tools._values").plain(other)
    ).encode
    try:
        return encode(value)
    except RecursionError:
        raise TypeError(f"store[{key!r}]: the value is nested too deep") from None
    except (TypeError, ValueError) as error:
        raise TypeError(f"store[{key!r}]: {error}; the store keeps JSON") from None


store = Store(_Ask())
