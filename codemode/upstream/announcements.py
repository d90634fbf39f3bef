"""Hears a modern server say that its tools changed (2026-07-28: a subscription; older eras send it unasked).

Enters: a live connection. Leaves: a call of `on_changed` for each notice, and one after a lost stream, because there is
no replay. It ends by itself when the server does not offer the subscription.
"""

from __future__ import annotations

from collections.abc import Callable

import anyio
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from codemode.upstream.connection import Connection

_PAUSES_S = (1.0, 5.0, 30.0)  # chosen: before the next try after a stream that ended; the last one repeats


async def hear_changes(connection: Connection, on_changed: Callable[[], None]) -> None:
    """Stay subscribed until cancelled, or until it is clear that the server has nothing to say."""
    tools = connection.client.server_capabilities.tools
    if connection.protocol not in MODERN_PROTOCOL_VERSIONS or tools is None or not tools.list_changed:
        return
    tries = 0
    while True:
        try:
            async with connection.client.listen(tools_list_changed=True) as events:
                if tries:
                    on_changed()
                async for _ in events:
                    on_changed()
                    tries = 0
        except (ListenNotSupportedError, MCPError):
            return
        except (SubscriptionLost, TimeoutError):
            pass
        await anyio.sleep(_PAUSES_S[min(tries, len(_PAUSES_S) - 1)])
        tries += 1
