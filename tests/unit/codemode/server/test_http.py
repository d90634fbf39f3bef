"""The address of `codemode serve --http`."""

import socket

from codemode.server.http import bind


def test_a_client_can_connect_as_soon_as_the_address_is_taken():
    # The address is told before the web server runs: a client that comes at once waits in the queue.
    listener, host = bind("127.0.0.1:0")
    with listener, socket.create_connection((host, listener.getsockname()[1]), timeout=5):
        pass
