"""The register of attacks by native code: what each claims to reach, and the program that tries.

A program runs after `PRELUDE`, which gives it the interpreter's own import and `open`, `libc`, system calls by name and
`T`, the targets (`attack_runner.Targets`). It calls `reached()` once it has what it came for, only then; besides, the
targets notice contacts, writes and signals on their own. Where `is_shown_bare`, the same program reaches its goal in
an unjailed throw-away process of the same user, so that a refusal inside means something.
"""

from __future__ import annotations

from tests.security.attack import Attack
from tests.security.attacks_files import DESCRIPTORS, FILES, NETWORK
from tests.security.attacks_kernel import KERNEL
from tests.security.attacks_memory import MEMORY
from tests.security.attacks_processes import IDENTITY, PROCESSES

PRELUDE = """
_names = __builtins__ if isinstance(__builtins__, dict) else vars(__builtins__)
_names["__import__"] = eval.__self__.__import__
_names["open"] = eval.__self__.open
import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(name, *arguments):
    ctypes.set_errno(0)
    passed = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = libc.syscall(ctypes.c_long(T["numbers"][name]), *passed)
    return result, ctypes.get_errno()
def reached(*what):
    print("REACHED", *what)
def try_call(name, *arguments):
    result, number = call(name, *arguments)
    if result >= 0 or number not in (errno.EPERM, errno.EACCES, errno.ENOSYS):
        reached(name, result, errno.errorcode.get(number))
"""

ATTACKS: tuple[Attack, ...] = (*FILES, *DESCRIPTORS, *NETWORK, *PROCESSES, *IDENTITY, *MEMORY, *KERNEL)
