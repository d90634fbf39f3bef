"""Web servers on a free local port, in a thread of their own, for tests of the HTTP transport."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn


class _Server(uvicorn.Server):
    """Leaves the signals of the test process alone."""

    def capture_signals(self) -> Any:
        return _nothing()


@contextmanager
def _nothing() -> Iterator[None]:
    yield


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """The address of an ASGI application that answers while the block runs."""
    # The protocol is named because asyncio turns Nagle's delay off only for sockets that say they are TCP.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    server = _Server(uvicorn.Config(app, log_level="critical", lifespan="on", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started and thread.is_alive() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert server.started
    try:
        yield address
    finally:
        server.should_exit = True
        thread.join(30)
        listener.close()
