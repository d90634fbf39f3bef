"""The process that guests are forked from: everything imported, nothing secret, one thread, one control socket.

Enters: `Start`, then `Spawn` packets with the guest's end of a channel. Leaves: `Ready`, pidfds of guests, and what
wait4(2) says about each that ended. Forking a warm process costs milliseconds where starting one costs hundreds.
Runs no foreign code and holds no secret: whatever it has in memory, every guest has too.
"""

from __future__ import annotations

import array
import gc
import os
import resource
import select
import socket
import sys
import threading
from collections.abc import Callable
from typing import NoReturn

from sandbox import wire
from sandbox.guest import control, selftest
from sandbox.guest import main as guest
from sandbox.guest.seal import Ceiling, Plan, SealError, seal, take_identity
from sandbox.linux import (
    cgroups,
    descriptors,
    identity,
    landlock,
    memory,
    mounts,
    namespaces,
    pidfd,
    rlimits,
    seccomp,
    uids,
)

THREAD_STACK_BYTES = 512 * 1024  # chosen: 64 threads count 32 MiB of the memory limit
_TASK_SLACK = 512  # chosen: what else the user may start while a guest lives, where tasks are not counted for it alone
_NOT_SEALED = 70  # exit code of a guest that could not be sealed; sysexits.h, EX_SOFTWARE


def main(*, has_namespaces: bool, can_empty_root: bool) -> NoReturn:
    """Prepare for forking, then serve the control socket until the host closes it.

    Raises:
        SealError: something that guests need is not there; the bootstrap reports it to the host.
    """
    channel = socket.socket(fileno=descriptors.CHANNEL)
    start = control.decode(channel.recv(control.PACKET_BYTES))
    assert isinstance(start, control.Start)
    memory.be_first_to_go()
    memory.limit_arenas()
    threading.stack_size(THREAD_STACK_BYTES)
    inherited = guest.preload(tuple(start.packages))
    block = _choose_uids()
    if memory.thread_count() != 1:
        raise SealError("zygote", "an imported package started a thread; forked guests would inherit its locks")
    mapped = memory.mapped()
    memory.grow_stack(rlimits.STACK_BYTES)  # after the count: RLIMIT_DATA has no part of it
    task_count = memory.open_task_count()
    _forget_places()
    descriptors.put_null_on(2)  # until here it carries an interpreter's complaints to the host
    has_empty_root = has_namespaces and can_empty_root
    if has_empty_root:
        mounts.empty_root()
    os.chdir("/")
    identity.forbid_inspection()
    identity.empty_bounding_set()  # once, for every guest
    plan, ready = _plan(block, mapped, has_namespaces=has_namespaces, has_empty_root=has_empty_root)
    gc.disable()
    gc.collect()
    gc.freeze()
    channel.send(control.encode(ready))
    _Server(channel, plan, task_count, inherited).run()


def _forget_places() -> None:
    """Drop the host's folder names from where a program would look first; nothing can be imported from them anyway."""
    for names in (sys.path, sys.argv, sys.orig_argv):
        names.clear()
    sys.path_importer_cache.clear()


def _choose_uids() -> range:
    if os.geteuid() != 0:
        return range(0)
    return uids.choose(uids.mapped(), uids.used(), uids.draw) or range(0)


def _plan(
    block: range, mapped: memory.Mapped, *, has_namespaces: bool, has_empty_root: bool
) -> tuple[Plan, control.Ready]:
    abi = landlock.abi()
    counts = _holds_in_child(lambda: _counts_alone(block[-1] if block else None))
    if block and not counts and not _holds_in_child(lambda: _can_become(block[-1])):
        block = range(0)  # root without CAP_SETUID: guests stay who they are, without capabilities
        counts = _holds_in_child(lambda: _counts_alone(None))
    plan = Plan(
        parent_pid=os.getpid(),
        uids=block,
        own_user_namespace=counts and not block,
        nproc_counts=counts,
        ruleset=landlock.ruleset(abi) if abi else b"",
        program=seccomp.own_program(mapped.stack),
        baseline_data_bytes=mapped.data_bytes,
        baseline_address_bytes=mapped.address_bytes,
    )
    ready = control.Ready(
        mode="root" if os.geteuid() == 0 else "user",
        namespaces=has_namespaces,
        empty_root=has_empty_root,
        landlock_abi=abi,
        slots=len(block),
        nproc_counts=counts,
        data_bytes=mapped.data_bytes,
    )
    return plan, ready


