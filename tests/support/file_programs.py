"""Programs that use files as models write them; each must print in a guest what plain CPython prints.

The programs stand in `file_programs.txt`, each below a line `### name`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

_PLAIN = """
import contextlib, io, json, os, sys, tempfile
found = {}
for name, source in json.load(sys.stdin).items():
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out:
        os.chdir(folder)
        exec(compile(source, "<program>", "exec"), {"__name__": "__main__"})
        os.chdir("/")
    found[name] = out.getvalue()
json.dump(found, sys.stdout)
"""


def read_programs() -> dict[str, str]:
    """The programs by name."""
    text = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    parts = text.removeprefix("### ").split("\n### ")
    return {name: source + "\n" for name, _, source in (part.partition("\n") for part in parts)}


PROGRAMS = read_programs()


def plain_prints() -> dict[str, str]:
    """What every program prints under this CPython, by name."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _PLAIN],
        input=json.dumps(PROGRAMS),
        capture_output=True,
        text=True,
        check=True,
        env={"LC_ALL": "C.UTF-8"},
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found
