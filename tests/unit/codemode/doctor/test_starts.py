"""How an entry is told without its secrets, and which entries would start this program again."""

import pytest

from codemode.config.model import ServerConfig
from codemode.doctor.servers import how_started, starts_itself


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"command": "npx", "args": ("-y", "--token=canary")}, "process `npx`, 2 arguments"),
        ({"command": "${HOME}/bin/x", "args": ("one",)}, "process `${HOME}/bin/x`, 1 argument"),
        ({"command": "x"}, "process `x`"),
        ({"transport": "http", "url": "https://joe:canary@host:8443/canary?k=canary"}, "https://host:8443"),
        ({"transport": "http", "url": "http://host/mcp"}, "http://host"),
        ({"transport": "http", "url": "https://${HOST}/mcp"}, "http, at an address that is not plain text"),
        ({"transport": "http", "url": "http://host:99999/"}, "http, at an address that is not plain text"),
        ({"problem": "m.json, line 2: needs `command` or `url`"}, ""),
    ],
)
def test_a_start_is_told_without_arguments_path_and_query(fields, text):
    assert how_started(ServerConfig(name="a", **fields)) == text


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
