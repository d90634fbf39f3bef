"""First process of a machine of its own: a user-mode Linux whose only control groups are those of version 2.

Prints one line of JSON after `FOUND `. Its root is the outer machine's file system, read-only; nothing of that changes.
Started by `tests/integration/test_cgroups_v2.py`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

TOP = Path("/sys/fs/cgroup")
USER = ROOT / "tests" / "security" / "plain_user.py"
HOST = """
import anyio, json
from pathlib import Path
from sandbox import Limits, RunSpec, open_sandbox
HOLD = "held = [bytes([1]) * (1 << 20) for _ in range({})]\\nprint(len(held))"
THREADS = '''
import threading
gate, count = threading.Event(), 0
try:
    while True:
        threading.Thread(target=gate.wait).start()
        count += 1
except RuntimeError:
    print(count)
gate.set()
'''
async def main():
    found = {}
    limits = Limits(memory_bytes=600 << 20, threads=7)
    async with open_sandbox("process", pool=1, memory_share=0.04) as box:
        found |= {layer.name: layer.state for layer in box.isolation.layers if layer.name.startswith(("cg", "th"))}
        found["threads started"] = (await box.run(RunSpec(source=THREADS, limits=limits))).printed
        result = await box.run(RunSpec(source=HOLD.format(340), limits=limits))
        found["all runs"] = result.error.code if result.error else result.printed
        result = await box.run(RunSpec(source=HOLD.format(50), limits=limits))
        found["after"] = result.printed
    found["group"] = Path("/proc/self/cgroup").read_text().strip()
    print("HOST", json.dumps(found), flush=True)
anyio.run(main)
"""


def mount(kind: str, place: str) -> None:
    subprocess.run(["/bin/mount", "-t", kind, "none", place], check=True)


def host(group: Path, *, as_user: bool = False) -> dict[str, object]:
    """What a host finds that is started inside of a group; with what is left in the group afterwards."""
    arguments = [str(USER), "namespaces", "-c", HOST] if as_user else ["-B", "-c", HOST]
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=lambda: (group / "cgroup.procs").write_text("0") and None,
    )
    line = next((line for line in done.stdout.splitlines() if line.startswith("HOST ")), None)
    found = json.loads(line.removeprefix("HOST ")) if line else {"failed": done.stdout[-1500:]}
    found["left"] = sorted(path.name.split("-")[1] for path in group.glob("codemode-*"))
    return found


def make(name: str) -> Path:
    group = TOP / name
    group.mkdir()
    return group


def main() -> None:
    os.environ["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
    mount("proc", "/proc")
    mount("sysfs", "/sys")
    mount("cgroup2", str(TOP))
    found = {"top": host(TOP)}
    (TOP / "cgroup.subtree_control").write_text("+memory +pids")

    found["not delegated"] = host(make("service"))

    marked = make("marked")
    os.setxattr(marked, "user.delegate", b"1")
    found["delegated to root"] = host(marked)

    above = make("above")
    os.setxattr(above, "user.delegate", b"1")
    inner = make("above/supervisor")
    found["in a subgroup"] = {**host(inner), "left": sorted(path.name for path in above.glob("codemode-*"))}

    users = make("users")
    for path in (users, users / "cgroup.procs", users / "cgroup.subtree_control", users / "cgroup.threads"):
        os.chown(path, 12345, 12345)
    found["delegated to a user"] = host(users, as_user=True)
    print("FOUND", json.dumps(found), flush=True)


if __name__ == "__main__":
    try:
        main()
    finally:
        subprocess.run(["/sbin/halt", "-f"])
