"""Callables that reach the host: what generated bindings subclass.

Enters: the program's arguments. Leaves: a value, or an exception made from the host's answer. The subclass says how
arguments become bytes and how bytes become values; this module says how a call waits.

A call written plainly blocks its thread. A call in a position where its result is awaited is started by
`__start__`: it is on its way before anything awaits it, so that several overlap.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from sandbox.guest.link import Answer, Link
from sandbox.guest.results.remembered import Results, Site

_link: Link | None = None
_before_call: Callable[[], object] = int  # replaced by `connect`; calling it does nothing

results = Results()
"""What the calls of this process gave."""


class RemoteError(Exception):
    """The host refused or failed a call, and the binding has no better exception for it."""


def connect(link: Link, before_call: Callable[[], None]) -> None:
    """Set the channel that every `Remote` of this process uses, and a function to call before a thread blocks."""
    global _link, _before_call
    _link = link
    _before_call = before_call


def _channel() -> Link:
    if _link is None:
        raise RemoteError("there is no host to call")
    return _link


class Remote:
    """A function whose work is done by the host. Subclasses override `encode`, `decode` and `fail`."""

    __slots__ = ()

    def encode(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, bytes]:
        """The program's arguments as (target, JSON bytes); raises what the program should see."""
        raise NotImplementedError

    def decode(self, form: str, payload: bytes) -> Any:
        """The value of a reply that is well."""
        raise NotImplementedError

    def fail(self, payload: bytes) -> BaseException:
        """The exception for a reply that is not."""
        return RemoteError(payload.decode("utf-8", "replace"))

    def label(self) -> str:
        """What calls it, as a program writes it; for notes on its values."""
        return type(self).__name__

    def _cm_finish(self, answer: Answer, site: Site | None) -> Any:
        header, payload = answer
        if header["ok"]:
            value = self.decode(header["form"], payload)
            results.add(self, site, value, len(payload))
            return value
        raise self.fail(payload)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        target, payload = self.encode(args, kwargs)
        _before_call()
        return self._cm_finish(_channel().request({"kind": "call", "target": target}, payload), results.site())

    def __start__(self, /, *args: Any, **kwargs: Any) -> Awaitable[Any]:
        """Send the call now; await the result, once or several times, to get its value."""
        target, payload = self.encode(args, kwargs)
        link = _channel()
        future = link.start({"kind": "call", "target": target}, payload)
        return link.task(self._cm_waited(future, results.site()))

    async def _cm_waited(self, future: Any, site: Site | None) -> Any:
        return self._cm_finish(await future, site)
