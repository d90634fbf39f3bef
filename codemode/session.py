"""One client's state: what it has been shown, and who it is.

Enters: a principal and what the client can do. Leaves: a mutable record that the use cases share. It holds no secret;
the marks in it are help, never rights.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from codemode.gate.loaded import Loaded
from codemode.ids import SessionId
from codemode.policy.desk import Mode
from codemode.state.store import Store
from codemode.state.workspace import Workspace

LOCAL_PRINCIPAL = "local"  # whoever started this process


def new_session_id() -> SessionId:
    """An id that cannot be guessed."""
    return SessionId(secrets.token_hex(16))


@dataclass(slots=True, kw_only=True)
class Session:
    """The state of one connected client.

    Attributes:
        principal: whose runs, store and workspace these are; they never cross principals.
        loaded: the tools whose signatures this client has been shown.
        can_ask: whether the client can put an approval to a person (elicitation, a terminal).
        takes: what a server may ask the person for through the client: forms, addresses to open.
        is_local: whether the client is a program of this machine's user, and may be told where its files are.
        workspace: its files, or None when it has none.
        store: the values that its programs keep.
        seen_news: digests of news about servers that were already told, so that each is told once.
    """

    id: SessionId = field(default_factory=new_session_id)
    principal: str = LOCAL_PRINCIPAL
    loaded: Loaded = field(default_factory=Loaded)
    can_ask: bool = False
    takes: frozenset[Mode] = frozenset()
    is_local: bool = False
    workspace: Workspace | None = None
    store: Store = field(default_factory=lambda: Store(quota_bytes=0))
    seen_news: set[str] = field(default_factory=set)
