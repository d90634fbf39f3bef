"""Every kernel call of the project, one facility a file; `ctypes` occurs nowhere else.

Enters: plain numbers and bytes. Leaves: nothing, or facts read back from the kernel. A facility that is not there
raises OSError with the kernel's errno; what that means is decided by the caller (`sandbox.guest.seal`).

    syscalls      libc's `syscall`, numbers by machine
    descriptors   what stays open
    namespaces    own network, processes, mounts, names
    mounts        an empty read-only root
    identity      user, capabilities, no_new_privs, dumpable, death with the parent
    uids          user ids that nothing else on the machine uses
    rlimits       memory, processor time, threads: the numbers and how they are set
    landlock      files, TCP, signals, abstract sockets
    seccomp       the system calls that remain
    cgroups       memory and tasks of a guest as a whole, and of all guests; cgroup_places: where groups can be made
    memory        what a process has mapped; allocator arenas; who dies first when memory runs out
"""
