"""`codemode serve` as a process for tests: a configuration over the tracker server, state of its own, raw lines."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SERVER = Path(__file__).with_name("tracker_server.py")


def environment(folder: Path) -> dict[str, str]:
    """The variables a command runs under: nothing of the user's configuration and state."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return {**kept, "CODEMODE_STATE_DIR": str(folder / "state"), "XDG_CONFIG_HOME": str(folder / "xdg")}


def write_config(folder: Path, *, name: str = "mcp.json", server: dict | None = None, **settings) -> Path:
    """A configuration file with the tracker server and our own settings."""
    entry = {"command": sys.executable, "args": [str(SERVER), str(folder / "calls.jsonl")], **(server or {})}
    path = folder / name
    path.write_text(json.dumps({"mcpServers": {"tracker": entry}, "codemode": settings}), encoding="utf-8")
    return path


def calls_of(folder: Path) -> list[dict]:
    """What the tracker server received, in order."""
    path = folder / "calls.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def codemode(*arguments: object, folder: Path, stdin: str = "", timeout_s: float = 60.0) -> subprocess.CompletedProcess:
    """Run a command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "codemode", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        cwd=folder,
        env=environment(folder),
    )


def heed_interrupts() -> None:
    """For `preexec_fn`: SIGINT acts as at a terminal, also when a shell runs these tests in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class RawFront:
    """A served front, spoken to in lines, so that a test sees everything that comes out of standard output."""

    def __init__(
        self, *arguments: object, folder: Path, variables: dict[str, str] | None = None, inherits: tuple[int, ...] = ()
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "codemode", "serve", *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
            env={**environment(folder), **(variables or {})},
            pass_fds=inherits,
            preexec_fn=heed_interrupts,
        )
        self.lines: list[str] = []
        self._id = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()

    def send(self, message: dict) -> None:
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def request(self, method: str, params: dict) -> dict:
        """Send a request and read lines up to its answer."""
        self._id += 1
        self.send({"id": self._id, "method": method, "params": params})
        while True:
            line = self.process.stdout.readline()
            assert line, self.process.stderr.read()
            self.lines.append(line)
            message = json.loads(line)
            if message.get("id") == self._id:
                return message

    def initialize(self) -> dict:
        """The handshake of the older protocol versions."""
        client = {"name": "raw", "version": "1"}
        answer = self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.send({"method": "notifications/initialized"})
        return answer