def _holds_in_child(claim: Callable[[], bool]) -> bool:
    """Whether `claim` is true in a forked child; what it does to the process is gone with the child."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if claim() else 1)
        except OSError:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def _can_become(uid: int) -> bool:
    take_identity(uid)
    return True


def _counts_alone(uid: int | None) -> bool:
    """Whether RLIMIT_NPROC counts this process and its descendants only: room for one more, then for none.

    Without a user id of its own, a guest gets a user namespace of its own; older kernels still count both together.
    """
    if uid is None:
        namespaces.enter_unmapped_user()
    take_identity(uid)
    rlimits.apply({resource.RLIMIT_NPROC: (2, 2)})
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    rlimits.apply({resource.RLIMIT_NPROC: (1, 1)})
    try:
        if os.fork() == 0:
            os._exit(0)
    except BlockingIOError:  # EAGAIN: the limit holds
        return True
    os.wait()
    return False


class _Server:
    """The control socket and the living guests. One thread, no timers: it only ever waits for the two."""

    def __init__(self, channel: socket.socket, plan: Plan, task_count: int, inherited: guest.Inherited) -> None:
        self._control = channel
        self._plan = plan
        self._inherited = inherited
        self._task_count = task_count
        self._guests: dict[int, tuple[int, control.Spawn]] = {}  # pidfd → process id, request
        self._poller = select.poll()
        self._poller.register(channel, select.POLLIN)

    def run(self) -> NoReturn:
        """Serve until the host closes the control socket; ending ends every guest (parent-death signal)."""
        while True:
            for descriptor, _ in self._poller.poll():
                if descriptor == descriptors.CHANNEL:
                    self._take()
                else:
                    self._reap(descriptor)

    def _take(self) -> None:
        flags = socket.MSG_CMSG_CLOEXEC
        data, received, _, _ = socket.recv_fds(self._control, control.PACKET_BYTES, control.PASSED, flags)
        if not data:
            os._exit(0)
        request = control.decode(data)
        if isinstance(request, control.Kill):
            self._kill(request.slot)
            return
        assert isinstance(request, control.Spawn)
        assert received
        try:
            self._spawn(request, received[0], received[1:])
        finally:
            for descriptor in received:
                os.close(descriptor)

    def _spawn(self, request: control.Spawn, channel: int, groups: list[int]) -> None:
        """Fork a guest. The slot is checked here again: two guests under one user id could reach each other."""
        if any(request.slot == other.slot for _, other in self._guests.values()):
            self._send(control.Refused(id=request.id, message="the slot is in use"))
            return
        tasks = self._tasks(request.threads)
        try:
            pid = os.fork()
        except OSError as error:
            self._send(control.Refused(id=request.id, message=f"fork: {error.strerror}"))
            return
        if pid == 0:
            _be_guest(self._plan, self._inherited, request, channel, tasks=tasks, groups=groups)
        descriptor = os.pidfd_open(pid)  # before it is reaped, so the number cannot be another process's
        self._guests[descriptor] = (pid, request)
        self._poller.register(descriptor, select.POLLIN)
        self._send(control.Spawned(id=request.id), descriptor)

    def _kill(self, slot: int) -> None:
        for descriptor, (_, request) in self._guests.items():
            if request.slot == slot:
                pidfd.kill(descriptor)

    def _tasks(self, threads: int) -> int:
        """The bound of RLIMIT_NPROC: exact where a guest is counted alone.

        Elsewhere all processes of the user count. No user has more than the whole machine has, so this much more is
        room enough for a guest's threads and still ends a flood of them.
        """
        if self._plan.nproc_counts:
            return threads + 1
        return memory.task_count(self._task_count) + threads + _TASK_SLACK

    def _reap(self, descriptor: int) -> None:
        pid, request = self._guests.pop(descriptor)
        self._poller.unregister(descriptor)
        os.close(descriptor)
        _, status, usage = os.wait4(pid, 0)
        cpu_s = usage.ru_utime + usage.ru_stime
        rss_bytes = usage.ru_maxrss * 1024  # getrusage(2): kilobytes
        self._send(control.Exited(id=request.id, status=status, cpu_s=cpu_s, max_rss_bytes=rss_bytes))

    def _send(self, packet: control.Packet, *passed: int) -> None:
        beside = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", passed))] if passed else []
        try:
            self._control.sendmsg([control.encode(packet)], beside)
        except OSError:  # the host has closed its end
            os._exit(0)


def _be_guest(
    plan: Plan, inherited: guest.Inherited, request: control.Spawn, channel: int, *, tasks: int, groups: list[int]
) -> NoReturn:
    """Everything a forked child does: seal itself, then serve one program. Never returns to the zygote's code."""
    layer = "cgroup"

    def note(done: str) -> None:
        nonlocal layer
        layer = done
        if examination:
            examination.witness(done)

    try:
        has_groups = all(cgroups.join(descriptor) for descriptor in groups)  # first of all: from now on it counts
        os.dup2(channel, descriptors.CHANNEL, inheritable=False)  # over the control socket, which is not a guest's
        ceiling = Ceiling(memory_bytes=request.memory_bytes, cpu_s=request.cpu_s, tasks=tasks)
        examination = selftest.Examination(ceiling, request.threads) if request.examine else None
        if examination and groups:
            examination.try_groups(has_groups)
        elif not has_groups:
            raise SealError(layer, "the kernel does not confirm the control group")
        seal(plan, ceiling, slot=request.slot, loop=inherited.loop, witness=note)
        if examination:
            examination.report(inherited.channel)
        guest.serve(inherited, baseline_data_bytes=plan.baseline_data_bytes, nproc_counts=plan.nproc_counts)
    except SealError as error:
        _report_unsealed(error)
    except Exception as error:  # noqa: BLE001 - the rim of a process; nothing foreign has run, or `serve` had caught it
        _report_unsealed(SealError(layer, f"{type(error).__name__}: {error}"))
    finally:
        os._exit(_NOT_SEALED)


def _report_unsealed(error: SealError) -> None:
    header = {"kind": "end", "status": "unsealed", "layer": error.layer, "message": error.message}
    try:
        os.write(descriptors.CHANNEL, wire.encode(header))
    except OSError:  # the host sees the exit code instead
        pass
