"""What a guest may be after, in the words of the table in `sandbox/README.md`, and the attacks that stand for it."""

from __future__ import annotations

LAYERS = (
    "descriptors",
    "environment",
    "identity",
    "memory",
    "landlock",
    "seccomp",
    "namespaces",
    "empty-root",
)
"""Layers that can be left out one by one, in the table's order."""

THREATS: dict[str, tuple[str, ...]] = {
    "what the host left open": ("descriptors.inherited",),
    "the host's environment": ("process.environment",),
    "files": ("files.proc-self", "files.read", "files.list", "files.stat", "files.write", "files.remove"),
    "memory of other processes": (
        "files.proc-mem",
        "files.proc-environ",
        "process.read-memory",
        "process.write-memory",
        "process.ptrace",
    ),
    "ending other processes": ("process.kill", "process.kill-thread"),
    "TCP": ("network.tcp",),
    "UDP": ("network.udp",),
    "named unix sockets": ("network.unix", "network.unix-datagram"),
    "abstract unix sockets": ("network.abstract",),
    "running programs": ("process.exec", "process.system"),
    "making processes": ("process.fork", "process.clone"),
    "new machine code": ("memory.executable", "memory.executable-later"),
    "memory that is counted": ("memory.heap",),
    "memory that is not counted": ("memory.growing-down",),
    "threads": ("process.threads",),
    "raising its limits": ("process.limits-up",),
    "the machine's name": ("identity.host-name",),
    "rare parts of the kernel": ("kernel.priority-futex", "kernel.other-clock"),
}
