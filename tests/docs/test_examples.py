"""Every example runs through the command line and gives exactly what stands beside it."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source import ROOT

pytestmark = pytest.mark.timeout(180)

NPM_FOLDER = Path(os.environ.get("CODEMODE_NPM_DIR") or ROOT / "node_modules").absolute()


def _run(folder, program, tmp_path, *options):
    command = [sys.executable, "-m", "codemode", "run", "--config", f"examples/{folder}/mcp.json", *options]
    return subprocess.run(
        [*command, f"examples/{folder}/{program}"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "CODEMODE_STATE_DIR": str(tmp_path), "CODEMODE_NPM_DIR": str(NPM_FOLDER)},
        check=False,
    )


def _expected(name):
    return (ROOT / "examples" / name).read_text(encoding="utf-8")


def test_quickstart_prints_what_it_promises(tmp_path):
    found = _run("quickstart", "task.py", tmp_path)
    assert (found.stdout, found.returncode) == (_expected("quickstart/expected.txt"), 0), found.stderr


@pytest.mark.parametrize("program", ["chain", "bulk"])
def test_the_jobs_of_the_demo_print_what_they_promise(tmp_path, program):
    found = _run("demo", f"{program}.py", tmp_path)
    assert (found.stdout, found.returncode) == (_expected(f"demo/{program}.expected.txt"), 0), found.stderr


@pytest.mark.parametrize(("program", "code"), [("denied", "policy.denied"), ("wrong_argument", "arguments.invalid")])
def test_the_refused_programs_of_the_demo_are_refused(tmp_path, program, code):
    found = _run("demo", f"{program}.py", tmp_path, "--json")
    assert (json.loads(found.stdout)["code"], found.returncode) == (code, 4), found.stderr


@pytest.mark.public
@pytest.mark.node
def test_public_servers_print_what_they_promise(tmp_path):
    missing = [name for name in ("mcp_server_git", "mcp_server_time") if importlib.util.find_spec(name) is None]
    for package in ("server-filesystem", "server-everything"):
        if not (NPM_FOLDER / "@modelcontextprotocol" / package / "dist" / "index.js").is_file():
            missing.append(f"@modelcontextprotocol/{package}")
    if missing or shutil.which("node") is None:
        pytest.skip(
            f"did not run: not installed: {', '.join(missing) or 'node'}; see examples/public_servers/README.md"
        )
    subprocess.run([sys.executable, "examples/public_servers/setup.py"], cwd=ROOT, check=True, capture_output=True)
    found = _run("public_servers", "task.py", tmp_path)
    assert (found.stdout, found.returncode) == (_expected("public_servers/expected.txt"), 0), found.stderr
