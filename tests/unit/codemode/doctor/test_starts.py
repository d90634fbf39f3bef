"""How an entry is told without its secrets."""

import pytest

from codemode.config.model import ServerConfig
from codemode.doctor.servers import how_started


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
