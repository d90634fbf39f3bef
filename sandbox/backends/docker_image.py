"""The guest image of the docker backend: the running CPython, what it links to, and the guest's half of this package.

Enters: the interpreter that runs this. Leaves: a root file system as a tar file, or an image in the engine. Nothing is
downloaded. There is no shell in it, no package manager, no set-uid file and nothing of the host but the interpreter.
Command: `python -m sandbox.backends.docker_image` builds the image that this version asks for and prints its tag.
"""

from __future__ import annotations

import argparse
import compileall
import hashlib
import importlib.util
import io
import os
import py_compile
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

import docker

BUILD_COMMAND = "python -m sandbox.backends.docker_image"
REPOSITORY = "codemode-guest"
PYTHON = "/usr/local/bin/python3"
HOME = "/usr/local/lib/codemode"
"""Folder of the packages `sandbox` and `RestrictedPython` in the image."""

DOCKERFILE = """\
FROM scratch
ADD root.tar /
ENV LD_LIBRARY_PATH=/usr/lib
USER 65534:65534
WORKDIR /
ENTRYPOINT ["/usr/local/bin/python3", "-S", "-s", "-P"]
"""
"""The same text as `images/guest/Dockerfile`, which an installed package does not have beside it."""

_GUEST_FOLDERS, _GUEST_FILES = ("guest", "dialect", "linux"), ("wire", "spec", "errors")
_LEFT_OUT = frozenset(
    {"test", "tests", "idlelib", "tkinter", "turtledemo", "ensurepip", "lib2to3", "pydoc_data", "site-packages"}
    | {"dist-packages", "__pycache__", "venv"}
)
_MOUNT_POINTS = ("dev", "etc", "proc", "run/codemode", "sys", "tmp")
_LINKED = re.compile(r"^\s*(?:(\S+) => )?(/\S+) \(0x", re.MULTILINE)
_OLDEST = 0  # every time stamp in the image, so that equal contents are equal bytes


def tag() -> str:
    """Name of the image that fits this interpreter and this version of the package.

    A hash of the guest's sources, RestrictedPython's, this file and the interpreter's version line. The standard
    library itself is not read for it: a distribution's patch that keeps that line needs the build command once more.
    """
    digest = hashlib.sha256(f"{sys.version} {os.uname().machine}".encode())
    for name, path in sorted(_sources()):
        digest.update(f"\0{name}\0".encode())
        digest.update(path.read_bytes())
    digest.update(Path(__file__).read_bytes())
    return f"{REPOSITORY}:{digest.hexdigest()[:16]}"


def _sources() -> Iterator[tuple[str, Path]]:
    """Place below `HOME` and source of every file of the two packages."""
    own = Path(__file__).resolve().parents[1]
    spec = importlib.util.find_spec("RestrictedPython")
    assert spec is not None
    assert spec.origin is not None
    transformer = Path(spec.origin).resolve().parent
    for name in _GUEST_FILES:
        yield f"sandbox/{name}.py", own / f"{name}.py"
    for name in _GUEST_FOLDERS:
        for path in _files(own / name):
            yield f"sandbox/{path.relative_to(own)}", path
    for path in _files(transformer):
        yield f"RestrictedPython/{path.relative_to(transformer)}", path


def _files(top: Path) -> Iterator[Path]:
    for folder, below, names in os.walk(top):
        below[:] = [name for name in below if name not in _LEFT_OUT and not name.startswith("config-")]
        yield from (Path(folder, name) for name in names if not name.endswith((".pyc", ".a", ".o")))


