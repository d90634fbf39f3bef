"""Finds public servers, and starts the databases that some of them talk to; says plainly what is not installed.

`.ci/public-servers FOLDER` installs everything. `CODEMODE_PUBLIC_SERVERS` names the folder, else it is
`.public_servers` in the repository; `CODEMODE_NPM_DIR` names a `node_modules` of one's own.
"""

import importlib.util
import json
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from codemode.config.model import ServerConfig
from codemode.jsonvalue import Json
from codemode.upstream.manager import Manager
from codemode.upstream.result import RawResult

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("CODEMODE_PUBLIC_SERVERS") or ROOT / ".public_servers").absolute()
_HOW = "`.ci/public-servers .public_servers` installs it"
_UP_S = 60.0
BOUND_S = 110  # a busy machine needs 9 to 24 s to import some servers
CALL_S = 60.0


def npm_server(package: str, *arguments: str, entry: str = "dist/index.js", **more: Any) -> ServerConfig:
    """An npm package's server."""
    if shutil.which("node") is None:
        pytest.skip("did not run: Node.js is not installed")
    own = os.environ.get("CODEMODE_NPM_DIR")
    installed = FOLDER / "npm"
    folders = [Path(own)] if own else [ROOT / "node_modules"]
    if (installed / "complete").exists():
        folders.append(installed / "node_modules")
    found = [folder / package / entry for folder in folders if (folder / package / entry).is_file()]
    if not found:
        pytest.skip(f"did not run: `{package}` is not installed; {_HOW}")
    return ServerConfig(name=package.rpartition("/")[2], command="node", args=(str(found[0]), *arguments), **more)


def pypi_server(command: str, *arguments: str, venv: str = "pypi", **more: Any) -> ServerConfig:
    """The command of a PyPI package that `.ci/public-servers` put into an environment of its own."""
    program = FOLDER / venv / "bin" / command
    if not (FOLDER / venv / "complete").exists() or not program.is_file():
        pytest.skip(f"did not run: `{command}` is not installed; {_HOW}")
    return ServerConfig(name=command, command=str(program), args=arguments, **more)


def own_server(package: str, *arguments: str) -> ServerConfig:
    """The server of a PyPI package that is installed beside this project."""
    module = package.replace("-", "_")
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"did not run: `{package}` is not installed; `python -m pip install {package}`")
    return ServerConfig(name=package, command=sys.executable, args=("-m", module, *arguments))


def debian_program(name: str, *folders: str) -> str:
    """A program of a Debian package."""
    found = shutil.which(name) or next((str(path) for folder in folders for path in Path("/").glob(folder)), None)
    if found is None:
        pytest.skip(f"did not run: `{name}` is not installed; {_HOW} when run by root")
    return found


async def ready(manager: Manager) -> str:
    """The one server's name, once it is up and nothing of it is held back."""
    await manager.wait_ready({entry.server for entry in manager.status()}, 90)
    listing = manager.listings()[0]
    assert listing.state == "ready", listing.reason
    assert not listing.quarantined
    return listing.server


def structured(result: RawResult) -> Json:
    """The structured content of a result, which it must have."""
    assert result.structured is not None
    value: Json = json.loads(result.structured)
    return value


@contextmanager
def redis() -> Iterator[str]:
    """The address of an empty Redis on the loopback interface."""
    program = debian_program("redis-server")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:

        def command(port: int) -> list[str]:
            options = {"port": port, "bind": "127.0.0.1", "save": "", "appendonly": "no", "dir": folder}
            return [program, *(text for name, value in options.items() for text in (f"--{name}", str(value)))]

        with _running(command, _answers_ping) as port:
            yield f"redis://127.0.0.1:{port}/0"


def _answers_ping(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), 5) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
    except OSError:
        return False


@contextmanager
def postgres() -> Iterator[str]:
    """The address of an empty PostgreSQL on the loopback interface; it never runs as root."""
    postgres_program = debian_program("postgres", "usr/lib/postgresql/*/bin/postgres")
    initdb = debian_program("initdb", "usr/lib/postgresql/*/bin/initdb")
    ready = debian_program("pg_isready", "usr/lib/postgresql/*/bin/pg_isready")
    account: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        if os.geteuid() == 0:
            try:
                user = pwd.getpwnam("postgres")
            except KeyError:
                pytest.skip("did not run: PostgreSQL does not run as root, and there is no user `postgres`")
            os.chown(folder, user.pw_uid, user.pw_gid)
            account = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        data = folder / "data"
        made = [initdb, "-D", str(data), "-U", "tester", "-A", "trust", "--no-sync", "--no-locale", "-E", "UTF8"]
        done = subprocess.run(made, check=False, capture_output=True, text=True, cwd="/", timeout=_UP_S, **account)
        if done.returncode != 0:
            said = (done.stderr.strip() or "nothing").splitlines()[-1]
            pytest.skip(f"did not run: PostgreSQL on this machine makes no database; `initdb` says: {said[:200]}")

        def command(port: int) -> list[str]:
            settings = {"listen_addresses": "127.0.0.1", "port": port, "unix_socket_directories": "", "fsync": "off"}
            return [
                postgres_program,
                "-D",
                str(data),
                *(text for key, value in settings.items() for text in ("-c", f"{key}={value}")),
            ]

        def is_up(port: int) -> bool:
            asked = [ready, "-q", "-h", "127.0.0.1", "-p", str(port), "-t", "5"]
            return subprocess.run(asked, check=False, cwd="/", timeout=_UP_S).returncode == 0

        with _running(command, is_up, **account) as port:
            yield f"postgresql://tester@127.0.0.1:{port}/postgres"


@contextmanager
def _running(command: Callable[[int], Sequence[str]], is_up: Callable[[int], bool], **account: Any) -> Iterator[int]:
    """The port of a database that runs; another port is tried when somebody else took the first one."""
    for _ in range(5):
        port = _free_port()
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(command(port), stdin=quiet, stdout=quiet, stderr=quiet, cwd="/", **account)
        try:
            deadline = time.monotonic() + _UP_S
            while process.poll() is None and time.monotonic() < deadline:
                if is_up(port) and process.poll() is None:
                    yield port
                    return
                time.sleep(0.05)
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(10)
    raise AssertionError(f"{command(0)[0]} did not come up")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
