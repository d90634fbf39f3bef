"""The reserved target `@store`: what a program asks of its session's store.

Enters: `{"do": …, "key": …, "value": …}` of a guest, with values as JSON text. Leaves: a reply; what is wrong with a
request is an error of that call. No call of a tool: no gate, no policy, no record.
"""

from __future__ import annotations

import json
from typing import Final

from codemode.broker.broker import CallReply, Internal
from codemode.errors import ArgumentsError
from codemode.jsonvalue import Json, JsonObject, as_text
from codemode.state.store import Store

TARGET: Final = "@store"


def store_door(store: Store) -> Internal:
    """Answers requests for one session's store."""

    async def answer(request: JsonObject) -> CallReply:
        return CallReply(True, "json", json.dumps(_done(store, request)).encode("ascii"))

    return answer


def _done(store: Store, request: JsonObject) -> Json:
    """`get` gives the text or null, `has` and `drop` a boolean, `keys` a list; `set` and `clear` null."""
    key, value = request.get("key", ""), request.get("value", "")
    if not isinstance(key, str) or not isinstance(value, str):
        raise ArgumentsError("keys and values of the store are text")
    match as_text(request.get("do")):
        case "get":
            return store.get(key)
        case "has":
            return store.get(key) is not None
        case "set":
            store.set(key, value)
            return None
        case "drop":
            return store.drop(key)
        case "keys":
            return store.keys()
        case "clear":
            store.clear()
            return None
        case other:
            raise ArgumentsError(f"the store cannot `{other[:40]}`")