def lay(root: Path) -> None:
    """Fill the empty folder `root` with the file system of a guest.

    Raises:
        OSError: a file could not be read or written, or there is no `ldd`.
    """
    for name in _MOUNT_POINTS:
        (root / name).mkdir(parents=True)
    interpreter = Path(os.path.realpath(sys.executable))
    _copy(interpreter, root / PYTHON.lstrip("/"))
    linked = [interpreter]
    library = f"usr/local/{sys.platlibdir}/python{sys.version_info.major}.{sys.version_info.minor}"
    standard = Path(sysconfig.get_path("stdlib"))
    compiled = Path(sysconfig.get_config_var("DESTSHARED") or standard / "lib-dynload")
    places = [(standard, library)]
    if not compiled.is_relative_to(standard):
        places.append((compiled, f"{library}/lib-dynload"))
    for top, place in places:
        for path in _files(top):
            _copy(path, root / place / path.relative_to(top))
            if ".so" in path.suffixes:
                linked.append(path)
    for name, path in _sources():
        _copy(path, root / HOME.lstrip("/") / name)
    for name, path in _linked_libraries(linked):
        _copy(path, root / name.lstrip("/"))
    _compile(root)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(0o755 if os.access(source, os.X_OK) else 0o644)


def _linked_libraries(binaries: list[Path]) -> Iterator[tuple[str, Path]]:
    """Place and source of every shared library: the loader at its own absolute path, the others in one folder."""
    done = subprocess.run(  # noqa: S603 - our own interpreter's files
        ["ldd", *map(str, binaries)],  # noqa: S607 - part of every C library
        capture_output=True,
        text=True,
        check=False,  # it complains about modules that are linked statically
    )
    found = {name or path: Path(path) for name, path in _LINKED.findall(done.stdout)}
    for name, path in sorted(found.items()):
        yield name if name.startswith("/") else f"/usr/lib/{name}", path


def _compile(root: Path) -> None:
    """Byte code beside every source: the root of a container is read-only, and compiling takes seconds."""
    compileall.compile_dir(
        root,
        maxlevels=20,
        quiet=2,
        stripdir=str(root),
        prependdir="/",
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )


def write_root(target: Path) -> None:
    """Write the file system as a tar file, the same bytes for the same contents."""
    with tempfile.TemporaryDirectory(prefix="codemode-image-") as folder:
        lay(Path(folder))
        with tarfile.open(target, "w") as archive:
            for path in sorted(Path(folder).rglob("*")):
                archive.add(path, str(path.relative_to(folder)), recursive=False, filter=_anonymous)


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = _OLDEST
    entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
    return entry


def build(client: docker.DockerClient) -> str:
    """Build the image in the engine; returns its tag.

    Raises:
        docker.errors.DockerException: the engine refused.
        OSError: a file could not be read or written.
    """
    name = ""
    with tempfile.TemporaryDirectory(prefix="codemode-image-") as folder:
        root, context = Path(folder, "root.tar"), Path(folder, "context.tar")
        while name != tag():  # sources that are edited meanwhile must not get into an image of another name
            name = tag()
            write_root(root)
        with tarfile.open(context, "w") as archive:
            entry = tarfile.TarInfo("Dockerfile")
            entry.size = len(DOCKERFILE)
            archive.addfile(entry, io.BytesIO(DOCKERFILE.encode("ascii")))
            archive.add(root, "root.tar")
        with context.open("rb") as file:
            client.images.build(fileobj=file, custom_context=True, tag=name, rm=True, forcerm=True)
    return name


def main(arguments: list[str]) -> int:
    """Command line. Returns the exit code."""
    parser = argparse.ArgumentParser(prog=BUILD_COMMAND, description="Build the guest image of the docker backend.")
    parser.add_argument(
        "--tar", type=Path, metavar="FILE", help="write `root.tar` for images/guest/Dockerfile and build nothing"
    )
    chosen = parser.parse_args(arguments)
    if chosen.tar is not None:
        write_root(chosen.tar)
        name = tag()
    else:
        try:
            client = docker.from_env()
            try:
                name = build(client)
            finally:
                client.close()
        except docker.errors.DockerException as error:
            sys.stderr.write(f"no image was built: {error}\n")
            return 1
    sys.stdout.write(f"{name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
