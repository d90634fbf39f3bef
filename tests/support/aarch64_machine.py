"""An emulated machine of the architecture aarch64 that runs this checkout: a real kernel, slowly.

`.ci/aarch64-machine FOLDER` makes what it boots from; FOLDER is `.aarch64_machine` in the checkout, unless the variable
`CODEMODE_AARCH64_MACHINE` names another. Nothing of it is written: the machine lives in memory.
"""

from __future__ import annotations

import compileall
import gzip
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.other_pythons import NEEDED, lend_packages

ROOT = Path(__file__).resolve().parents[2]
START = """
export PATH=/usr/bin:/bin PYTHONPATH=/checkout:/packages PYTHONDONTWRITEBYTECODE=1
busybox mount -t proc none /proc
busybox mount -t sysfs none /sys
busybox mount -t cgroup2 none /sys/fs/cgroup
busybox ifconfig lo 127.0.0.1 up
ulimit -n 4096
cd /checkout
{commands}
busybox poweroff -f
"""


def boot(folder: Path, *commands: str, timeout_s: float) -> list[str]:
    """Lines that the machine prints while it runs the commands, one after the other; `folder` is for what it boots."""
    made = Path(os.environ.get("CODEMODE_AARCH64_MACHINE", ROOT / ".aarch64_machine"))
    if shutil.which("qemu-system-aarch64") is None or not (made / "root.cpio.gz").is_file():
        pytest.skip("did not run: needs qemu-system-aarch64 and what `.ci/aarch64-machine .aarch64_machine` makes")
    image = folder / "image"
    image.write_bytes((made / "root.cpio.gz").read_bytes() + _checkout(folder, "\n".join(commands)))
    machine = ["-M", "virt", "-cpu", "cortex-a72", "-accel", "tcg,thread=multi", "-smp", "2", "-m", "2048"]
    kernel = ["-kernel", str(made / "vmlinuz"), "-initrd", str(image), "-append", "console=ttyAMA0 quiet panic=-1"]
    done = subprocess.run(
        ["qemu-system-aarch64", *machine, "-nographic", "-nic", "none", "-no-reboot", *kernel],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout_s,
    )
    return done.stdout.splitlines()


def _checkout(folder: Path, commands: str) -> bytes:
    """An archive of the checkout and the packages that it needs, compiled, for the kernel to unpack over the first."""
    tree = folder / "tree"
    checkout = tree / "checkout"
    for part in ("sandbox", "tests"):
        shutil.copytree(ROOT / part, checkout / part, ignore=shutil.ignore_patterns("__pycache__", "data"))
    (checkout / "start").write_text(START.format(commands=commands), encoding="utf-8")
    lent = folder / "lent"
    lent.mkdir()
    shutil.copytree(
        lend_packages(lent, NEEDED), tree / "packages", ignore=shutil.ignore_patterns("__pycache__", "*.dist-info")
    )
    if sys.version_info[:2] == (3, 11):  # Debian's for that machine
        mode = compileall.py_compile.PycInvalidationMode.UNCHECKED_HASH
        compileall.compile_dir(tree, quiet=2, invalidation_mode=mode)
    names = "\n".join(str(path.relative_to(tree)) for path in sorted(tree.rglob("*")))
    pack = ["cpio", "--create", "--format", "newc", "--quiet"]
    packed = subprocess.run(pack, input=names.encode(), cwd=tree, capture_output=True, check=True).stdout
    return gzip.compress(packed, 1)
