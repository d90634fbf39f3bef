"""What a guest does to itself before anything foreign reaches it: every layer, in the one order that works.

Enters: what the zygote found out about the machine, the guest's ceilings, and the event loop to give descriptors to
while sockets can still be made. Leaves: nothing. Each layer is read back from the kernel; one that does not hold
raises `SealError` with its name, and the caller ends the process without running anything.

The order (each line needs the ones above, or would be undone by them):

    descriptors    first, so that the event loop's descriptors are all there is besides the channel
    namespaces     before the capabilities that they need are gone
    identity       user and capabilities; clears the parent-death signal (prctl(2))
    parent-death   therefore after it, followed by a look whether the parent still lives
    dumpable       a change of user may set it again
    no-new-privs   Landlock and seccomp need it
    rlimits        before the filter, which allows only to lower them
    landlock       opens a descriptor, which the filter refuses
    seccomp        last: it refuses nearly all calls made above
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

from sandbox.guest.loop import ForkedLoop
from sandbox.linux import descriptors, identity, landlock, namespaces, rlimits, seccomp
from sandbox.spec import Limits

Witness = Callable[[str], None]
"""Called with each layer's name once it is on; a throw-away guest tests the layer's effect there."""


class SealError(Exception):
    """A layer could not be put on. `layer` is its name in the table above."""

    def __init__(self, layer: str, message: str) -> None:
        super().__init__(f"{layer}: {message}")
        self.layer = layer
        self.message = message


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What the zygote found out once, for all its guests.

    Attributes:
        parent_pid: the zygote's process id as its children see it.
        uids: the ids that guests take, one for each slot; empty when they keep the zygote's.
        own_user_namespace: each guest enters an unmapped user namespace, so that its threads are counted alone.
        nproc_counts: RLIMIT_NPROC counts the threads of one guest and nothing else (tested by the zygote).
        ruleset: Landlock attributes; empty when the kernel has no Landlock.
        program: the encoded seccomp filter.
        baseline_data_bytes, baseline_address_bytes: what the interpreter has mapped before any program.
    """

    parent_pid: int
    uids: range
    own_user_namespace: bool
    nproc_counts: bool
    ruleset: bytes
    program: bytes
    baseline_data_bytes: int
    baseline_address_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """The most that any run of this guest may get. `tasks` is the bound of RLIMIT_NPROC, whatever that counts here."""

    memory_bytes: int
    cpu_s: float
    tasks: int


def seal(plan: Plan, ceiling: Ceiling, *, slot: int, loop: ForkedLoop, witness: Witness) -> None:
    """Put every layer on the calling process, which must be a fresh single-threaded child of the zygote.

    The channel must be descriptor `descriptors.CHANNEL`.

    Raises:
        SealError: a layer is not in force. The process must end without running anything foreign.

    Safety: no input of a program reaches this function. It either returns with all layers on or raises.
    """
    steps: tuple[tuple[str, Callable[[], None]], ...] = (
        ("descriptors", _close_descriptors),
        ("event loop", loop.reopen),
        ("namespaces", lambda: _enter_namespaces(plan)),
        ("identity", lambda: take_identity(plan.uids[slot] if plan.uids else None)),
        ("parent-death", lambda: _die_with(plan.parent_pid)),
        ("dumpable", identity.forbid_inspection),
        ("no-new-privs", identity.forbid_new_privileges),
        ("rlimits", lambda: _limit(plan, ceiling)),
        ("landlock", lambda: _restrict(plan)),
        ("seccomp", lambda: seccomp.install(plan.program)),
    )
    for name, step in steps:
        try:
            step()
        except OSError as error:
            raise SealError(name, error.strerror or str(error)) from error
        witness(name)


def tighten(limits: Limits, *, baseline_data_bytes: int, nproc_counts: bool) -> None:
    """Lower this guest's limits to those of one run; call before the first foreign byte is read.

    Raises:
        OSError: a limit could not be set, which cannot happen to a sealed guest.

    Safety: runs behind the filter, which lets a process set its own limits only; hard limits can only go down.
    """
    rlimits.apply(
        rlimits.tightened(
            memory_bytes=limits.memory_bytes,
            cpu_s=limits.cpu_s,
            used_cpu_s=time.process_time(),
            tasks=limits.threads + 1 if nproc_counts else None,
            baseline_data_bytes=baseline_data_bytes,
        )
    )


def take_identity(uid: int | None) -> None:
    """Become `uid` unless it is None, and give up every capability.

    Raises:
        OSError: the user could not be changed, or a capability is left.
    """
    if uid is not None:
        identity.become(uid)
    identity.drop_capabilities()


def _close_descriptors() -> None:
    descriptors.close_from(descriptors.CHANNEL + 1)
    if not all(descriptors.is_null(number) for number in (0, 1, 2)):
        raise OSError(9, "descriptors 0-2 are not the null device")  # EBADF


def _enter_namespaces(plan: Plan) -> None:
    if plan.own_user_namespace:
        namespaces.enter_unmapped_user()


def _die_with(parent_pid: int) -> None:
    identity.die_with_parent()
    if os.getppid() != parent_pid:
        raise OSError(3, "the zygote has ended")  # ESRCH


def _limit(plan: Plan, ceiling: Ceiling) -> None:
    rlimits.apply(
        rlimits.sealed(
            memory_bytes=ceiling.memory_bytes,
            cpu_s=ceiling.cpu_s,
            tasks=ceiling.tasks,
            baseline_data_bytes=plan.baseline_data_bytes,
            baseline_address_bytes=plan.baseline_address_bytes,
        )
    )


def _restrict(plan: Plan) -> None:
    if plan.ruleset:
        landlock.restrict(plan.ruleset)
    if not identity.dies_with_parent():  # the last moment that prctl can be asked
        raise OSError(3, "the parent-death signal did not stay")
