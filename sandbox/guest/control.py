"""What host and zygote say to each other over the control socket: one JSON object a packet.

Enters and leaves: the frozen values below. Both ends are ours; no guest ever holds this socket. Still nothing but
plain JSON, and a packet that is none of these raises ValueError. Descriptors travel beside a packet (SCM_RIGHTS):
a `Spawn` brings the guest's end of its channel and the control groups that it enters, a `Spawned` brings a pidfd of
the guest.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

PACKET_BYTES = 64 * 1024  # chosen: the longest packet is a `Failed` or `Start`, both bounded below
MESSAGE_CHARS = 2_000  # chosen: of an error's text
PASSED = 3  # descriptors beside a packet, at most: a channel, and one group in each of two hierarchies


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Host → zygote, once: packages that programs may import besides the standard library."""

    packages: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """Zygote → host: everything is imported, guests can be spawned. The facts are the zygote's own readings.

    `slots` is how many guests may live at once; 0 means that guests do not get user ids of their own.
    `data_bytes` is the private writable memory that each guest has from the zygote, shared until it changes it.
    """

    mode: Literal["root", "user"]
    namespaces: bool
    empty_root: bool
    landlock_abi: int
    slots: int
    nproc_counts: bool
    data_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """Zygote → host, instead of `Ready`: what could not be done; the zygote has ended."""

    layer: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Spawn:
    """Host → zygote: fork a guest. `slot` is in use by no living guest; the ceilings bound every later limit.

    `examine` makes it a throw-away guest that tests its own seal and runs no program.
    """

    id: int
    slot: int
    memory_bytes: int
    cpu_s: float
    threads: int
    examine: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """Host → zygote: end the guest of that slot, if it lives; for hosts that may not signal the guest's user."""

    slot: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Spawned:
    """Zygote → host: the guest exists; its pidfd comes with this packet."""

    id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Zygote → host: no guest was forked for this `Spawn`."""

    id: int
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exited:
    """Zygote → host: the guest was reaped (wait4(2)): raw status, processor time, peak resident size."""

    id: int
    status: int
    cpu_s: float
    max_rss_bytes: int


Packet = Start | Ready | Failed | Spawn | Kill | Spawned | Refused | Exited

_KINDS: dict[str, type[Packet]] = {
    kind.__name__.lower(): kind for kind in (Start, Ready, Failed, Spawn, Kill, Spawned, Refused, Exited)
}


def encode(packet: Packet) -> bytes:
    """One packet as bytes."""
    return json.dumps({"kind": type(packet).__name__.lower(), **asdict(packet)}).encode("ascii")


def decode(data: bytes) -> Packet:
    """The packet in `data`.

    Raises:
        ValueError: not one of the packets above.
    """
    body: Any = json.loads(data)
    kind = _KINDS.get(body.pop("kind", "")) if isinstance(body, dict) else None
    if kind is None or set(body) != {item.name for item in fields(kind)}:
        raise ValueError("not a control packet")
    return kind(**body)
