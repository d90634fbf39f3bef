"""Prepares `made/` beside this file for `task.py`, and says which of the public servers are not installed.

`made/repository` is a git repository with five commits, `made/survey` has three small CSV files. Authors and dates are
fixed, so the commits are the same everywhere. An older `made/` is replaced.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

MADE = Path(__file__).resolve().parent / "made"
NPM_PACKAGES = ("@modelcontextprotocol/server-filesystem", "@modelcontextprotocol/server-everything")
PYTHON_PACKAGES = ("mcp-server-git", "mcp-server-time")

COMMITS = (
    (
        "Rhea Lund",
        "2026-01-12T09:00:00+00:00",
        "Start the exporter",
        {"exporter.py": "ROWS = 500\n", "VERSION": "1.3.0\n"},
    ),
    ("Ivo Marek", "2026-01-20T14:30:00+00:00", "Fix: stop at the last row", {"exporter.py": "ROWS = 501\n"}),
    ("Rhea Lund", "2026-02-03T10:15:00+00:00", "Add a CSV writer", {"writer.py": "import csv\n"}),
    (
        "Rhea Lund",
        "2026-02-17T16:45:00+00:00",
        "Fix: quote fields with commas",
        {"writer.py": "import csv\nQUOTE = True\n"},
    ),
    (
        "Ivo Marek",
        "2026-03-02T08:05:00+00:00",
        "Document the limits",
        {"README.md": "# Exporter\n\nAt most 501 rows.\n"},
    ),
)
SURVEY = {
    "berlin.csv": "feature,votes\nparquet,14\nfilters,9\nscheduling,4\n",
    "osaka.csv": "feature,votes\nfilters,11\nparquet,6\n",
    "leeds.csv": "feature,votes\nscheduling,8\nparquet,5\nfilters,2\n",
}


def main() -> int:
    """Make the folder, then report what is missing; 1 when something is."""
    if MADE.exists():
        shutil.rmtree(MADE)
    (MADE / "survey").mkdir(parents=True)
    for name, text in SURVEY.items():
        (MADE / "survey" / name).write_text(text, encoding="utf-8")
    make_repository(MADE / "repository")
    print(f"made {MADE}")
    missing = missing_packages()
    for line in missing:
        print(line)
    return 1 if missing else 0


def make_repository(folder: Path) -> None:
    """A git repository whose commits depend on nothing of this machine's git configuration."""
    folder.mkdir()
    quiet = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=folder, env=quiet, check=True)
    for author, date, message, files in COMMITS:
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        email = f"{author.split()[0].lower()}@exporter.example"
        env = {**quiet, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        env |= {"GIT_AUTHOR_NAME": author, "GIT_AUTHOR_EMAIL": email}
        env |= {"GIT_COMMITTER_NAME": author, "GIT_COMMITTER_EMAIL": email}
        subprocess.run(["git", "add", "--all"], cwd=folder, env=env, check=True)
        subprocess.run(["git", "commit", "-q", "-m", message], cwd=folder, env=env, check=True)


def missing_packages() -> list[str]:
    """One line with the command for each kind of package that is not there."""
    npm_folder = Path(os.environ.get("CODEMODE_NPM_DIR") or "node_modules")
    lines = []
    npm = [package for package in NPM_PACKAGES if not (npm_folder / package / "dist" / "index.js").is_file()]
    if npm:
        target = npm_folder.parent if npm_folder.name == "node_modules" else Path()
        lines.append(f"not in {npm_folder}: npm install --no-save --prefix {target} {' '.join(npm)}")
        if npm_folder.name != "node_modules":
            lines.append("then set CODEMODE_NPM_DIR to the `node_modules` folder this makes")
    python = [package for package in PYTHON_PACKAGES if importlib.util.find_spec(package.replace("-", "_")) is None]
    if python:
        lines.append(f"not in this Python: {sys.executable} -m pip install {' '.join(python)}")
    return lines


if __name__ == "__main__":
    sys.exit(main())
