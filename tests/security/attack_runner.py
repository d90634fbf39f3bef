"""Runs the register of attacks and prints what each reached as a JSON object: `attack_runner.py jailed|bare [ID...]`.

`jailed` runs each in a fresh guest of the process backend with the language layer off; `bare` runs each that is shown
so in an unjailed throw-away process. The targets belong to this process, which also carries a secret in its
environment and leaves descriptors open and inheritable, as a careless host would.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import secrets
import select
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from sandbox import Limits, RunSpec, open_sandbox
from sandbox.linux.seccomp import ALLOWED, ANSWERED, CHECKED
from sandbox.linux.syscalls import numbers
from tests.security.attack import Attack
from tests.security.attacks_kernel import NUMBERS
from tests.security.register import ATTACKS, PRELUDE

ENVIRONMENT_NAME = "ATTACK_RUNNER_SECRET"
LIMITS = Limits(wall_s=20, cpu_s=10, memory_bytes=64 << 20, threads=16)
ANSWERED_IN_A_GUEST = {*ALLOWED, *CHECKED, *ANSWERED}
_TRIES = 5  # chosen: of an attack without the sandbox
_VICTIM = """
import ctypes, os, sys, time
kept = ctypes.create_string_buffer(sys.stdin.readline().strip().encode() + b"\\0" * 64)
print(ctypes.addressof(kept), flush=True)
time.sleep(600)
"""


class Targets:
    """What attacks are after. `noticed` tells what happened to them since it was last asked."""

    def __enter__(self) -> Targets:
        self._stack = contextlib.ExitStack()
        self.folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="attack-")))
        self.secret, self.memory_secret = (f"SECRET-{secrets.token_hex(8)}" for _ in range(2))
        os.environ[ENVIRONMENT_NAME] = self.environment_secret = f"SECRET-{secrets.token_hex(8)}"
        self.file = self.folder / "secret.txt"
        self.file.write_text(self.secret)
        self.file.chmod(0o600)
        self.folder.chmod(0o711)  # others may go through, so that they reach what is open to them: the sockets
        self.abstract = f"attack-{secrets.token_hex(6)}"
        self.sockets = {
            "tcp": self._listen(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            "udp": self._listen(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            "unix": self._listen(socket.AF_UNIX, socket.SOCK_STREAM, str(self.folder / "stream")),
            "unix_datagram": self._listen(socket.AF_UNIX, socket.SOCK_DGRAM, str(self.folder / "datagram")),
            "abstract": self._listen(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + self.abstract),
        }
        self._plant()
        self.victim: subprocess.Popen[str] | None = None
        self._stack.callback(self._end_victim)
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    def _listen(self, family: int, kind: int, address: Any) -> socket.socket:
        made = self._stack.enter_context(socket.socket(family, kind))
        made.bind(address)
        made.setblocking(False)
        if family == socket.AF_UNIX and not address.startswith("\0"):
            Path(address).chmod(0o777)
        if kind == socket.SOCK_STREAM:
            made.listen(64)
        return made

    def _plant(self) -> None:
        """Descriptors that a sandbox must not pass on: a secret file, a folder, a pipe of the host."""
        self.pipe, writable = os.pipe()
        os.set_blocking(self.pipe, False)
        self.planted = {50: "file", 61: "pipe", 72: "folder", 1500: "file"}
        opened = {"file": os.open(self.file, os.O_RDONLY), "pipe": writable, "folder": os.open("/", os.O_RDONLY)}
        for number, kind in self.planted.items():
            os.dup2(opened[kind], number, inheritable=True)

    def _end_victim(self) -> None:
        if self.victim is not None:
            self.victim.kill()
            self.victim.communicate()

    def reset(self, *, is_bare: bool) -> dict[str, Any]:
        """Fresh victim and files; what a program needs to know about the targets."""
        (self.folder / "victim").write_text("x")
        for name in ("made", "linked", "fifo"):
            (self.folder / name).unlink(missing_ok=True)
        if self.victim is None or self.victim.poll() is not None:
            self._end_victim()
            self.victim = subprocess.Popen(
                [sys.executable, "-c", _VICTIM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            assert self.victim.stdin is not None
            assert self.victim.stdout is not None
            print(self.memory_secret, file=self.victim.stdin, flush=True)
            self.address = int(self.victim.stdout.readline())
        machine = platform.machine()
        column = ("x86_64", "aarch64").index(machine)
        return {
            "secret": self.secret,
            "memory_secret": self.memory_secret,
            "environment_secret": self.environment_secret,
            "environment_name": ENVIRONMENT_NAME,
            "file": str(self.file),
            "folder": str(self.folder),
            "tcp": self.sockets["tcp"].getsockname()[1],
            "udp": self.sockets["udp"].getsockname()[1],
            "unix": str(self.folder / "stream"),
            "unix_datagram": str(self.folder / "datagram"),
            "abstract": self.abstract,
            "victim": self.victim.pid,
            "address": self.address,
            "planted": {str(number): kind for number, kind in self.planted.items()},
            "numbers": {name: pair[column] for name, pair in NUMBERS.items() if pair[column] is not None},
            "allowed": [number for name, number in numbers(machine).items() if name in ANSWERED_IN_A_GUEST],
            "machine": machine,
            "bare": is_bare,
            "smallest_stack": {"x86_64": 32, "aarch64": 128}[machine] * 1024,  # PTHREAD_STACK_MIN, limits.h
        }

    def noticed(self) -> list[str]:
        """Contacts, writes and signals since the last `reset`."""
        found = []
        for name, listener in self.sockets.items():
            if select.select([listener], [], [], 0)[0]:
                found.append(name)
                if listener.type == socket.SOCK_STREAM:
                    listener.accept()[0].close()
                else:
                    listener.recv(100)
        with contextlib.suppress(BlockingIOError):
            if os.read(self.pipe, 4096):
                found.append("pipe")
        assert self.victim is not None
        if self.victim.poll() is not None:
            found.append("victim")
        found += [name for name in ("made", "linked", "fifo") if os.path.lexists(self.folder / name)]
        if not (self.folder / "victim").exists():
            found.append("removed")
        return found


def program(attack: Attack, targets: dict[str, Any]) -> str:
    """The whole program of an attack."""
    return f"T = {targets!r}\n{PRELUDE}\n{attack.code}\n"


async def run_jailed(targets: Targets) -> dict[str, Any]:
    """Every attack in a guest of its own."""
    found: dict[str, Any] = {}
    async with open_sandbox("process", pool=1) as box:
        for attack in ATTACKS:
            source = program(attack, targets.reset(is_bare=False))
            result = await box.run(RunSpec(source=source, dialect="native", limits=LIMITS))
            error = f"{result.error.code}: {result.error.type}: {result.error.message}" if result.error else ""
            output = result.printed + error
            found[attack.id] = {
                "reached": "REACHED" in result.printed or any(s in output for s in _secrets(targets)),
                "noticed": targets.noticed(),
                "output": output[:300],
            }
        isolation = {layer.name: layer.state for layer in box.isolation.layers}
    return {"isolation": isolation, "attacks": found}


def _secrets(targets: Targets) -> tuple[str, ...]:
    return (targets.secret, targets.memory_secret, targets.environment_secret)


def run_bare(targets: Targets, wanted: Sequence[str]) -> dict[str, Any]:
    """Attacks that are shown to work, without the sandbox; some depend on places that the kernel chooses.

    Those whose ids are `wanted`, or all.
    """
    found: dict[str, Any] = {}
    for attack in ATTACKS:
        if attack.is_shown_bare and (attack.id in wanted or not wanted):
            for _ in range(_TRIES):
                found[attack.id] = _one_bare(attack, targets)
                if found[attack.id]["reached"] or found[attack.id]["noticed"]:
                    break
    return {"attacks": found}


def _one_bare(attack: Attack, targets: Targets) -> dict[str, Any]:
    source = program(attack, targets.reset(is_bare=True))
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, timeout=60, start_new_session=True
    )
    return {
        "reached": "REACHED" in done.stdout,
        "noticed": targets.noticed(),
        "output": f"{(done.stdout + done.stderr)[-300:]} (exit {done.returncode})",
    }


def main(how: str, wanted: Sequence[str] = ()) -> None:
    with Targets() as targets:
        found = anyio.run(run_jailed, targets) if how == "jailed" else run_bare(targets, wanted)
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
