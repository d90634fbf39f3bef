"""Which session a request belongs to: its host session, the listing it was given, the servers it knows of.

Enters: a request's context. Leaves: a `FrontSession`. On stdio the process is one session; on HTTP it is the transport
session of older protocol versions, else the principal. Marks in a session are help, never rights.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

import anyio
from mcp import types
from mcp.server import ServerRequestContext
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from codemode.catalog.snapshot import Catalog
from codemode.policy.desk import Mode
from codemode.server.ports import FrontHostSession

MAX_SESSIONS: Final = 1_000  # chosen: a person's clients; the oldest idle one is forgotten beyond
_SESSION_HEADER: Final = "mcp-session-id"

Context = ServerRequestContext[Any, Any]


class FrontSession:
    """One client's view of the front.

    Attributes:
        host_session: its use cases.
        listing: the tools as they were listed first, or None before that; they never change afterwards.
        known: the catalog the client last heard of; news are what differs from it.
        lock: held while the listing is made, so that two requests do not make two.
    """

    def __init__(self, host_session: FrontHostSession) -> None:
        self.host_session = host_session
        self.listing: types.ListToolsResult | None = None
        self.known: Catalog | None = None
        self.lock = anyio.Lock()


class Sessions:
    """The open sessions of one front."""

    def __init__(self, new: Callable[[], FrontHostSession]) -> None:
        self._new = new
        self._open: OrderedDict[str, FrontSession] = OrderedDict()

    def of(self, context: Context) -> FrontSession:
        """The session of a request, made when it is new."""
        key = _key(context)
        session = self._open.get(key)
        if session is None:
            session = self._open[key] = FrontSession(self._new())
            while len(self._open) > MAX_SESSIONS:
                _, oldest = self._open.popitem(last=False)
                oldest.host_session.close()
        self._open.move_to_end(key)
        state = session.host_session.session
        state.takes = takes(context)
        state.can_ask = "form" in state.takes
        return session


def takes(context: Context) -> frozenset[Mode]:
    """What the client said that it can put to a person."""
    declared = context.session.client_capabilities
    if declared is None or declared.elicitation is None:
        return frozenset()
    # An empty declaration means forms: that is how versions before 2025-11-25 write it.
    is_form = declared.elicitation.form is not None or declared.elicitation.url is None
    modes: dict[Mode, bool] = {"form": is_form, "url": declared.elicitation.url is not None}
    return frozenset(mode for mode, is_there in modes.items() if is_there)


def _key(context: Context) -> str:
    """The transport session's id, which its manager has checked already; "" for the process or the principal.

    Safety: the newer protocol has no such sessions and nobody checks the header there, so it counts for nothing.
    """
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return ""
    headers = getattr(context.request, "headers", None)
    return str(headers.get(_SESSION_HEADER, "")) if headers is not None else ""
