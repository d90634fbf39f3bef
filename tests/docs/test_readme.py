"""The README says what happens: its console block is run, its JSON and Python are read, its commands exist."""

import ast
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def _console_steps() -> list[tuple[str, str, str]]:
    """(command, standard input, output) of each `$` step of the console blocks."""
    steps = []
    for block in _blocks("console"):
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, rest = step.partition("\n")
            given = ""
            if command.endswith(" <<'END'"):
                command = command.removesuffix(" <<'END'")
                given, _, rest = rest.partition("END\n")
            steps.append((command, given, rest))
    return steps


@pytest.mark.timeout(180)
@pytest.mark.parametrize(("command", "given", "expected"), _console_steps())
def test_a_command_of_the_readme_prints_what_the_readme_shows(tmp_path, command, given, expected):
    words = shlex.split(command)
    assert words[0] == "codemode"
    found = subprocess.run(
        [sys.executable, "-m", *words],
        input=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=ROOT,
        env={**os.environ, "CODEMODE_STATE_DIR": str(tmp_path), "NO_COLOR": "1"},
        check=False,
    )
    assert found.stdout == expected


def test_the_configuration_in_the_readme_is_one_that_loads(tmp_path):
    from codemode import load_config

    file = tmp_path / "mcp.json"
    for number, text in enumerate(_blocks("json")):
        json.loads(text)
        file.write_text(text, encoding="utf-8")
        assert load_config(file).warnings == (), number


def test_the_python_in_the_readme_is_python():
    for text in _blocks("python"):
        compile(text, "README.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def test_every_command_of_the_readme_exists_and_every_command_is_in_the_readme():
    listed = set(re.findall(r"^\| `(\w+)` \|", README, re.MULTILINE))
    said = subprocess.run(
        [sys.executable, "-m", "codemode", "--help"], capture_output=True, text=True, check=True
    ).stdout
    offered = set(re.findall(r"^  (\w+) ", said.partition("Commands:")[2], re.MULTILINE))
    assert listed == offered


def test_the_first_screen_shows_a_call_that_works_and_one_that_is_refused():
    first = README.splitlines()[:25]
    assert any(line.startswith('{"') for line in first)
    assert any("error[policy.ask]" in line for line in first)


def test_links_lead_to_files():
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_ci_runs_the_readmes_test_command():
    command = next(line for line in README.splitlines() if "-m pytest" in line)
    ci = Path(ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for part in ("--constraint constraints.txt", "'.[dev]'", "-m pytest -n 2"):
        assert part in ci, part
    assert "-c constraints.txt -e '.[dev]'" in command
