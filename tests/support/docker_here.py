"""Whether a docker engine can be used on this machine, and why not; builds the guest image when it is missing."""

import functools

import docker
import pytest

from sandbox.backends import docker_engine, docker_image
from sandbox.errors import IsolationError


@functools.cache
def why_not() -> str:
    """Empty when the docker backend can start here; else what to do."""
    for _ in range(3):  # more than once where sources are edited meanwhile
        try:
            docker_engine.connect().close()
            return ""
        except IsolationError as error:
            if "has no image" not in error.message:
                return f"did not run: {error.message}; {error.hint_operator} (`.ci/start-docker start` starts one)"
        client = docker.from_env()
        try:
            docker_image.build(client)
        finally:
            client.close()
    return "did not run: the guest image was built and is not there"


def need_docker() -> None:
    """Skip the calling test, or all that use the calling fixture, unless an engine is there."""
    if reason := why_not():
        pytest.skip(reason)


def container_of(backend) -> str:
    """The id of the container that a started backend uses now."""
    return backend._forks._link._process._number
