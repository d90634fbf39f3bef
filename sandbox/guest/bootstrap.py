"""First file that a zygote runs: leave the machine's namespaces, become process 1 of an own one, then load the rest.

Enters: argv, which holds only folders (the one with the `sandbox` package, then those of the packages that guests
may use); the control socket as standard input, or its place in the file system where this is the first process of a
container; an environment that holds nothing of the host's. Leaves: a process that runs `sandbox.guest.zygote.main`,
and where it made namespaces a waiter that ends with it.
Loads nothing but `os`, `sys`, `ctypes` and `sandbox.linux` before the process is isolated, and never the package's
face `sandbox/__init__.py`, which belongs to the host.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import ModuleSpec

CONNECT = "--connect="
"""First argument in a container: where the host listens, once, for the control socket."""


def _connect(path: str) -> None:
    """Make a connection to the host standard input. Nothing foreign runs before it, and the host takes only one."""
    import socket  # noqa: PLC0415 - a zygote outside of a container loads nothing before it is isolated

    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect(path)
    os.dup2(connection.fileno(), 0)
    connection.close()


def _face_for(folder: str) -> None:
    """Make `sandbox` a bare package, so that importing a part of it does not import the host's half."""
    spec = ModuleSpec("sandbox", None, is_package=True)
    spec.submodule_search_locations = [os.path.join(folder, "sandbox")]  # noqa: PTH118 - pathlib is not loaded yet
    face = type(sys)("sandbox")
    face.__spec__ = spec
    face.__path__ = spec.submodule_search_locations
    sys.modules["sandbox"] = face


def main(folders: list[str]) -> None:
    """Isolate this process, fork process 1, and hand over to the zygote there."""
    sys.path.extend(folders)
    sys.modules["ssl"] = None  # type: ignore[assignment]  # nothing here speaks TLS; what imports it does without
    os.register_at_fork = _no_hook
    _face_for(folders[0])
    from sandbox.linux import descriptors  # noqa: PLC0415 - found only now

    os.dup2(0, descriptors.CHANNEL, inheritable=False)
    descriptors.put_null_on(0, 1)
    descriptors.close_from(descriptors.CHANNEL + 1)
    os.environ.clear()
    layer = "zygote"
    try:
        from sandbox.linux import identity, namespaces  # noqa: PLC0415

        layer = "parent-death"
        if os.getpid() != 1:  # of a container: its parent is the engine's, and threads of that may end at any time
            identity.die_with_parent()
            if os.getppid() != descriptors.peer_pid(descriptors.CHANNEL):
                os._exit(0)  # the host has ended meanwhile
        layer = "namespaces"
        possible = namespaces.try_out()
        is_first = bool(possible & namespaces.Possible.NAMESPACES)
        if is_first:
            namespaces.enter()
            _fork_first()
        layer = "zygote"
        from sandbox.guest import zygote  # noqa: PLC0415

        zygote.main(has_namespaces=is_first, can_empty_root=bool(possible & namespaces.Possible.EMPTY_ROOT))
    except BaseException as error:  # noqa: BLE001 - the rim of a process: whatever it is, the host must be told
        _report(layer, error)
    os._exit(1)


def _no_hook(**hooks: object) -> None:
    """Instead of `os.register_at_fork`, for everything that is loaded here.

    Hooks repair what a fork breaks: locks that other threads hold, the shared state of `random`. A zygote forks from
    its only thread and a run has a seed of its own, so they would only cost each guest time and memory.
    """


def _fork_first() -> None:
    """Return in process 1 of the new process namespace; the calling process stays behind and waits for it.

    The kernel ends every process of that namespace when process 1 ends, and process 1 when the waiter ends.
    """
    from sandbox.linux import descriptors, identity  # noqa: PLC0415

    watched, held = os.pipe()
    child = os.fork()
    if child:
        os.close(descriptors.CHANNEL)
        descriptors.put_null_on(2)
        os.close(watched)
        os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xFF)
    os.close(held)
    identity.die_with_parent()
    os.set_blocking(watched, False)
    try:
        os.read(watched, 1)
        os._exit(0)  # end of file: the waiter ended before its death could signal us
    except BlockingIOError:
        os.close(watched)


def _report(layer: str, error: BaseException) -> None:
    """Tell the host on the control socket why there is no zygote; nothing but `os` may be needed for it."""
    name = getattr(error, "layer", layer)
    text = f"{type(error).__name__}: {error}"[:500]
    quoted = "".join(c if c.isalnum() or c in " _-.:,()[]{}=" else f"\\u{ord(c):04x}" for c in text if ord(c) < 0x10000)
    try:
        os.write(3, f'{{"kind": "failed", "layer": "{name}", "message": "{quoted}"}}'.encode("ascii", "replace"))
    except OSError:
        pass


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments[0].startswith(CONNECT):
        _connect(arguments.pop(0).removeprefix(CONNECT))
    main(arguments)
