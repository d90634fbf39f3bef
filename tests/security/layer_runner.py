"""Runs the attacks of `threats` with layers left out and prints what was reached: `layer_runner.py LAYER[,LAYER...]`.

A throw-away host: it skips the examination that refuses such a sandbox, and starts `weak_zygote` in place of the
bootstrap. Only attacks that are safe without any layer are run.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from sandbox.backends import forks, launcher, zygote
from sandbox.backends.base import IsolationReport
from sandbox.linux import cgroups
from tests.security import attack_runner
from tests.security.register import ATTACKS
from tests.security.threats import THREATS

WEAK = Path(__file__).with_name("weak_zygote.py")


def _no_groups(self: cgroups.Groups, bound: object) -> None:
    """Not every machine has control groups; the table says what holds without them."""


async def _unexamined(self: forks.Forks, link: zygote.ZygoteLink) -> IsolationReport:
    return IsolationReport(backend="process", mode="root", layers=())


def leave_out(layers: set[str]) -> None:
    """Make every sandbox that this process opens from now on one without the layers."""
    present = zygote.command

    def command(packages: tuple[str, ...]) -> list[str]:
        order = present(packages)
        place = next(n for n, part in enumerate(order) if part.endswith("bootstrap.py"))
        return [*order[:place], str(WEAK), ",".join(sorted(layers)), *order[place + 1 :]]

    def start(command: Sequence[str], control: socket.socket) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            stdin=control.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=dict(os.environ) if "environment" in layers else launcher.ENVIRONMENT,
            cwd="/",
            close_fds="descriptors" not in layers,
            start_new_session=True,
        )

    zygote.command = command
    launcher._start = start
    forks.Forks._examine = _unexamined
    cgroups.Groups.open = _no_groups


def main(layers: set[str]) -> None:
    leave_out(layers)
    chosen = {name for names in THREATS.values() for name in names}
    attack_runner.ATTACKS = tuple(attack for attack in ATTACKS if attack.id in chosen)
    with attack_runner.Targets() as targets:
        found = anyio.run(attack_runner.run_jailed, targets)["attacks"]
    print(json.dumps({name: bool(one["reached"] or one["noticed"]) for name, one in found.items()}))


if __name__ == "__main__":
    main(set(sys.argv[1].split(",")))
