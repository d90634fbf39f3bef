"""First process of a user-mode Linux that becomes systemd and runs units around the sandbox.

The units are written to /run before; each prints one line to a file of its own, and the last one shows all lines on the
console after `FOUND ` and ends the machine. The root is the outer machine's file system, read-only.
Started by `tests/integration/test_systemd.py`.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.security.plain_user import open_way  # noqa: E402

UNITS = Path("/run/systemd/system")
README = ROOT / "sandbox" / "README.md"
NARROW = "NoNewPrivileges=yes\nProtectSystem=strict\nPrivateTmp=yes\n"
CALLS = "seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self"
"""System calls that guests need and that systemd's `@system-service` does not have, as the README lists them."""


def unit_of_the_readme() -> str:
    """The unit as it is written there."""
    return README.read_text(encoding="utf-8").partition("```ini\n")[2].partition("```")[0]


def _without(text: str, *names: str) -> str:
    return "".join(f"{line}\n" for line in text.splitlines() if line.partition("=")[0] not in (*names, "[Service]"))


def variants() -> dict[str, str]:
    """Settings of services, by the name of what is tried."""
    plain = "User=nobody\nGroup=nogroup\n"
    readme = plain + _without(unit_of_the_readme(), "User", "ExecStartPre", "ExecStart")
    found = {
        "as in the readme": readme + NARROW,
        "not delegated": plain + NARROW,
        "no namespaces": plain + NARROW + "RestrictNamespaces=yes\n",
        "few calls": plain + NARROW + "SystemCallFilter=@system-service\nSystemCallErrorNumber=EPERM\n",
        "those calls": plain + NARROW + f"SystemCallFilter=@system-service @mount unshare {CALLS}\n",
        "root": "Delegate=yes\nProtectSystem=strict\n",
    }
    if any(Path(place).is_relative_to("/tmp") for place in (ROOT, sys.prefix, sys.base_prefix)):
        # A service with a /tmp of its own does not see a checkout that lies there.
        found = {name: _without(text, "PrivateTmp") for name, text in found.items()}
    return found


PROGRAM = """
import anyio, json
from sandbox import RunSpec, SandboxError, open_sandbox
async def main():
    try:
        async with open_sandbox("process", pool=1) as box:
            found = {layer.name: layer.state for layer in box.isolation.layers}
            found["value"] = (await box.run(RunSpec(source="40 + 2"))).value
    except SandboxError as error:
        found = {"code": error.code, "message": error.message}
    print(json.dumps(found), flush=True)
anyio.run(main)
"""


def write_units() -> None:
    UNITS.mkdir(parents=True)
    (UNITS / "program.py").write_text(PROGRAM)
    wanted = []
    for number, (name, settings) in enumerate(variants().items()):
        order = f"After=variant{number - 1}.service" if number else ""
        wanted.append(f"variant{number}.service")
        start = f"{sys.executable} -B {UNITS / 'program.py'}"
        (UNITS / wanted[-1]).write_text(
            f"[Unit]\nDefaultDependencies=no\n{order}\n[Service]\nType=oneshot\nTimeoutStartSec=120\n"
            f"Environment=PYTHONPATH={ROOT} HOME=/\nStandardOutput=file:/run/found{number}\n"
            f"StandardError=file:/run/complaint{number}\nExecStart={start}\n{settings}"
        )
        Path(f"/run/name{number}").write_text(name)
    show = "for n in /run/name*; do k=${n#/run/name}; echo FOUND $(cat $n) = $(cat /run/found$k); done"
    (UNITS / "show.service").write_text(
        f"[Unit]\nDefaultDependencies=no\nAfter={' '.join(wanted)}\nWants={' '.join(wanted)}\n[Service]\nType=oneshot\n"
        f"StandardOutput=tty\nTTYPath=/dev/console\nExecStart=/bin/sh -c {shlex.quote(show.replace('$', '$$'))}\n"
        "ExecStopPost=/bin/systemctl poweroff -ff\n"
    )


def main() -> None:
    os.environ["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
    for kind, place in (("proc", "/proc"), ("sysfs", "/sys"), ("tmpfs", "/run")):
        subprocess.run(["/bin/mount", "-t", kind, "none", place], check=True)
    for folder in {Path(sys.prefix), Path(sys.base_prefix), ROOT}:
        open_way(folder)
    write_units()
    order = ["systemd", "--unit=show.service", "--log-target=null", "--show-status=no"]
    os.execv("/lib/systemd/systemd", order)


if __name__ == "__main__":
    main()
