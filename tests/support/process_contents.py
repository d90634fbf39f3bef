"""What another process has in its memory and open: for root, about processes that the test started."""

from pathlib import Path

_CHUNK_BYTES = 1 << 20


def holds(pid, wanted):
    """Those of `wanted` (bytes) that stand somewhere in the process's memory, environment and arguments included."""
    overlap = max(map(len, wanted)) - 1
    found = set()
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for first, end in _readable(pid):
            for start in range(first, end, _CHUNK_BYTES):
                data = _read(memory, start, min(_CHUNK_BYTES + overlap, end - start))
                found |= {one for one in wanted if one in data}
    return found


def _readable(pid):
    for line in Path(f"/proc/{pid}/maps").read_text(errors="replace").splitlines():
        place, rights, *_ = line.split()
        if rights.startswith("r") and "[v" not in line:
            first, end = (int(part, 16) for part in place.split("-"))
            yield first, end


def _read(memory, start, size):
    try:
        memory.seek(start)
        return memory.read(size)
    except (OSError, ValueError):  # gone meanwhile, or beyond what can be read
        return b""


def open_files(pid):
    """Descriptor number → what it is, in the kernel's words."""
    return {int(link.name): str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()}


def is_null_device(pid, number):
    """Whether the process has the null device there."""
    return Path(f"/proc/{pid}/fd/{number}").stat().st_rdev == Path("/dev/null").stat().st_rdev


def command_of(pid):
    """The process's arguments."""
    return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
