"""Entries that would start this program over the same configuration are known before they are started."""

import json
from pathlib import Path

import pytest

from codemode.config.circular import starts_itself
from codemode.config.load import load_config
from codemode.config.model import ServerConfig


@pytest.mark.parametrize(
    ("command", "file", "does"),
    [
        ("codemode serve", "codemode.json", True),
        ("codemode serve", "mcp.json", False),
        ("/opt/bin/codemode serve --http 127.0.0.1:1 --config mcp.json", "mcp.json", True),
        ("uvx codemode serve --config=./mcp.json", "mcp.json", True),
        ("python -m codemode serve --config other.json --config mcp.json", "mcp.json", True),
        ("codemode serve --config other.json", "mcp.json", False),
        ("codemode catalog --config mcp.json", "mcp.json", False),
        ("serve codemode", "codemode.json", False),
        ("github-mcp-server stdio", "codemode.json", False),
    ],
)
def test_an_entry_that_starts_this_program_over_the_same_file_is_known(command, file, does):
    words = command.split()
    entry = ServerConfig(name="a", command=words[0], args=tuple(words[1:]))
    assert starts_itself(entry, [file]) is does


def test_the_file_is_looked_up_from_the_folder_that_the_entry_names(tmp_path):
    entry = ServerConfig(name="a", command="codemode", args=("serve", "--config", "mcp.json"), cwd=str(tmp_path))
    assert starts_itself(entry, [str(tmp_path / "mcp.json")])
    assert not starts_itself(entry, ["mcp.json"])


def test_such_an_entry_has_a_problem_with_its_place_and_the_others_have_none(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    itself = {"command": "uvx", "args": ["codemode", "serve", "--config", str(file)]}
    servers = {"files": {"command": "files"}, "itself": itself}
    file.write_text(json.dumps({"mcpServers": servers}, indent=1))
    config = load_config(file)
    fine, problem = (entry.problem for entry in config.servers)
    assert fine == ""
    assert problem.startswith(f"{file}, line 8: `mcpServers.itself`: it would start this program over the same config")
