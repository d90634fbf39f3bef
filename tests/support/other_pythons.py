"""Interpreters of other versions on this machine, and what they need to run tests of `sandbox`.

An interpreter is taken from `CODEMODE_TEST_PYTHONS` (paths with `:` between them), else from PATH, else from
pyenv. They need nothing installed: what the tests import of other packages is pure Python, and is lent to them.
"""

from __future__ import annotations

import functools
import importlib.metadata
import os
import shutil
import subprocess
from pathlib import Path

LENT = ("pytest", "pluggy", "iniconfig", "packaging", "pygments", "pytest-timeout", "pytest-randomly")
NEEDED = ("anyio", "idna", "typing-extensions", "RestrictedPython")


@functools.cache
def find(version: str) -> str | None:
    """An interpreter of that version (`3.12`) that runs, or None."""
    named = os.environ.get("CODEMODE_TEST_PYTHONS", "").split(":")
    there = [place for place in (*named, shutil.which(f"python{version}") or "", *_from_pyenv(version)) if place]
    return next((place for place in there if _version_of(place) == version), None)


def _from_pyenv(version: str) -> list[str]:
    if shutil.which("pyenv") is None:
        return []
    found = subprocess.run(["pyenv", "root"], capture_output=True, text=True, timeout=30).stdout.strip()
    return sorted(map(str, Path(found, "versions").glob(f"{version}.*/bin/python{version}")), reverse=True)


def _version_of(place: str) -> str:
    ask = [place, "-I", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    try:
        return subprocess.run(ask, capture_output=True, text=True, timeout=30).stdout.strip()
    except OSError:
        return ""


def lend_packages(folder: Path, names: tuple[str, ...] = (*NEEDED, *LENT)) -> Path:
    """Links in `folder` to packages of this interpreter that any version can import; for PYTHONPATH."""
    for name in names:
        distribution = importlib.metadata.distribution(name)
        for part in {file.parts[0] for file in distribution.files or () if file.parts[0] not in ("..", "__pycache__")}:
            place = folder / part
            if not place.exists():
                place.symlink_to(Path(str(distribution.locate_file(part))))
    return folder
