"""Attacks on the memory limit, and for memory that holds new machine code."""

from __future__ import annotations

from tests.security.attack import Attack

# Memory attacks run with a limit of 64 MiB and want to hold 512 MiB.
_TOUCH = """
import mmap
MIB, WANTED = 1 << 20, 512 << 20
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
def take(flags, size, protection=3):
    place = libc.mmap(None, size, protection, flags, -1, 0)
    if place in (None, ctypes.c_void_p(-1).value):
        raise MemoryError
    return place
held = 0
"""

MEMORY = (
    Attack(
        id="memory.growth",
        claim="holds far more memory than its limit",
        code="held = []\nfor _ in range(512): held.append(bytes([1]) * (1 << 20))\nreached(len(held))",
    ),
    Attack(
        id="memory.private-map",
        claim="holds memory in private mappings",
        code=_TOUCH
        + "while held < WANTED:\n    libc.memset(take(0x22, 8 * MIB), 1, 8 * MIB); held += 8 * MIB\nreached()",
    ),
    Attack(
        id="memory.shared-map",
        claim="holds memory in shared mappings, which RLIMIT_DATA does not count",
        code=_TOUCH
        + "while held < WANTED:\n    libc.memset(take(0x21, 8 * MIB), 1, 8 * MIB); held += 8 * MIB\nreached()",
    ),
    Attack(
        id="memory.growing-down",
        claim="holds memory in growing-down mappings, which RLIMIT_DATA does not count",
        code=_TOUCH
        + "while held < WANTED:\n    libc.memset(take(0x122, 8 * MIB), 1, 8 * MIB); held += 8 * MIB\nreached()",
    ),
    Attack(
        id="memory.stack-remapped",
        claim="moves a piece of the stack away and makes it grow: the kernel counts it as stack, not as data",
        code=_TOUCH
        + """
end = ctypes.c_void_p.in_dll(libc, "__libc_stack_end").value & ~4095
for page in range(end, end - 4 * MIB, -4096): libc.memset(page, 1, 1)
result, _ = call("mremap", end - 4 * MIB + 65536, 65536, WANTED, 1, 0)
if result < 0: raise MemoryError
for offset in range(0, WANTED, MIB): libc.memset(result + offset, 1, MIB)
reached()
""",
    ),
    Attack(
        id="memory.stack-split",
        claim="splits the stack again and again, so that each piece may grow as far as RLIMIT_STACK lets one",
        code=_TOUCH
        + """
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
top = ctypes.c_void_p.in_dll(libc, "__libc_stack_end").value & ~4095
for turn in range(WANTED // (7 * MIB)):
    for page in range(top - 4096, top - 7 * MIB, -4096): libc.memset(page, 1, 1)
    top -= 7 * MIB - 4096
    libc.madvise(top, 8192, 14 + turn % 2)
reached()
""",
    ),
    Attack(
        id="memory.stack-cut",
        claim="cuts pages out of the stack, so that the piece below may grow as far as RLIMIT_STACK lets one",
        code=_TOUCH
        + """
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
top = (ctypes.c_void_p.in_dll(libc, "__libc_stack_end").value & ~4095) - 256 * 1024
for turn in range(WANTED // (7 * MIB)):
    for page in range(top - 4096, top - 7 * MIB, -4096): libc.memset(page, 1, 1)
    top -= 7 * MIB - 8192
    libc.munmap(top, 4096)
reached()
""",
    ),
    Attack(
        id="memory.page-tables-apart",
        claim="fills page tables with read-only pages at addresses far apart, which RLIMIT_DATA does not count",
        code=_TOUCH
        + """
made = 0
for n in range(60_000):
    place = libc.mmap((1 << 44) + n * (1 << 30), 4096, 1, 0x22 | 0x100000, -1, 0)
    if place in (None, ctypes.c_void_p(-1).value): break
    ctypes.c_char.from_address(place).value
    made += 1
if made > 20_000: reached(made)
""",
    ),
    Attack(
        id="memory.read-only-again",
        claim="makes used memory read-only, so that RLIMIT_DATA no longer counts its pages",
        code=_TOUCH
        + """
while held < WANTED:
    place = take(0x22, 8 * MIB)
    libc.memset(place, 1, 8 * MIB)
    if libc.mprotect(place, 8 * MIB, 1) != 0: raise MemoryError
    held += 8 * MIB
reached()
""",
    ),
    Attack(
        id="memory.heap",
        claim="holds memory on the heap of the C library",
        code="""
libc.sbrk.restype = ctypes.c_void_p
libc.sbrk.argtypes = [ctypes.c_long]
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
for _ in range(64):
    place = libc.sbrk(8 << 20)
    if place == ctypes.c_void_p(-1).value: raise MemoryError
    libc.memset(place, 1, 8 << 20)
reached()
""",
    ),
    Attack(
        id="memory.grow-in-place",
        claim="holds memory by growing one mapping",
        code=_TOUCH
        + """
libc.mremap.restype = ctypes.c_void_p
libc.mremap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int]
place = take(0x22, 8 * MIB)
for size in range(16, 513, 8):
    place = libc.mremap(place, (size - 8) * MIB, size * MIB, 1)
    if place == ctypes.c_void_p(-1).value: raise MemoryError
    libc.memset(place, 1, size * MIB)
reached()
""",
    ),
    Attack(
        id="memory.reserve-then-open",
        claim="reserves unreachable memory and opens it later",
        code=_TOUCH
        + """
place = take(0x4022, WANTED, 0)
if libc.mprotect(place, WANTED, 3) != 0: raise MemoryError
libc.memset(place, 1, WANTED)
reached()
""",
    ),
    Attack(
        id="memory.page-tables",
        claim="holds memory in page tables by touching 64 GiB of zero pages",
        code=_TOUCH
        + """
for _ in range(64):
    place = take(0x4022, 1 << 30, 1)
    for offset in range(0, 1 << 30, 2 << 20):
        ctypes.c_char.from_address(place + offset).value
reached()
""",
    ),
    Attack(
        id="memory.anonymous-file",
        claim="holds memory in an anonymous file",
        code='fd = os.memfd_create("x")\nos.ftruncate(fd, 1 << 29); reached()',
    ),
    Attack(
        id="memory.secret",
        claim="holds memory that the kernel hides",
        code='r, e = call("memfd_secret", 0)\nif r >= 0: reached()',
        is_shown_bare=False,
        unproved="not every kernel has it on",
    ),
    Attack(
        id="memory.threads",
        claim="holds memory in the stacks of many threads",
        code="""
import threading
threading.stack_size(16 << 20)
gate = threading.Event()
def fill():
    local = ctypes.create_string_buffer(1)
    gate.wait()
for _ in range(32): threading.Thread(target=fill, daemon=True).start()
gate.set(); reached()
""",
    ),
    Attack(
        id="memory.locked",
        claim="keeps memory from being swapped, by a call or by a flag of a mapping",
        code=_TOUCH
        + """
place = take(0x22, 65536)
if libc.mlock(ctypes.c_void_p(place), ctypes.c_size_t(65536)) == 0: reached("mlock")
take(0x2022, 65536); reached("MAP_LOCKED")
""",
    ),
    Attack(
        id="memory.at-zero",
        claim="maps the page at address zero, which kernels trip over",
        code=_TOUCH
        + "place = libc.mmap(None, 4096, 3, 0x32, -1, 0)\nif place != ctypes.c_void_p(-1).value: reached(place)",
        is_shown_bare=False,
        unproved="needs root",
    ),
    Attack(
        id="memory.over-another",
        claim="puts a mapping over memory that is in use",
        code=_TOUCH
        + """
place = take(0x22, 1 << 16)
libc.memset(place, 1, 1 << 16)
if libc.mmap(place, 1 << 16, 3, 0x32, -1, 0) == place: reached()
""",
    ),
    Attack(
        id="memory.merged",
        claim="has the kernel merge equal pages, which tells what others hold",
        code=_TOUCH
        + "if libc.madvise(ctypes.c_void_p(take(0x22, 1 << 16)), ctypes.c_size_t(1 << 16), 12) == 0: reached()",
        is_shown_bare=False,
        unproved="not every kernel merges pages",
    ),
    Attack(
        id="memory.other-advice",
        claim="reaches the rarer requests of madvise: poisoning, forks, core files, reading ahead, collapsing",
        code=_TOUCH
        + """
place = take(0x22, 1 << 16)
for advice in set(range(0, 128)) - {4, 8, 14, 15, 102, 103}:
    try_call("madvise", ctypes.c_void_p(place), 1 << 16, advice)
""",
        is_shown_bare=False,
        unproved="poisons a page of the machine when root does it",
    ),
    Attack(
        id="memory.executable",
        claim="maps new machine code",
        code=_TOUCH + "take(0x22, 4096, 7); reached()",
    ),
    Attack(
        id="memory.executable-later",
        claim="makes written memory executable",
        code=_TOUCH + "place = take(0x22, 4096)\nif libc.mprotect(place, 4096, 5) == 0: reached()",
    ),
    Attack(
        id="memory.executable-by-key",
        claim="makes written memory executable by the call for protection keys, which takes none as well",
        code=_TOUCH
        + "r, e = call('pkey_mprotect', ctypes.c_void_p(take(0x22, 4096)), 4096, 5, -1)\nif r == 0: reached()",
    ),
    Attack(
        id="memory.patched-function",
        claim="writes over a function of a loaded library and calls it",
        code=_TOUCH
        + """
place = ctypes.cast(libc.labs, ctypes.c_void_p).value & ~4095
if libc.mprotect(place, 8192, 3) == 0 and libc.mprotect(place, 8192, 5) == 0 and libc.labs(-3) == 3: reached()
""",
    ),
    Attack(
        id="memory.huge-pages",
        claim="takes huge pages out of the machine's reserve",
        code=_TOUCH + "take(0x40022, 2 * MIB); reached()",
        is_shown_bare=False,
        unproved="not every machine has a reserve",
    ),
    Attack(
        id="memory.rewrite-code",
        claim="has memory that is writable and executable at once",
        code="""
maps = open("/proc/self/maps").read()
if " rwx" in maps or "rwxp" in maps: reached()
""",
        is_shown_bare=False,
        unproved="the maps cannot be read inside; the zygote's are checked by a test of their own",
    ),
)
