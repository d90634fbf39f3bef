"""What this process holds, as the kernel counts it."""

from pathlib import Path


def resident_bytes(pid="self"):
    """Resident size of a process."""
    return _field(pid, "VmRSS")


def peak_bytes(pid="self"):
    """The largest resident size since the start, or since `forget_peak`."""
    return _field(pid, "VmHWM")


def forget_peak(pid="self"):
    """Let the peak start again from the present size (proc(5), /proc/PID/clear_refs)."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def _field(pid, name):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise KeyError(name)
