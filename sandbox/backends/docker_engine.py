"""What is asked of a docker engine: is it usable, run one hardened container, end it. Blocking: call it in a thread.

Enters: `DOCKER_HOST` and the docker client's own settings, an image's tag. Leaves: engine facts and containers.
The container gets no network, no capability, no writable file system, no device, no variable of the host and one
mount: the folder with the socket that it connects to once. The engine must run on this machine's kernel, because a
socket and pidfds of guests pass between host and container; a remote engine is refused.
"""

from __future__ import annotations

import os
import secrets
import socket
import struct
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docker

from sandbox.backends import docker_image
from sandbox.backends.launcher import ENVIRONMENT
from sandbox.errors import GuestError, IsolationError, SpecError
from sandbox.guest.bootstrap import CONNECT
from sandbox.linux.uids import FREE_END, FREE_FIRST
from sandbox.spec import MIB

DOOR = "/run/codemode"
"""Where a container finds the folder with the host's socket."""

SOCKET = "control"
LABEL = "codemode.guest"
_USUAL_PLACE = "/var/run/docker.sock"  # the docker client's own default
KERNEL = (
    "the engine and its runtime must use this machine's own kernel and files: no virtual machine, and neither gVisor "
    "nor Kata, which cannot pass descriptors to the host"
)
_API_S = 20.0  # chosen: one request to the engine; starting a container takes 0.3 s here
_STALE_S = 600  # chosen: a container that is not running for so long belongs to a host that died before it started
_NOBODY = 65534  # where the engine maps ids, only 65,536 of them exist
_OUT_OF_MEMORY_SCORE = 500  # chosen: guests go before the host (proc(5), -1000..1000)
_WORDS_BYTES = 4_000
_START = (
    "start a Docker engine on this machine and set `DOCKER_HOST` if it is not the usual one, or use the process backend"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """What one container may have, besides the limits that each guest has for itself.

    Attributes:
        memory_bytes: of all guests together; 0 is three quarters of the machine.
        tasks: processes and threads of all guests together.
        runtime: the engine's runtime, such as `crun`; "" is its default. One with a kernel of its own (gVisor, Kata)
            cannot pass descriptors to the host, and does not start.
    """

    memory_bytes: int = 0
    tasks: int = 4_096
    runtime: str = ""

    def __post_init__(self) -> None:
        if self.memory_bytes and self.memory_bytes < 64 * MIB:
            raise SpecError(f"`memory_bytes` of a container must be 0 or at least 64 MiB, got {self.memory_bytes}")
        if self.tasks < 16:
            raise SpecError(f"`tasks` of a container must be at least 16, got {self.tasks}")


class Container:
    """One container. Looks like a child process to the zygote's link (`zygote.Holder`)."""

    stderr = None

    def __init__(self, api: Any, number: str) -> None:
        self._api = api
        self._number = number
        self.output = socket.socket()

    def start(self) -> None:
        """Start it; `output` becomes the stream of its standard error, which the caller closes."""
        attached = self._api.attach_socket(self._number, {"stderr": 1, "stream": 1})
        self.output.close()
        self.output = socket.socket(fileno=os.dup(attached.fileno()))
        connection, response = attached._sock, attached._response  # the client keeps both nowhere else
        connection.close()
        response.close()
        self._api.start(self._number)

    def wait(self, timeout: float) -> int:
        """Block until the engine has removed it. Raises `subprocess.TimeoutExpired`."""
        try:
            self._api.wait(self._number, timeout=timeout, condition="removed")
        except docker.errors.NotFound:
            pass
        except OSError as error:  # requests' and the engine's own errors
            raise subprocess.TimeoutExpired("docker wait", timeout) from error
        return 0

    def kill(self) -> None:
        """Kill and remove it with all that is in it."""
        try:
            self._api.remove_container(self._number, force=True)
        except OSError:  # removed, or being removed
            pass

    def last_words(self) -> str:
        """The last line of its standard error; call it once it has ended or is known to have failed."""
        self.output.settimeout(2)
        data = b""
        try:
            while len(data) < _WORDS_BYTES and (more := self.output.recv(4_096)):
                data += more
        except OSError:
            pass
        lines = _unframed(data).decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"


def _unframed(data: bytes) -> bytes:
    """The engine's attach stream without its frames: one byte stream number, three zero, four length."""
    text = b""
    while len(data) > 8:
        size = struct.unpack(">I", data[4:8])[0]
        text += data[8 : 8 + size]
        data = data[8 + size :]
    return text


class Engine:
    """A docker engine of this machine. Made by `connect`; closed by `close`."""

    def __init__(self, client: docker.DockerClient, info: dict[str, Any], image: str) -> None:
        self._client = client
        self._info = info
        self._image = image

    @property
    def has_limits(self) -> bool:
        """Whether the engine confirms that it can bound a container's memory and tasks."""
        return bool(self._info.get("MemoryLimit")) and bool(self._info.get("PidsLimit"))

    @property
    def has_profile(self) -> bool:
        """Whether the engine confirms that a seccomp profile of its own is on."""
        return any(self._options("seccomp")) and not any("unconfined" in item for item in self._options("seccomp"))

    def _options(self, name: str) -> list[str]:
        return [item for item in self._info.get("SecurityOptions") or [] if item.startswith(f"name={name}")]

    def start(self, door: Path, box: Box) -> Container:
        """Start a container whose zygote connects to the socket in `door`.

        Raises:
            IsolationError: the engine refused or did not answer.
        """
        api = self._client.api
        try:
            made = api.create_container(
                self._image,
                command=[docker_image.PYTHON, "-S", "-s", "-P", "-X", "utf8", *self._arguments()],
                entrypoint=[],
                user=self._user(),
                environment=ENVIRONMENT,
                working_dir="/",
                labels={LABEL: ""},
                network_disabled=True,
                host_config=api.create_host_config(**self._walls(door, box)),
            )
        except OSError as error:
            raise _refusal(f"the engine could not make a container: {error}") from error
        container = Container(api, made["Id"])
        try:
            container.start()
        except BaseException as error:
            container.output.close()
            container.kill()
            if isinstance(error, OSError):
                raise _refusal(f"the engine could not start a container: {error}") from error
            raise
        return container

    def _arguments(self) -> list[str]:
        return [f"{docker_image.HOME}/sandbox/guest/bootstrap.py", f"{CONNECT}{DOOR}/{SOCKET}", docker_image.HOME]

    def _user(self) -> str:
        """A user and group id that nothing else on the machine has, where such ids exist."""
        if self._options("userns") or self._options("rootless"):
            return f"{_NOBODY}:{_NOBODY}"
        chosen = FREE_FIRST + secrets.randbelow(FREE_END - FREE_FIRST)
        return f"{chosen}:{chosen}"

    def _walls(self, door: Path, box: Box) -> dict[str, Any]:
        memory = box.memory_bytes or int(self._info["MemTotal"]) * 3 // 4
        return {
            "auto_remove": True,  # also when this host is gone: the zygote ends with the control socket
            "binds": {str(door): {"bind": DOOR, "mode": "ro"}},
            "cap_drop": ["ALL"],
            "ipc_mode": "none",
            "log_config": {"type": "none"},
            "mem_limit": memory,
            "memswap_limit": memory,
            "network_mode": "none",
            "oom_score_adj": _OUT_OF_MEMORY_SCORE,
            "pids_limit": box.tasks,
            "privileged": False,
            "read_only": True,
            "security_opt": ["no-new-privileges"],
            "tmpfs": {"/dev/mqueue": "ro,noexec,nosuid,nodev,size=4k,nr_inodes=2"},  # else writable for everyone
            **({"runtime": box.runtime} if box.runtime else {}),
        }

    def sweep(self) -> None:
        """Remove containers of ours that were made and never started: their host died in between."""
        try:
            found = self._client.api.containers(all=True, filters={"label": LABEL, "status": ["created", "exited"]})
            for item in found:
                if item["Created"] < time.time() - _STALE_S:
                    self._client.api.remove_container(item["Id"], force=True)
        except OSError:  # someone else removed it, or the next start will
            pass

    def close(self) -> None:
        """Close the connections to the engine."""
        self._client.close()


def connect(image: str = "") -> Engine:
    """Find the engine and the image.

    Raises:
        IsolationError: no engine, one on another machine, or no image; the hint says what to do.
    """
    place = os.environ.get("DOCKER_HOST", "")
    if place and not place.startswith("unix://"):
        raise _refusal(
            f"the docker engine must be on this machine: `DOCKER_HOST` must start with `unix://`, not `{place[:8]}`"
        )
    _knock(place.removeprefix("unix://") or _USUAL_PLACE)
    try:
        client = docker.from_env(timeout=_API_S)
    except docker.errors.DockerException as error:
        raise _refusal(f"no docker engine answers: {error}") from error
    wanted = image or docker_image.tag()
    try:
        info = client.info()
        client.api.inspect_image(wanted)
    except docker.errors.NotFound as error:
        client.close()
        raise IsolationError(
            f"the docker engine has no image `{wanted}`",
            hint_operator=f"build it with `{docker_image.BUILD_COMMAND}`",
            details={"missing": ["container"]},
        ) from error
    except OSError as error:
        client.close()
        raise _refusal(f"no docker engine answers: {error}") from error
    return Engine(client, info, wanted)


def _knock(place: str) -> None:
    """See whether anyone listens, because the client leaves a socket open when nobody does."""
    with socket.socket(socket.AF_UNIX) as tried:
        tried.settimeout(_API_S)
        try:
            tried.connect(place)
        except OSError as error:
            raise _refusal(f"no docker engine answers on its socket: {error.strerror or error}") from error


def _refusal(message: str) -> IsolationError:
    return IsolationError(" ".join(message.split())[:500], hint_operator=_START, details={"missing": ["container"]})


def unready(container: Container) -> GuestError:
    """What to say of a container that ended before it connected."""
    return GuestError(
        f"the container ended before it reached the host's socket: {container.last_words()}",
        code="guest.start",
        hint_operator=KERNEL,
    )
